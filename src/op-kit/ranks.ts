import { fail } from '../errors.ts'
import { mayMatch, printDim, printShape } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'

/**
 * Checks the rank of an operand where it is known.
 * @throws NodewiseError `rank-mismatch`
 */
export function checkRank(name: string, { shape }: TensorFact, rank: number): void {
  if (shape === undefined || shape.length === rank) return
  fail(
    'rank-mismatch',
    `${name} has shape ${printShape(shape)}; ${rank === 0 ? 'a scalar' : `rank ${rank}`} is expected`
  )
}

/** {@link checkRank} for operands that may have more axes. */
export function checkRankAtLeast(name: string, { shape }: TensorFact, lowest: number): void {
  if (shape === undefined || shape.length >= lowest) return
  fail('rank-mismatch', `${name} has shape ${printShape(shape)}; rank ${lowest} or more is expected`)
}

/**
 * Checks one dim of an operand whose rank is known to suffice.
 * @throws NodewiseError `dims-mismatch`
 */
export function checkDim(name: string, { shape }: TensorFact, axis: number, size: number): void {
  if (shape !== undefined && !mayMatch(shape[axis], size))
    fail('dims-mismatch', `dim ${axis} of ${name} is ${printDim(shape[axis])}; ${size} is expected`)
}

/**
 * Checks that an operand has a single element and rank 0 or 1.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkSingle(name: string, { shape }: TensorFact): void {
  if (shape === undefined || shape.length === 0) return
  if (shape.length > 1)
    fail('rank-mismatch', `${name} has shape ${printShape(shape)}; a scalar or a list of one is expected`)
  if (!mayMatch(shape[0], 1)) fail('dims-mismatch', `${name} has shape ${printShape(shape)}; one element is expected`)
}
