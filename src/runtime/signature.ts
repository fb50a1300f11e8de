import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { areSameDims, isTensor, type Tensor, type Value } from '../tensor/tensor.ts'

/** Types and dims of the inputs of a run; undefined where an input is not given. */
export type Signature = readonly (TensorFact | undefined)[]

type Given = readonly (Value | undefined)[]

/** The signature of values, by position of the input; undefined where one is no tensor. */
export const signatureOf = (given: Given): Signature | undefined =>
  given.every(value => value === undefined || isTensor(value))
    ? given.map(value => value && tensorFact((value as Tensor).type, (value as Tensor).dims.slice()))
    : undefined

/** Whether values are of these types and dims. */
export function agrees(signature: Signature, given: Given): boolean {
  for (let i = 0; i < given.length; i++) {
    const value = given[i]
    const fact = signature[i]
    if (value === undefined || fact === undefined) {
      if (value !== fact) return false
    } else if (
      !isTensor(value) ||
      value.type !== fact.type ||
      !areSameDims(value.dims, fact.shape as readonly number[])
    )
      return false
  }
  return true
}
