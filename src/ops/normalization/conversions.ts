import { fail } from '../../errors.ts'
import { asLast, elementwise, extreme, reduced, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import {
  add,
  div,
  mul,
  normalizedByMvn,
  normalizedFrom,
  ofWide,
  plus,
  sub,
  widened,
  withAdded
} from '../../op-kit/conversion-parts.ts'
import { perChannel } from '../../op-kit/conversion-windows.ts'
import {
  type Conversions,
  dimsOf,
  first,
  type Made,
  opNamed,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import { batchNormalization } from './batch-normalization.ts'
import { fusedNormalizationRules } from './fused-conversions.ts'
import { groupNormalization } from './group-normalization.ts'
import { layerNormalization } from './layer-normalization.ts'
import { grn, normalizeL2 } from './lp-normalization.ts'
import { lrnOfOtherRank, lrnToOnnx } from './lrn-conversion.ts'
import { lrn } from './lrn.ts'
import { mvn } from './mvn.ts'
import { softmaxOps } from './softmax.ts'

/** MVN in parts: LayerNormalization says it where the axes are the last ones and epsilon is inside the root. */
function mvnToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x)
  const from = call.param<number | undefined>('axesFrom')
  const axes = from === undefined ? normalizeAxes(call.param<readonly number[]>('axes'), rank) : upTo(rank - from, from)
  if (axes.length === 0) fail('unsupported-op', 'no axis is normalized')
  const type = typeOf(x)
  const wide = widened(w, x)
  const centered = sub(w, wide, reduced(w, 'ReduceMean', wide, axes, true))
  if (!call.param<boolean>('scales')) return [w.cast(centered, type)]
  const variance = reduced(w, 'ReduceMean', mul(w, centered, centered), axes, true)
  const epsilon = call.param<number>('epsilon')
  const deviation = call.param<boolean>('epsilonInside')
    ? elementwise(w, 'Sqrt', plus(w, variance, epsilon))
    : plus(w, elementwise(w, 'Sqrt', variance), epsilon)
  return [w.cast(div(w, centered, deviation), type)]
}

/** LayerNormalization by its definition, before opset 17 of ONNX and where means are results; statistics in float32. */
function layerByParts(call: SourceCall, w: Writer): readonly Made[] {
  const [x, scale] = [call.operand('x'), call.operand('scale')]
  const axis = normalizeAxis(call.param('axis'), rankOf(x))
  const { y, mean, inverse } = normalizedFrom(w, widened(w, x), axis, call.param('epsilon'))
  const scaled = withAdded(w, mul(w, w.cast(y, typeOf(scale)), scale), call.optional('bias'))
  const statistics = [mean, inverse].map(each => w.cast(each, call.param('stash')))
  return [scaled, ...statistics].slice(0, call.outputCount)
}

/** MVN over the last axes, then scale and bias. */
function layerToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  if (call.outputCount > 1) return layerByParts(call, w)
  const x = call.operand('x')
  const axis = normalizeAxis(call.param('axis'), rankOf(x))
  const y = normalizedByMvn(w, x, upTo(rankOf(x) - axis, axis), call.param('epsilon'))
  const scale = call.operand('scale')
  return [withAdded(w, mul(w, w.cast(y, typeOf(scale)), scale), call.optional('bias'))]
}

/** Each channel of each instance is normalized: MVN over the spatial axes. */
function instanceToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param('groups') !== undefined) return undefined
  const x = call.operand('x')
  const y = normalizedByMvn(w, x, upTo(rankOf(x) - 2, 2), call.param('epsilon'))
  const scaled = mul(w, y, perChannel(w, call.operand('scale'), y))
  return [add(w, scaled, perChannel(w, call.operand('bias'), y))]
}

/**
 * GroupNormalization by the instances of its groups, before opset 21: each is normalized as a channel of
 * InstanceNormalization, which takes factors for each group; those for each channel come after.
 */
function groupToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const groups = call.param<number | undefined>('groups')
  if (groups === undefined) return undefined
  const x = call.operand('x')
  const type = typeOf(x)
  const wide = widened(w, x)
  const own = typeOf(wide)
  const [scale, bias] = ['scale', 'bias'].map(name => w.cast(call.operand(name), own))
  const isOfGroup = call.param('per') === 'group'
  const all = (value: number): Made => w.constant(own, Array<number>(groups).fill(value))
  const factors = isOfGroup ? [scale, bias] : [all(1), all(0)]
  const epsilon = call.param<number>('epsilon')
  const apart = w.node('InstanceNormalization', [w.reshape(wide, [0, groups, -1]), ...factors], { epsilon })
  const y = w.node('Reshape', [apart, shapeOf(w, x)])
  if (isOfGroup) return [w.cast(y, type)]
  const scaled = mul(w, y, perChannel(w, scale, y))
  return [w.cast(add(w, scaled, perChannel(w, bias, y)), type)]
}

