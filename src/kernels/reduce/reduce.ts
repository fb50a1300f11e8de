import { type DType, DTYPES, is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocate, areSameDims, stridesOf, Tensor } from '../../tensor/tensor.ts'
import { convertedPaced, convertPaced } from '../core/convert-paced.ts'
import { eachInnerLoop, innermost, type Loops, mergedLoops } from '../core/elementwise.ts'
import { type BigInts, doubles, readReals } from '../core/numbers.ts'
import { chunkSize, COST, DONE, inChunks } from '../core/pace.ts'

export type Reduction =
  | 'sum'
  | 'mean'
  | 'max'
  | 'min'
  | 'prod'
  | 'l1'
  | 'l2'
  | 'logSum'
  | 'logSumExp'
  | 'sumSquare'
  | 'and'
  | 'or'

/**
 * The inner loop of a reduction: accumulates `x[p + i*s]` into `acc[o + i*u]` for `i < n`. `u` is 0 where all these
 * elements go into one result. Every reduction has a loop of its own, which is several times faster than a shared one.
 */
export type Accumulate<In, Acc> = (x: In, p: number, s: number, acc: Acc, o: number, u: number, n: number) => void
export type NumberAccumulate = Accumulate<Numbers, Float64Array>
type BigAccumulate = Accumulate<BigInts, BigInts>

export const SUM: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  let sum = acc[o]
  if (u === 0) {
    for (let i = 0; i < n; i++, p += s) sum += x[p]
    acc[o] = sum
  } else for (let i = 0; i < n; i++, p += s, o += u) acc[o] += x[p]
}

export const SUM_OF_MAGNITUDES: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] += Math.abs(x[p])
}

export const SUM_OF_SQUARES: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  let sum = acc[o]
  if (u === 0) {
    for (let i = 0; i < n; i++, p += s) sum += x[p] * x[p]
    acc[o] = sum
  } else for (let i = 0; i < n; i++, p += s, o += u) acc[o] += x[p] * x[p]
}

const PRODUCT: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  let product = acc[o]
  if (u === 0) {
    for (let i = 0; i < n; i++, p += s) product *= x[p]
    acc[o] = product
  } else for (let i = 0; i < n; i++, p += s, o += u) acc[o] *= x[p]
}
const HIGHEST: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  let highest = acc[o]
  if (u === 0) {
    for (let i = 0; i < n; i++, p += s) highest = Math.max(highest, x[p])
    acc[o] = highest
  } else for (let i = 0; i < n; i++, p += s, o += u) acc[o] = Math.max(acc[o], x[p])
}
const LOWEST: NumberAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] = Math.min(acc[o], x[p])
}

const BIG_SUM: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] += x[p]
}
const BIG_PRODUCT: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] *= x[p]
}
const BIG_SUM_OF_MAGNITUDES: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] += x[p] < 0n ? -x[p] : x[p]
}
const BIG_SUM_OF_SQUARES: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) acc[o] += x[p] * x[p]
}
const BIG_HIGHEST: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) if (x[p] > acc[o]) acc[o] = x[p]
}
const BIG_LOWEST: BigAccumulate = (x, p, s, acc, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, o += u) if (x[p] < acc[o]) acc[o] = x[p]
}

const NUMBERS: Readonly<Record<Exclude<Reduction, 'logSumExp'>, NumberAccumulate>> = {
  sum: SUM,
  mean: SUM,
  max: HIGHEST,
  min: LOWEST,
  prod: PRODUCT,
  l1: SUM_OF_MAGNITUDES,
  l2: SUM_OF_SQUARES,
  logSum: SUM,
  sumSquare: SUM_OF_SQUARES,
  and: LOWEST,
  or: HIGHEST
}

/** Reductions of integers that are computed exactly in 64 bits; others are computed in double precision. */
const BIGS: Readonly<Partial<Record<Reduction, BigAccumulate>>> = {
  sum: BIG_SUM,
  mean: BIG_SUM,
  max: BIG_HIGHEST,
  min: BIG_LOWEST,
  prod: BIG_PRODUCT,
  l1: BIG_SUM_OF_MAGNITUDES,
  sumSquare: BIG_SUM_OF_SQUARES
}

