import { type DType, DTYPES, is64BitInteger } from '../../src/tensor/dtype.ts'
import { allocate, elementCount, Tensor } from '../../src/tensor/tensor.ts'

/** A number from 0 to `limit - 1` that depends on the seed only. */
export function picks(seed: number, limit: number): number {
  let x = Math.imul(seed + 0x9e3779b9, 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) % limit
}

/** Dims of 1 to 4 of a rank from `lowest` to `highest`. */
export const randomDims = (seed: number, lowest: number, highest: number): number[] =>
  Array.from({ length: lowest + picks(seed, highest - lowest + 1) }, (_, d) => 1 + picks(seed * 31 + d, 4))

/** Elements 0, 1, 2 … (texts for strings, modulo what fits for narrow types), every slot its own. */
export function counted(type: DType, dims: readonly number[]): Tensor {
  const tensor = allocate(type, dims)
  const { data } = tensor
  const { bits, slots } = DTYPES[type]
  const count = elementCount(dims) * slots
  if (type === 'string') for (let i = 0; i < count; i++) data[i] = `s${i}`
  else if (is64BitInteger(type)) for (let i = 0; i < count; i++) data[i] = BigInt(i)
  else {
    const limit = bits < 8 ? 2 : 128
    for (let i = 0; i < count; i++) data[i] = i % limit
  }
  return tensor
}

/** Indices into an axis of `size`, negative ones too. */
export function randomIndices(
  seed: number,
  type: 'int32' | 'int64',
  dims: readonly number[],
  size: number,
  lowest = -size
): Tensor {
  const numbers = Array.from({ length: elementCount(dims) }, (_, i) => lowest + picks(seed * 101 + i, size - lowest))
  return new Tensor(type, numbers, dims)
}

/** Numbers from -1 to 1 that depend on the seed only. */
export const randomFloats = (seed: number, dims: readonly number[]): Tensor =>
  new Tensor(
    'float32',
    Array.from({ length: elementCount(dims) }, (_, i) => picks(seed * 1009 + i, 2001) / 1000 - 1),
    dims
  )
