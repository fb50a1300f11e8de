import { is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { convertedPaced } from '../core/convert-paced.ts'
import { readNumbers } from '../core/numbers.ts'

/** The elements of a tensor of real numbers as numbers, 64-bit integers rounded to the nearest; yields. */
export function* readReals(x: Tensor): Generator<void, Numbers> {
  return is64BitInteger(x.type) ? (yield* convertedPaced(x, 'float64')).data : yield* readNumbers(x)
}

/** Rows and features of an input of rank 1 or 2; a vector is one row. */
export const rowsAndFeatures = (dims: readonly number[]): readonly [rows: number, features: number] =>
  dims.length === 1 ? [1, dims[0]] : [dims[0], dims[1]]

/** The rows of an input as numbers; yields. */
export function* rowsOf(x: Tensor): Generator<void, { x: Numbers; rows: number; stride: number }> {
  const [rows, stride] = rowsAndFeatures(x.dims)
  return { x: yield* readReals(x), rows, stride }
}
