import type { DType } from '../../src/tensor/dtype.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { noise } from './compare.ts'

/** Types of codes of 8 bits. */
export type Byte = 'uint8' | 'int8'

/** Both types of both operands of a product. */
export const BYTE_PAIRS = [
  ['uint8', 'uint8'],
  ['uint8', 'int8'],
  ['int8', 'uint8'],
  ['int8', 'int8']
] as const

/** Codes over the whole range of their type, the ends more often than others. */
export function codes(type: Byte, dims: readonly number[], seed: number): Tensor {
  const lowest = type === 'int8' ? -128 : 0
  const { data: from } = noise(dims, seed)
  const data = type === 'int8' ? new Int8Array(from.length) : new Uint8Array(from.length)
  for (let i = 0; i < data.length; i++) data[i] = lowest + Math.max(0, Math.min(255, Math.round(128 + from[i] * 180)))
  return new Tensor(type, data as never, dims)
}

/** A number as a tensor without dims. */
export const one = (type: DType, value: number): Tensor => new Tensor(type, [value], [])
