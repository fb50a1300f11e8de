import type { BeamSearch } from '../../kernels/gather/gather-tree.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { elementCount } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'

/** Types that the kernel computes with, by their number in ../assembly/gather/tree.ts. */
const ELEMENT_TYPES: Partial<Record<DType, number>> = { float32: 0, int32: 1, int64: 2, float64: 3 }
/** Elements below which setting up a job costs more than it gains. */
const MIN_ELEMENTS = 4096
/** Elements of a tile. */
const TILE_ELEMENTS = 1 << 14
/** Work of following a beam over one step, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 16

/** GatherTree: the arguments are those of TreeArguments in ../assembly/gather/arguments.ts. */
export function gatherTreeJobs({ stepIds }: BeamSearch): readonly JobTemplate[] {
  const type = ELEMENT_TYPES[stepIds.type]
  const count = elementCount(stepIds.dims)
  if (type === undefined || count < MIN_ELEMENTS) return []
  const [steps, batches, beams] = stepIds.dims
  // A beam reads anywhere in ids and parents, and writes a column of the output: all are staged whole.
  const whole = { staging: 'whole' } as const
  return [
    {
      kernel: 'tree',
      blocks: batches,
      blockBytes: steps * beams * (stepIds.data as NumericArray).BYTES_PER_ELEMENT,
      tile: Math.max(1, Math.floor(TILE_ELEMENTS / (steps * beams))),
      work: count * ELEMENT_WORK,
      inputs: [whole, whole, whole, whole],
      args: [type, steps, batches, beams]
    }
  ]
}
