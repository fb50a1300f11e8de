import { current } from '../graph/viewing.ts'
import type { SavedFile } from '../worker/engine.ts'
import type { ReportRequest } from '../worker/reporting.ts'
import { whileBusy } from './busy.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

/** Gives a file to the user. */
function save(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const saveAll = (what: string, work: () => Promise<readonly SavedFile[]>): Promise<void> =>
  whileBusy(what, async () => {
    for (const { name, content } of await work()) save(name, content)
  })

/** The model in another format. */
export const saveConverted = (suffix: '.onnx' | '.xml' | '.onnxtxt'): Promise<void> =>
  saveAll(`Writing ${suffix}`, () => workers().engine.call.converted(suffix))

/** A picture of what is seen of the graph. */
export async function savePicture(kind: 'svg' | 'png'): Promise<void> {
  const name = (store.opened.value?.overview.file.split('/').at(-1) ?? 'graph').replace(/\.[^.]*$/, '')
  const picture =
    kind === 'svg' ? new Blob([current.value?.svg() ?? ''], { type: 'image/svg+xml' }) : await current.value?.png()
  if (picture) save(`${name}.${kind}`, picture)
}

/** The values of the last run that were kept. */
export const saveValues = (): Promise<void> =>
  saveAll('Writing values.npz', async () => [await workers().engine.call.values()])

/** The model and what is seen of it as one page. */
export const saveReport = (request: ReportRequest): Promise<void> =>
  saveAll('Writing the report', async () => [await workers().engine.call.reported(request)])

/** The model with true declarations. */
export const saveFixed = (): Promise<void> =>
  saveAll('Writing the model with true shapes', async () => (await workers().engine.call.fixed()).files)
