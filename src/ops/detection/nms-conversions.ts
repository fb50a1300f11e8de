import { fail } from '../../errors.ts'
import { elementwise, joined, shapeOf, sliced } from '../../op-kit/conversion-kit.ts'
import {
  type Conversion,
  type Made,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { nonMaxSuppression } from './non-max-suppression.ts'

/** The float32 above a number, or below it. */
export function nextFloat(value: number, direction: 1 | -1): number {
  const [single] = Float32Array.of(value)
  if (single === 0) return direction * 2 ** -149
  if (!Number.isFinite(single)) return Math.sign(single) === direction ? single : direction * -MAX_FLOAT
  const bits = new Int32Array(Float32Array.of(single).buffer)
  bits[0] += Math.sign(single) === direction ? 1 : -1
  return new Float32Array(bits.buffer)[0]
}

const MAX_FLOAT = (2 - 2 ** -23) * 2 ** 127

/** A number that a rule reads: a constant, or the input that gives it. */
function numberFor(call: SourceCall, w: Writer, name: string, type: DType): Made {
  if (call.knows(name)) return w.scalar(type, call.param<number>(name))
  const given = call.source(name) ?? fail('unsupported-op', `${name} is not known`)
  return w.reshape(w.cast(given, type), [])
}

/** Boxes that ONNX keeps, which computes in float32. */
export interface Kept {
  /** `[batch, class, box]` of each. */
  readonly indices: Made
  /** The score of each, as a list. */
  readonly scores: Made
}

/** The scores of selected boxes: a list. */
export const scoresOf = (w: Writer, scores: Made, indices: Made): Made => w.node('GatherND', [scores, indices])

/** The best first; equal ones stay in order. */
export function byScore(w: Writer, { indices, scores }: Kept): Kept {
  const [sorted, order] = w.nodes('TopK', [scores, shapeOf(w, scores)], { axis: 0 }, { outputs: 2 })
  return { indices: w.node('Gather', [indices, order], { axis: 0 }), scores: sorted }
}

/** Floats as ONNX's operator takes them. */
export function single(w: Writer, x: Made): Made {
  if (typeOf(x) === 'float64') fail('unsupported-op', 'ONNX compares boxes and scores of float32')
  return w.cast(x, 'float32')
}

/** IR keeps a score that is the threshold itself: the number below it is the threshold of ONNX. */
function nmsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  if (!call.knows('sigma') || call.param<number>('sigma') > 0)
    fail('unsupported-op', 'Soft-NMS, which lowers scores, has no operator in ONNX')
  const boxes = single(w, call.operand('boxes'))
  const given = single(w, call.operand('scores'))
  let [scores, least]: [Made, Made | undefined] = [given, undefined]
  if (!call.knows('minScore')) {
    const threshold = numberFor(call, w, 'minScore', 'float32')
    const isEnough = elementwise(w, 'GreaterOrEqual', given, threshold)
    scores = elementwise(w, 'Where', isEnough, given, w.scalar('float32', -Infinity))
    least = w.scalar('float32', -MAX_FLOAT)
  } else if (call.param<number>('minScore') > -Infinity)
    least = w.scalar('float32', nextFloat(call.param<number>('minScore'), -1))
  const indices = w.node(
    'NonMaxSuppression',
    [boxes, scores, numberFor(call, w, 'maxBoxes', 'int64'), numberFor(call, w, 'iou', 'float32'), least],
    { center_point_box: call.param('encoding') === 'center' ? 1 : 0 }
  )
  const found = { indices, scores: scoresOf(w, scores, indices) }
  return selectedOutputs(w, call.param('sorted') ? byScore(w, found) : found, call.param('indexType')).slice(
    0,
    call.outputCount
  )
}

/** `[batch, class, box]`, `[batch, class, score]` and the number of boxes, as IR gives them. */
export function selectedOutputs(w: Writer, { indices, scores }: Kept, type: DType): readonly Made[] {
  const list = (...items: number[]): Made => w.constant('int64', items)
  const places = w.cast(sliced(w, indices, list(0), list(2), [1]), 'float32')
  const count = sliced(w, shapeOf(w, indices), list(0), list(1), [0])
  const scored = joined(w, [places, w.reshape(scores, [-1, 1])], 1)
  return [w.cast(indices, type), scored, w.cast(count, type)]
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
    numberFor(call, w, 'maxBoxes', 'int64'),
    numberFor(call, w, 'iou', 'float32'),
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
