import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import { halvesOf, type Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { convertedPaced } from './convert-paced.ts'
import { readNumbers } from './numbers.ts'
import { COST, inChunks } from './pace.ts'
import { sortPaced } from './sort.ts'

/**
 * A number for each element, its key, such that keys are equal and ordered as the elements are: integers and floats by
 * value, strings by code points, complex numbers by real, then imaginary part.
 */
export function* orderKeys(tensor: Tensor): Generator<void, Numbers> {
  const { type } = tensor
  const { kind } = DTYPES[type]
  if (is64BitInteger(type)) return yield* bigKeys(tensor)
  if (kind === 'string') return yield* ranksOf(tensor.data as string[], compareTexts)
  if (kind === 'complex') return yield* complexRanks(tensor.data as Float64Array)
  return yield* readNumbers(tensor)
}

/** Keys of 64-bit integers: doubles where all are exact in them, else ranks. */
function* bigKeys(tensor: Tensor): Generator<void, Numbers> {
  const doubles = (yield* convertedPaced(tensor, 'float64')).data
  let exact = true
  yield* inChunks(doubles.length, (from, to) => {
    for (let i = from; i < to && exact; i++) exact = Math.abs(doubles[i]) <= Number.MAX_SAFE_INTEGER
  })
  return exact ? doubles : yield* ranksOf(tensor.data as BigInt64Array, (a, b) => (a < b ? -1 : 1))
}

/** The halves of 64-bit integers, low half first, where each is its low half; undefined where one is not. */
export function* narrowHalves(tensor: Tensor): Generator<void, Int32Array | undefined> {
  if (!is64BitInteger(tensor.type)) return undefined
  const halves = halvesOf(tensor)
  let fits = true
  yield* inChunks(tensor.data.length, (from, to) => {
    fits &&= areNarrow(halves, from, to, tensor.type === 'int64')
  })
  return fits ? halves : undefined
}

function areNarrow(halves: Int32Array, from: number, to: number, isSigned: boolean): boolean {
  let wide = 0
  for (let at = 2 * from; at < 2 * to; at += 2) {
    const extension = halves[at] >> 31
    wide |= isSigned ? extension ^ halves[at + 1] : extension | halves[at + 1]
  }
  return wide === 0
}

/** The position of each item among the different items in ascending order. */
function* ranksOf<T>(items: ArrayLike<T>, compare: (a: T, b: T) => number): Generator<void, Float64Array> {
  const different = new Set<T>()
  yield* inChunks(
    items.length,
    (from, to) => {
      for (let i = from; i < to; i++) different.add(items[i])
    },
    COST.lookup
  )
  const sorted = [...different]
  yield* sortPaced(sorted, compare)
  const rankOf = new Map<T, number>()
  yield* inChunks(
    sorted.length,
    (from, to) => {
      for (let i = from; i < to; i++) rankOf.set(sorted[i], i)
    },
    COST.lookup
  )
  const ranks = new Float64Array(items.length)
  yield* inChunks(
    items.length,
    (from, to) => {
      for (let i = from; i < to; i++) ranks[i] = rankOf.get(items[i]) ?? 0
    },
    COST.lookup
  )
  return ranks
}

function* complexRanks(parts: Float64Array): Generator<void, Float64Array> {
  const compare = (a: number, b: number): number =>
    compareNumbers(parts[2 * a], parts[2 * b]) || compareNumbers(parts[2 * a + 1], parts[2 * b + 1])
  const order = Array.from({ length: parts.length / 2 }, (_, i) => i)
  yield* sortPaced(order, compare)
  const ranks = new Float64Array(order.length)
  order.forEach((item, i) => {
    ranks[item] = i > 0 && compare(order[i - 1], item) === 0 ? ranks[order[i - 1]] : i
  })
  return ranks
}

/** Compares for an ascending order; NaN is last and equal to itself. */
export const compareNumbers = (a: number, b: number): number =>
  a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(a !== a) - Number(b !== b)

/** Compares by code points, which gives the order of the bytes in UTF-8. */
export function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return (a.codePointAt(i) as number) - (b.codePointAt(i) as number)
  }
  return a.length - b.length
}
