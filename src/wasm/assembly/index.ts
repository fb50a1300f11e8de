import { gatherBeams } from './beams'
import { gatherColumns, gatherElements } from './elements'
import { Job } from './job'
import { gatherRows } from './rows'
import { gatherTuples } from './tuples'

export { zero } from './memory'

/** What `next` is while no tile may be taken: above every limit. */
const CLOSED = 1 << 30

/**
 * Computes the blocks `from … to-1` of a job.
 * @param scratch memory of the calling thread's own
 * @returns whether an index is out of range
 */
export function run(job: Job, scratch: usize, from: u32, to: u32): bool {
  switch (job.kernel) {
    case 0:
      return gatherRows(job, scratch, from, to)
    case 1:
      return gatherElements(job, from, to)
    case 2:
      return gatherColumns(job, scratch, from, to)
    case 3:
      return gatherTuples(job, scratch, from, to)
    default:
      return gatherBeams(job, from, to)
  }
}

/** Takes tiles one after the other until none is left, or an index is out of range. */
export function work(job: Job, scratch: usize): void {
  const next = changetype<usize>(job) + offsetof<Job>('next')
  for (;;) {
    const tile = atomic.add<i32>(next, 1)
    if (tile >= job.limit) return
    const from = <u32>tile * job.tile
    if (run(job, scratch, from, min(job.blocks, from + job.tile))) {
      atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('bad'), 1)
      atomic.store<i32>(next, CLOSED)
      return
    }
  }
}

/**
 * {@link work} for a worker, if there is a seat for it. What it reads of the job is whole: the main thread opens a job
 * when all is written,
 * and writes the next one when nobody is active.
 */
export function join(job: Job, scratch: usize): void {
  const active = changetype<usize>(job) + offsetof<Job>('active')
  atomic.add<i32>(active, 1)
  if (atomic.sub<i32>(changetype<usize>(job) + offsetof<Job>('seats'), 1) > 0) work(job, scratch)
  if (atomic.sub<i32>(active, 1) == 1) atomic.notify(active, 1)
}
