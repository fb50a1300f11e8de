import { fillAll, fillings, seed } from '../state/running.ts'
import * as store from '../state/store.ts'
import type { Filling, InputField } from '../worker/inputs.ts'
import { settingsFor } from '../worker/pictures.ts'
import { FilesButton } from './FilesButton.tsx'
import { PictureInput, SoundInput } from './MediaInput.tsx'

/** How the inputs of a run are filled. */
export function RunInputs() {
  const { inputs } = store.opened.value!.overview
  return (
    <section>
      <h2>Inputs</h2>
      {inputs.length === 0 && <p class="note">The model takes no tensors.</p>}
      {inputs.length > 1 && (
        <div class="row below">
          <FilesButton look="plain" label="Values of all inputs" take={fillAll}>
            Fill from a recorded run (.npz)
          </FilesButton>
        </div>
      )}
      {inputs.map(field => (
        <Input key={field.name} field={field} />
      ))}
    </section>
  )
}

const HOWS = ['zeros', 'ones', 'random', 'literal', 'file', 'picture', 'sound'] as const

/** How an input is filled before a user has said more. */
function fillingOf(how: string, { dims }: InputField): Filling {
  switch (how) {
    case 'literal':
      return { how, text: '[]' }
    case 'file':
      return { how, name: '', bytes: new Uint8Array() }
    case 'picture':
      return { how, name: '', settings: settingsFor(dims) }
    case 'sound':
      return { how, name: '', samples: new Float32Array(), rate: 16_000 }
    default:
      return { how: how as 'zeros' }
  }
}

function Input({ field }: { readonly field: InputField }) {
  const { name, type, dims } = field
  const filling = fillings.value.get(name) ?? { how: 'zeros' }
  const set = (next: Filling): void => {
    fillings.value = new Map([...fillings.value, [name, next]])
  }
  const id = `fill-${name}`
  return (
    <div class="input">
      <label for={id}>
        <code>{name}</code>
        <small>
          {type} {dims || 'scalar'}
        </small>
      </label>
      <select id={id} value={filling.how} onChange={({ currentTarget }) => set(fillingOf(currentTarget.value, field))}>
        {HOWS.map(how => (
          <option key={how} value={how}>
            {how}
          </option>
        ))}
      </select>
      <More field={field} filling={filling} set={set} />
    </div>
  )
}

interface MoreProps {
  readonly field: InputField
  readonly filling: Filling
  readonly set: (filling: Filling) => void
}

/** What else is asked for a way of filling. */
function More({ field, filling, set }: MoreProps) {
  switch (filling.how) {
    case 'random':
      return (
        <label class="seed">
          seed
          <input
            type="number"
            value={seed.value}
            onInput={({ currentTarget }) => (seed.value = currentTarget.valueAsNumber || 0)}
          />
        </label>
      )
    case 'literal':
      return (
        <textarea
          aria-label={`Literal for ${field.name}`}
          rows={2}
          value={filling.text}
          placeholder="[[1, 2], [3, 4]]"
          onInput={({ currentTarget }) => set({ how: 'literal', text: currentTarget.value })}
        />
      )
    case 'picture':
      return <PictureInput field={field} filling={filling} set={set} />
    case 'sound':
      return <SoundInput field={field} filling={filling} set={set} />
    case 'file':
      return <FileInput field={field} filling={filling} set={set} />
    default:
      return null
  }
}

function FileInput({ field, filling, set }: MoreProps) {
  return (
    <>
      <input
        type="file"
        accept=".npy,.npz,.pb,.json"
        aria-label={`File for ${field.name}`}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          if (file)
            void file.arrayBuffer().then(bytes => set({ how: 'file', name: file.name, bytes: new Uint8Array(bytes) }))
        }}
      />
      {filling.how === 'file' && filling.name !== '' && <p class="note small">From {filling.name}</p>}
    </>
  )
}
