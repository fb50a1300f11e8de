import { MAX_LOG_SCALE } from '../../kernels/detection/refine.ts'
import {
  elementwise,
  extreme,
  gathered,
  joined,
  reduced,
  stacked,
  transposed,
  unsqueezed
} from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import {
  counted,
  extremeSize,
  floorDivSizes,
  listParameter,
  mulSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  sizesOf,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  type Made,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { detectronDetectionOutput } from './detectron-output.ts'
import { generateProposals, generateProposalsSingleImage } from './generate-proposals.ts'
import { anchorsOf, proposal, type ProposalParams } from './proposal.ts'
import { NONE, single, suppressed, type SuppressRule } from './suppress-conversion.ts'

/** The first or the second two of four coordinates, or of four numbers for them. */
const halfOf = (w: Writer, x: Made, half: 0 | 1): Made =>
  w.node('Slice', [x, ...[2 * half, 2 * half + 2, -1].map(at => w.constant('int64', [at]))])

/** Moved to `0 … limits`. */
const inside = (w: Writer, boxes: Made, limits: Made): Made =>
  extreme(w, 'Max', extreme(w, 'Min', boxes, limits), single(w, 0))

const asFloats = (call: SourceCall, w: Writer, names: readonly string[]): Made[] =>
  names.map(name => w.cast(call.operand(name), 'float32'))

/** Maps `[images, anchors * width, rows, columns]` by cell, then by anchor: `[images, boxes, width]`. */
function byCell(w: Writer, maps: Made, width: number): Made {
  const [images, channels, rows, columns] = sizesOf(w, maps)
  const anchors = floorDivSizes(w, channels, width)
  const split = reshapedBy(w, maps, [images, anchors, width, rows, columns])
  const boxes = mulSizes(w, mulSizes(w, rows, columns), anchors)
  return reshapedBy(w, transposed(w, split, [0, 3, 4, 1, 2]), [images, boxes, width])
}

/** The best boxes of each image that suppression leaves, `[images, count]` and `[images, count, 4]`. */
interface Kept {
  readonly boxes: Made
  /** {@link NONE} where fewer are kept. */
  readonly scores: Made
}

/**
 * The best boxes of each image, without those that overlap better ones.
 * @param most limit on the candidates
 * @param isAllowed candidates that are left out though they count
 */
function best(
  w: Writer,
  boxes: Made,
  scores: Made,
  most: number,
  maxKept: number,
  rule: Omit<SuppressRule, 'maxBoxes'>,
  isAllowed?: Made
): Kept {
  const count = extremeSize(w, 'Min', most, sizeAt(w, scores, 1))
  const [values, places] = w.nodes('TopK', [scores, sizeList(w, [count])], { axis: 1 }, { outputs: 2 })
  const of = (x: Made, at: Made): Made => w.node('GatherND', [x, unsqueezed(w, at, [2])], { batch_dims: 1 })
  const isFree = isAllowed && w.node('GatherElements', [isAllowed, places], { axis: 1 })
  const candidates = isFree ? elementwise(w, 'Where', isFree, values, single(w, NONE)) : values
  const corners = of(boxes, places)
  const kept = suppressed(w, { boxes: corners, scores: candidates }, { ...rule, maxBoxes: maxKept })
  const size = sizeList(w, [extremeSize(w, 'Min', maxKept, count)])
  const [found, at] = w.nodes('TopK', [kept, size], { axis: 1 }, { outputs: 2 })
  return { boxes: of(corners, at), scores: found }
}

const isKept = (w: Writer, { scores }: Kept): Made => elementwise(w, 'Greater', scores, single(w, NONE))

/** Rows `[images, count, …]` filled up with zeros to as many as a number. */
function filledTo(w: Writer, x: Made, rows: number): Made {
  const [, count, ...rest] = sizesOf(w, x)
  const none = [0, 0, ...rest.map(() => 0)]
  const missing = subSizes(w, rows, count)
  return missing === 0 ? x : w.node('Pad', [x, sizeList(w, [...none, 0, missing, ...rest.map(() => 0)])])
}

/** Height, width and scales of the images: numbers of one list, or a list for each image. */
interface Frame {
  readonly height: Made
  readonly width: Made
  readonly scaleY: Made
  readonly scaleX: Made
}

function frameOf(w: Writer, list: Made, axis: number): Frame {
  const at = (index: Size): Made => gathered(w, list, sizeList(w, [index]), axis)
  // A third number is the scale for both directions where there is no fourth.
  const last = extremeSize(w, 'Min', 3, subSizes(w, sizeAt(w, list, axis), 1))
  return { height: at(0), width: at(1), scaleY: at(2), scaleX: at(last) }
}

const pairs = (w: Writer, first: Made, second: Made, axis: number): Made =>
  joined(w, [first, second, first, second], axis)

/** Anchors of all cells, moved by deltas as Proposal does: `[images, boxes, 4]`. */
function proposed(w: Writer, deltas: Made, limits: Made, p: ProposalParams): Made {
  const anchors = anchorsOf(p)
  const extra = single(w, p.tensorflow ? 0 : 1)
  const [, , rows, columns] = sizesOf(w, deltas)
  const steps = (count: Size): Made => mul(w, w.cast(counted(w, 0, count), 'float32'), single(w, p.stride))
  const cells = sizeList(w, [rows, columns, 1, 1])
  const down = w.node('Expand', [unsqueezed(w, steps(rows), [1, 2, 3]), cells])
  const right = w.node('Expand', [unsqueezed(w, steps(columns), [0, 2, 3]), cells])
  const shifts = p.tensorflow ? pairs(w, down, right, 3) : pairs(w, right, down, 3)
  const placed = add(w, shifts, w.constant('float32', anchors.flat(), [anchors.length, 4]))
  const moved = p.tensorflow ? inside(w, placed, limits) : placed
  const boxes = reshapedBy(w, moved, [mulSizes(w, mulSizes(w, rows, columns), anchors.length), 4])
  const [low, high] = [halfOf(w, boxes, 0), halfOf(w, boxes, 1)]
  const codes = byCell(w, deltas, 4)
  const size = add(w, sub(w, high, low), extra)
  const part = add(w, div(w, halfOf(w, codes, 0), single(w, p.coordinateScale)), single(w, 0.5))
  const center = add(w, low, mul(w, part, size))
  const scale = elementwise(w, 'Exp', div(w, halfOf(w, codes, 1), single(w, p.sizeScale)))
  const half = mul(w, mul(w, scale, size), single(w, 0.5))
  const decoded = joined(w, [sub(w, center, half), add(w, center, half)], 2)
  return p.clipBefore ? inside(w, decoded, sub(w, limits, extra)) : decoded
}

function proposalToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const p = call.parameters as ProposalParams
  const [scores, deltas] = asFloats(call, w, ['scores', 'deltas'])
  const type = typeOf(call.operand('scores'))
  const { height, width, scaleY, scaleX } = frameOf(w, listParameter(call, 'image', w, 'float32'), 0)
  const limits = p.tensorflow ? pairs(w, height, width, 0) : pairs(w, width, height, 0)
  const extra = p.tensorflow ? 0 : 1
  const boxes = proposed(w, deltas, limits, p)
  const sides = add(w, sub(w, halfOf(w, boxes, 1), halfOf(w, boxes, 0)), single(w, extra))
  const least = mul(w, joined(w, [scaleX, scaleY], 0), single(w, p.minSize))
  const isLarge = allOf(w, elementwise(w, 'GreaterOrEqual', sides, least))
  const count = anchorsOf(p).length
  const [images, , rows, columns] = sizesOf(w, scores)
  const objects = w.node('Slice', [scores, ...[count, 2 * count, 1].map(at => w.constant('int64', [at]))])
  const flat = reshapedBy(w, byCell(w, objects, 1), [images, mulSizes(w, mulSizes(w, rows, columns), count)])
  const values = elementwise(w, 'Where', isLarge, flat, single(w, 0))
  const kept = best(w, boxes, values, p.maxCandidates, p.maxKept, { iou: single(w, p.iou), extra })
  const wanted = isKept(w, kept)
  const clipped = p.clipAfter ? inside(w, kept.boxes, limits) : kept.boxes
  const shown = p.normalize ? div(w, clipped, limits) : clipped
  const numbered = w.node('Expand', [
    w.cast(unsqueezed(w, counted(w, 0, images), [1, 2]), 'float32'),
    sizeList(w, [images, sizeAt(w, kept.scores, 1), 1])
  ])
  const all = elementwise(w, 'Where', unsqueezed(w, wanted, [2]), joined(w, [numbered, shown], 2), single(w, 0))
  const found = unsqueezed(w, reduced(w, 'ReduceSum', w.cast(wanted, 'int64'), [1], true), [2])
  const ends = elementwise(w, 'Equal', w.constant('int64', [...Array(p.maxKept).keys()], [p.maxKept, 1]), found)
  const isEnd = elementwise(w, 'And', ends, w.constant('bool', [true, false, false, false, false]))
  const marked = elementwise(w, 'Where', isEnd, single(w, -1), filledTo(w, all, p.maxKept))
  const total = mulSizes(w, images, p.maxKept)
  const result = [w.cast(reshapedBy(w, marked, [total, 5]), type)]
  if (!p.withScores) return result
  const own = filledTo(w, elementwise(w, 'Where', wanted, kept.scores, single(w, 0)), p.maxKept)
  return [...result, w.cast(reshapedBy(w, own, [total]), type)].slice(0, call.outputCount)
}

