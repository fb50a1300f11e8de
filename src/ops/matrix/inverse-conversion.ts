import { fail } from '../../errors.ts'
import { gathered, swappedLast, transposed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { div, mul, wideType } from '../../op-kit/conversion-parts.ts'
import { dimsOf, type Made, rankOf, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'

/** Rows of a matrix whose inverse is written by its minors: their number grows with the square. */
const MAX_ROWS = 16

/** The inverse by Cramer's rule: determinants of all minors with their signs, divided by that of the matrix. */
export function inverseToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x)
  const size = dimsOf(x)[rank - 1]
  if (typeof size !== 'number' || size > MAX_ROWS)
    return fail('unsupported-op', `the number of rows is not known before the model runs, or above ${MAX_ROWS}`)
  const type = typeOf(x)
  const own = wideType(type)
  const matrix = w.cast(x, own)
  if (size === 1) return [w.cast(div(w, w.scalar(own, 1), matrix), type)]
  // The others of each row or column: [size, size - 1].
  const others = w.constant(
    'int64',
    upTo(size).flatMap(left => upTo(size).filter(at => at !== left)),
    [size, size - 1]
  )
  const rows = gathered(w, matrix, others, rank - 2)
  const minors = gathered(w, rows, others, rank)
  const order = [...upTo(rank - 2), rank - 2, rank, rank - 1, rank + 1]
  const determinants = w.node('Det', [transposed(w, minors, order)])
  const signs = upTo(size * size).map(at => ((Math.floor(at / size) + (at % size)) % 2 === 0 ? 1 : -1))
  const cofactors = mul(w, determinants, w.constant(own, signs, [size, size]))
  const whole = unsqueezed(w, w.node('Det', [matrix]), [rank - 2, rank - 1])
  const adjugate = call.param<boolean>('adjoint') ? cofactors : swappedLast(w, cofactors)
  return [w.cast(div(w, adjugate, whole), type)]
}
