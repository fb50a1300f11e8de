import { fail } from '../../errors.ts'
import { elementwise, extreme, joined, shapeOf, transposed, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, div, part, sub } from '../../op-kit/conversion-parts.ts'
import {
  mulSizes,
  numberParameter,
  reshapedBy,
  sizeAt,
  sizeList,
  sizeParameter
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { type DType, MAX_FLOAT32 } from '../../tensor/dtype.ts'
import { nonMaxSuppression } from './non-max-suppression.ts'
import { NONE, suppressed } from './suppress-conversion.ts'

/** The float32 above a number, or below it. */
function nextFloat(value: number, direction: 1 | -1): number {
  const [single] = Float32Array.of(value)
  if (single === 0) return direction * 2 ** -149
  if (!Number.isFinite(single)) return Math.sign(single) === direction ? single : direction * -MAX_FLOAT32
  const bits = new Int32Array(Float32Array.of(single).buffer)
  bits[0] += Math.sign(single) === direction ? 1 : -1
  return new Float32Array(bits.buffer)[0]
}

/** Boxes that ONNX keeps, which computes in float32. */
interface Kept {
  /** `[batch, class, box]` of each. */
  readonly indices: Made
  /** The score of each, as a list. */
  readonly scores: Made
}

/** The scores of selected boxes: a list. */
const scoresOf = (w: Writer, scores: Made, indices: Made): Made => w.node('GatherND', [scores, indices])

/** The best first; equal ones stay in order. */
function byScore(w: Writer, { indices, scores }: Kept): Kept {
  const [sorted, order] = w.nodes('TopK', [scores, shapeOf(w, scores)], { axis: 0 }, { outputs: 2 })
  return { indices: w.node('Gather', [indices, order], { axis: 0 }), scores: sorted }
}

/** Floats as ONNX's operator takes them. */
function single(w: Writer, x: Made): Made {
  if (typeOf(x) === 'float64') fail('unsupported-op', 'ONNX compares boxes and scores of float32')
  return w.cast(x, 'float32')
}

/** IR keeps a score that is the threshold itself: the number below it is the threshold of ONNX. */
function nmsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  if (!call.knows('sigma')) fail('unsupported-op', 'whether scores are lowered is not known before the model runs')
  if (call.param<number>('sigma') > 0) return softNms(call, w)
  const boxes = single(w, call.operand('boxes'))
  const given = single(w, call.operand('scores'))
  let [scores, least]: [Made, Made | undefined] = [given, undefined]
  if (!call.knows('minScore')) {
    const threshold = numberParameter(call, 'minScore', w, 'float32')
    const isEnough = elementwise(w, 'GreaterOrEqual', given, threshold)
    scores = elementwise(w, 'Where', isEnough, given, w.scalar('float32', -Infinity))
    least = w.scalar('float32', -MAX_FLOAT32)
  } else if (call.param<number>('minScore') > -Infinity)
    least = w.scalar('float32', nextFloat(call.param<number>('minScore'), -1))
  const indices = w.node(
    'NonMaxSuppression',
    [boxes, scores, numberParameter(call, 'maxBoxes', w), numberParameter(call, 'iou', w, 'float32'), least],
    { center_point_box: call.param('encoding') === 'center' ? 1 : 0 }
  )
  const found = { indices, scores: scoresOf(w, scores, indices) }
  return outputsOf(call, w, found)
}

/** Corners of boxes, the smaller ones first. */
function cornersOf(call: SourceCall, w: Writer): Made {
  const boxes = single(w, call.operand('boxes'))
  const [a, b] = [0, 2].map(i => w.node('Slice', [boxes, ...[i, i + 2, -1].map(at => w.constant('int64', [at]))]))
  if (call.param('encoding') === 'corner')
    return w.node('Concat', [extreme(w, 'Min', a, b), extreme(w, 'Max', a, b)], { axis: -1 })
  const [center, size] = [a, b].map(pair => w.node('Gather', [pair, w.constant('int64', [1, 0])], { axis: -1 }))
  const half = div(w, size, w.scalar('float32', 2))
  return w.node('Concat', [sub(w, center, half), add(w, center, half)], { axis: -1 })
}

