import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import * as store from '../state/store.ts'
import { themeChanged } from '../state/theme.ts'
import { workers } from '../state/workers.ts'
import type { TensorDetails } from '../worker/details.ts'
import type { Plane, Statistics } from '../worker/numbers.ts'
import { countText, numberText } from './texts.ts'

/** What is in a tensor: numbers about it, their distribution, its planes as pictures. It is read when this is shown. */
export function TensorView({ value }: { readonly value: number }) {
  const plane = useSignal(0)
  const { value: at } = plane
  const found = useTensor(value, at)
  if (found === undefined) return <p class="note">Reading …</p>
  if (found === 'none') return <p class="note">This value was not kept; only its statistics are.</p>
  const { statistics } = found
  return (
    <div class="tensor">
      {found.isPart && <p class="note">Too large to be read as a whole.</p>}
      {statistics && <Stats statistics={statistics} />}
      {found.histogram && (statistics?.elements ?? 0) > 1 && <Histogram bins={found.histogram} />}
      {found.plane && <Picture plane={found.plane} min={statistics?.min ?? 0} max={statistics?.max ?? 1} />}
      {found.plane && found.plane.planes > 1 && (
        <label class="size">
          plane
          <input
            type="range"
            min={0}
            max={found.plane.planes - 1}
            value={at}
            onInput={({ currentTarget }) => (plane.value = currentTarget.valueAsNumber)}
          />
          <output>
            {at + 1}/{found.plane.planes}
          </output>
        </label>
      )}
      <p class="elements">
        {found.first.join('  ')}
        {(statistics?.elements ?? 0) > found.first.length ? '  …' : ''}
      </p>
    </div>
  )
}

type Found = TensorDetails & { readonly isPart?: boolean }

/** What is in a value, once it has been read. */
function useTensor(value: number, plane: number): Found | 'none' | undefined {
  const details = useSignal<Found | 'none' | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    workers()
      .engine.call.tensor(value, plane)
      .then(found => {
        if (!isOver) details.value = found ?? 'none'
      })
      .catch((error: Error) => {
        store.failure.value = { code: 'invalid-file', message: error.message, place: '' }
      })
    return () => {
      isOver = true
    }
  }, [value, plane, store.runState.value, store.changes.value])
  return details.value
}

function Stats({ statistics }: { readonly statistics: Statistics }) {
  const { min, max, mean, deviation, elements, zeros, nans, infinities } = statistics
  const rows = [
    ['min', numberText(min)],
    ['max', numberText(max)],
    ['mean', numberText(mean)],
    ['deviation', numberText(deviation)],
    ['elements', countText(elements)],
    ['zeros', countText(zeros)]
  ] as const
  return (
    <dl class="stats">
      {rows.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
      {nans + infinities > 0 && (
        <div class="bad">
          <dt>not finite</dt>
          <dd>
            {countText(nans)} NaN, {countText(infinities)} ∞
          </dd>
        </div>
      )}
    </dl>
  )
}

function Histogram({ bins }: { readonly bins: readonly number[] }) {
  // A root brings out what a peak would flatten.
  const most = Math.sqrt(Math.max(1, ...bins))
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${bins.length * 4} 40`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Distribution of the elements"
    >
      {bins.map((count, i) => {
        const height = (Math.sqrt(count) / most) * 40
        return <rect key={i} x={i * 4} y={40 - height} width={3.4} height={height} />
      })}
    </svg>
  )
}

/** A plane in two colours about zero, or in one where nothing is negative. NaN is red. */
function Picture({ plane, min, max }: { readonly plane: Plane; readonly min: number; readonly max: number }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { value: theme } = themeChanged
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const { width, height, values } = plane
    const image = context.createImageData(width, height)
    const most = Math.max(Math.abs(min), Math.abs(max), 1e-30)
    for (let i = 0; i < values.length; i++) {
      const part = min < 0 ? values[i] / most : (values[i] - min) / Math.max(max - min, 1e-30)
      const [red, green, blue] = colourOf(part)
      image.data.set([red, green, blue, 255], 4 * i)
    }
    context.putImageData(image, 0, 0)
  }, [plane, min, max, theme])
  const isSmall = plane.width < 64
  return (
    <canvas
      ref={canvas}
      class={isSmall ? 'picture small' : 'picture'}
      width={plane.width}
      height={plane.height}
      role="img"
      aria-label={`Picture of ${plane.width} by ${plane.height} elements`}
    />
  )
}

const [BLUE, ORANGE, PALE] = [
  [32, 74, 190],
  [214, 96, 24],
  [244, 244, 240]
] as const

function colourOf(part: number): readonly [number, number, number] {
  if (!(part - part === 0)) return [220, 20, 60]
  const end = part < 0 ? ORANGE : BLUE
  const strength = Math.min(1, Math.abs(part)) ** 0.8
  const mix = (i: number): number => PALE[i] + (end[i] - PALE[i]) * strength
  return [mix(0), mix(1), mix(2)]
}
