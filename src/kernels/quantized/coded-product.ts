import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { readNumbers, targetOf } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import { matrix } from '../matrix/gemm.ts'
import { type CodedRows, multiplyCoded } from './packed.ts'

/**
 * `out = a weights^T + bias`, or without the transposition. `a` and `out` are matrices whose rows are all dims but the
 * last.
 * @param out zeros
 */
export function* productWithCoded(
  a: Tensor,
  weights: CodedRows,
  isTransposed: boolean,
  bias: Tensor | undefined,
  out: Tensor
): Generator<void> {
  if (out.data.length === 0) return
  const [columns, inner] = [out, a].map(({ dims }) => dims[dims.length - 1])
  const target = targetOf(out)
  if (bias) yield* fillRows(yield* readNumbers(bias), target.numbers)
  const [left, result] = [matrix(yield* readNumbers(a), 0, inner), matrix(target.numbers, 0, columns)]
  yield* multiplyCoded(left, out.data.length / columns, weights, isTransposed, result, new Pace())
  yield* target.finish()
}

/** Writes a list to every row of a matrix of as many columns. */
const fillRows = (row: Numbers, out: Numbers): Generator<void> =>
  inChunks(
    out.length / row.length,
    (from, to) => {
      for (let i = from; i < to; i++) out.set(row, i * row.length)
    },
    COST.element * row.length
  )
