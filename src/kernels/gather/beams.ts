import type { DType } from '../../tensor/dtype.ts'
import { is64BitInteger } from '../../tensor/dtype.ts'
import { toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap } from '../../wasm/heap.ts'
import { bytesOf, type NumericArray, runJob } from '../../wasm/jobs.ts'
import { gatherOffsets } from './gather.ts'
import { type Positions, reportIndex } from './indices.ts'

/** Numbers of any type; 64-bit integers stay exact. */
export type Integers = ArrayLike<number> | ArrayLike<bigint>

/** Types that the accelerated kernel computes with, by their number in assembly/beams.ts. */
const KERNEL_TYPES: Partial<Record<DType, number>> = { float32: 0, int32: 1, int64: 2, float64: 3 }
/** Fewer are followed before a job is set up. */
const MIN_ELEMENTS = 4096
/** Elements that are followed between two looks at the clock. */
const TILE_ELEMENTS = 1 << 14

export interface BeamSearch {
  /** `[time, batch, beam]`. */
  readonly stepIds: Tensor
  readonly parentIds: Tensor
  /** `[batch]`. */
  readonly maxSeqLen: Tensor
  /** A scalar. */
  readonly endToken: Tensor
}

/**
 * GatherTree: the sequences of beam search, read back from the last step to the first.
 * @throws NodewiseError `index-out-of-range`, see {@link followBeams}
 */
export function* gatherBeams(search: BeamSearch, out: Tensor, threads: number): Generator<void> {
  if (yield* accelerated(search, out, threads)) return
  const { stepIds, parentIds, maxSeqLen, endToken } = search
  const offsets = followBeams(numbersOf(parentIds), numbersOf(maxSeqLen), parentIds.dims)
  endSequences(offsets, numbersOf(stepIds), numbersOf(endToken)[0], stepIds.dims)
  yield* gatherOffsets(stepIds, offsets, out, 1)
  const [end] = endToken.data
  offsets.forEach((offset, i) => {
    if (offset < 0) out.data[i] = end
  })
}

/** The numbers of a tensor; 64-bit integers as they are. */
export const numbersOf = (tensor: Tensor): Integers =>
  is64BitInteger(tensor.type) ? (tensor.data as BigInt64Array) : toNumbers(tensor)

/** Runs the accelerated kernel on copies of what does not lie on the heap: each beam jumps about in all of it. */
function* accelerated(
  { stepIds, parentIds, maxSeqLen, endToken }: BeamSearch,
  out: Tensor,
  threads: number
): Generator<void, boolean> {
  const wide = KERNEL_TYPES[stepIds.type]
  if (wide === undefined || out.data.length < MIN_ELEMENTS) return false
  const copies: Uint8Array[] = []
  const placed = (tensor: Tensor): NumericArray | undefined => {
    const array = tensor.data as NumericArray
    if (isOnHeap(array)) return array
    const copy = heapAllocate(array.byteLength, { zero: false })
    if (copy === undefined) return undefined
    copy.set(bytesOf(array))
    copies.push(copy)
    return copy
  }
  try {
    const [data, parents, lengths, end] = [stepIds, parentIds, maxSeqLen, endToken].map(placed)
    if (data === undefined || parents === undefined || lengths === undefined || end === undefined) return false
    const [count, blocks, inner] = stepIds.dims
    const result = yield* runJob(
      {
        kernel: 'beams',
        data,
        indices: new Int32Array(parents.buffer, parents.byteOffset),
        out: out.data as NumericArray,
        wide,
        blocks,
        count,
        inner,
        policy: { negative: 'error', outOfRange: 'error' },
        width: (out.data as NumericArray).BYTES_PER_ELEMENT,
        tile: Math.max(1, Math.floor(TILE_ELEMENTS / (count * inner))),
        axisStride: lengths.byteOffset,
        rowStride: end.byteOffset,
        scattered: true
      },
      threads
    )
    return result === 'done'
  } finally {
    copies.forEach(heapFree)
  }
}

/**
 * Follows the parents of beam search backwards: for each element of `[time, batch, beam]` the offset of the step that
 * belongs
 * to it, -1 where the sequence has ended.
 * @param parents `[time, batch, beam]`
 * @param lengths `[batch]`; a length above the number of steps counts as that, one that is not positive ends the
 *   sequence at once
 * @throws NodewiseError `index-out-of-range` for the first parent followed that is no beam, by batch, beam, then time
 *   backwards
 */
export function followBeams(
  parents: Integers,
  lengths: Integers,
  [steps, batches, beams]: readonly number[]
): Positions {
  const offsets = new Int32Array(parents.length).fill(-1)
  if (offsets.length === 0) return offsets
  for (let batch = 0; batch < batches; batch++) {
    const length = Math.min(steps, Math.trunc(Number(lengths[batch])))
    for (let beam = 0; beam < beams; beam++) {
      let from = beam
      for (let time = length - 1; time >= 0; time--) {
        const row = (time * batches + batch) * beams
        offsets[row + beam] = row + from
        if (time === 0) break
        const parent = Number(parents[row + from])
        if (!Number.isInteger(parent) || parent < 0 || parent >= beams) {
          reportIndex(String(parents[row + from]), [time, batch, from], 2, beams)
        }
        from = parent
      }
    }
  }
  return offsets
}

/** Ends each sequence after its first `end`: later offsets become -1. */
function endSequences(
  offsets: Positions,
  ids: Integers,
  end: number | bigint,
  [steps, batches, beams]: readonly number[]
): void {
  if (offsets.length === 0) return
  const width = batches * beams
  for (let sequence = 0; sequence < width; sequence++) {
    let ended = false
    for (let time = 0; time < steps; time++) {
      const at = time * width + sequence
      if (ended) offsets[at] = -1
      else ended = offsets[at] >= 0 && ids[offsets[at]] === end
    }
  }
}