/** Whether both of the last axis are true. */
const allOf = (w: Writer, x: Made): Made => w.cast(reduced(w, 'ReduceMin', w.cast(x, 'int32'), [-1], false), 'bool')

/** Boxes moved and scaled as R-CNN does, see `kernels/detection/refine.ts`; dims are broadcast. */
function refined(w: Writer, boxes: Made, deltas: Made, extra: number, maxLog: number): Made {
  const [low, high] = [halfOf(w, boxes, 0), halfOf(w, boxes, 1)]
  const more = single(w, extra)
  const side = add(w, sub(w, high, low), more)
  const center = add(w, low, mul(w, side, single(w, 0.5)))
  const middle = add(w, mul(w, halfOf(w, deltas, 0), side), center)
  const scale = elementwise(w, 'Exp', extreme(w, 'Min', halfOf(w, deltas, 1), single(w, maxLog)))
  const half = mul(w, mul(w, scale, side), single(w, 0.5))
  return joined(w, [sub(w, middle, half), sub(w, add(w, middle, half), more)], -1)
}

/** Boxes inside their images, and which are large enough. */
function framed(w: Writer, boxes: Made, frame: Frame, extra: number, minSize: Made): { boxes: Made; isLarge: Made } {
  const more = single(w, extra)
  const axis = dimsOf(frame.width).length - 1
  const shaped = (x: Made): Made => (axis === 0 ? x : unsqueezed(w, x, [1]))
  const clipped = inside(w, boxes, shaped(sub(w, pairs(w, frame.width, frame.height, axis), more)))
  const sides = add(w, sub(w, halfOf(w, clipped, 1), halfOf(w, clipped, 0)), more)
  return { boxes: clipped, isLarge: allOf(w, elementwise(w, 'GreaterOrEqual', sides, shaped(minSize))) }
}

function singleImageToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [image, anchors, deltas, scores] = asFloats(call, w, ['image', 'anchors', 'deltas', 'scores'])
  const type = typeOf(call.operand('scores'))
  const maxKept = call.param<number>('maxKept')
  const moved = refined(w, anchors, byCell(w, unsqueezed(w, deltas, [0]), 4), 1, MAX_LOG_SCALE)
  const { boxes, isLarge } = framed(w, moved, frameOf(w, image, 0), 1, single(w, call.param('minSize')))
  const given = byCell(w, unsqueezed(w, scores, [0]), 1)
  const flat = reshapedBy(w, given, [1, sizeAt(w, given, 1)])
  const values = elementwise(w, 'Where', isLarge, flat, single(w, 0))
  const kept = best(w, boxes, values, call.param('maxCandidates'), maxKept, { iou: single(w, call.param('iou')) })
  const wanted = isKept(w, kept)
  const rows = elementwise(w, 'Where', unsqueezed(w, wanted, [2]), kept.boxes, single(w, 0))
  const own = elementwise(w, 'Where', wanted, kept.scores, single(w, 0))
  return [
    w.cast(reshapedBy(w, filledTo(w, rows, maxKept), [maxKept, 4]), type),
    w.cast(reshapedBy(w, filledTo(w, own, maxKept), [maxKept]), type)
  ].slice(0, call.outputCount)
}

function generateToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [image, anchors, deltas, scores] = asFloats(call, w, ['image', 'anchors', 'deltas', 'scores'])
  const type = typeOf(call.operand('scores'))
  const extra = call.param<boolean>('normalized') ? 0 : 1
  const moved = refined(w, w.reshape(anchors, [-1, 4]), byCell(w, deltas, 4), extra, MAX_LOG_SCALE)
  const frame = frameOf(w, image, 1)
  const minSize = mul(w, joined(w, [frame.scaleX, frame.scaleY], 1), single(w, call.param('minSize')))
  const { boxes, isLarge } = framed(w, moved, frame, extra, minSize)
  const given = byCell(w, scores, 1)
  const flat = reshapedBy(w, given, [sizeAt(w, given, 0), sizeAt(w, given, 1)])
  const rule = { iou: single(w, call.param('iou')), eta: call.param<number>('eta'), extra }
  const kept = best(w, boxes, flat, call.param('maxCandidates'), call.param('maxKept'), rule, isLarge)
  const wanted = isKept(w, kept)
  const places = transposed(w, w.node('NonZero', [wanted]), [1, 0])
  const counts = reduced(w, 'ReduceSum', w.cast(wanted, 'int64'), [1], false)
  const of = (x: Made): Made => w.cast(w.node('GatherND', [x, places]), type)
  return [of(kept.boxes), of(kept.scores), w.cast(counts, call.param<DType>('countType'))].slice(0, call.outputCount)
}

