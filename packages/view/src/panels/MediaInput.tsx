import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { soundOf } from '../state/sounds.ts'
import * as store from '../state/store.ts'
import { workers } from '../state/workers.ts'
import type { Filling, InputField } from '../worker/inputs.ts'
import { LAYOUTS, ORDERS, type PictureSettings } from '../worker/pictures.ts'
import { CallFailure } from '../worker/rpc.ts'
import { counted } from './texts.ts'

interface MediaProps<How extends Filling['how']> {
  readonly field: InputField
  readonly filling: Extract<Filling, { readonly how: How }>
  readonly set: (filling: Filling) => void
}

const TEXTS = [
  ['resize', 'Size', '224x224'],
  ['scale', 'Scale', '1/255'],
  ['mean', 'Mean', '0.485:0.456:0.406'],
  ['std', 'Deviation', '0.229:0.224:0.225']
] as const

/** A picture for an input: the file, how it becomes numbers, and what the model will see. */
export function PictureInput({ field, filling, set }: MediaProps<'picture'>) {
  const { settings } = filling
  const change = (part: Partial<PictureSettings>): void => set({ ...filling, settings: { ...settings, ...part } })
  return (
    <div class="media">
      <input
        type="file"
        accept="image/*"
        aria-label={`Picture for ${field.name}`}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          if (file) set({ ...filling, name: file.name, content: file })
        }}
      />
      <div class="settings">
        <Choice label="Layout" items={LAYOUTS} value={settings.layout} choose={layout => change({ layout })} />
        <Choice label="Order" items={ORDERS} value={settings.order} choose={order => change({ order })} />
        {TEXTS.map(([key, label, example]) => (
          <label key={key}>
            {label}
            <input
              type="text"
              value={settings[key]}
              placeholder={key === 'resize' ? 'as it is' : example}
              onChange={({ currentTarget }) => change({ [key]: currentTarget.value.trim() })}
            />
          </label>
        ))}
      </div>
      {filling.content && <Preview field={field} filling={filling} />}
    </div>
  )
}

interface ChoiceProps<Item extends string> {
  readonly label: string
  readonly items: readonly Item[]
  readonly value: Item
  readonly choose: (item: Item) => void
}

function Choice<Item extends string>({ label, items, value, choose }: ChoiceProps<Item>) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Item)}>
        {items.map(item => (
          <option key={item} value={item}>
            {item}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The picture as the model gets it, and the tensor that it becomes. */
function Preview({ field, filling }: Omit<MediaProps<'picture'>, 'set'>) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const said = useSignal('')
  useEffect(() => {
    let isOver = false
    workers()
      .engine.call.picture(filling, field)
      .then(({ image, dims, least, most }) => {
        const { current } = canvas
        if (isOver || !current) return
        current.width = image.width
        current.height = image.height
        current.getContext('2d')!.putImageData(image, 0, 0)
        said.value = `${dims.join('×')}, ${least.toPrecision(3)} … ${most.toPrecision(3)}`
      })
      .catch((error: unknown) => {
        if (!isOver) said.value = error instanceof CallFailure ? error.failure.message : String(error)
      })
    return () => {
      isOver = true
    }
  }, [filling])
  return (
    <>
      <canvas ref={canvas} class="preview" role="img" aria-label={`${filling.name} as the model gets it`} />
      <p class="note small" role="status">
        {said.value}
      </p>
    </>
  )
}

/** A recording for an input: one channel of samples, at the rate that the model expects. */
export function SoundInput({ field, filling, set }: MediaProps<'sound'>) {
  const { rate, samples, content } = filling
  const take = async (file: Blob, name: string, wanted: number | undefined): Promise<void> => {
    store.failure.value = undefined
    try {
      set({ how: 'sound', name, content: file, ...(await soundOf(file, wanted)) })
    } catch (error) {
      store.failure.value = { code: 'invalid-file', message: `no sound is read: ${String(error)}`, place: name }
    }
  }
  return (
    <div class="media">
      <input
        type="file"
        accept="audio/*"
        aria-label={`Recording for ${field.name}`}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          if (file) void take(file, file.name, undefined)
        }}
      />
      {content && (
        <label class="seed">
          samples a second
          <input
            type="number"
            min={3000}
            value={rate}
            onChange={({ currentTarget }) => void take(content, filling.name, currentTarget.valueAsNumber)}
          />
        </label>
      )}
      {content && <p class="note small">{counted(samples.length, 'sample')}</p>}
    </div>
  )
}
