import { fail } from '../../errors.ts'
import type { Rounding, WindowAxis } from '../../shapes/window.ts'
import { DTYPES, is64BitInteger, isFloat, MAX_FLOAT32 } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { convertPaced } from '../core/convert-paced.ts'
import { storeIntegers } from '../core/integers.ts'
import { type BigInts, doubles, readNumbers, readReals, targetOf } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { eachRun, type Run, type Taps } from '../core/windows.ts'
import { highestElements, spatialOf } from './highest-element.ts'

/** The planes of a pool, which all dims but the first two span: their number, and the elements and windows of each. */
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

/** The second output of a max pool: the indices of the highest elements. */
export interface PoolIndices {
  readonly out: Tensor
  /** Index of element `element` of plane `plane`, as the operator counts. */
  indexOf(plane: number, element: number): number
  /** Index for a window that lies in the padding alone; undefined: that of the first element of its plane. */
  readonly none: number | undefined
  /** The windows, where they are known: of up to three axes they are looked at one after the other. */
  readonly axes?: readonly WindowAxis[]
}

/**
 * The highest element of each window, or NaN if the window holds one; of equal elements the first counts. A window that
 * lies in the padding alone gives -Infinity, or the lowest integer. There is at least one window.
 */
export function* maxPool(x: Tensor, out: Tensor, taps: Taps, indices?: PoolIndices): Generator<void> {
  if (is64BitInteger(x.type)) {
    const highest = (out.data as BigInts).fill(x.type === 'int64' ? -(2n ** 63n) : 0n)
    return yield* maxOf(x.data as BigInts, highest, planesOf(x, out), taps, indices)
  }
  const target = targetOf(out)
  const { kind, bits } = DTYPES[x.type]
  target.numbers.fill(kind === 'float' ? -Infinity : kind === 'int' ? -(2 ** (bits - 1)) : 0)
  yield* maxOf<Numbers>(yield* readNumbers(x), target.numbers, planesOf(x, out), taps, indices)
  yield* target.finish()
}

