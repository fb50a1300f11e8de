import type { Dim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'

/**
 * Types and dims of the inputs of a run; undefined where an input is not given. A symbol stands for a dim that changes
 * from run to run.
 */
export type Signature = readonly (TensorFact | undefined)[]

export type Given = readonly (Value | undefined)[]

/** The signature of values, by position of the input; undefined where one is no tensor. */
export const signatureOf = (given: Given): Signature | undefined =>
  given.every(value => value === undefined || isTensor(value))
    ? given.map(value => value && tensorFact((value as Tensor).type, (value as Tensor).dims.slice()))
    : undefined

/** Whether values are of these types, and of the dims that are numbers. */
export function agrees(signature: Signature, given: Given): boolean {
  for (let i = 0; i < given.length; i++) {
    const value = given[i]
    const fact = signature[i]
    if (value === undefined || fact === undefined) {
      if (value !== fact) return false
    } else if (!isTensor(value) || value.type !== fact.type || !areOf(fact.shape!, value.dims)) return false
  }
  return true
}

function areOf(shape: readonly Dim[], dims: readonly number[]): boolean {
  if (shape.length !== dims.length) return false
  for (let i = 0; i < dims.length; i++) if (typeof shape[i] === 'number' && shape[i] !== dims[i]) return false
  return true
}

/** Whether signatures have the same numbers, and symbols in the same places. */
export const areSame = (a: Signature, b: Signature): boolean =>
  a.every((fact, i) => {
    const other = b[i]
    if (fact === undefined || other === undefined) return fact === other
    return fact.type === other.type && areAlike(fact.shape!, other.shape!)
  })

const areAlike = (a: readonly Dim[], b: readonly Dim[]): boolean =>
  a.length === b.length &&
  a.every((dim, axis) => dim === b[axis] || (typeof dim === typeof b[axis] && typeof dim !== 'number'))
