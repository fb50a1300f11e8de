import { fail } from '../errors.ts'
import { MAX_RANK } from '../tensor/tensor.ts'
import { asDim, type Dim, isConcrete, maxDim, printShape, unknownDim } from './dim.ts'

/** A list parameter that comes from an input, as shape functions get it. */
export type DataDependentList = readonly Dim[] | 'unknown'

/** The list when every element is known. */
export const knownList = (list: DataDependentList | undefined): readonly number[] | undefined =>
  list !== undefined && list !== 'unknown' && isConcrete(list) ? list : undefined

/** The length of a list that may be unknown. */
export const lengthOf = (list: DataDependentList): number | undefined => (list === 'unknown' ? undefined : list.length)

/** Dims of a shape of which only the rank is known; undefined when that is not known either. */
export function unknownDims(rank: number): Dim[]
export function unknownDims(rank: number | undefined): Dim[] | undefined
export function unknownDims(rank: number | undefined): Dim[] | undefined {
  return rank === undefined ? undefined : Array.from({ length: rank }, () => unknownDim())
}

/** A dim that is at most as large as another, else unknown: part of an axis. */
export const partOf = (dim: Dim): Dim => unknownDim(0, maxDim(dim))

/**
 * Wanted sizes as dims.
 * @throws NodewiseError `value-out-of-range` for a negative one
 */
export const sizesOf = (list: readonly Dim[], what: string): Dim[] =>
  list.map((dim, i) => {
    if (typeof dim === 'number' && dim < 0)
      fail('value-out-of-range', `element ${i} of ${what} is ${dim}; sizes are not negative`)
    return asDim(dim)
  })

/**
 * A wanted shape as dims.
 * @throws NodewiseError `value-out-of-range` for a negative size, `limit-exceeded` for a rank that no tensor has
 */
export function shapeFrom(list: readonly Dim[], what: string): Dim[] {
  limitRank(list.length)
  return sizesOf(list, what)
}

/** @throws NodewiseError `limit-exceeded` for a rank that no tensor has */
export function limitRank(rank: number, most = MAX_RANK): void {
  if (rank > most)
    fail('limit-exceeded', `rank ${rank} is above the limit of ${most} (limit rank)`, { limit: 'rank', most })
}

/** A shape that is known by now: kernels run when every dim is a number. */
export const sizes = (shape: readonly Dim[] | undefined): readonly number[] =>
  shape !== undefined && isConcrete(shape)
    ? shape
    : fail('internal', `the shape ${printShape(shape)} is not known at run time`)

/**
 * Holds lengths of lists that go together against each other.
 * @throws NodewiseError `dims-mismatch`
 */
export function sameLengths(lists: Readonly<Record<string, DataDependentList | undefined>>): void {
  let first: string | undefined
  let expected = 0
  for (const name in lists) {
    const list = lists[name]
    if (list === undefined || list === 'unknown') continue
    if (first === undefined) {
      first = name
      expected = list.length
    } else if (list.length !== expected) {
      fail('dims-mismatch', `${first} has ${expected} elements and ${name} ${list.length}; they must agree`)
    }
  }
}
