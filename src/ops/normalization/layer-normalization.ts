import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { readNumbers, workTensorOf } from '../../kernels/core/numbers.ts'
import { ADD, MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { applyToGroups, groupSizes, groupSums, momentsOf } from '../../kernels/normalization/normalize.ts'
import { SUM_OF_SQUARES } from '../../kernels/reduce/reduce.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, int, type as typeOf } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, normalizeAxis } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { convertInto } from '../../tensor/convert.ts'
import type { DType } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface Params {
  axis: number
  epsilon: number
  /** Type of the statistics. */
  stash: DType
}

const onnxVersion = (since: number, type?: string) => ({
  since,
  ...(type && { type }),
  bind: { axis: int('axis'), epsilon: float('epsilon'), stash: typeOf('stash_type') }
})

/** Axes from `axis` to the last. */
function trailingAxes(axis: number, rank: number): number[] {
  const first = normalizeAxis(axis, rank)
  return Array.from({ length: rank - first }, (_, i) => first + i)
}

/** Rules of {@link layerNormalization}. */
export const layerNormalizationRules = defineRules({
  name: 'LayerNormalization',
  operands: { x: 'tensor', scale: 'tensor', bias: 'optional' },
  params: params<Params>(),
  onnx: [onnxVersion(1), onnxVersion(17)],

  shape({ x, scale, bias }, { axis, stash }, { version, outputCount }) {
    const statistics = tensorFact(stash, x.shape && statisticsShape(x.shape, axis))
    const type = commonType({ ...(version >= 17 && { X: x }), Scale: scale, B: bias })
    return [tensorFact(type, broadcastTo(broadcastTo(x.shape, scale), bias)), statistics, statistics].slice(
      0,
      outputCount
    )
  }
})

/**
 * Normalizes to mean 0 and variance 1 over the axes from `axis` on, then scales and shifts. Results: the normalized
 * tensor, the means, the inverse standard deviations. Everything is computed in double precision and rounded once;
 * `stash_type` is only the type of the statistics. ONNX LayerNormalization-17, and what ONNX Runtime takes before:
 * there scale, bias and result share a type that may differ from that of the data.
 */
export const layerNormalization = /* @__PURE__ */ withKernel(layerNormalizationRules, {
  *run({ x, scale, bias }, { axis, epsilon }, call) {
    const axes = trailingAxes(axis, x.dims.length)
    const numbers = yield* readNumbers(x)
    const { mean, variance } = yield* momentsOf(numbers, x.dims, axes)
    const inverse = variance.map(value => 1 / Math.sqrt(value + epsilon))
    const { work, finish } = workTensorOf(call.output())
    yield* applyToGroups(numbers, x.dims, axes, { shift: mean, scale: inverse }, work.data as Numbers)
    yield* binary(MULTIPLY, work, yield* convertedPaced(scale, work.type), work)
    if (bias) yield* binary(ADD, work, yield* convertedPaced(bias, work.type), work)
    yield* finish()
    giveStatistics(call, 1, mean)
    giveStatistics(call, 2, inverse)
  }
})

/** Writes statistics into an output, where it is listed and anybody reads it. */
export function giveStatistics(call: KernelContext, index: number, values: Float64Array): void {
  if (!call.wanted(index)) return
  const out = call.output(index)
  convertInto(new Tensor('float64', values, out.dims), out)
}

/** Rules of {@link rmsNormalization}. */
export const rmsNormalizationRules = defineRules({
  name: 'RMSNormalization',
  operands: { x: 'tensor', scale: 'tensor' },
  params: params<Params>(),
  onnx: [onnxVersion(23), onnxVersion(1, 'SimplifiedLayerNormalization')],

  shape({ x, scale }, { axis, stash }, { outputCount }) {
    const statistics = tensorFact(stash, x.shape && statisticsShape(x.shape, axis))
    return [tensorFact(scale.type, broadcastTo(x.shape, scale)), statistics].slice(0, outputCount)
  }
})

/**
 * Divides by the root mean square over the axes from `axis` on, then scales; the result has the scale's type. ONNX
 * RMSNormalization-23; SimplifiedLayerNormalization of ONNX Runtime, which is in the domain of ONNX and has a second
 * result, the inverse root mean squares.
 */
export const rmsNormalization = /* @__PURE__ */ withKernel(rmsNormalizationRules, {
  *run({ x, scale }, { axis, epsilon }, call) {
    const axes = trailingAxes(axis, x.dims.length)
    const numbers = yield* readNumbers(x)
    const { size } = groupSizes(x.dims, axes)
    const squares = yield* groupSums(numbers, x.dims, axes, SUM_OF_SQUARES)
    const inverse = squares.map(sum => 1 / Math.sqrt(sum / size + epsilon))
    const { work, finish } = workTensorOf(call.output())
    yield* applyToGroups(numbers, x.dims, axes, { scale: inverse }, work.data as Numbers)
    yield* binary(MULTIPLY, work, yield* convertedPaced(scale, work.type), work)
    yield* finish()
    giveStatistics(call, 1, inverse)
  }
})

function statisticsShape(shape: readonly Dim[], axis: number): Dim[] {
  const first = normalizeAxis(axis, shape.length)
  return shape.map((dim, i) => (i < first ? dim : 1))
}

/** The operand's shape, to which the other operand is broadcast. */
const broadcastTo = (shape: readonly Dim[] | undefined, other: TensorFact | undefined): readonly Dim[] | undefined =>
  other ? broadcastResult(shape, other.shape, { mode: 'aligned', axis: -1 }) : shape
