import { type Positions, reportIndex } from './indices.ts'

/** Numbers of any type; 64-bit integers stay exact. */
export type Integers = ArrayLike<number> | ArrayLike<bigint>

/**
 * Follows the parents of beam search backwards: for each element of `[time, batch, beam]` the offset of the step that belongs
 * to it, -1 where the sequence has ended.
 * @param parents `[time, batch, beam]`
 * @param lengths `[batch]`; a length above the number of steps counts as that, one that is not positive ends the sequence at once
 * @throws NodewiseError `index-out-of-range` for the first parent followed that is no beam, by batch, beam, then time backwards
 */
export function followBeams(parents: Integers, lengths: Integers, [steps, batches, beams]: readonly number[]): Positions {
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
export function endSequences(offsets: Positions, ids: Integers, end: number | bigint, [steps, batches, beams]: readonly number[]): void {
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
