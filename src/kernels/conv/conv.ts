import { planeSizes } from '../../shapes/window.ts'
import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { Pace } from '../core/pace.ts'
import { eachRun, tapsOf } from '../core/windows.ts'
import { gemm, matrix, type Matrix, transposed } from '../matrix/gemm.ts'
import { BIGS, type ConvArrays, convolveDirectly, INTS, NUMBERS } from './conv-direct.ts'
import { type ConvPlan, fillWithBias, type WindowRange, windowRanges } from './conv-plan.ts'

/** Channels of windows from which on a matrix product is faster although im2col must build a matrix for it. */
const MIN_IM2COL_CHANNELS = 4
/** Elements of an im2col matrix, so that it stays in the cache, and the least number of its columns. */
const MAX_MATRIX_ELEMENTS = 1 << 19
const MIN_COLUMNS = 64

/**
 * `out = bias + x * w`, or its transpose. Products are summed in double precision (by {@link gemm} in blocks of 512),
 * float16 and bfloat16 are rounded once at the end, and integers wrap. `out` starts as zeros.
 */
export function* convolve(
  x: Tensor,
  w: Tensor,
  bias: Tensor | undefined,
  out: Tensor,
  plan: ConvPlan,
  isTransposed = false
): Generator<void> {
  if (out.data.length === 0) return
  if (is64BitInteger(x.type)) {
    const arrays = {
      x: x.data as BigInts,
      w: w.data as BigInts,
      bias: bias?.data as BigInts | undefined,
      out: out.data as BigInts
    }
    return yield* convolveDirectly(BIGS, arrays, plan, isTransposed)
  }
  const { kind, bits } = DTYPES[x.type]
  const target = targetOf(out)
  const arrays: ConvArrays<Numbers> = {
    x: yield* readNumbers(x),
    w: yield* readNumbers(w),
    bias: bias && (yield* readNumbers(bias)),
    out: target.numbers
  }
  if (kind !== 'float' && bits === 32) yield* convolveDirectly(INTS, arrays, plan, isTransposed)
  else if (plan.windowChannels < MIN_IM2COL_CHANNELS) yield* convolveDirectly(NUMBERS, arrays, plan, isTransposed)
  else yield* convolveByIm2col(arrays, plan, isTransposed)
  yield* target.finish()
}

/** Convolves one range of windows after the other, in all batches and groups, so that the matrix stays small. */
function* convolveByIm2col(arrays: ConvArrays<Numbers>, plan: ConvPlan, isTransposed: boolean): Generator<void> {
  if (arrays.bias) fillWithBias(arrays.out, arrays.bias, plan.batch)
  const height = plan.elementChannels * planeSizes(plan.axes).taps
  const readsInPlace =
    !isTransposed &&
    plan.axes.every(
      ({ kernel, stride, begin, size, count }) => kernel === 1 && stride === 1 && begin === 0 && size === count
    )
  const maxCount = readsInPlace
    ? Infinity
    : Math.max(MIN_COLUMNS, Math.floor(MAX_MATRIX_ELEMENTS / Math.max(1, height)))
  const columns = columnsOf(arrays.out, readsInPlace ? 0 : height * Math.min(maxCount, planeSizes(plan.axes).windows))
  const pace = new Pace()
  for (const range of windowRanges(plan.axes, maxCount)) {
    if (isTransposed) yield* convolveTransposed(arrays, columns, plan, range, pace)
    else yield* convolveRange(arrays, readsInPlace ? undefined : columns, plan, range, pace)
  }
}

/** Float64 unless the output is float32: sums of integers may not fit into float32. */
const columnsOf = (out: Numbers, size: number): Numbers =>
  out instanceof Float32Array ? new Float32Array(size) : new Float64Array(size)

/**
 * Convolves one range of windows: im2col, then a matrix product.
 * @param columns where im2col writes; undefined where the elements themselves are the matrix (1 x 1 kernels)
 */
function* convolveRange(
  { x, w, out }: ConvArrays<Numbers>,
  columns: Numbers | undefined,
  plan: ConvPlan,
  range: WindowRange,
  pace: Pace
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const reads = tapsOf(axes, range.box)
  const copyPace = new Pace()
  for (let g = 0; g < batch * groups; g++) {
    const from = g * elementChannels * elements
    columns?.fill(0, 0, height * range.count)
    for (let c = 0; columns !== undefined && c < elementChannels; c++) {
      const source = from + c * elements
      const target = c * taps * range.count - range.start
      yield* eachRun(reads, copyPace, (tap, window, element, count, step) =>
        copyRun(x, source + element, step, columns, target + tap * range.count + window, count)
      )
    }
    const left = matrix(w, (g % groups) * windowChannels * height, height)
    const right = columns ? matrix(columns, 0, range.count) : matrix(x, from + range.start, elements)
    const sums: Matrix = {
      data: out,
      offset: g * windowChannels * windows + range.start,
      rowStride: windows,
      columnStride: 1
    }
    yield* gemm(windowChannels, range.count, height, left, right, sums, pace)
  }
}

function copyRun(x: Numbers, from: number, step: number, columns: Numbers, to: number, count: number): void {
  for (let i = 0; i < count; i++, from += step) columns[to + i] = x[from]
}

/** The transpose for one range of windows: a matrix product, then col2im, which adds its result to the elements. */
function* convolveTransposed(
  { x, w, out }: ConvArrays<Numbers>,
  columns: Numbers,
  plan: ConvPlan,
  range: WindowRange,
  pace: Pace
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const reads = tapsOf(axes, range.box)
  const copyPace = new Pace()
  for (let g = 0; g < batch * groups; g++) {
    columns.fill(0, 0, height * range.count)
    const left = transposed(matrix(w, (g % groups) * windowChannels * height, height))
    const right = matrix(x, g * windowChannels * windows + range.start, windows)
    yield* gemm(height, range.count, windowChannels, left, right, matrix(columns, 0, range.count), pace)
    for (let c = 0; c < elementChannels; c++) {
      const target = (g * elementChannels + c) * elements
      const source = c * taps * range.count - range.start
      yield* eachRun(reads, copyPace, (tap, window, element, count, step) =>
        addRun(columns, source + tap * range.count + window, out, target + element, step, count)
      )
    }
  }
}

function addRun(columns: Numbers, from: number, out: Numbers, to: number, step: number, count: number): void {
  for (let i = 0; i < count; i++, to += step) out[to] += columns[from + i]
}
