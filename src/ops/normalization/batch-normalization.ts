import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { applyToGroups, momentsOf } from '../../kernels/normalization/normalize.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, flag, float, is, mapped, type NodeFacts } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, meetDims, printShape, productOf } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { convertInto } from '../../tensor/convert.ts'
import { Tensor, withDims } from '../../tensor/tensor.ts'

interface Params {
  epsilon: number
  momentum: number
  /** Training mode: statistics are computed from the batch, and running statistics are further results. */
  trains: boolean
  /** Each element of a channel has a statistic of its own, instead of one for the whole channel. */
  perElement: boolean
  /** Results 3 and 4 are the statistics of the batch (before version 14). */
  saves: boolean
}

const common = { epsilon: float('epsilon'), momentum: float('momentum') }
const bySpatial = mapped(flag('spatial'), spatial => !spatial)
/** Before version 14 a node with more than one output is run in training mode. */
const severalOutputs = (node: NodeFacts): boolean => node.outputCount > 1
const notTested = derive(node => severalOutputs(node) && !node.get(flag('is_test')))
const openvinoTypes = { x: FLOATS, scale: FLOATS, bias: FLOATS, mean: FLOATS, variance: FLOATS }
const inference = {
  epsilon: float('epsilon'),
  momentum: is(0),
  trains: is(false),
  perElement: is(false),
  saves: is(false)
}

/** Rules of {@link batchNormalization}. */
export const batchNormalizationRules = defineRules({
  name: 'BatchNormalization',
  operands: { x: 'tensor', scale: 'tensor', bias: 'tensor', mean: 'tensor', variance: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...common, trains: notTested, perElement: bySpatial, saves: is(true) } },
    { since: 7, bind: { ...common, trains: derive(severalOutputs), perElement: bySpatial, saves: is(true) } },
    { since: 9, bind: { ...common, trains: derive(severalOutputs), perElement: is(false), saves: is(true) } },
    { since: 14, bind: { ...common, trains: flag('training_mode'), perElement: is(false), saves: is(false) } }
  ],
  openvino: [
    {
      type: 'BatchNormInference',
      since: 1,
      in: { scale: 0, bias: 1, x: 2, mean: 3, variance: 4 },
      types: openvinoTypes,
      bind: inference
    },
    { type: 'BatchNormInference', since: 5, types: openvinoTypes, bind: inference }
  ],

  shape({ x, scale, bias, mean, variance }, { trains, perElement }, { outputCount, dialect }) {
    if (!trains && outputCount > 1)
      fail('unknown-attribute-value', `${outputCount} outputs are listed; inference gives one`)
    checkRankAtLeast('data', x, dialect === 'onnx' ? 1 : 2)
    let statistics = x.shape && statisticsShape(x.shape, perElement)
    const lists: Record<string, TensorFact> = { scale, bias, mean, variance }
    for (const [name, fact] of Object.entries(lists)) statistics = meetStatistics(name, statistics, fact)
    const [running, saved] = [mean, variance].map(({ type }) => tensorFact(type, statistics))
    return [tensorFact(x.type, x.shape), running, saved, running, saved].slice(0, outputCount)
  }
})

/**
 * `(x - mean) / sqrt(variance + epsilon) * scale + bias` by channel (dim 1; data of rank 1 have a single channel). In
 * training mode mean and variance are those of the batch, and results 1 and 2 are running averages. `is_test` (versions
 * 1 and 6) only matters to nodes with several outputs: nodes with one were always run as inference. ONNX
 * BatchNormalization-1, -6, -7, -9, -14, -15; OpenVINO BatchNormInference-1, -5.
 */
export const batchNormalization = /* @__PURE__ */ withKernel(batchNormalizationRules, {
  *run({ x, scale, bias, mean, variance }, { epsilon, momentum, trains, perElement, saves }, call) {
    const data = x.dims.length === 1 ? withDims(x, [x.dims[0], 1]) : x
    const axes = data.dims.map((_, i) => i).filter(i => (perElement ? i === 0 : i !== 1))
    const numbers = yield* readNumbers(data)
    const [givenMean, givenVariance] = [
      Float64Array.from(yield* readNumbers(mean)),
      Float64Array.from(yield* readNumbers(variance))
    ]
    const used = trains ? yield* momentsOf(numbers, data.dims, axes) : { mean: givenMean, variance: givenVariance }
    const gains = yield* readNumbers(scale)
    const target = targetOf(call.output())
    const factors = used.variance.map((value, i) => gains[i] / Math.sqrt(value + epsilon))
    const affine = { shift: used.mean, scale: factors, offset: Float64Array.from(yield* readNumbers(bias)) }
    yield* applyToGroups(numbers, data.dims, axes, affine, target.numbers)
    yield* target.finish()
    if (!trains) return
    const blend = (before: Float64Array, now: Float64Array): Float64Array =>
      before.map((value, i) => value * momentum + now[i] * (1 - momentum))
    giveList(call, 1, blend(givenMean, used.mean))
    giveList(call, 2, blend(givenVariance, used.variance))
    if (saves) {
      giveList(call, 3, used.mean)
      giveList(call, 4, used.variance)
    }
  }
})

function giveList(call: KernelContext, index: number, values: Float64Array): void {
  if (index >= call.outputCount) return
  const out = call.output(index)
  convertInto(new Tensor('float64', values, out.dims), out)
}

const statisticsShape = (shape: readonly Dim[], perElement: boolean): readonly Dim[] =>
  perElement ? shape.slice(1) : [shape.length > 1 ? shape[1] : 1]

/** Merges the shape of a statistic. One for each element may be given as a list, in row-major order (version 6). */
function meetStatistics(
  name: string,
  expected: readonly Dim[] | undefined,
  { shape }: TensorFact
): readonly Dim[] | undefined {
  if (shape === undefined || expected === undefined) return expected ?? shape
  const flat = shape.length === 1 && expected.length !== 1
  const wanted = flat ? [productOf(expected)] : expected
  const met = wanted.length === shape.length ? wanted.map((dim, i) => meetDims(dim, shape[i])) : [undefined]
  if (met.includes(undefined))
    fail('shape-mismatch', `${name} has dims ${printShape(shape)}; expected ${printShape(wanted)}`)
  return flat ? expected : (met as Dim[])
}
