import { fail } from '../../errors.ts'
import { type AxisLayout, axisLayout } from '../../kernels/core/axis-layout.ts'
import { type ChangeLine, eachLine } from '../../kernels/core/lines.ts'
import { doubles, readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, inputInts, int, is, mapped } from '../../op-kit/sources.ts'
import { FLOATS, INDEX_TYPES } from '../../op-kit/types.ts'
import { isConcrete, normalizeAxes } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  axes: DataDependent<readonly number[]>
  alpha: number
  beta: number
  bias: number
  size: number
  /** Number of elements along an axis that a sum spans. */
  region: number
}

const size = int('size')
const attributes = { alpha: float('alpha'), beta: float('beta'), bias: float('bias'), size }
/** As many elements on both sides, as in OpenVINO. */
const symmetric = mapped(size, value => 2 * Math.floor((value - 1) / 2) + 1)

/** Rules of {@link lrn}. */
export const lrnRules = defineRules({
  name: 'LRN',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { ...attributes, region: size, axes: is([1]) } }],
  openvino: [
    {
      since: 1,
      types: { x: FLOATS, axes: INDEX_TYPES },
      bind: { ...attributes, region: symmetric, axes: inputInts(1) }
    }
  ],

  shape({ x }, { axes, size }) {
    if (size < 1) fail('unknown-attribute-value', `size is ${size}; expected at least 1`)
    if (x.shape && axes !== 'unknown' && isConcrete(axes)) normalizeAxes(axes, x.shape.length)
    return [tensorFact(x.type, x.shape)]
  }
})

/**
 * Local response normalization: `x / (bias + alpha / size^axes * sum of squares) ^ beta`. The sum is over `floor((size
 * - 1) / 2)` elements before and `ceil((size - 1) / 2)` after each element, along every axis (in ONNX along the
 * channels). ONNX LRN-1, -13; OpenVINO LRN-1, whose specification describes regions of `size` elements in its text and
 * `size / 2` elements on both sides in its example. Its reference and CPU plugin have `floor((size - 1) / 2)` on both
 * sides, and so has this; the three differ for even sizes only.
 */
export const lrn = /* @__PURE__ */ withKernel(lrnRules, {
  *run({ x }, { axes, alpha, beta, bias, size, region }, call) {
    const numbers = yield* readNumbers(x)
    let sums = doubles(numbers.length)
    yield* inChunks(numbers.length, (from, to) => {
      for (let i = from; i < to; i++) sums[i] = numbers[i] * numbers[i]
    })
    for (const axis of normalizeAxes(axes, x.dims.length)) {
      const layout = axisLayout(x.dims, axis)
      if (layout.inner >= MIN_ROW && region <= MAX_SHORT) sums = yield* rowSums(sums, layout, region)
      else yield* eachLine(sums, sums, layout, windowSums(region))
    }
    const target = targetOf(call.output())
    const factor = alpha / size ** axes.length
    yield* inChunks(
      numbers.length,
      (from, to) => {
        if (beta === 0.75) divideByRoots(numbers, sums, target.numbers, from, to, bias, factor)
        else for (let i = from; i < to; i++) target.numbers[i] = numbers[i] / (bias + factor * sums[i]) ** beta
      },
      COST.element + COST.transcendental
    )
    yield* target.finish()
  }
})

/** Divides by powers of 3/4, the usual ones, which two roots give in a tenth of the time. */
function divideByRoots(
  numbers: Numbers,
  sums: Float64Array,
  out: Numbers,
  from: number,
  to: number,
  bias: number,
  factor: number
): void {
  for (let i = from; i < to; i++) {
    const root = Math.sqrt(bias + factor * sums[i])
    out[i] = numbers[i] / (root * Math.sqrt(root))
  }
}

/** Neighbours beyond the axis from which on they are added as rows. */
const MIN_ROW = 16

/** Window sums as those of {@link windowSums}, in the same order, a row of neighbours beyond the axis at a time. */
function* rowSums(
  elements: Float64Array,
  { outer, size: count, inner }: AxisLayout,
  size: number
): Generator<void, Float64Array> {
  const sums = doubles(elements.length)
  const pace = new Pace()
  const before = Math.floor((size - 1) / 2)
  const after = size - 1 - before
  for (let row = 0; row < outer * count; row++) {
    const at = row % count
    const last = row + Math.min(count - 1 - at, after)
    for (let other = row - Math.min(at, before); other <= last; other++) {
      const shift = (other - row) * inner
      yield* inChunks(
        inner,
        (from, to) => addRow(elements, shift, sums, row * inner + from, row * inner + to),
        COST.multiplyAdd
      )
    }
    if (pace.isDue(COST.allocation + size * inner * COST.multiplyAdd)) yield
  }
  return sums
}

function addRow(elements: Float64Array, shift: number, sums: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) sums[i] += elements[i + shift]
}

/** Most neighbours of an element for which each window is summed element by element. */
const MAX_SHORT = 64

/** Replaces each element of a line by the sum of the `size` elements around it; there are zeros beyond the ends. */
const windowSums =
  (size: number): ChangeLine =>
  line => {
    const last = line.length - 1
    const before = Math.min(last, Math.floor((size - 1) / 2))
    const after = Math.min(last, size - 1 - Math.floor((size - 1) / 2))
    return before + after < MAX_SHORT ? shortSums(line, before, after) : longSums(line, before, after)
  }

function shortSums(line: Float64Array, before: number, after: number): ReturnType<ChangeLine> {
  const elements = new Float64Array(line.length)
  return [
    (from, to) => elements.set(line.subarray(from, to), from),
    (from, to) => {
      for (let i = from; i < to; i++) {
        const end = Math.min(line.length - 1, i + after)
        let sum = 0
        for (let k = Math.max(0, i - before); k <= end; k++) sum += elements[k]
        line[i] = sum
      }
    }
  ]
}

/**
 * Window sums in constant time for each element: the line is cut into blocks of the window's size, and each window is
 * the tail of one block and the head of the next, whose sums are computed first.
 */
function longSums(line: Float64Array, before: number, after: number): ReturnType<ChangeLine> {
  const last = line.length - 1
  const size = before + after + 1
  const heads = new Float64Array(line.length)
  const tails = new Float64Array(line.length)
  const sumOf = (first: number, end: number): number => {
    if (first % size === 0) return heads[end]
    if (end === last && Math.floor(first / size) === Math.floor(end / size)) return tails[first]
    return tails[first] + heads[end]
  }
  return [
    (from, to) => {
      for (let i = from; i < to; i++) heads[i] = i % size === 0 ? line[i] : heads[i - 1] + line[i]
    },
    (from, to) => {
      for (let i = last - from; i > last - to; i--)
        tails[i] = i === last || (i + 1) % size === 0 ? line[i] : tails[i + 1] + line[i]
    },
    (from, to) => {
      for (let i = from; i < to; i++) line[i] = sumOf(Math.max(0, i - before), Math.min(last, i + after))
    }
  ]
}