const batchTestsOnly = (call: SourceCall, w: Writer): readonly Made[] => {
  if (call.param<boolean>('trains')) fail('unsupported-op', 'training mode')
  const epsilon = call.param<number>('epsilon')
  const operands = ['x', 'scale', 'bias', 'mean', 'variance'].map(name => call.operand(name))
  const type = w.dialect === 'onnx' ? 'BatchNormalization' : 'BatchNormInference'
  return [w.node(type, operands, { epsilon })]
}

/** Divided by the 2-norm over axes. */
function normalizeL2ToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const axes = call.param<readonly number[]>('axes')
  const wide = widened(w, x)
  if (axes.length === 0) {
    // Each element is divided by itself, and 0 stays.
    const [zero, one] = [0, 1].map(value => w.scalar(typeOf(wide), value))
    return [w.cast(elementwise(w, 'Where', elementwise(w, 'Equal', wide, zero), zero, one), type)]
  }
  const squares = mul(w, wide, wide)
  const sum = reduced(w, 'ReduceSum', squares, axes, true)
  const epsilon = w.scalar(typeOf(wide), call.param<number>('epsilon'))
  const guarded = call.param('mode') === 'add' ? add(w, sum, epsilon) : extreme(w, 'Max', sum, epsilon)
  return [w.cast(div(w, wide, elementwise(w, 'Sqrt', guarded)), type)]
}

const grnToOnnx = ofWide((w, x, call) => {
  const sum = reduced(w, 'ReduceSum', mul(w, x, x), [1], true)
  return div(w, x, elementwise(w, 'Sqrt', plus(w, sum, call.param('bias'))))
})

/** Before opset 13 the axes from one on are one: they are flattened and given back. */
const flattened =
  (name: string, type: string) =>
  (call: SourceCall, w: Writer): readonly Made[] | undefined => {
    const x = call.operand('x')
    const dims = dimsOf(x)
    const axis = normalizeAxis(call.param('axis'), dims.length)
    if (!call.param<boolean>('flattens') || axis === dims.length - 1) return [w.node(type, [x], { axis })]
    const after = dims.slice(axis)
    if (after.some(dim => typeof dim !== 'number') || (axis > 0 && dims.slice(0, axis).some(dim => dim === 0)))
      return fail('unsupported-op', `${name} over several axes whose dims are not known before the model runs`)
    const kept = upTo(axis).map(() => 0)
    const flat = w.node(type, [w.reshape(x, [...kept, -1])], { axis })
    return [w.reshape(flat, [...kept, ...(after as number[])])]
  }

/** ONNX before opset 13: the one axis is made the last, from which on there is no other. */
const alongLast =
  (type: string) =>
  (call: SourceCall, w: Writer): readonly Made[] | undefined => {
    if (w.opset >= 13) return flattened(type, type)(call, w)
    const x = call.operand('x')
    const axis = normalizeAxis(call.param('axis'), rankOf(x))
    return [asLast(w, x, axis, turned => w.node(type, [turned], { axis: rankOf(x) - 1 }))]
  }

/** Normalizations of one dialect in words of the other. */
export const normalizationConversions: Conversions = {
  rules: [
    ...fusedNormalizationRules,
    first(toOnnx(lrn, lrnOfOtherRank)),
    toOnnx(lrn, lrnToOnnx),
    toOnnx(mvn, mvnToOnnx),
    toOpenvino(layerNormalization, layerToOpenvino),
    first(toOpenvino(groupNormalization, instanceToOpenvino)),
    within(toOnnx(groupNormalization, groupToOnnx)),
    toOnnx(batchNormalization, batchTestsOnly),
    toOpenvino(batchNormalization, batchTestsOnly),
    toOnnx(normalizeL2, normalizeL2ToOnnx),
    toOnnx(grn, grnToOnnx),
    ...['Softmax', 'LogSoftmax', 'Hardmax'].map(name => within(toOnnx(opNamed(softmaxOps, name), alongLast(name)))),
    within(toOnnx(layerNormalization, layerByParts)),
    within(toOpenvino(opNamed(softmaxOps, 'Softmax'), flattened('Softmax', 'SoftMax'))),
    toOpenvino(opNamed(softmaxOps, 'LogSoftmax'), flattened('LogSoftmax', 'LogSoftmax'))
  ],
  leniencies: [
    {
      op: lrn,
      parameter: 'axes',
      allows: (from, to, call) => {
        const rank = rankOf(call.operand('x'))
        const axes = (list: unknown): string => normalizeAxes(list as readonly number[], rank).join()
        return axes(from) === axes(to)
      }
    }
  ]
}
