import { fail } from '../../errors.ts'
import type { WindowAxis } from '../../shapes/window.ts'
import { DTYPES, is64BitInteger, isFloat } from '../../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { convertPaced } from '../core/convert-paced.ts'
import { storeIntegers } from '../core/integers.ts'
import { type BigInts, doubles, readNumbers, targetOf } from '../core/numbers.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { inSteps } from '../core/steps.ts'
import { eachRun, type Run, type Taps } from '../core/windows.ts'
import type { Pace } from '../matrix/gemm.ts'

/**
 * The planes of a pooling: how many there are, and how many elements and windows each has. All dims but the first two
 * are a plane's.
 */
interface Planes {
  readonly count: number
  readonly elements: number
  readonly windows: number
}

const planesOf = (x: Tensor, out: Tensor): Planes => ({
  count: product(x.dims.slice(0, 2)),
  elements: product(x.dims.slice(2)),
  windows: product(out.dims.slice(2))
})

/** Where the indices of the highest elements go. */
export interface PoolIndices {
  readonly out: Tensor
  /** Index of element `element` of plane `plane` as the operator counts. */
  number(plane: number, element: number): number
  /** Index of a window that lies in the padding alone. */
  readonly none: number
}

/**
 * The highest element of each window, NaN where there is one; the first of equal ones is the highest. A window that
 * lies in
 * the padding alone has -Infinity, or the lowest integer. There is at least one window.
 */
export function* maxPool(x: Tensor, out: Tensor, taps: Taps, indices?: PoolIndices): Generator<void> {
  if (is64BitInteger(x.type)) {
    const lowest = x.type === 'int64' ? -(2n ** 63n) : 0n
    return yield* maxOf(x.data as BigInts, out.data as BigInts, lowest, planesOf(x, out), taps, indices)
  }
  const target = targetOf(out)
  const { kind, bits } = DTYPES[x.type]
  const lowest = kind === 'float' ? -Infinity : kind === 'int' ? -(2 ** (bits - 1)) : 0
  yield* maxOf<Numbers>(yield* readNumbers(x), target.numbers, lowest, planesOf(x, out), taps, indices)
  yield* target.finish()
}

function* maxOf<A extends Numbers | BigInts>(
  x: A,
  out: A,
  lowest: A[number],
  planes: Planes,
  taps: Taps,
  indices: PoolIndices | undefined
): Generator<void> {
  const pace = { work: 0 }
  const places = indices && new Float64Array(planes.windows)
  out.fill(lowest as never)
  for (let plane = 0; plane < planes.count; plane++) {
    const from = plane * planes.elements
    const to = plane * planes.windows
    if (indices === undefined || places === undefined) {
      yield* eachRun(taps, pace, (_, window, element, count, step) =>
        highestRun(x, from + element, step, out, to + window, count)
      )
    } else {
      places.fill(-1)
      yield* eachRun(taps, pace, (_, window, element, count, step) =>
        highestPlaceRun(x, from, element, step, out, to + window, places, window, count)
      )
      storePlaces(indices, plane, places, to)
    }
  }
}

function highestRun<A extends Numbers | BigInts>(
  x: A,
  from: number,
  step: number,
  out: A,
  to: number,
  count: number
): void {
  for (let i = 0; i < count; i++, from += step, to++) {
    const value = x[from]
    // Only NaN differs from itself.
    if (value > out[to] || value !== value) out[to] = value
  }
}

function highestPlaceRun<A extends Numbers | BigInts>(
  x: A,
  plane: number,
  element: number,
  step: number,
  out: A,
  to: number,
  places: Float64Array,
  window: number,
  count: number
): void {
  for (let i = 0; i < count; i++, element += step, to++, window++) {
    const value = x[plane + element]
    if (value > out[to] || places[window] < 0 || (value !== value && out[to] === out[to])) {
      out[to] = value
      places[window] = element
    }
  }
}

function storePlaces({ out, number, none }: PoolIndices, plane: number, places: Float64Array, to: number): void {
  const empty: number[] = []
  for (let w = 0; w < places.length; w++) {
    if (places[w] < 0) empty.push(w)
    places[w] = places[w] < 0 ? 0 : number(plane, places[w])
  }
  storeIntegers(out, places, to)
  for (const w of empty) out.data[to + w] = is64BitInteger(out.type) ? BigInt(none) : none
}

/** What each window along an axis is divided by. */
export type Counts = readonly number[]

