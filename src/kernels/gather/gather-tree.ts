import type { Tensor } from '../../tensor/tensor.ts'
import { comparable, type Comparable } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { gatherOffsets } from './gather.ts'
import { reportIndex } from './indices.ts'

/** The operands of GatherTree. */
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
export function* gatherBeams({ stepIds, parentIds, maxSeqLen, endToken }: BeamSearch, out: Tensor): Generator<void> {
  const offsets = yield* followBeams(comparable(parentIds), comparable(maxSeqLen), parentIds.dims)
  yield* endSequences(offsets, comparable(stepIds), comparable(endToken)[0], stepIds.dims)
  yield* gatherOffsets(stepIds, offsets, out, 1)
  const [end] = endToken.data
  yield* inChunks(offsets.length, (from, to) => {
    for (let i = from; i < to; i++) if (offsets[i] < 0) out.data[i] = end
  })
}

/**
 * Follows the parents of beam search backwards.
 * @param parents `[time, batch, beam]`
 * @param lengths `[batch]`; a length above the number of steps counts as that number, one that is not positive ends the
 *   sequence at once
 * @returns for each element of `[time, batch, beam]` the offset of the id that belongs there; -1 after the end of the
 *   sequence
 * @throws NodewiseError `index-out-of-range` for a parent that is no beam: the first one met by batch, beam, then time
 *   backwards
 */
export function* followBeams(
  parents: Comparable,
  lengths: Comparable,
  [steps, batches, beams]: readonly number[]
): Generator<void, Positions> {
  const offsets = new Int32Array(parents.length).fill(-1)
  if (offsets.length === 0) return offsets
  const pace = new Pace()
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
      if (pace.isDue(steps * COST.element)) yield
    }
  }
  return offsets
}

/** Ends each sequence after its first `end` token: later offsets become -1. */
function* endSequences(
  offsets: Positions,
  ids: Comparable,
  end: number | bigint,
  [steps, batches, beams]: readonly number[]
): Generator<void> {
  if (offsets.length === 0) return
  const width = batches * beams
  const pace = new Pace()
  for (let sequence = 0; sequence < width; sequence++) {
    let ended = false
    for (let time = 0; time < steps; time++) {
      const at = time * width + sequence
      if (ended) offsets[at] = -1
      else ended = offsets[at] >= 0 && ids[offsets[at]] === end
    }
    if (pace.isDue(steps * COST.element)) yield
  }
}