/**
 * Reduces the axes `axes` (not negative) of `x` into `out`, whose elements are those of the other axes in row-major
 * order. Floats are accumulated in double precision. Integers are exact and wrap; means and other fractional results
 * are truncated. No elements give 0 (sums and means), 1 (products), or the lowest or highest value of the type (max,
 * min). Few elements are reduced before this returns.
 */
export function reduce(kind: Reduction, x: Tensor, axes: readonly number[], out: Tensor): Generator<void> {
  const { type } = x
  const isPlain = type === 'float32' || type === 'float64'
  const count = axes.reduce((product, axis) => product * x.dims[axis], 1)
  if (!isPlain || kind === 'logSumExp' || count === 0 || x.data.length > FEW)
    return reduceMany(kind, x, axes, count, out)
  const results = doubles(out.data.length)
  const start = startOf(kind, type)
  if (start !== 0) results.fill(start)
  accumulate(NUMBERS[kind], x.data as Numbers, x.dims, axes, results)
  finish(kind, results, count)
  const to = out.data as Numbers
  for (let i = 0; i < results.length; i++) to[i] = results[i]
  return DONE
}

/** Elements that are reduced before {@link reduce} returns, where they need no conversion. */
const FEW = chunkSize(COST.element)

function* reduceMany(kind: Reduction, x: Tensor, axes: readonly number[], count: number, out: Tensor): Generator<void> {
  const { type } = x
  if (isInteger(type)) {
    const wide =
      is64BitInteger(type) || !(kind === 'max' || kind === 'min' || (IN_DOUBLES.has(kind) && count <= SAFE_COUNT))
    if (wide && BIGS[kind])
      return yield* reduceBigInts(
        kind,
        BIGS[kind],
        is64BitInteger(type) ? x : yield* convertedPaced(x, 'int64'),
        axes,
        count,
        out
      )
  }
  const results = doubles(out.data.length).fill(startOf(kind, type))
  const numbers = yield* readReals(x)
  if (kind === 'logSumExp') yield* logSumExp(numbers, x.dims, axes, results)
  else {
    yield* accumulate(NUMBERS[kind], numbers, x.dims, axes, results)
    finish(kind, results, count)
  }
  // Exact sums wrap as their storage does.
  if (isInteger(type) && (kind === 'sum' || kind === 'l1') && !is64BitInteger(type)) {
    const sums = out.data as Numbers
    return yield* inChunks(results.length, (from, to) => sums.set(results.subarray(from, to), from))
  }
  yield* convertPaced(new Tensor('float64', results, out.dims), out)
}

/** Reductions of 32-bit integers that doubles hold: sums, whose quotients by fewer than 2^21 are not rounded up. */
const IN_DOUBLES: ReadonlySet<Reduction> = new Set(['sum', 'mean', 'l1'])
/** Most 32-bit integers whose sum is exact in a double. */
const SAFE_COUNT = 2 ** 21

/** The result of no elements. */
function startOf(kind: Reduction, type: DType): number {
  if (kind === 'prod' || kind === 'and') return 1
  if (kind !== 'max' && kind !== 'min') return 0
  const { kind: of, bits } = DTYPES[type]
  if (of === 'float') return kind === 'max' ? -Infinity : Infinity
  const lowest = of === 'int' ? -(2 ** (bits - 1)) : 0
  return kind === 'max' ? lowest : of === 'bool' ? 1 : lowest + 2 ** bits - 1
}

/** What sums are divided by for their mean: that of no elements is 0, as their sum is. */
const divisorOf = (count: number): number => Math.max(count, 1)