/** Soft-NMS lowers scores, for which ONNX has no operator: a loop. */
function softNms(call: SourceCall, w: Writer): readonly Made[] {
  const scores = single(w, call.operand('scores'))
  const [batches, classes, count] = [0, 1, 2].map(axis => sizeAt(w, scores, axis))
  const groups = mulSizes(w, batches, classes)
  const whole = w.node('Expand', [unsqueezed(w, cornersOf(call, w), [1]), sizeList(w, [batches, classes, count, 4])])
  const minScore = numberParameter(call, 'minScore', w, 'float32')
  const isEnough = elementwise(w, 'GreaterOrEqual', scores, minScore)
  const candidates = elementwise(w, 'Where', isEnough, scores, w.scalar('float32', NONE))
  const kept = suppressed(
    w,
    { boxes: reshapedBy(w, whole, [groups, count, 4]), scores: reshapedBy(w, candidates, [groups, count]) },
    {
      maxBoxes: sizeParameter(call, 'maxBoxes', w),
      iou: numberParameter(call, 'iou', w, 'float32'),
      fading: { sigma: numberParameter(call, 'sigma', w, 'float32'), minScore, drops: call.param('dropsFading') }
    }
  )
  const [values, order] = w.nodes('TopK', [kept, sizeList(w, [count])], { axis: 1 }, { outputs: 2 })
  const places = w.node('NonZero', [elementwise(w, 'Greater', values, w.scalar('float32', NONE))])
  const pairs = transposed(w, places, [1, 0])
  const [group, box] = [
    w.node('Gather', [pairs, w.constant('int64', [0])], { axis: 1 }),
    w.reshape(w.node('GatherND', [order, pairs]), [-1, 1])
  ]
  const perBatch = sizeList(w, [classes])
  const indices = joined(w, [div(w, group, perBatch), w.node('Mod', [group, perBatch]), box], 1)
  const found = { indices, scores: w.node('GatherND', [values, pairs]) }
  return outputsOf(call, w, found)
}

/** `[batch, class, box]`, `[batch, class, score]` and the number of boxes, as IR gives them. */
function outputsOf(call: SourceCall, w: Writer, found: Kept): readonly Made[] {
  const { indices, scores } = call.param('sorted') ? byScore(w, found) : found
  const type = call.param<DType>('indexType')
  const places = w.cast(part(w, indices, 1, 0, 2), 'float32')
  const count = part(w, shapeOf(w, indices), 0, 0, 1)
  const scored = joined(w, [places, w.reshape(scores, [-1, 1])], 1)
  return [w.cast(indices, type), scored, w.cast(count, type)].slice(0, call.outputCount)
}

/** ONNX drops a score that is the threshold itself; without a threshold it keeps all. */
function nmsToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const boxes = call.operand('boxes')
  const minScore = call.knows('minScore') ? call.param<number | undefined>('minScore') : undefined
  const threshold = call.knows('minScore')
    ? w.scalar('float32', minScore === undefined ? -Infinity : nextFloat(minScore, 1))
    : fail('unsupported-op', 'a score of at least a threshold that is not known before the model runs')
  const inputs = [
    boxes,
    call.operand('scores'),
    numberParameter(call, 'maxBoxes', w),
    numberParameter(call, 'iou', w, 'float32'),
    threshold,
    w.scalar('float32', 0)
  ]
  const attributes = {
    box_encoding: call.param<string>('encoding'),
    sort_result_descending: false,
    output_type: { dtype: 'int64' as const }
  }
  return [w.nodes('NonMaxSuppression', inputs, attributes, { outputs: 3, since: 9 })[0]]
}

/** Non-maximum suppression of one dialect in words of the other. */
export const nmsRules: readonly Conversion[] = [
  toOnnx(nonMaxSuppression, nmsToOnnx),
  toOpenvino(nonMaxSuppression, nmsToOpenvino)
]
