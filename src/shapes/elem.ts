import { isInteger } from '../tensor/dtype.ts'
import { type Elem, isPartial, type TensorFact } from './fact.ts'
import { fresh, type Int, isSym, maximum, maxOf, minimum, minOf, neg, sub } from './sym.ts'

/**
 * Elementwise functions on elements of which some may be symbols: integers exact, whole numbers in floats too.
 * Undefined: nothing can be said of the result.
 */
export type ElemFunction = (elements: readonly Elem[]) => Elem | undefined

/** The element as an exact integer: booleans as 0 and 1; undefined for fractions, NaN, infinities and text. */
export function integerOf(element: Elem): Int | undefined {
  if (isSym(element) || typeof element === 'bigint') return element
  if (typeof element === 'boolean') return element ? 1n : 0n
  return typeof element === 'number' && Number.isSafeInteger(element) ? BigInt(element) : undefined
}

type ExactFunction = (a: Int, b: Int, isFloat: boolean) => Int | undefined

/** A function of two numbers; `exact` is told whether the elements are known to be floats. */
export const arithmetic =
  (exact: ExactFunction, floats: (a: number, b: number) => number): ElemFunction =>
  ([a, b]) => {
    if (typeof a === 'number' && typeof b === 'number') return floats(a, b)
    const isFloat = typeof a === 'number' || typeof b === 'number'
    const x = integerOf(a)
    const y = integerOf(b)
    return x === undefined || y === undefined ? undefined : likeFloat(exact(x, y, isFloat), isFloat)
  }

const likeFloat = (value: Int | undefined, isFloat: boolean): Elem | undefined =>
  isFloat && typeof value === 'bigint' ? Number(value) : value

/** A function of one number. */
export const ofOne =
  (exact: (a: Int) => Int | undefined, floats: (a: number) => number): ElemFunction =>
  ([a]) => {
    if (typeof a === 'number') return floats(a)
    const x = integerOf(a)
    return x === undefined ? undefined : exact(x)
  }

/** Any number of operands, two at a time. */
export const folded =
  (two: ElemFunction): ElemFunction =>
  ([first, ...rest]) =>
    rest.reduce<Elem | undefined>((sum, element) => (sum === undefined ? undefined : two([sum, element])), first)

/** A comparison by the sign of `a - b`, for operands of any type. */
const comparison =
  (
    known: (a: number | bigint | string, b: number | bigint | string) => boolean,
    proven: (lowest: number, highest: number) => boolean,
    refuted: (lowest: number, highest: number) => boolean
  ): ElemFunction =>
  ([a, b]) => {
    if (!isSym(a) && !isSym(b)) return known(plain(a), plain(b))
    const [lowest, highest] = difference(a, b)
    return proven(lowest, highest) ? true : refuted(lowest, highest) ? false : fresh(0, 1)
  }

const plain = (element: Exclude<Elem, object>): number | bigint | string =>
  typeof element === 'boolean' ? Number(element) : element

/** Bounds of `a - b`; NaN where a NaN or a difference of infinities is in it. */
function difference(a: Elem, b: Elem): [number, number] {
  const x = integerOf(a)
  const y = integerOf(b)
  if (x !== undefined && y !== undefined) {
    const exact = sub(x, y)
    return [minOf(exact), maxOf(exact)]
  }
  return [lowest(a) - highest(b), highest(a) - lowest(b)]
}

const lowest = (element: Elem): number => (isSym(element) ? element.min : Number(element))
const highest = (element: Elem): number => (isSym(element) ? element.max : Number(element))

export const equalElems = comparison(
  (a, b) => a === b,
  (low, high) => low === 0 && high === 0,
  (low, high) => low > 0 || high < 0
)
export const lessElems = comparison(
  (a, b) => a < b,
  (_, high) => high < 0,
  low => low >= 0
)
export const lessOrEqualElems = comparison(
  (a, b) => a <= b,
  (_, high) => high <= 0,
  low => low > 0
)
export const greaterElems = comparison(
  (a, b) => a > b,
  low => low > 0,
  (_, high) => high <= 0
)
export const greaterOrEqualElems = comparison(
  (a, b) => a >= b,
  low => low >= 0,
  (_, high) => high < 0
)

/** The opposite truth value. */
export const notElem: ElemFunction = ([a]) => {
  const negated = isSym(a) ? sub(1n, a) : !a
  return typeof negated === 'bigint' ? negated !== 0n : negated
}

export const andElems: ElemFunction = ([a, b]) =>
  a === false || b === false ? false : a === true ? b : b === true ? a : fresh(0, 1)

export const orElems: ElemFunction = ([a, b]) =>
  a === true || b === true ? true : a === false ? b : b === false ? a : fresh(0, 1)

export const xorElems: ElemFunction = ([a, b]) =>
  a === false ? b : b === false ? a : a === true ? notElem([b]) : b === true ? notElem([a]) : fresh(0, 1)

export const maxElems: ElemFunction = arithmetic(maximum, Math.max)
export const minElems: ElemFunction = arithmetic(minimum, Math.min)

export const negElem: ElemFunction = ofOne(neg, a => -a)

export const absElem: ElemFunction = ofOne(
  a => (minOf(a) >= 0 ? a : maxOf(a) <= 0 ? neg(a) : fresh(0, Math.max(-minOf(a), maxOf(a)))),
  Math.abs
)

/** -1, 0 or 1 where the bounds say which. */
export const signElem: ElemFunction = ofOne(
  a => (minOf(a) > 0 ? 1n : maxOf(a) < 0 ? -1n : a === 0n ? a : fresh(-1, 1)),
  Math.sign
)

/** Functions that leave whole numbers as they are: Floor, Ceil, Round. */
export const roundedElem = (floats: (a: number) => number): ElemFunction => ofOne(a => a, floats)

/** The elements of a known or partial value of integers, or undefined. */
export function integersOf({ value }: TensorFact): readonly Int[] | undefined {
  if (value === undefined || !isInteger(value.type)) return undefined
  if (!isPartial(value)) return Array.from(value.data as ArrayLike<number | bigint>, BigInt)
  const integers = value.data.map(integerOf)
  return integers.includes(undefined) ? undefined : (integers as Int[])
}
