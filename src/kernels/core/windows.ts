import type { WindowAxis } from '../../shapes/window.ts'
import { stridesOf } from '../../tensor/tensor.ts'
import { chunkSize, COST, type Pace } from './pace.ts'

/**
 * One tap of a kernel along one axis, with the windows at which it reads an element and not padding. `tap`, `window`
 * and `element`
 * are shares of positions in the row-major order of the whole kernel and the whole planes.
 */
interface Tap {
  readonly tap: number
  /** The first of the windows, and the element that it reads. */
  readonly window: number
  readonly element: number
  readonly count: number
}

/** All that the windows of a plane read: the taps of every axis, and what a step to the next window along it means. */
export interface Taps {
  readonly axes: readonly (readonly Tap[])[]
  readonly windowSteps: readonly number[]
  readonly elementSteps: readonly number[]
}

/** The windows of a part of a plane: `[from, to)` along each axis. */
export type Box = readonly (readonly [from: number, to: number])[]

/** What the windows of a plane read, or those of a part of it. */
export function tapsOf(axes: readonly WindowAxis[], box?: Box): Taps {
  const tapStrides = stridesOf(axes.map(axis => axis.kernel))
  const windowSteps = stridesOf(axes.map(axis => axis.count))
  const elementStrides = stridesOf(axes.map(axis => axis.size))
  return {
    axes: axes.map((axis, i) =>
      axisTaps(axis, box?.[i] ?? [0, axis.count]).map(({ tap, window, element, count }) => ({
        tap: tap * tapStrides[i],
        window: window * windowSteps[i],
        element: element * elementStrides[i],
        count
      }))
    ),
    windowSteps,
    elementSteps: axes.map(({ stride }, i) => stride * elementStrides[i])
  }
}

/**
 * Taps that read an element at some window, ascending; those that read nothing but padding are passed over, however
 * many they are.
 */
function axisTaps({ size, kernel, stride, dilation, begin }: WindowAxis, [from, to]: Box[number]): Tap[] {
  const taps: Tap[] = []
  if (from >= to || size === 0) return taps
  let tap = Math.max(0, Math.ceil((begin - (to - 1) * stride) / dilation))
  while (tap < kernel) {
    const shift = tap * dilation - begin
    const first = Math.max(from, Math.ceil(-shift / stride))
    const last = Math.min(to, Math.floor((size - 1 - shift) / stride) + 1)
    if (first < last) taps.push({ tap: tap++, window: first, element: first * stride + shift, count: last - first })
    else if (first === from) break
    // Window `first` reads beyond the end; so it goes on until the window before it reads an element.
    else tap = Math.ceil((begin - (first - 1) * stride) / dilation)
  }
  return taps
}

/**
 * Windows of any size: along an axis of `size` elements window `w` reads those from `ranges[w][0]` to `ranges[w][1] -
 * 1`.
 */
export interface RangeAxis {
  readonly size: number
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

/** {@link tapsOf} for windows of any size; their taps count within the widest. */
export function tapsOfRanges(axes: readonly RangeAxis[]): Taps {
  const widest = axes.map(({ ranges }) => ranges.reduce((most, [start, end]) => Math.max(most, end - start), 0))
  const tapStrides = stridesOf(widest)
  const windowSteps = stridesOf(axes.map(axis => axis.ranges.length))
  const elementSteps = stridesOf(axes.map(axis => axis.size))
  const tapsAt = (i: number, tap: number): Tap[] =>
    axes[i].ranges.flatMap(([start, end], w) =>
      start + tap < end
        ? [{ tap: tap * tapStrides[i], window: w * windowSteps[i], element: (start + tap) * elementSteps[i], count: 1 }]
        : []
    )
  return {
    axes: axes.map((_, i) => Array.from({ length: widest[i] }, (_, tap) => tapsAt(i, tap)).flat()),
    windowSteps,
    elementSteps
  }
}

/** Nanoseconds that a call of {@link Run} takes besides its elements. */
const RUN_COST = 40

/**
 * `count` windows from `window` on read through `tap`: the first of them `element`, each further one `step` elements
 * on.
 */
export type Run = (tap: number, window: number, element: number, count: number, step: number) => void

/**
 * Calls `run` for everything that the windows read. A window sees its taps in row-major order.
 * @param cost nanoseconds that `run` takes for one element
 */
export function* eachRun(
  { axes, windowSteps, elementSteps }: Taps,
  pace: Pace,
  run: Run,
  cost: number = COST.copy
): Generator<void> {
  const longest = chunkSize(cost)
  if (axes.some(taps => taps.length === 0)) return
  const inner = axes.length - 1
  const step = elementSteps[inner]
  const chosen = new Array<number>(axes.length).fill(0)
  const row = new Array<number>(axes.length).fill(0)
  for (;;) {
    let tap = 0
    let window = 0
    let element = 0
    for (let a = 0; a <= inner; a++) {
      const part = axes[a][chosen[a]]
      tap += part.tap
      window += part.window
      element += part.element
    }
    const { count } = axes[inner][chosen[inner]]
    for (let a = 0; a >= 0;) {
      for (let i = 0; i < count; i += longest) {
        const part = Math.min(count - i, longest)
        run(tap, window + i, element + i * step, part, step)
        if (pace.isDue(part * cost + RUN_COST)) yield
      }
      for (a = inner - 1; a >= 0; a--) {
        window += windowSteps[a]
        element += elementSteps[a]
        const { count: rows } = axes[a][chosen[a]]
        if (++row[a] < rows) break
        window -= rows * windowSteps[a]
        element -= rows * elementSteps[a]
        row[a] = 0
      }
    }
    let a = inner
    while (a >= 0 && ++chosen[a] === axes[a].length) chosen[a--] = 0
    if (a < 0) return
  }
}
