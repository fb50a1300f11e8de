import { setSizes } from '../state/sizing.ts'
import * as store from '../state/store.ts'
import type { OpenDim } from '../worker/facts.ts'
import { counted } from './texts.ts'

/** Where a slider of a dim without an upper bound ends. */
const END = 512

/** Dims that the file leaves open, each with a slider: all shapes follow. */
export function Sizes() {
  const { value: opened } = store.opened
  const dims = opened?.overview.openDims ?? []
  if (dims.length === 0) return null
  const { value: sizes } = store.sizes
  const set = (name: string, size: number | undefined): void => {
    const next = new Map(sizes)
    if (size === undefined || Number.isNaN(size)) next.delete(name)
    else next.set(name, size)
    void setSizes(next)
  }
  const errors = store.facts.value?.findings.filter(({ severity }) => severity === 'error').length ?? 0
  const own = store.ownFacts.value?.findings.filter(({ severity }) => severity === 'error').length ?? 0
  return (
    <section>
      <h2>Open dims</h2>
      <p class="note">Set a size and every shape follows. What becomes impossible turns red.</p>
      {dims.map(dim => (
        <Size key={dim.name} dim={dim} size={sizes.get(dim.name)} set={size => set(dim.name, size)} />
      ))}
      {sizes.size > 0 && (
        <p class="row between">
          {errors > own ? (
            <b class="bad">{counted(errors - own, 'error')} with these sizes</b>
          ) : (
            <span class="note">These sizes are possible.</span>
          )}
          <button type="button" class="plain" onClick={() => void setSizes(new Map())}>
            Reset
          </button>
        </p>
      )}
    </section>
  )
}

interface SizeProps {
  readonly dim: OpenDim
  readonly size: number | undefined
  readonly set: (size: number) => void
}

/** One dim: a slider, and a field for what lies beyond its end. */
function Size({ dim: { name, min, max }, size, set }: SizeProps) {
  const id = `size-${name}`
  return (
    <div class="size">
      <label for={id} title={name}>
        {name}
      </label>
      <input
        id={id}
        type="range"
        min={min}
        max={Math.min(max, END)}
        value={size ?? min}
        aria-valuetext={size === undefined ? 'open' : `${size}`}
        class={size === undefined ? 'unset' : ''}
        onInput={({ currentTarget }) => set(currentTarget.valueAsNumber)}
      />
      <input
        type="number"
        min={min}
        max={Number.isFinite(max) ? max : undefined}
        value={size ?? ''}
        placeholder="open"
        aria-label={`Size of ${name}`}
        onInput={({ currentTarget }) => set(currentTarget.valueAsNumber)}
      />
    </div>
  )
}
