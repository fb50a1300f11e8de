import { convert } from '../../tensor/convert.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { allocate, type Tensor, withDims } from '../../tensor/tensor.ts'
import { convertedPaced } from '../core/convert-paced.ts'
import { binary } from '../core/elementwise.ts'
import { ADD, MULTIPLY, SUBTRACT } from '../elementwise/binary.ts'
import { matmul, type Transposes } from '../matrix/matmul.ts'

/** A factor of a product of quantized matrices. */
export interface QuantizedFactor {
  readonly codes: Tensor
  /**
   * Zero points: one for all, a list of one for each row of the first factor or each column of the second, or anything
   * that is broadcast to the codes. 0 where left out.
   */
  readonly zero: Tensor | undefined
}

/**
 * `out += (a - a zero) (b - b zero)` by NumPy's rules for `matmul`: what every product of 8-bit matrices is made of. A
 * sum in int32 is exact, and wraps where it does not fit.
 * @param out int32 or floats; zeros, or what the product is added to
 * @param transposes whether factors are transposed; zero points are those of rows and columns after that
 */
export function* integerProduct(
  a: QuantizedFactor,
  b: QuantizedFactor,
  out: Tensor,
  transposes: Transposes = { a: false, b: false }
): Generator<void> {
  const rows = yield* centred(a.codes, a.zero && (transposes.a ? a.zero : asRows(a.codes, a.zero)))
  const columns = yield* centred(b.codes, b.zero && (transposes.b ? asRows(b.codes, b.zero) : b.zero))
  yield* matmul(rows, columns, out, transposes)
}

/**
 * The exact sums of {@link integerProduct} in int32, times scales that are broadcast to them.
 * @param dims those of the product
 * @param options `added`: int32, added to the sums before they are scaled; broadcast
 */
export function* scaledProduct(
  a: QuantizedFactor,
  b: QuantizedFactor,
  scales: readonly Tensor[],
  dims: readonly number[],
  { added, transposes }: { readonly added?: Tensor | undefined; readonly transposes?: Transposes } = {}
): Generator<void, Tensor<'float64'>> {
  const sums = allocate('int32', dims)
  yield* integerProduct(a, b, sums, transposes)
  if (added) yield* binary(ADD, sums, added, sums)
  const numbers = yield* convertedPaced(sums, 'float64')
  for (const scale of scales) yield* binary(MULTIPLY, numbers, asDoubles(scale), numbers)
  return numbers
}

/** A list of scales or the like in double precision; a single one has no dims, so that it is broadcast to anything. */
export const asDoubles = (list: Tensor): Tensor<'float64'> =>
  convert(list.data.length === 1 ? withDims(list, []) : list, 'float64')

/** A list of zero points or scales of the rows of a matrix, as a column. */
export const asRows = (matrix: Tensor, list: Tensor): Tensor =>
  list.dims.length === 1 && matrix.dims.length > 1 ? withDims(list, [...list.dims, 1]) : list

/** The elements minus their zero point, in a type that holds the difference of any two 8-bit elements. */
export function* centred(x: Tensor, zero: Tensor | undefined): Generator<void, Tensor> {
  if (zero === undefined) return x
  const type = isFloat(x.type) ? 'float32' : 'int16'
  const difference = allocate(type, x.dims)
  const point = zero.data.length === 1 ? withDims(zero, []) : zero
  yield* binary(SUBTRACT, yield* convertedPaced(x, type), convert(point, type), difference)
  return difference
}
