import { openAddress } from '../state/actions.ts'
import * as store from '../state/store.ts'
import { OpenButton } from './Open.tsx'

/** The package's own models: small, and each shows something. */
const GALLERY = [
  ['wrong-dim.xml', 'A false dim', 'A gather whose output port declares what cannot be true.'],
  ['decoder.onnx', 'A text decoder', 'Attention with a cache, two layers, named dims to play with.'],
  ['decoder.xml', 'The same as IR', 'As OpenVINO writes it, with its constants in a .bin.'],
  ['language.onnx', 'A language model', 'A classifier of text, with strings as inputs.'],
  ['palette.onnx', 'A gather', 'Colours by index: run it and see which rows it takes.'],
  ['iris.onnx', 'Trees', 'A classifier over tables, with a map as output.']
] as const

/** Opens a model at an address. For another host the page loads anew, with a policy that lets it reach that host. */
function openAt(text: string): void {
  const address = new URL(text, document.baseURI)
  const isReachable = address.origin === location.origin || new URLSearchParams(location.search).get('url') === text
  if (isReachable) void openAddress(text)
  else location.search = `?url=${encodeURIComponent(address.href)}`
}

/** The first screen: where a model comes in. */
export function Start() {
  const isLoading = store.phase.value === 'loading'
  return (
    <main class="start">
      <h1>See what a model says, and what is true of it.</h1>
      <p class="lead">Its graph, every shape worked out, what is declared falsely, and the values that flow through.</p>
      <section class="well" aria-label="Open a model" aria-busy={isLoading}>
        <p>
          Drop <b>.onnx</b> files with their data, <b>.xml</b> with its <b>.bin</b>, or a folder
        </p>
        <OpenButton isMain />
        <form
          onSubmit={event => {
            event.preventDefault()
            const text = String(new FormData(event.currentTarget).get('address')).trim()
            if (URL.canParse(text, document.baseURI) && text !== '') openAt(text)
          }}
        >
          <input
            name="address"
            type="text"
            inputMode="url"
            placeholder="https://…/model.onnx"
            aria-label="Address of a model"
          />
          <button type="submit" class="plain">
            Open address
          </button>
        </form>
      </section>
      <section aria-label="Examples">
        <h2>Or look at one of these</h2>
        <ul class="gallery">
          {GALLERY.map(([file, title, what]) => (
            <li key={file}>
              <button type="button" onClick={() => void openAddress(`./models/${file}`)}>
                <b>{title}</b>
                <span>{what}</span>
                <code>{file}</code>
              </button>
            </li>
          ))}
        </ul>
      </section>
      <p class="promise">
        Nothing is uploaded. Models are read in this page, and its policy closes the network but for this host and an
        address that you open.
      </p>
    </main>
  )
}
