import { fail } from '../../errors.ts'
import { MAX_INT32 } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocate } from '../../tensor/tensor.ts'
import { compareNumbers } from './order.ts'
import { COST, inChunks } from './pace.ts'
import type { Positions } from './positions.ts'
import { sortPaced } from './sort.ts'

/** Most keys of a map in V8. */
const MAX_KEYS = 2 ** 24 - 1

/** Items grouped by equality. */
export interface Groups {
  /** The first item of each group. */
  readonly first: readonly number[]
  /** The group of each item. */
  readonly inverse: Positions
  /** The number of items of each group. */
  readonly counts: readonly number[]
}

/** How the items to compare lie in `keys`: `[outer, size, inner]`, an item for each step along the middle. */
export interface Items {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

/**
 * Groups of equal items, in the order of their first occurrence, or ascending where `sorted`: lexicographically, by
 * their elements in row-major order. NaN equals NaN and comes last.
 * @throws NodewiseError `limit-exceeded` when there are too many groups or (empty) items to number them
 */
export function* groupItems(keys: Numbers, items: Items, sorted: boolean): Generator<void, Groups> {
  const { outer, size, inner } = items
  let ids: Positions = allocate(size > MAX_INT32 ? 'float64' : 'int32', [size]).data
  let count = Math.min(1, size)
  for (let j = 0; j < outer * inner && count < size; j++) {
    const split = yield* splitGroups(ids, count, keys, Math.floor(j / inner) * size * inner + (j % inner), inner)
    ids = split.ids
    count = split.count
    yield
  }
  const first = new Array<number>(count).fill(-1)
  const counts = new Array<number>(count).fill(0)
  yield* inChunks(size, (from, to) => {
    for (let i = from; i < to; i++) if (counts[ids[i]]++ === 0) first[ids[i]] = i
  })
  if (!sorted) return { first, inverse: ids, counts }
  const order = first.map((_, group) => group)
  yield* sortPaced(order, (a, b) => compareItems(keys, items, first[a], first[b]))
  const rank = new Array<number>(count)
  order.forEach((group, i) => {
    rank[group] = i
  })
  const inverse = ids.slice()
  yield* inChunks(size, (from, to) => {
    for (let i = from; i < to; i++) inverse[i] = rank[ids[i]]
  })
  return { first: order.map(group => first[group]), inverse, counts: order.map(group => counts[group]) }
}

/** Splits groups by one more element of each item; the new groups are numbered in the order of first occurrence. */
function* splitGroups(
  ids: Positions,
  groups: number,
  keys: Numbers,
  start: number,
  step: number
): Generator<void, { ids: Positions; count: number }> {
  const values = new Map<number, number>()
  const valueOf = ids.slice()
  yield* inChunks(
    ids.length,
    (from, to) => {
      for (let i = from; i < to; i++) valueOf[i] = numberOf(values, keys[start + i * step])
    },
    COST.lookup
  )
  if (groups === 1) return { ids: valueOf, count: values.size }
  const pairs = new Map<number, number>()
  yield* inChunks(
    ids.length,
    (from, to) => {
      for (let i = from; i < to; i++) valueOf[i] = numberOf(pairs, valueOf[i] * groups + ids[i])
    },
    COST.lookup
  )
  return { ids: valueOf, count: pairs.size }
}

/** The number of a key; keys are numbered in the order in which they are first seen. */
function numberOf(numbers: Map<number, number>, key: number): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  if (numbers.size >= MAX_KEYS) fail('limit-exceeded', `more than ${MAX_KEYS} different elements cannot be told apart`)
  numbers.set(key, numbers.size)
  return numbers.size - 1
}

/** Compares items `a` and `b` lexicographically. */
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
