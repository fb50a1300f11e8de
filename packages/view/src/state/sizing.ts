import { CallFailure } from '../worker/rpc.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

let wanted: ReadonlyMap<string, number> | undefined
let isUnderWay = false

/** Sets open dims; all shapes follow. While one answer is worked out only the latest wish waits. */
export async function setSizes(sizes: ReadonlyMap<string, number>): Promise<void> {
  store.sizes.value = sizes
  wanted = sizes
  if (isUnderWay) return
  isUnderWay = true
  while (wanted) {
    const now: ReadonlyMap<string, number> = wanted
    wanted = undefined
    try {
      store.facts.value = now.size === 0 ? store.ownFacts.value : await workers().engine.call.facts(now)
    } catch (error) {
      // A size that cannot be must not keep the next one from being worked out.
      if (error instanceof CallFailure) store.failure.value = error.failure
    }
  }
  isUnderWay = false
}
