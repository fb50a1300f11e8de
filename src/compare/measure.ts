import { areSameBytes } from '../host.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { largestMagnitude, type Numbers, toDoubles } from '../tensor/elements.ts'
import { positionOf, type Tensor } from '../tensor/tensor.ts'

/** When two elements, or two tensors, count as equal. */
export interface Closeness {
  /** Elements differ where `|a - b| > atol + rtol * |b|`. */
  readonly rtol: number
  /** Left out: 1e-5 times the largest magnitude in `b`. */
  readonly atol?: number | undefined
  /** In place of both: tensors differ where the signal-to-noise ratio is below as many decibels. */
  readonly sqnr?: number | undefined
}

/** How far two tensors are apart. */
export interface Distance {
  readonly equal: boolean
  readonly maxAbsolute: number
  /** Largest `|a - b| / |b|` of elements that differ beyond the tolerance; 0 where none does. */
  readonly maxRelative: number
  /** Decibels of `b` over `a - b`; Infinity where they are the same. */
  readonly sqnr: number
  /**
   * Where the element that is furthest beyond the tolerance is in `a`. Where none is, undefined if the two are equal;
   * else their signal-to-noise ratio is too low, and it is the element that is furthest apart.
   */
  readonly position?: readonly number[]
  /** The element at `position` in `a` and in `b`. */
  readonly worst?: readonly [number | string, number | string]
  /** Elements beyond the tolerance. */
  readonly differing: number
  readonly elements: number
  /**
   * Set where the two are equal but for so many elements, each of which two quantizers have rounded to neighbouring
   * steps.
   */
  readonly ties?: number
}

const DEFAULT_ATOL = 1e-5

/**
 * Holds two tensors of as many elements against each other, in row-major order whatever their dims, as numbers of
 * double precision. NaN equals NaN, and an infinity itself.
 */
export function measure(a: Tensor, b: Tensor, closeness: Closeness): Distance {
  if (DTYPES[a.type].kind === 'string' || DTYPES[b.type].kind === 'string') return measureTexts(a, b)
  if (a.type === b.type && areIdentical(a, b)) return same(b)
  const [x, y] = [numbersOf(a), numbersOf(b)]
  const { rtol } = closeness
  const atol = closeness.atol ?? DEFAULT_ATOL * largestMagnitude(y)
  let [signal, noise, maxAbsolute, maxRelative, differing, worst, most, furthest] = [0, 0, 0, 0, 0, -1, 0, -1]
  for (let i = 0; i < y.length; i++) {
    const p = x[i]
    const q = y[i]
    const difference = p - q
    let apart = Infinity
    let excess = Infinity
    // NaN where one of them is, and where both are the same infinity.
    if (difference - difference === 0) {
      signal += q * q
      if (difference === 0) continue
      apart = Math.abs(difference)
      excess = apart - (atol + rtol * Math.abs(q))
    } else if (p === q || (p !== p && q !== q)) continue
    noise += apart * apart
    if (apart > maxAbsolute) [maxAbsolute, furthest] = [apart, i]
    if (excess <= 0) continue
    differing++
    maxRelative = Math.max(maxRelative, apart === Infinity ? apart : apart / Math.abs(q))
    if (excess > most) [most, worst] = [excess, i]
  }
  const sqnr = noise === 0 ? Infinity : noise === Infinity ? -Infinity : 10 * Math.log10(signal / noise)
  const equal = closeness.sqnr === undefined ? differing === 0 : sqnr >= closeness.sqnr
  const elements = y.length / DTYPES[b.type].slots
  // Many small differences can be too much noise, none of which is beyond the tolerance.
  if (!equal && worst < 0) worst = furthest
  return { equal, maxAbsolute, maxRelative, sqnr, ...placed(a, x, y, worst), differing, elements }
}

/** Whether the elements are the same bit by bit: next to all that two equal models make is. */
export const areIdentical = ({ data: a }: Tensor, { data: b }: Tensor): boolean =>
  !Array.isArray(a) && !Array.isArray(b) && areSameBytes(bytesOf(a), bytesOf(b))

const same = ({ size }: Tensor): Distance => ({
  equal: true,
  maxAbsolute: 0,
  maxRelative: 0,
  sqnr: Infinity,
  differing: 0,
  elements: size
})

/** The elements as numbers; of complex ones both parts, one after the other. */
export const numbersOf = (tensor: Tensor): Numbers =>
  DTYPES[tensor.type].kind === 'complex' ? (tensor.data as Numbers) : toDoubles(tensor)

function placed(a: Tensor, x: Numbers, y: Numbers, worst: number): Pick<Distance, 'position' | 'worst'> {
  if (worst < 0) return {}
  return { position: positionOf(Math.floor(worst / DTYPES[a.type].slots), a.dims), worst: [x[worst], y[worst]] }
}

function measureTexts(a: Tensor, b: Tensor): Distance {
  const [x, y] = [a, b].map(({ data }) => Array.from(data as ArrayLike<unknown>, String))
  const wrong = y.flatMap((text, i) => (text === x[i] ? [] : [i]))
  const far = wrong.length > 0 ? Infinity : 0
  return {
    equal: wrong.length === 0,
    maxAbsolute: far,
    maxRelative: far,
    sqnr: wrong.length > 0 ? -Infinity : Infinity,
    ...(wrong.length > 0 && { position: positionOf(wrong[0], a.dims), worst: [x[wrong[0]], y[wrong[0]]] as const }),
    differing: wrong.length,
    elements: y.length
  }
}