/** Boxes `[classes, regions, 4]` and scores of regions for each class; a region without area has zeros. */
function ofClasses(call: SourceCall, w: Writer): { boxes: Made; scores: Made } {
  const [rois, deltas, scores] = asFloats(call, w, ['rois', 'deltas', 'scores'])
  const [classes, regions] = [call.param<number>('classes'), sizeAt(w, rois, 0)]
  const codes = transposed(w, reshapedBy(w, deltas, [regions, classes, 4]), [1, 0, 2])
  const weights = w.constant('float32', call.param<readonly number[]>('weights'))
  const moved = refined(w, rois, div(w, codes, weights), 1, call.param('maxLog'))
  const sides = sub(w, halfOf(w, rois, 1), halfOf(w, rois, 0))
  const hasArea = allOf(w, elementwise(w, 'Greater', sides, single(w, 0)))
  const zero = single(w, 0)
  return {
    boxes: elementwise(w, 'Where', unsqueezed(w, hasArea, [1]), extreme(w, 'Max', moved, zero), zero),
    scores: elementwise(w, 'Where', hasArea, transposed(w, scores, [1, 0]), zero)
  }
}

function detectronToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const type = typeOf(call.operand('rois'))
  const { boxes, scores } = ofClasses(call, w)
  const [classes, rows] = [call.param<number>('classes'), call.param<number>('rows')]
  const regions = sizeAt(w, scores, 1)
  const none = single(w, NONE)
  const isObject = w.constant(
    'bool',
    [...Array(classes).keys()].map(kind => kind > 0),
    [classes, 1]
  )
  const isEnough = elementwise(w, 'Greater', scores, single(w, call.param('minScore')))
  const candidates = elementwise(w, 'Where', elementwise(w, 'And', isEnough, isObject), scores, none)
  const most = call.param<number>('maxKept')
  const rule = { maxBoxes: most < 0 ? undefined : most, iou: single(w, call.param('iou')), extra: 1 }
  const kept = suppressed(w, { boxes, scores: candidates }, rule)
  const flat = reshapedBy(w, transposed(w, kept, [1, 0]), [1, mulSizes(w, regions, classes)])
  const size = extremeSize(w, 'Min', rows, mulSizes(w, regions, classes))
  const [values, at] = w.nodes('TopK', [flat, sizeList(w, [size])], { axis: 1 }, { outputs: 2 })
  const count = reduced(w, 'ReduceSum', w.cast(elementwise(w, 'Greater', flat, none), 'int64'), [1], true)
  // More detections than rows stay in the order of their scores.
  const isOver = elementwise(w, 'Greater', count, w.scalar('int64', rows))
  const isOne = elementwise(w, 'Greater', values, none)
  const kinds = w.node('Mod', [at, w.constant('int64', [classes])])
  const groups = elementwise(w, 'Where', isOver, w.scalar('int64', 0), kinds)
  const inOrder = elementwise(w, 'Where', isOne, groups, w.scalar('int64', classes))
  const keys = add(w, mul(w, inOrder, sizeList(w, [size])), counted(w, 0, size))
  const [, order] = w.nodes('TopK', [keys, sizeList(w, [size])], { axis: 1, largest: 0 }, { outputs: 2 })
  const ordered = (x: Made): Made => w.node('GatherElements', [x, order], { axis: 1 })
  const region = w.node('Div', [at, w.constant('int64', [classes])])
  const tuples = stacked(w, [ordered(kinds), ordered(region)], 2)
  const isRow = elementwise(w, 'Greater', ordered(values), none)
  const corners = elementwise(w, 'Where', unsqueezed(w, isRow, [2]), w.node('GatherND', [boxes, tuples]), single(w, 0))
  const labels = elementwise(w, 'Where', isRow, ordered(kinds), w.scalar('int64', 0))
  const shown = elementwise(w, 'Where', isRow, ordered(values), single(w, 0))
  const list = (x: Made): Made => reshapedBy(w, filledTo(w, x, rows), [rows])
  return [
    w.cast(reshapedBy(w, filledTo(w, corners, rows), [rows, 4]), type),
    w.cast(list(labels), 'int32'),
    w.cast(list(shown), type)
  ].slice(0, call.outputCount)
}

/** Proposals of two-stage detectors in nodes of ONNX. */
export const proposalRules: readonly Conversion[] = [
  toOnnx(proposal, proposalToOnnx),
  toOnnx(generateProposalsSingleImage, singleImageToOnnx),
  toOnnx(generateProposals, generateToOnnx),
  toOnnx(detectronDetectionOutput, detectronToOnnx)
]
