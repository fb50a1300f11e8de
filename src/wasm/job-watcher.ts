import type { NumericArray } from '../tensor/dtype.ts'
import type { KernelName } from './wasm.ts'

/** What of a job stays the same where it runs again with the same arrays. */
export interface WatchedJob {
  readonly kernel: KernelName
  readonly blocks: number
  readonly args: readonly number[]
}

/** Is told of the jobs that run. */
export interface JobWatcher {
  /** The calling thread has run a job, `tile` blocks at a time. */
  ran(job: WatchedJob, tile: number, inputs: readonly NumericArray[], out: NumericArray): void
  /** A job runs in another way: in pieces, or by several threads. */
  missed(): void
}

let watcher: JobWatcher | undefined

export const jobWatcher = (): JobWatcher | undefined => watcher

/** Does something, jobs of which a watcher is told. */
export function watchingJobs(by: JobWatcher, act: () => void): void {
  watcher = by
  try {
    act()
  } finally {
    watcher = undefined
  }
}
