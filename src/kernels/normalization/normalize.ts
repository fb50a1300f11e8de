import type { Numbers } from '../../tensor/elements.ts'
import { product, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { eachInnerLoop, innermost, mergedLoops } from '../core/elementwise.ts'
import { doubles } from '../core/numbers.ts'
import { accumulate, type NumberAccumulate, resultStrides, SUM, SUM_OF_SQUARES } from '../reduce/reduce.ts'

/** Statistics of groups of elements: one for each position along the axes that are kept. */
export interface Moments {
  readonly mean: Float64Array
  /** Of the population, not of a sample. */
  readonly variance: Float64Array
}

/** Number of groups, and of elements in each, when elements along `axes` form a group. */
export function groupSizes(dims: readonly number[], axes: readonly number[]): { groups: number; size: number } {
  const size = product(axes.map(axis => dims[axis]))
  return { groups: product(dims.filter((_, i) => !axes.includes(i))), size }
}

/** One sum for each group. */
export function* groupSums(
  x: Numbers,
  dims: readonly number[],
  axes: readonly number[],
  innerLoop: NumberAccumulate = SUM
): Generator<void, Float64Array> {
  const sums = doubles(groupSizes(dims, axes).groups)
  yield* accumulate(innerLoop, x, dims, axes, sums)
  return sums
}

/** Mean and variance of each group, in two passes so that no digits cancel. */
export function* momentsOf(x: Numbers, dims: readonly number[], axes: readonly number[]): Generator<void, Moments> {
  const { size } = groupSizes(dims, axes)
  const mean = yield* groupSums(x, dims, axes)
  for (let i = 0; i < mean.length; i++) mean[i] /= size
  const variance = doubles(mean.length)
  const loops = mergedLoops(dims, [stridesOf(dims), resultStrides(dims, axes)])
  const [s, u] = innermost(loops)
  yield* eachInnerLoop(loops, (at, n) => addSquaredDeviations(x, at[0], s, mean, variance, at[1], u, n))
  for (let i = 0; i < mean.length; i++) variance[i] /= size
  return { mean, variance }
}

/** `sums[o + i*u] += (x[p + i*s] - mean[o + i*u])²` for `i < n`. */
function addSquaredDeviations(
  x: Numbers,
  p: number,
  s: number,
  mean: Float64Array,
  sums: Float64Array,
  o: number,
  u: number,
  n: number
): void {
  if (u === 0) {
    const center = mean[o]
    let sum = sums[o]
    for (let i = 0; i < n; i++, p += s) sum += (x[p] - center) * (x[p] - center)
    sums[o] = sum
  } else for (let i = 0; i < n; i++, p += s, o += u) sums[o] += (x[p] - mean[o]) * (x[p] - mean[o])
}

/** An affine map for each group: `(x - shift) * scale + offset`; lists that are left out are zeros. */
export interface Affine {
  readonly shift?: Float64Array
  readonly scale: Float64Array
  readonly offset?: Float64Array
}

/** `out = (x - shift) * scale + offset` with one of each for every group over `axes`. */
export function* applyToGroups(
  x: Numbers,
  dims: readonly number[],
  axes: readonly number[],
  { shift, scale, offset }: Affine,
  out: Numbers
): Generator<void> {
  const none = shift && offset ? scale : doubles(scale.length)
  const loops = mergedLoops(dims, [stridesOf(dims), resultStrides(dims, axes), stridesOf(dims)])
  const [s, u] = innermost(loops)
  yield* eachInnerLoop(loops, (at, n) =>
    affineInnerLoop(x, at[0], s, shift ?? none, scale, offset ?? none, at[1], u, out, n)
  )
}

/** The inner loop of {@link applyToGroups}: `out[p + i*s]` of `x[p + i*s]` by the map of group `g + i*u`. */
function affineInnerLoop(
  x: Numbers,
  p: number,
  s: number,
  shift: Float64Array,
  scale: Float64Array,
  offset: Float64Array,
  g: number,
  u: number,
  out: Numbers,
  n: number
): void {
  if (u === 0) {
    const [a, b, c] = [shift[g], scale[g], offset[g]]
    for (let i = 0; i < n; i++, p += s) out[p] = (x[p] - a) * b + c
  } else for (let i = 0; i < n; i++, p += s, g += u) out[p] = (x[p] - shift[g]) * scale[g] + offset[g]
}

/** What rows were normalized by: one number for each. */
export interface RowStatistics {
  /** Zeros where rows are not centered. */
  readonly mean: Float64Array
  /** 1 over the standard deviation, or over the root mean square. */
  readonly inverse: Float64Array
}

/**
 * Normalizes rows along the last axis, in place.
 * @param centers whether to mean 0 and variance 1 (LayerNormalization), else to a mean square of 1 (RMSNormalization)
 */
export function* normalizeRows(
  rows: Tensor<'float64'>,
  epsilon: number,
  centers: boolean
): Generator<void, RowStatistics> {
  const { data, dims } = rows
  const axes = [dims.length - 1]
  const { mean, spread } = centers ? yield* centeredRows(data, dims, axes) : yield* squaredRows(data, dims, axes)
  const inverse = spread.map(value => 1 / Math.sqrt(value + epsilon))
  yield* applyToGroups(data, dims, axes, { shift: mean, scale: inverse }, data)
  return { mean, inverse }
}

interface RowMoments {
  readonly mean: Float64Array
  /** The variance, or the mean square. */
  readonly spread: Float64Array
}

function* centeredRows(x: Numbers, dims: readonly number[], axes: readonly number[]): Generator<void, RowMoments> {
  const { mean, variance } = yield* momentsOf(x, dims, axes)
  return { mean, spread: variance }
}

function* squaredRows(x: Numbers, dims: readonly number[], axes: readonly number[]): Generator<void, RowMoments> {
  const { size } = groupSizes(dims, axes)
  const squares = yield* groupSums(x, dims, axes, SUM_OF_SQUARES)
  return { mean: doubles(squares.length), spread: squares.map(sum => sum / size) }
}
