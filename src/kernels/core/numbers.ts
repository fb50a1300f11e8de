import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat, narrow } from '../../tensor/floats.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { convertedPaced, convertPaced } from './convert-paced.ts'
import { inSteps } from './steps.ts'

/** Arrays of 64-bit integers. */
export type BigInts = BigInt64Array | BigUint64Array

/**
 * Zeros to compute with; for counts that come from dims, which may be large where the data are empty.
 * @throws NodewiseError `limit-exceeded`
 */
export const doubles = (count: number): Float64Array => allocate('float64', [count]).data

/** `toNumbers` that yields about every 10 ms. */
export function* readNumbers(tensor: Tensor): Generator<void, Numbers> {
  return isCodedFloat(tensor.type) ? (yield* convertedPaced(tensor, 'float32')).data : toNumbers(tensor)
}

/** Where a kernel writes numbers. */
export interface Target {
  readonly numbers: Numbers
  /** Rounds what was written into the tensor, where it holds codes; to be delegated to with `yield*`. */
  finish(): Generator<void>
}

export function* nothingToFinish(): Generator<void> {}

/** The tensor's own array; for coded floats an array beside it, so that each element is rounded once. */
export function targetOf(out: Tensor): Target {
  const { type } = out
  if (!isCodedFloat(type)) return { numbers: out.data as Numbers, finish: nothingToFinish }
  const numbers = new Float32Array(out.data.length)
  const codes = out.data as Codes
  return {
    numbers,
    finish: () =>
      inSteps(numbers.length, (from, to) => narrow(type, numbers.subarray(from, to), codes.subarray(from, to)), 2)
  }
}

/**
 * A tensor to compute in: the result itself; for coded floats one of float32, which `finish` rounds into the result.
 */
export function workTensorOf(out: Tensor): { readonly work: Tensor; finish(): Generator<void> } {
  if (!isCodedFloat(out.type)) return { work: out, finish: nothingToFinish }
  const work = allocate('float32', out.dims)
  return { work, finish: () => convertPaced(work, out) }
}
