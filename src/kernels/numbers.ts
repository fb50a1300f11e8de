import { convertInto } from '../tensor/convert.ts'
import type { Numbers } from '../tensor/elements.ts'
import { type Codes, isCodedFloat, narrow } from '../tensor/floats.ts'
import { allocate, type Tensor } from '../tensor/tensor.ts'

/** Arrays of 64-bit integers. */
export type BigInts = BigInt64Array | BigUint64Array

/**
 * Zeros to compute with; for counts that come from dims, which may be large where the data are empty.
 * @throws NodewiseError `limit-exceeded`
 */
export const doubles = (count: number): Float64Array => allocate('float64', [count]).data

/** Where a kernel writes numbers. */
export interface Target {
  readonly numbers: Numbers
  /** Rounds what was written into the tensor, where it holds codes. */
  finish(): void
}

/** The tensor's own array; for coded floats an array beside it, so that each element is rounded once. */
export function targetOf(out: Tensor): Target {
  const { type } = out
  if (!isCodedFloat(type)) return { numbers: out.data as Numbers, finish: () => {} }
  const numbers = new Float32Array(out.data.length)
  return { numbers, finish: () => narrow(type, numbers, out.data as Codes) }
}

/** A tensor to compute in: the result itself; for coded floats one of float32, which `finish` rounds into the result. */
export function workTensorOf(out: Tensor): { readonly work: Tensor; finish(): void } {
  if (!isCodedFloat(out.type)) return { work: out, finish: () => {} }
  const work = allocate('float32', out.dims)
  return { work, finish: () => convertInto(work, out) }
}
