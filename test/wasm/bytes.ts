import type { DType } from '../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../src/tensor/tensor.ts'
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
  const { data: from } = noise(dims, seed, 180)
  const bytes = new Uint8ClampedArray(from.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = from[i] + 128
  const data = new Uint8Array(bytes.buffer)
  if (type === 'uint8') return new Tensor(type, data, dims)
  for (let i = 0; i < data.length; i++) data[i] ^= 128
  return new Tensor(type, new Int8Array(data.buffer), dims)
}

/** Codes that are all the same. */
export function filled(type: Byte, dims: readonly number[], code: number): Tensor {
  const tensor = allocate(type, dims)
  tensor.data.fill(code)
  return tensor
}

/** A number as a tensor without dims. */
export const one = (type: DType, value: number): Tensor => new Tensor(type, [value], [])