/**
 * Cells of each window that are elements or, where `withPadding`, padding. Cells beyond the padding do not count, but a
 * window of
 * nothing else is one zero then.
 */
export function cellsOf(
  { size, count, kernel, stride, dilation, begin, end }: WindowAxis,
  withPadding: boolean
): Counts {
  const [low, high] = withPadding ? [-begin, size + end] : [0, size]
  return Array.from({ length: count }, (_, window) => {
    const start = window * stride - begin
    const first = Math.max(0, Math.ceil((low - start) / dilation))
    const last = Math.min(kernel, Math.ceil((high - start) / dilation))
    return Math.max(withPadding ? 1 : 0, last - first)
  })
}

/**
 * The mean of each window: the sum of its elements, in double precision, by the product of its counts along the axes.
 * Means of
 * integers are rounded to the nearest, ties to the even one.
 * @throws NodewiseError `value-out-of-range` for the mean of no integers
 */
export function* averagePool(x: Tensor, out: Tensor, taps: Taps, counts: readonly Counts[]): Generator<void> {
  if (!isFloat(x.type) && counts.some(list => list.includes(0))) {
    fail('value-out-of-range', 'a window holds no integers to take the mean of')
  }
  const numbers = is64BitInteger(x.type) ? toDoubles(x) : yield* readNumbers(x)
  const divisors = yield* productsOf(counts)
  const add: AddPlane = (from, sums) => (_, window, element, count, step) => {
    for (let i = 0, e = from + element; i < count; i++, e += step) sums[window + i] += numbers[e]
  }
  yield* eachSum(x, out, taps, add, (sum, window) => sum / divisors[window])
}

/** Products of one item of each list, in row-major order. */
function* productsOf(lists: readonly Counts[]): Generator<void, Float64Array> {
  let products: Float64Array = Float64Array.of(1)
  for (const list of lists) {
    const before = products
    products = doubles(before.length * list.length)
    yield* inSteps(
      products.length,
      (from, to) => {
        for (let i = from; i < to; i++) products[i] = before[Math.floor(i / list.length)] * list[i % list.length]
      },
      2
    )
  }
  return products
}

/** What a power costs, in additions. */
const POWER_COST = 16

/** `(Σ|x|^p)^(1/p)` over the elements of each window; padding adds nothing. */
export function* lpPool(x: Tensor, out: Tensor, taps: Taps, p: number): Generator<void> {
  const numbers = yield* readNumbers(x)
  const power = POWERS[p] ?? ((value: number): number => Math.pow(Math.abs(value), p))
  const root = ROOTS[p] ?? ((sum: number): number => Math.pow(sum, 1 / p))
  const add: AddPlane = (from, sums, pace) => (_, window, element, count, step) => {
    for (let i = 0, e = from + element; i < count; i++, e += step) sums[window + i] += power(numbers[e])
    if (!Object.hasOwn(POWERS, p)) pace.work += count * POWER_COST
  }
  yield* eachSum(x, out, taps, add, root)
}

const POWERS: Readonly<Record<number, (value: number) => number>> = { 1: Math.abs, 2: value => value * value }
const ROOTS: Readonly<Record<number, (sum: number) => number>> = { 1: sum => sum, 2: Math.sqrt }

/** Adds runs of the plane that starts at `from` to the sums of its windows. */
type AddPlane = (from: number, sums: Float64Array, pace: Pace) => Run

/** Sums of the windows of each plane, brought to their final form by `finish`. */
function* eachSum(
  x: Tensor,
  out: Tensor,
  taps: Taps,
  add: AddPlane,
  finish: (sum: number, window: number) => number
): Generator<void> {
  const planes = planesOf(x, out)
  const pace = { work: 0 }
  const sums = new Float64Array(planes.windows)
  const isWide = is64BitInteger(out.type)
  const isWhole = !isFloat(out.type)
  const target = isWide ? undefined : targetOf(out)
  const numbers = target?.numbers ?? new Float64Array(out.data.length)
  for (let plane = 0; plane < planes.count; plane++) {
    sums.fill(0)
    yield* eachRun(taps, pace, add(plane * planes.elements, sums, pace))
    const start = plane * planes.windows
    yield* inSteps(
      sums.length,
      (from, to) => {
        for (let w = from; w < to; w++) {
          const value = finish(sums[w], w)
          numbers[start + w] = isWhole ? roundHalfToEven(value) : value
        }
      },
      4
    )
  }
  if (target) yield* target.finish()
  if (isWide) yield* convertPaced(new Tensor('float64', numbers as Float64Array, out.dims), out)
}
