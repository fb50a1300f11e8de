import { batch } from '@preact/signals'
import { CallFailure } from '../worker/rpc.ts'
import type { GivenFile } from '../worker/sources.ts'
import { modelAmong } from './files.ts'
import { requestOf } from './running.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

/** Compares the open model with another on the inputs of the run, and shows the error on the graph. */
export async function compareWith(files: readonly GivenFile[]): Promise<void> {
  const main = modelAmong(files)
  if (!main) return
  store.failure.value = undefined
  store.busy.value = `Comparing with ${main.path}`
  try {
    const found = await workers().engine.call.compare(files, main.path, requestOf(false))
    batch(() => {
      store.compared.value = found
      store.heat.value = found.equal ? 'none' : 'error'
    })
  } catch (error) {
    store.failure.value =
      error instanceof CallFailure ? error.failure : { code: 'internal', message: String(error), place: '' }
  } finally {
    store.busy.value = ''
  }
}
