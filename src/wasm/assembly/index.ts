import { ElementsArguments, RowsArguments, TreeArguments, TuplesArguments } from './gather/arguments'
import { gatherColumns, gatherElements } from './gather/elements'
import { gatherRows } from './gather/rows'
import { gatherTree } from './gather/tree'
import { gatherTuples } from './gather/tuples'
import { Job } from './job'

export { zero } from './memory'

/** Value of `next` while no tile may be taken: above every limit. */
const CLOSED = 1 << 30

/**
 * Computes the blocks `from … to-1` of a job. The numbers of the kernels are those of `KERNELS` in ../wasm.ts.
 * @param scratch memory that belongs to the calling thread
 * @returns whether the kernel stopped at a value that it cannot serve
 */
export function run(job: Job, scratch: usize, from: u32, to: u32): bool {
  switch (job.kernel) {
    case 0:
      return gatherRows(changetype<RowsArguments>(job.args), scratch, from, to)
    case 1:
      return gatherElements(changetype<ElementsArguments>(job.args), from, to)
    case 2:
      return gatherColumns(changetype<ElementsArguments>(job.args), scratch, from, to)
    case 3:
      return gatherTuples(changetype<TuplesArguments>(job.args), scratch, from, to)
    default:
      return gatherTree(changetype<TreeArguments>(job.args), from, to)
  }
}

/** Takes tiles one after the other until none is left, or until a kernel has stopped. */
export function work(job: Job, scratch: usize): void {
  const next = changetype<usize>(job) + offsetof<Job>('next')
  for (;;) {
    const tile = atomic.add<i32>(next, 1)
    if (tile >= job.limit) return
    const from = <u32>tile * job.tile
    if (run(job, scratch, from, min(job.blocks, from + job.tile))) {
      atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('failed'), 1)
      atomic.store<i32>(next, CLOSED)
      return
    }
  }
}

/**
 * {@link work} for a worker, where the job admits one more. A worker never sees half-written fields: the main thread
 * opens a job after writing all of it, and writes the next one when no worker is active.
 */
export function join(job: Job, scratch: usize): void {
  const active = changetype<usize>(job) + offsetof<Job>('active')
  atomic.add<i32>(active, 1)
  if (atomic.sub<i32>(changetype<usize>(job) + offsetof<Job>('admitted'), 1) > 0) work(job, scratch)
  if (atomic.sub<i32>(active, 1) == 1) atomic.notify(active, 1)
}
