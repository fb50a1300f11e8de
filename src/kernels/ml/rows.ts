import { is64BitInteger } from '../../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import { isCodedFloat } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { chunkSize, COST } from '../core/pace.ts'

/** What `readReals` gives, where it takes no pause, as it does to convert many elements; else undefined. */
export function realsAtOnce(x: Tensor): Numbers | undefined {
  const { type, data } = x
  const isConverted = is64BitInteger(type) || isCodedFloat(type)
  return isConverted && data.length > chunkSize(COST.element) ? undefined : toDoubles(x)
}

/** Rows and features of an input of rank 1 or 2; a vector is one row. */
export const rowsAndFeatures = (dims: readonly number[]): readonly [rows: number, features: number] =>
  dims.length === 1 ? [1, dims[0]] : [dims[0], dims[1]]
