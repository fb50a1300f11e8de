import type { Numbers } from '../tensor/elements.ts'
import { allocate } from '../tensor/tensor.ts'
import type { Positions } from './indices.ts'
import { compareNumbers } from './order.ts'

/** Equal rows put together. */
export interface Groups {
  /** First row of each group. */
  readonly first: readonly number[]
  /** Group of each row. */
  readonly inverse: Positions
  readonly counts: readonly number[]
}

/** How the items to compare lie in `keys`: `[outer, size, inner]`, an item for each step along the middle. */
export interface Items {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

/**
 * Groups of equal items, in the order of their first occurrence or ascending (item by item as their elements lie in row-major
 * order). NaN equals NaN and comes last.
 * @throws NodewiseError `limit-exceeded` when there are too many (empty) items to number them
 */
export function* groupItems(keys: Numbers, items: Items, sorted: boolean): Generator<void, Groups> {
  const { outer, size, inner } = items
  let ids: Positions = allocate(size > 0x7fffffff ? 'float64' : 'int32', [size]).data
  let count = Math.min(1, size)
  for (let j = 0; j < outer * inner && count < size; j++) {
    const split = splitGroups(ids, count, keys, Math.floor(j / inner) * size * inner + j % inner, inner)
    ids = split.ids
    count = split.count
    yield
  }
  const first = new Array<number>(count).fill(-1)
  const counts = new Array<number>(count).fill(0)
  for (let i = 0; i < size; i++) {
    if (counts[ids[i]]++ === 0) first[ids[i]] = i
  }
  if (!sorted) return { first, inverse: ids, counts }
  const order = first.map((_, group) => group).sort((a, b) => compareItems(keys, items, first[a], first[b]))
  const rank = new Array<number>(count)
  order.forEach((group, i) => { rank[group] = i })
  return { first: order.map(group => first[group]), inverse: ids.map(group => rank[group]), counts: order.map(group => counts[group]) }
}

/** Splits groups by one more element of each item; groups are numbered by first occurrence. */
function splitGroups(
  ids: Positions, groups: number, keys: Numbers, start: number, step: number
): { ids: Positions; count: number } {
  const values = new Map<number, number>()
  const valueOf = ids.map((_, i) => numberOf(values, keys[start + i * step]))
  if (groups === 1) return { ids: valueOf, count: values.size }
  const pairs = new Map<number, number>()
  return { ids: ids.map((group, i) => numberOf(pairs, valueOf[i] * groups + group)), count: pairs.size }
}

/** The number of a key, which it gets when it is first seen. */
function numberOf(numbers: Map<number, number>, key: number): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  numbers.set(key, numbers.size)
  return numbers.size - 1
}

function compareItems(keys: Numbers, { outer, size, inner }: Items, a: number, b: number): number {
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const start = o * size * inner + i
      const difference = compareNumbers(keys[start + a * inner], keys[start + b * inner])
      if (difference !== 0) return difference
    }
  }
  return 0
}
