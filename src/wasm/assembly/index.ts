import { ElementsArguments, RowsArguments, TreeArguments, TuplesArguments } from './gather/arguments'
import { gatherColumns, gatherElements } from './gather/elements'
import { gatherRows } from './gather/rows'
import { gatherTree } from './gather/tree'
import { gatherTuples } from './gather/tuples'
import { Job } from './job'
import { firstBlock, leave, stop, takeTile } from './scheduler'

export { zero } from './memory'
export { enter } from './scheduler'

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
    case 4:
      return gatherTree(changetype<TreeArguments>(job.args), from, to)
    default:
      unreachable()
      return true
  }
}

/** Computes tiles of a job until none is left, or until a kernel has stopped. */
export function work(job: Job, scratch: usize): void {
  workFrom(job, scratch, takeTile(job))
}

/** {@link work} for a worker, which has entered the job and taken its first tile. */
export function join(job: Job, scratch: usize, first: i32): void {
  workFrom(job, scratch, first)
  leave(job)
}

function workFrom(job: Job, scratch: usize, first: i32): void {
  for (let tile = first; tile >= 0; tile = takeTile(job)) {
    const from = firstBlock(job, tile)
    if (run(job, scratch, from, min(job.blocks, firstBlock(job, tile + 1)))) return stop(job)
  }
}