function finish(kind: Reduction, results: Float64Array, count: number): void {
  const divisor = divisorOf(count)
  for (let i = 0; i < results.length; i++) {
    if (kind === 'mean') results[i] /= divisor
    else if (kind === 'l2') results[i] = Math.sqrt(results[i])
    else if (kind === 'logSum') results[i] = Math.log(results[i])
  }
}

/**
 * Accumulates every element of `x` into the result for its position along the axes that are not reduced. Few elements
 * are accumulated before this returns.
 */
export function accumulate<In, Acc>(
  innerLoop: Accumulate<In, Acc>,
  x: In,
  dims: readonly number[],
  axes: readonly number[],
  results: Acc
): Generator<void> {
  const loops = loopsOver(dims, axes)
  const [s, u] = innermost(loops)
  return eachInnerLoop(loops, (at, n) => innerLoop(x, at[0], s, results, at[1], u, n))
}

/** Loops by the dims of the operand, which steps that run again have as one frozen list, with the axes. */
const KNOWN = new WeakMap<readonly number[], { readonly loops: Loops; readonly axes: readonly number[] }>()

/** Loops over an operand and what it is reduced to; those that were worked out last for frozen dims are kept. */
function loopsOver(dims: readonly number[], axes: readonly number[]): Loops {
  const known = KNOWN.get(dims)
  if (known && areSameDims(known.axes, axes)) return known.loops
  const loops = mergedLoops(dims, [stridesOf(dims), resultStrides(dims, axes)])
  if (Object.isFrozen(dims)) KNOWN.set(dims, { loops, axes: axes.slice() })
  return loops
}

/** Strides of the result along the dims of the operand: 0 along dims that are reduced. */
export function resultStrides(dims: readonly number[], axes: readonly number[]): number[] {
  const reduced = new Set(axes)
  const kept = stridesOf(dims.map((dim, i) => (reduced.has(i) ? 1 : dim)))
  return kept.map((stride, i) => (reduced.has(i) ? 0 : stride))
}

/** `log Σ exp(x)`; the highest element is subtracted first so that nothing overflows. */
function* logSumExp(
  x: Numbers,
  dims: readonly number[],
  axes: readonly number[],
  results: Float64Array
): Generator<void> {
  const highest = doubles(results.length).fill(-Infinity)
  yield* accumulate(HIGHEST, x, dims, axes, highest)
  const loops = loopsOver(dims, axes)
  const [s, u] = innermost(loops)
  yield* eachInnerLoop(loops, (at, n) => addExponentials(x, at[0], s, results, at[1], u, n, highest))
  for (let i = 0; i < results.length; i++) results[i] = highest[i] + Math.log(results[i])
}

function addExponentials(
  x: Numbers,
  p: number,
  s: number,
  results: Float64Array,
  o: number,
  u: number,
  n: number,
  highest: Float64Array
): void {
  if (u === 0) {
    const most = highest[o]
    let sum = results[o]
    for (let i = 0; i < n; i++, p += s) sum += x[p] === most ? 1 : Math.exp(x[p] - most)
    results[o] = sum
    return
  }
  for (let i = 0; i < n; i++, p += s, o += u) results[o] += x[p] === highest[o] ? 1 : Math.exp(x[p] - highest[o])
}

function* reduceBigInts(
  kind: Reduction,
  innerLoop: BigAccumulate,
  x: Tensor,
  axes: readonly number[],
  count: number,
  out: Tensor
): Generator<void> {
  const signed = x.type === 'int64'
  const results: BigInts = allocate(signed ? 'int64' : 'uint64', [out.data.length]).data
  const lowest = signed ? -(2n ** 63n) : 0n
  if (kind === 'max') results.fill(lowest)
  if (kind === 'min') results.fill(lowest + 2n ** 64n - 1n)
  if (kind === 'prod') results.fill(1n)
  yield* accumulate(innerLoop, x.data as BigInts, x.dims, axes, results)
  const divisor = BigInt(divisorOf(count))
  if (kind === 'mean') for (let i = 0; i < results.length; i++) results[i] /= divisor
  yield* convertPaced(new Tensor(x.type, results, out.dims), out)
}
