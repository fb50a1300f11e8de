import { DTYPES, is64BitInteger } from '../tensor/dtype.ts'
import { type Numbers, toDoubles, toNumbers } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'

/**
 * A number for each element such that numbers are equal where elements are, and ordered as elements are: integers and floats by
 * value, strings by code points, complex numbers by real, then imaginary part.
 */
export function orderKeys(tensor: Tensor): Numbers {
  const { type } = tensor
  const { kind } = DTYPES[type]
  if (is64BitInteger(type)) return wideKeys(tensor)
  if (kind === 'string') return ranksOf(tensor.data as string[], compareTexts)
  if (kind === 'complex') return complexRanks(tensor.data as Float64Array)
  return toNumbers(tensor)
}

/** Doubles where all integers are exact in them, else ranks. */
function wideKeys(tensor: Tensor): Numbers {
  const doubles = toDoubles(tensor)
  const exact = (doubles as Float64Array).every(value => Math.abs(value) <= Number.MAX_SAFE_INTEGER)
  return exact ? doubles : ranksOf(tensor.data as BigInt64Array, (a, b) => a < b ? -1 : 1)
}

function ranksOf<T>(items: ArrayLike<T> & Iterable<T>, compare: (a: T, b: T) => number): Float64Array {
  const ranks = new Map([...new Set(items)].sort(compare).map((item, rank) => [item, rank]))
  return Float64Array.from(items, item => ranks.get(item) ?? 0)
}

function complexRanks(parts: Float64Array): Float64Array {
  const compare = (a: number, b: number): number =>
    compareNumbers(parts[2 * a], parts[2 * b]) || compareNumbers(parts[2 * a + 1], parts[2 * b + 1])
  const order = Array.from({ length: parts.length / 2 }, (_, i) => i).sort(compare)
  const ranks = new Float64Array(order.length)
  order.forEach((item, i) => { ranks[item] = i > 0 && compare(order[i - 1], item) === 0 ? ranks[order[i - 1]] : i })
  return ranks
}

/** Ascending, NaN last and equal to itself. */
export const compareNumbers = (a: number, b: number): number => a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(a !== a) - Number(b !== b)

/** By code points, which is the order of the bytes in UTF-8. */
export function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return (a.codePointAt(i) as number) - (b.codePointAt(i) as number)
  }
  return a.length - b.length
}
