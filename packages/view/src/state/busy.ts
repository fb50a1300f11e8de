import { CallFailure } from '../worker/rpc.ts'
import * as store from './store.ts'

/** Does work while the page says what it waits for. What goes wrong is shown; the page goes on. */
export async function whileBusy(what: string, work: () => Promise<void>): Promise<void> {
  store.failure.value = undefined
  store.busy.value = what
  try {
    await work()
  } catch (error) {
    store.failure.value =
      error instanceof CallFailure ? error.failure : { code: 'internal', message: String(error), place: '' }
  } finally {
    store.busy.value = ''
  }
}
