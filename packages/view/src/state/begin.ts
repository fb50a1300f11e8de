import type { GivenFile } from '../worker/sources.ts'
import { followLink, openAddress, openFiles, openReport } from './actions.ts'
import { followPairs } from './comparing.ts'
import { filesOf } from './files.ts'
import { listenToRuns } from './running.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

interface ServedFile {
  readonly path: string
  readonly size: number
}

/** What `nodewise view` serves beside the page, where it was given a model. */
interface Served {
  readonly main: string
  readonly files: readonly ServedFile[]
  readonly report?: ServedFile
}

/** What the page does once: it takes files that are dropped anywhere, and opens what its address names. */
export function begin(): void {
  // They take a moment to start: that is over before a user has chosen a file.
  workers()
  listenToRuns()
  followPairs()
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
  const { main, files, report } = (await response.json()) as Served
  await openFiles(
    files.map(file => servedFile('model', file)),
    main
  )
  if (report && store.opened.value) await openReport(servedFile('report', report))
}

const servedFile = (folder: 'model' | 'report', { path, size }: ServedFile): GivenFile => {
  const way = [folder, ...path.split('/').map(encodeURIComponent)].join('/')
  return { path, content: { url: new URL(way, document.baseURI).href, size } }
}
