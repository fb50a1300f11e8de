import type { Tensor } from '../tensor/tensor.ts'
import { WORK_PER_YIELD } from './elementwise.ts'
import type { Positions } from './indices.ts'
import { copyUnits, type UnitArray, unitsOfBoth } from './units.ts'

/** How Gather sees its data: `[batch, outer, size, inner]`, and its indices: `[batch, count]`. */
export interface GatherLayout {
  readonly batch: number
  readonly outer: number
  readonly size: number
  readonly inner: number
  readonly count: number
}

/**
 * `out[b, o, i, …] = data[b, o, positions[b, i], …]`; position -1 leaves the (zeroed) output as it is.
 */
export function* gatherBlocks(data: Tensor, positions: Positions, out: Tensor, layout: GatherLayout): Generator<void> {
  const { batch, outer, size, inner, count } = layout
  if (out.data.length === 0) return
  const { from, to, per } = unitsOfBoth(data, out)
  const block = inner * per
  const turn = Math.max(1, Math.floor(WORK_PER_YIELD / block))
  let target = 0
  let moved = 0
  for (let b = 0; b < batch; b++) {
    for (let o = 0; o < outer; o++) {
      const base = (b * outer + o) * size
      for (let start = 0; start < count; start += turn) {
        const end = Math.min(count, start + turn)
        moveBlocks(from, base, positions, b * count + start, b * count + end, to, target, block)
        target += (end - start) * block
        moved += (end - start) * block
        if (moved < WORK_PER_YIELD) continue
        moved = 0
        yield
      }
    }
  }
}

/** `out[t] = data[offsets[t]]` for blocks of `inner` elements; offsets count blocks, -1 leaves the (zeroed) output as it is. */
export const gatherOffsets = (data: Tensor, offsets: Positions, out: Tensor, inner: number): Generator<void> =>
  gatherBlocks(data, offsets, out, { batch: 1, outer: 1, size: 0, inner, count: offsets.length })

/** Copies the blocks at `base + positions[start … end-1]` to `target`, one after the other. */
function moveBlocks(
  from: UnitArray, base: number, positions: Positions, start: number, end: number, to: UnitArray, target: number, block: number
): void {
  if (block === 1 && !Array.isArray(from)) {
    for (let i = start; i < end; i++, target++) {
      const position = positions[i]
      if (position >= 0) to[target] = from[base + position]
    }
  } else if (block === 2 && !Array.isArray(from)) {
    for (let i = start; i < end; i++, target += 2) {
      const position = positions[i]
      if (position < 0) continue
      const at = 2 * (base + position)
      to[target] = from[at]
      to[target + 1] = from[at + 1]
    }
  } else {
    for (let i = start; i < end; i++, target += block) {
      const position = positions[i]
      if (position >= 0) copyUnits(from, (base + position) * block, to, target, block)
    }
  }
}
