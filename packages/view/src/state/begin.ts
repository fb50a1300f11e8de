import { followLink, openAddress, openFiles } from './actions.ts'
import { filesOf } from './files.ts'
import { listenToRuns } from './running.ts'

/** What `nodewise view` serves beside the page, where it was given a model. */
interface Served {
  readonly main: string
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** What the page does once: it takes files that are dropped anywhere, and opens what its address names. */
export function begin(): void {
  listenToRuns()
  addEventListener('dragover', event => event.preventDefault())
  addEventListener('drop', event => {
    event.preventDefault()
    delete document.documentElement.dataset.dragging
    if (event.dataTransfer) void filesOf(event.dataTransfer).then(files => openFiles(files))
  })
  addEventListener('dragenter', () => {
    document.documentElement.dataset.dragging = ''
  })
  addEventListener('dragleave', event => {
    if (!event.relatedTarget) delete document.documentElement.dataset.dragging
  })
  addEventListener('hashchange', followLink)
  const asked = new URLSearchParams(location.search)
  const url = asked.get('url')
  if (asked.has('served')) void openServed()
  else if (url !== null) void openAddress(url)
}

async function openServed(): Promise<void> {
  const response = await fetch(new URL('model.json', document.baseURI))
  if (!response.ok) return
  const { main, files } = (await response.json()) as Served
  await openFiles(
    files.map(({ path, size }) => ({
      path,
      content: {
        url: new URL(`model/${path.split('/').map(encodeURIComponent).join('/')}`, document.baseURI).href,
        size
      }
    })),
    main
  )
}
