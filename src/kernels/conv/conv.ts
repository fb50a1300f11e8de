import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { eachRun, tapsOf } from '../core/windows.ts'
import { gemm, type Matrix, type Pace, transposed } from '../matrix/gemm.ts'
import { matrix } from '../matrix/matmul.ts'
import { BIGS, type ConvArrays, convolveDirectly, INTS, NUMBERS } from './conv-direct.ts'
import { type ConvPlan, fillWithBias, type Part, partsOf, planeSizes } from './conv-plan.ts'

/** Channels of windows from which on a product of matrices pays for the columns that it needs. */
const MIN_FOR_COLUMNS = 4
/** Elements of the columns that are multiplied at once: they stay in the cache. */
const COLUMN_ELEMENTS = 1 << 19
const MIN_COLUMNS = 64

/**
 * `out = bias + x * w`, or its transpose. Sums are made in double precision, over runs of 512 products where matrices
 * are multiplied;
 * float16 and bfloat16 are rounded once, integers wrap. `out` starts as zeros.
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
    const [own, weights, biases, sums] = [x, w, bias, out].map(tensor => tensor?.data as BigInts)
    return yield* convolveDirectly(BIGS, { x: own, w: weights, bias: biases, out: sums }, plan, isTransposed)
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
  else if (plan.windowChannels < MIN_FOR_COLUMNS) yield* convolveDirectly(NUMBERS, arrays, plan, isTransposed)
  else yield* convolveByColumns(arrays, plan, isTransposed)
  yield* target.finish()
}

/** One part of the windows after the other, all batches and groups of it. */
function* convolveByColumns(arrays: ConvArrays<Numbers>, plan: ConvPlan, isTransposed: boolean): Generator<void> {
  if (arrays.bias) fillWithBias(arrays.out, arrays.bias, plan.batch)
  const height = plan.elementChannels * planeSizes(plan.axes).taps
  const readsInPlace =
    !isTransposed &&
    plan.axes.every(
      ({ kernel, stride, begin, size, count }) => kernel === 1 && stride === 1 && begin === 0 && size === count
    )
  const most = readsInPlace ? Infinity : Math.max(MIN_COLUMNS, Math.floor(COLUMN_ELEMENTS / Math.max(1, height)))
  const columns = columnsOf(arrays.out, readsInPlace ? 0 : height * Math.min(most, planeSizes(plan.axes).windows))
  const pace = { work: 0 }
  for (const part of partsOf(plan.axes, most)) {
    if (isTransposed) yield* spread(arrays, columns, plan, part, pace)
    else yield* collect(arrays, readsInPlace ? undefined : columns, plan, part, pace)
  }
}

/** Doubles where float32 may not hold sums of integers. */
const columnsOf = (out: Numbers, size: number): Numbers =>
  out instanceof Float32Array ? new Float32Array(size) : new Float64Array(size)

/** Sums of the windows of one part: what they read becomes columns, unless they read the elements just as these lie. */
function* collect(
  { x, w, out }: ConvArrays<Numbers>,
  columns: Numbers | undefined,
  plan: ConvPlan,
  part: Part,
  pace: Pace
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const reads = tapsOf(axes, part.box)
  const moving = { work: 0 }
  for (let g = 0; g < batch * groups; g++) {
    const from = g * elementChannels * elements
    columns?.fill(0, 0, height * part.count)
    for (let c = 0; columns !== undefined && c < elementChannels; c++) {
      const source = from + c * elements
      const target = c * taps * part.count - part.start
      yield* eachRun(reads, moving, (tap, window, element, count, step) =>
        copyRun(x, source + element, step, columns, target + tap * part.count + window, count)
      )
    }
    const left = matrix(w, (g % groups) * windowChannels * height, height)
    const right = columns ? matrix(columns, 0, part.count) : matrix(x, from + part.start, elements)
    const sums: Matrix = {
      data: out,
      offset: g * windowChannels * windows + part.start,
      rowStride: windows,
      columnStride: 1
    }
    yield* gemm(windowChannels, part.count, height, left, right, sums, pace)
  }
}

function copyRun(x: Numbers, from: number, step: number, columns: Numbers, to: number, count: number): void {
  for (let i = 0; i < count; i++, from += step) columns[to + i] = x[from]
}

/** What the windows of one part give to the elements. */
function* spread(
  { x, w, out }: ConvArrays<Numbers>,
  columns: Numbers,
  plan: ConvPlan,
  part: Part,
  pace: Pace
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const reads = tapsOf(axes, part.box)
  const moving = { work: 0 }
  for (let g = 0; g < batch * groups; g++) {
    columns.fill(0, 0, height * part.count)
    const left = transposed(matrix(w, (g % groups) * windowChannels * height, height))
    const right = matrix(x, g * windowChannels * windows + part.start, windows)
    yield* gemm(height, part.count, windowChannels, left, right, matrix(columns, 0, part.count), pace)
    for (let c = 0; c < elementChannels; c++) {
      const target = (g * elementChannels + c) * elements
      const source = c * taps * part.count - part.start
      yield* eachRun(reads, moving, (tap, window, element, count, step) =>
        addRun(columns, source + tap * part.count + window, out, target + element, step, count)
      )
    }
  }
}

function addRun(columns: Numbers, from: number, out: Numbers, to: number, step: number, count: number): void {
  for (let i = 0; i < count; i++, to += step) out[to] += columns[from + i]
}
