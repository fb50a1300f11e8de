import { fail } from '../errors.ts'
import type { IndexPolicy } from '../kernels/gather/indices.ts'
import type { Reduction } from '../kernels/gather/scatter.ts'
import { type Dim, meetDims, printShape } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { choice } from './sources.ts'

/** Policies for indices of scatters, where an index out of range is always an error. */
export const FROM_START: IndexPolicy = { negative: 'error', outOfRange: 'error' }
export const FROM_BOTH_ENDS: IndexPolicy = { negative: 'wrap', outOfRange: 'error' }

/** The attribute `reduction` of ONNX in version 16, and from version 18 on. */
export const REDUCTION = choice('reduction', { none: 'none', add: 'add', mul: 'mul', max: 'max', min: 'min' })

/**
 * Checks that a reduction is defined for a type: strings have none, complex numbers no order, booleans no mean.
 * @throws NodewiseError `type-not-allowed`
 */
export function checkReduction(reduction: Reduction, type: DType | undefined): void {
  if (type === undefined || reduction === 'none') return
  const { kind } = DTYPES[type]
  const compares = reduction === 'min' || reduction === 'max'
  if (kind === 'string' || (kind === 'complex' && compares) || (kind === 'bool' && reduction === 'mean')) {
    fail('type-not-allowed', `the reduction ${reduction} is not defined for ${type}`)
  }
}

/**
 * Checks the shape of the updates.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkUpdates({ shape }: TensorFact, expected: readonly Dim[]): void {
  if (shape === undefined) return
  const sameRank = shape.length === expected.length
  if (sameRank && shape.every((dim, i) => meetDims(dim, expected[i]) !== undefined)) return
  fail(
    sameRank ? 'dims-mismatch' : 'rank-mismatch',
    `updates have shape ${printShape(shape)}; ${printShape(expected)} is expected`
  )
}
