import { fail } from '../../errors.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { copyArray } from '../../tensor/arrays.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { copyStrided } from './copy-strided.ts'
import { COST, Pace } from './pace.ts'

/** @throws NodewiseError `value-out-of-range` */
export const failEmpty = (): never =>
  fail('value-out-of-range', 'the sequence is empty; there is nothing to put together')

/**
 * Concatenates tensors along `axis`, or stacks them along a new axis. Tensors of rank 0 are concatenated to rank 1.
 * @param parts at least one
 * @param what name of a part in messages
 * @param allocate makes the result
 * @throws NodewiseError `type-mismatch`, `rank-mismatch`, `dims-mismatch` when they do not fit together,
 *   `axis-out-of-range`
 */
export function* joinTensors(
  parts: readonly Tensor[],
  axis: number,
  stacks: boolean,
  what: string,
  allocate: (dims: readonly number[], type: DType) => Tensor
): Generator<void> {
  const [first] = parts
  const rank = first.dims.length
  const at = stacks ? normalizeAxis(axis, rank + 1) : rank === 0 ? 0 : normalizeAxis(axis, rank)
  const grows = !stacks && rank > 0
  let total = 0
  for (let i = 0; i < parts.length; i++) {
    checkFit(first, parts[i], i, grows ? at : -1, what)
    total += grows ? parts[i].dims[at] : 1
  }
  const dims = grows ? first.dims.with(at, total) : first.dims.toSpliced(at, 0, total)
  const out = allocate(dims, first.type)
  const outer = product(dims, 0, at)
  const inner = product(dims, at + 1)
  let offset = 0
  const pace = new Pace()
  const { data } = out
  if (outer === 1 && !Array.isArray(data)) {
    // One part lies behind the other.
    for (const part of parts) {
      copyArray(part.data as NumericArray, data, offset)
      offset += part.data.length
      if (pace.isDue(COST.allocation + part.data.length * COST.copy)) yield
    }
    return
  }
  for (const part of parts) {
    const block = (grows ? part.dims[at] : 1) * inner
    yield* copyStrided(
      part,
      out,
      [
        { count: outer, from: block, to: total * inner },
        { count: block, from: 1, to: 1 }
      ],
      0,
      offset
    )
    offset += block
    if (pace.isDue(3 * COST.allocation + outer * block * COST.copy)) yield
  }
}

/** Checks that `part` number `i` has the type and dims of the first one; dim `free` may differ (-1: none). */
function checkFit(first: Tensor, part: Tensor, i: number, free: number, what: string): void {
  if (part === first) return
  if (part.type !== first.type) {
    fail('type-mismatch', `${what} 0 has type ${first.type} and ${what} ${i} ${part.type}; they must be the same`)
  }
  if (part.dims.length !== first.dims.length) {
    fail(
      'rank-mismatch',
      `${what} 0 has rank ${first.dims.length} and ${what} ${i} ${part.dims.length}; they must be the same`
    )
  }
  for (let d = 0; d < part.dims.length; d++) {
    if (d === free || part.dims[d] === first.dims[d]) continue
    const given = `${what} 0 has dims [${first.dims.join(', ')}] and ${what} ${i} [${part.dims.join(', ')}]`
    fail('dims-mismatch', `${given}; they do not fit together`)
  }
}
