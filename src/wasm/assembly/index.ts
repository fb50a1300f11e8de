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

/**
 * Computes the next tile of a job.
 * @param isNew for kernels that remember what lies in the scratch memory; those of this module do not
 * @returns false where no tile was left, and where the kernel has stopped
 */
export function step(job: Job, scratch: usize, isNew: bool): bool {
  return computeTile(job, scratch, takeTile(job))
}

/** Computes tiles until none is left: for a worker, which has entered the job and taken its first tile. */
export function join(job: Job, scratch: usize, first: i32): void {
  for (let tile = first; computeTile(job, scratch, tile); tile = takeTile(job));
  leave(job)
}

function computeTile(job: Job, scratch: usize, tile: i32): bool {
  if (tile < 0) return false
  const isStopped = run(job, scratch, firstBlock(job, tile), min(job.blocks, firstBlock(job, tile + 1)))
  if (isStopped) stop(job)
  return !isStopped
}
