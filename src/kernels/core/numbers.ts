import { type ArrayConstructor, is64BitInteger, type NumericArray } from '../../tensor/dtype.ts'
import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat, narrow, widen } from '../../tensor/floats.ts'
import { MAX_SLAB_ARRAY, Slab } from '../../tensor/slab.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { convertedPaced, convertPaced } from './convert-paced.ts'
import { chunkSize, COST, DONE, inChunks } from './pace.ts'

/** Arrays of 64-bit integers. */
export type BigInts = BigInt64Array | BigUint64Array

/**
 * Elements that compare with each other: numbers, 64-bit integers, or both mixed (JavaScript compares them exactly).
 */
export type Comparable = ArrayLike<number> | ArrayLike<bigint>

/** The numbers of a tensor; 64-bit integers stay bigints. */
export const comparable = (tensor: Tensor): Comparable =>
  is64BitInteger(tensor.type) ? (tensor.data as BigInts) : toNumbers(tensor)

/**
 * `count` zeros to compute with, for one call: few are cut from larger memory, which is kept with them. Unlike
 * `new Float64Array` it fails with a code where the count is too large, as dims of tensors without data may be.
 * @throws NodewiseError `limit-exceeded`
 */
export const doubles = (count: number): Float64Array => zeros(Float64Array, 'float64', count, 8 * count) as Float64Array

/** The same of integers. */
export const ints = (count: number): Int32Array => zeros(Int32Array, 'int32', count, 4 * count) as Int32Array

/** The same of bytes, for flags. */
export const flags = (count: number): Uint8Array => zeros(Uint8Array, 'uint8', count, count) as Uint8Array

const zeros = (of: ArrayConstructor, type: 'float64' | 'int32' | 'uint8', count: number, bytes: number): NumericArray =>
  bytes <= MAX_SLAB_ARRAY ? slab.take(of, count, bytes) : allocate(type, [count]).data

const slab = new Slab()

/**
 * The elements of a tensor as numbers, coded floats decoded; yields. 64-bit integers are none: see {@link readReals}.
 */
export function* readNumbers(tensor: Tensor): Generator<void, Numbers> {
  const { type, data } = tensor
  if (!isCodedFloat(type)) return toNumbers(tensor)
  // Views of the parts cost more than widening few codes.
  if (data.length <= chunkSize(COST.element)) return widen(type, data as Codes)
  return (yield* convertedPaced(tensor, 'float32')).data
}

/** The elements of a tensor of real numbers as numbers, 64-bit integers rounded to the nearest; yields. */
export function* readReals(tensor: Tensor): Generator<void, Numbers> {
  return is64BitInteger(tensor.type) ? (yield* convertedPaced(tensor, 'float64')).data : yield* readNumbers(tensor)
}

/** Where a kernel writes numbers. */
export interface Target {
  readonly numbers: Numbers
  /** Rounds what was written into a tensor of coded floats. Delegate to it with `yield*` when all is written. */
  finish(): Generator<void>
}

/** A `finish` that has nothing to do. */
export const nothingToFinish = (): Generator<void> => DONE

/** The array of the tensor itself; for coded floats a Float32Array, so that each element is rounded once. */
export function targetOf(out: Tensor): Target {
  const { type } = out
  if (!isCodedFloat(type)) return { numbers: out.data as Numbers, finish: nothingToFinish }
  const numbers = new Float32Array(out.data.length)
  const codes = out.data as Codes
  return {
    numbers,
    finish: () =>
      inChunks(numbers.length, (from, to) => {
        if (to - from === numbers.length) narrow(type, numbers, codes)
        else narrow(type, numbers.subarray(from, to), codes.subarray(from, to))
      })
  }
}

/** A tensor to compute in: `out` itself, or for coded floats one of float32, which `finish` rounds into `out`. */
export function workTensorOf(out: Tensor): { readonly work: Tensor; finish(): Generator<void> } {
  if (!isCodedFloat(out.type)) return { work: out, finish: nothingToFinish }
  const work = allocate('float32', out.dims)
  return { work, finish: () => convertPaced(work, out) }
}
