import { is64BitInteger } from '../../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import { isCodedFloat } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { convertedPaced } from '../core/convert-paced.ts'
import { readNumbers } from '../core/numbers.ts'
import { chunkSize, COST } from '../core/pace.ts'

/** The elements of a tensor of real numbers as numbers, 64-bit integers rounded to the nearest; yields. */
export function* readReals(x: Tensor): Generator<void, Numbers> {
  return is64BitInteger(x.type) ? (yield* convertedPaced(x, 'float64')).data : yield* readNumbers(x)
}

/** The same where that takes no pause, as it does of many elements that have to be converted; else undefined. */
export function realsAtOnce(x: Tensor): Numbers | undefined {
  const { type, data } = x
  const isConverted = is64BitInteger(type) || isCodedFloat(type)
  return isConverted && data.length > chunkSize(COST.element) ? undefined : toDoubles(x)
}

/** Rows and features of an input of rank 1 or 2; a vector is one row. */
export const rowsAndFeatures = (dims: readonly number[]): readonly [rows: number, features: number] =>
  dims.length === 1 ? [1, dims[0]] : [dims[0], dims[1]]
