import type { NumericArray } from '../tensor/dtype.ts'
import type { DividedJob } from './shared-jobs.ts'

/** What of a job stays the same where it runs again with the same arrays. */
export interface WatchedJob extends DividedJob {
  readonly args: readonly number[]
}

/** Is told of the jobs that run. */
export interface JobWatcher {
  /** A job has run whose output lies on the heap; inputs lie there, or may be copied to it as they are. */
  ran(job: WatchedJob, inputs: readonly NumericArray[], out: NumericArray): void
  /** A job has run in another way, or a kernel does more than run jobs. */
  missed(): void
  /** Memory on the heap for what jobs of a kernel hand on, which stays as they do; undefined where there is none. */
  take(bytes: number): Uint8Array | undefined
}

let watcher: JobWatcher | undefined

export const jobWatcher = (): JobWatcher | undefined => watcher

/** Does something, jobs of which a watcher is told. */
export function watchingJobs<R>(by: JobWatcher, act: () => R): R {
  watcher = by
  try {
    return act()
  } finally {
    watcher = undefined
  }
}