/** Raises `out`, which starts at the lowest value, to the highest element of each window. */
function* maxOf<A extends Numbers | BigInts>(
  x: A,
  out: A,
  planes: Planes,
  taps: Taps,
  indices: PoolIndices | undefined
): Generator<void> {
  const pace = new Pace()
  const elements = indices && new Float64Array(planes.windows)
  const spatial = indices?.axes && spatialOf(indices.axes)
  for (let plane = 0; plane < planes.count; plane++) {
    const from = plane * planes.elements
    const to = plane * planes.windows
    if (indices === undefined || elements === undefined) {
      yield* eachRun(taps, pace, (_, window, element, count, step) =>
        highestRun(x, from + element, step, out, to + window, count)
      )
      continue
    }
    if (spatial) yield* highestElements(x, from, spatial, out, to, elements, pace)
    else {
      elements.fill(-1)
      yield* eachRun(taps, pace, (_, window, element, count, step) =>
        highestElementRun(x, from, element, step, out, to + window, elements, window, count)
      )
    }
    storeIndices(indices, plane, elements, to)
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

/** As {@link highestRun}; notes in `elements` which element of the plane is the highest of each window. */
function highestElementRun<A extends Numbers | BigInts>(
  x: A,
  plane: number,
  element: number,
  step: number,
  out: A,
  to: number,
  elements: Float64Array,
  window: number,
  count: number
): void {
  for (let i = 0; i < count; i++, element += step, to++, window++) {
    const value = x[plane + element]
    if (value > out[to] || elements[window] < 0 || (value !== value && out[to] === out[to])) {
      out[to] = value
      elements[window] = element
    }
  }
}

/** @param elements the highest element of each window, -1 for none; overwritten */
function storeIndices({ out, indexOf, none }: PoolIndices, plane: number, elements: Float64Array, to: number): void {
  const empty: number[] = []
  for (let w = 0; w < elements.length; w++) {
    if (elements[w] < 0) empty.push(w)
    elements[w] = indexOf(plane, Math.max(0, elements[w]))
  }
  storeIntegers(out, elements, to)
  if (none === undefined) return
  for (const w of empty) out.data[to + w] = is64BitInteger(out.type) ? BigInt(none) : none
}

/**
 * Overwrites what {@link maxPool} gives for windows that lie in the padding alone with the lowest finite number, as
 * OpenVINO's core and CPU plugin do. Narrower floats do not hold the lowest number of float32, and get -Infinity there.
 */
export function fillEmpty(out: Tensor, axes: readonly WindowAxis[]): void {
  if (out.type !== 'float32' && out.type !== 'float64') return
  const { data } = out
  const lowest = out.type === 'float32' ? -MAX_FLOAT32 : -Number.MAX_VALUE
  const windows = product(axes.map(({ count }) => count))
  let inner = windows
  for (const axis of axes) {
    const outer = inner
    inner /= axis.count
    for (const w of emptyWindows(axis))
      for (let at = w * inner; at < data.length; at += outer) data.fill(lowest, at, at + inner)
  }
}

/** Those windows of an axis that lie in the padding as a whole, or between two of its elements. */
export function emptyWindows({ size, count, kernel, stride, dilation, begin }: WindowAxis): number[] {
  const empty: number[] = []
  for (let i = 0; i < count; i++) {
    const start = i * stride - begin
    const first = start < 0 ? start + Math.ceil(-start / dilation) * dilation : start
    if (first >= Math.min(size, start + (kernel - 1) * dilation + 1)) empty.push(i)
  }
  return empty
}

/** The divisors of the windows along one axis. */
export type Counts = readonly number[]

/**
 * Counts the cells of each window that are elements or, with `withPadding`, padding. Cells beyond the padding are not
 * counted; with `withPadding` or `emptyIsZero` a window of nothing else counts as one cell, which is zero.
 */
export function cellsOf(
  { size, count, kernel, stride, dilation, begin, end }: WindowAxis,
  withPadding: boolean,
  emptyIsZero = false
): Counts {
  const [low, high] = withPadding ? [-begin, size + end] : [0, size]
  return Array.from({ length: count }, (_, window) => {
    const start = window * stride - begin
    const first = Math.max(0, Math.ceil((low - start) / dilation))
    const last = Math.min(kernel, Math.ceil((high - start) / dilation))
    return Math.max(withPadding || emptyIsZero ? 1 : 0, last - first)
  })
}

/** What the mean of a window counts. */
export interface Counting {
  readonly withPadding: boolean
  readonly emptyIsZero?: boolean
  readonly rounding: Rounding
}

/**
 * What counts the cells of the windows along each axis. With `withPadding` cells beyond the padding, which windows of
 * OpenVINO's `ceil` have, count too where any axis is padded, as in OpenVINO's core and CPU plugin; else
 * {@link cellsOf}.
 */
export function cellCounter(
  axes: readonly WindowAxis[],
  { withPadding, emptyIsZero, rounding }: Counting
): (axis: WindowAxis) => Counts {
  const isWhole = withPadding && rounding === 'ceil' && axes.some(({ begin, end }) => begin > 0 || end > 0)
  return isWhole
    ? ({ count, kernel }) => new Array<number>(count).fill(kernel)
    : axis => cellsOf(axis, withPadding, emptyIsZero)
}

/**
 * The mean of each window: the sum of its elements, in double precision, divided by the product of its counts along the
 * axes. Means of integers are rounded to the nearest integer, ties to the even one.
 * @throws NodewiseError `value-out-of-range` for integers in a window without elements
 */
export function* averagePool(x: Tensor, out: Tensor, taps: Taps, counts: readonly Counts[]): Generator<void> {
  if (!isFloat(x.type) && counts.some(list => list.includes(0))) {
    fail('value-out-of-range', 'a window holds no integers to take the mean of')
  }
  const numbers = yield* readReals(x)
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
    yield* inChunks(
      products.length,
      (from, to) => {
        for (let i = from; i < to; i++) products[i] = before[Math.floor(i / list.length)] * list[i % list.length]
      },
      2 * COST.element
    )
  }
  return products
}

/** `(Σ|x|^p)^(1/p)` over the elements of each window; padding adds nothing. */
export function* lpPool(x: Tensor, out: Tensor, taps: Taps, p: number): Generator<void> {
  const numbers = yield* readNumbers(x)
  const power = POWERS[p] ?? ((value: number): number => Math.pow(Math.abs(value), p))
  const root = ROOTS[p] ?? ((sum: number): number => Math.pow(sum, 1 / p))
  const add: AddPlane = (from, sums) => (_, window, element, count, step) => {
    for (let i = 0, e = from + element; i < count; i++, e += step) sums[window + i] += power(numbers[e])
  }
  yield* eachSum(x, out, taps, add, root, Object.hasOwn(POWERS, p) ? COST.copy : COST.transcendental)
}

const POWERS: Readonly<Record<number, (value: number) => number>> = { 1: Math.abs, 2: value => value * value }
const ROOTS: Readonly<Record<number, (sum: number) => number>> = { 1: sum => sum, 2: Math.sqrt }

/** Makes the function that adds elements of the plane at `from` to the sums of its windows. */
type AddPlane = (from: number, sums: Float64Array) => Run

/**
 * Sums the windows of each plane and stores what `finish` makes of the sums.
 * @param cost nanoseconds for adding one element
 */
function* eachSum(
  x: Tensor,
  out: Tensor,
  taps: Taps,
  add: AddPlane,
  finish: (sum: number, window: number) => number,
  cost: number = COST.copy
): Generator<void> {
  const planes = planesOf(x, out)
  const pace = new Pace()
  const sums = new Float64Array(planes.windows)
  const isWide = is64BitInteger(out.type)
  const isWhole = !isFloat(out.type)
  const target = isWide ? undefined : targetOf(out)
  const numbers = target?.numbers ?? new Float64Array(out.data.length)
  for (let plane = 0; plane < planes.count; plane++) {
    sums.fill(0)
    yield* eachRun(taps, pace, add(plane * planes.elements, sums), cost)
    const start = plane * planes.windows
    yield* inChunks(
      sums.length,
      (from, to) => {
        for (let w = from; w < to; w++) {
          const value = finish(sums[w], w)
          numbers[start + w] = isWhole ? roundHalfToEven(value) : value
        }
      },
      4 * COST.element
    )
  }
  if (target) yield* target.finish()
  if (isWide) yield* convertPaced(new Tensor('float64', numbers as Float64Array, out.dims), out)
}
