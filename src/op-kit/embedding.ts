import { fail } from '../errors.ts'
import type { Positions } from '../kernels/core/positions.ts'
import { reportIndex, resolveIndicesPaced } from '../kernels/gather/indices.ts'
import { type Dim, maxDim, meetDims, printDim, printShape } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { toDoubles } from '../tensor/elements.ts'
import { positionOf, type Tensor } from '../tensor/tensor.ts'
import { checkRank } from './ranks.ts'
import { commonType } from './types.ts'
import { FROM_START } from './updates.ts'

/** Operands that the embedding operators have in common: they sum rows of a table in each bag. */
export interface BagFacts {
  readonly table: TensorFact
  readonly indices: TensorFact
  readonly weights: TensorFact | undefined
}

/**
 * The output: a row for each bag.
 * @param rank of the indices
 * @throws NodewiseError `rank-zero-data`, `rank-mismatch`, `dims-mismatch`, `type-mismatch`
 */
export function bagShape({ table, indices, weights }: BagFacts, rank: number, bags: Dim): TensorFact {
  const type = commonType({ emb_table: table, per_sample_weights: weights })
  if (table.shape?.length === 0) fail('rank-zero-data', 'the table is a scalar; it needs at least one axis')
  checkRank('indices', indices, rank)
  if (weights) {
    checkRank('per_sample_weights', weights, rank)
    sameDims('indices', indices, 'per_sample_weights', weights)
  }
  return tensorFact(type, table.shape && [bags, ...table.shape.slice(1)])
}

/** @throws NodewiseError `dims-mismatch` */
export function sameDims(name: string, { shape }: TensorFact, otherName: string, other: TensorFact): void {
  if (shape === undefined || other.shape === undefined) return
  if (shape.some((dim, i) => meetDims(dim, other.shape?.[i] ?? dim) === undefined)) {
    fail(
      'dims-mismatch',
      `${name} has shape ${printShape(shape)} and ${otherName} ${printShape(other.shape)}; they must be the same`
    )
  }
}

/** Rows of the table that the indices name, counted from the start. */
export const rowsOf = (table: Tensor, indices: Tensor): Generator<void, Positions> =>
  resolveIndicesPaced(indices, table.dims[0], 0, FROM_START)

/**
 * The row for empty bags; -1 for zeros.
 * @param lowest -1 where that stands for zeros
 * @throws NodewiseError `index-out-of-range`
 */
export function defaultRowOf(table: Pick<Tensor, 'dims'>, index: number | undefined, lowest: 0 | -1): number {
  if (index === undefined) return -1
  if (index < lowest || index >= table.dims[0]) reportIndex(`${index}`, [], 0, table.dims[0])
  return index
}

/**
 * Checks that numbers do not decrease.
 * @throws NodewiseError `value-out-of-range` with the first that does, or that is not in 0..`highest`
 */
export function checkAscending(name: string, list: Tensor, highest: Dim): void {
  const numbers = toDoubles(list)
  const upperBound = maxDim(highest)
  for (let i = 0, lowest = 0; i < numbers.length; i++) {
    if (numbers[i] < lowest || numbers[i] > upperBound) {
      const expected = `expected ${lowest}..${printDim(highest)}, none less than the one before`
      fail('value-out-of-range', `${name} is ${list.data[i]} at [${positionOf(i, list.dims).join(', ')}]; ${expected}`)
    }
    lowest = numbers[i]
  }
}
