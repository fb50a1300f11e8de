import { fail } from '../../errors.ts'
import {
  elementwise,
  extreme,
  gathered,
  joined,
  reduced,
  shapeOf,
  transposed,
  unsqueezed
} from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import {
  counted,
  extremeSize,
  mulSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList
} from '../../op-kit/conversion-sizes.ts'
import { type Conversion, type Made, type SourceCall, toOnnx, typeOf, type Writer } from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { matrixNms, multiclassNms } from './class-nms.ts'
import { type Groups, NONE, overlapOf, single, suppressed } from './suppress-conversion.ts'

/** Boxes and scores of every class of every image. */
export interface Classes {
  readonly images: Size
  readonly classes: Size
  readonly count: Size
  /** `[images, classes, count, 4]` */
  readonly boxes: Made
  /** `[images, classes, count]` */
  readonly scores: Made
}

/** Classes whose boxes have numbers. */
interface Numbered extends Classes {
  /** The index among all boxes of image, class and box, a list each. */
  index(image: Made, kind: Made, box: Made): Made
}

const list = (w: Writer, size: Size): Made => sizeList(w, [size])
const linear = (w: Writer, a: Made, factor: Size, b: Made): Made => add(w, mul(w, a, list(w, factor)), b)

/** Classes share the boxes of an image, or have boxes of their own, those of one image after the other. */
function classesOf(call: SourceCall, w: Writer): Numbered {
  const [boxes, scores] = ['boxes', 'scores'].map(name => w.cast(call.operand(name), 'float32'))
  const counts = call.optional('counts')
  if (counts) return ownBoxes(w, boxes, scores, w.cast(counts, 'int64'))
  const [images, classes, count] = [0, 1, 2].map(axis => sizeAt(w, scores, axis))
  return {
    images,
    classes,
    count,
    boxes: w.node('Expand', [unsqueezed(w, boxes, [1]), sizeList(w, [images, classes, count, 4])]),
    scores,
    index: (image, _, box) => linear(w, image, count, box)
  }
}

function ownBoxes(w: Writer, boxes: Made, scores: Made, counts: Made): Numbered {
  const images = sizeAt(w, counts, 0)
  const [classes, count] = [sizeAt(w, scores, 0), sizeAt(w, scores, 1)]
  const positions = counted(w, 0, count)
  const ends = w.node('CumSum', [counts, w.scalar('int64', 0)])
  const isOwn = elementwise(
    w,
    'And',
    elementwise(w, 'GreaterOrEqual', positions, unsqueezed(w, sub(w, ends, counts), [1])),
    elementwise(w, 'Less', positions, unsqueezed(w, ends, [1]))
  )
  return {
    images,
    classes,
    count,
    boxes: w.node('Expand', [unsqueezed(w, boxes, [0]), sizeList(w, [images, classes, count, 4])]),
    scores: elementwise(w, 'Where', unsqueezed(w, isOwn, [1]), scores, single(w, NONE)),
    index: (_, kind, box) => linear(w, box, classes, kind)
  }
}

/** The best candidates of each class of each image, and where they are. */
export interface Candidates extends Groups {
  readonly places: Made
}

/**
 * The best of the scores that are not {@link NONE}.
 * @param background the class that is none
 * @param most limit on the candidates of a class; -1: none
 */
export function candidatesOf(w: Writer, all: Classes, background: number, most: number): Candidates {
  const { images, classes, count } = all
  const kinds = unsqueezed(w, counted(w, 0, classes), [1])
  const isBackground = elementwise(w, 'Equal', kinds, w.scalar('int64', background))
  const groups = mulSizes(w, images, classes)
  const scores = reshapedBy(w, elementwise(w, 'Where', isBackground, single(w, NONE), all.scores), [groups, count])
  if (most === 0) fail('unsupported-op', 'no candidates at all')
  const size = most > 0 ? extremeSize(w, 'Min', most, count) : count
  const [values, places] = w.nodes('TopK', [scores, list(w, size)], { axis: 1 }, { outputs: 2 })
  const boxes = reshapedBy(w, all.boxes, [groups, count, 4])
  return {
    boxes: w.node('GatherND', [boxes, unsqueezed(w, places, [2])], { batch_dims: 1 }),
    scores: values,
    places
  }
}

/** Scores of kept candidates at the places of their boxes, `[images * classes, count]`; {@link NONE} elsewhere. */
export function atPlaces(w: Writer, { images, classes, count }: Classes, { places }: Candidates, kept: Made): Made {
  const none = w.node('Expand', [single(w, NONE), sizeList(w, [mulSizes(w, images, classes), count])])
  return w.node('ScatterElements', [none, places, kept], { axis: 1 })
}

/** What is kept of each image: lists of the same length. */
interface Found {
  readonly image: Made
  readonly kind: Made
  readonly box: Made
  readonly score: Made
  /** How many there are of each image. */
  readonly counts: Made
}

/**
 * The best of each image, by score, class and box.
 * @param kept scores of the candidates, {@link NONE} for those that are not kept
 */
function bestOf(
  call: SourceCall,
  w: Writer,
  all: Classes,
  candidates: Candidates,
  kept: Made,
  byClass: boolean
): Found {
  const { images, classes, count } = all
  const whole = mulSizes(w, classes, count)
  const dense = reshapedBy(w, atPlaces(w, all, candidates, kept), [images, whole])
  const limit = call.param<number>('maxKept')
  const size = limit >= 0 ? extremeSize(w, 'Min', limit, whole) : whole
  const [values, at] = w.nodes('TopK', [dense, list(w, size)], { axis: 1 }, { outputs: 2 })
  const kinds = div(w, at, list(w, count))
  const boxes = w.node('Mod', [at, list(w, count)])
  const isKept = elementwise(w, 'Greater', values, single(w, NONE))
  const keys = linear(w, elementwise(w, 'Where', isKept, kinds, list(w, classes)), size, counted(w, 0, size))
  const order = byClass ? w.nodes('TopK', [keys, list(w, size)], { axis: 1, largest: 0 }, { outputs: 2 })[1] : undefined
  const ordered = (x: Made): Made => (order ? w.node('GatherElements', [x, order], { axis: 1 }) : x)
  const pairs = transposed(
    w,
    w.node('NonZero', [order ? elementwise(w, 'Greater', ordered(values), single(w, NONE)) : isKept]),
    [1, 0]
  )
  const of = (x: Made): Made => w.node('GatherND', [ordered(x), pairs])
  return {
    image: w.reshape(gathered(w, pairs, w.constant('int64', [0]), 1), [-1]),
    kind: of(kinds),
    box: of(boxes),
    score: of(values),
    counts: reduced(w, 'ReduceSum', w.cast(isKept, 'int64'), [1], false)
  }
}

/** All images together, by score, or by class. */
function acrossImages(call: SourceCall, w: Writer, { images }: Classes, found: Found): Found {
  const order = call.param<string>('order')
  if (!call.param<boolean>('acrossBatch') || order === 'none') return found
  const { image, kind, box, score } = found
  const size = shapeOf(w, score)
  const key = (): Made => {
    const total = mul(w, linear(w, kind, images, image), size)
    const last = w.node('Range', [w.scalar('int64', 0), w.reshape(size, []), w.scalar('int64', 1)])
    return add(w, total, last)
  }
  const [, by] =
    order === 'score'
      ? w.nodes('TopK', [score, size], { axis: 0 }, { outputs: 2 })
      : w.nodes('TopK', [key(), size], { axis: 0, largest: 0 }, { outputs: 2 })
  const [i, k, b, s] = [image, kind, box, score].map(one => gathered(w, one, by, 0))
  return { image: i, kind: k, box: b, score: s, counts: found.counts }
}

function outputsOf(call: SourceCall, w: Writer, all: Numbered, found: Found): readonly Made[] {
  const { image, kind, box, score, counts } = found
  const type = typeOf(call.operand('boxes'))
  const indexType = call.param<DType>('indexType')
  const column = (x: Made): Made => w.reshape(x, [-1, 1])
  const tuples = joined(w, [image, kind, box].map(column), 1)
  const corners = w.node('GatherND', [all.boxes, tuples])
  const rows = joined(w, [column(w.cast(kind, 'float32')), column(score), corners], 1)
  const indices = column(all.index(image, kind, box))
  return [w.cast(rows, type), w.cast(indices, indexType), w.cast(counts, indexType)].slice(0, call.outputCount)
}

function acceptedOf(call: SourceCall, w: Writer, all: Classes, isEnough: Made): Candidates {
  const scores = elementwise(w, 'Where', isEnough, all.scores, single(w, NONE))
  return candidatesOf(w, { ...all, scores }, call.param('background'), call.param('maxCandidates'))
}

function multiclassToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const all = classesOf(call, w)
  const isEnough = elementwise(w, 'GreaterOrEqual', all.scores, single(w, call.param('minScore')))
  const candidates = acceptedOf(call, w, all, isEnough)
  const kept = suppressed(w, candidates, {
    maxBoxes: undefined,
    iou: single(w, call.param('iou')),
    eta: call.param('eta'),
    extra: call.param<boolean>('normalized') ? 0 : 1,
    isExtended: true
  })
  const found = bestOf(call, w, all, candidates, kept, call.param('order') === 'class')
  return outputsOf(call, w, all, acrossImages(call, w, all, found))
}

/** Scores lowered by the strongest decay that a better box of the class causes, in double precision. */
function decayed(call: SourceCall, w: Writer, { boxes, scores }: Groups): Made {
  const double = (value: number): Made => w.scalar('float64', value)
  const extra = call.param<boolean>('normalized') ? 0 : 1
  const overlaps = overlapOf(w, unsqueezed(w, boxes, [2]), unsqueezed(w, boxes, [1]), extra)
  const steps = counted(w, 0, sizeAt(w, scores, 1))
  const isBetter = elementwise(w, 'Less', steps, unsqueezed(w, steps, [1]))
  const shared = elementwise(w, 'Where', isBetter, w.cast(overlaps, 'float64'), double(0))
  const highest = unsqueezed(w, reduced(w, 'ReduceMax', shared, [2], false), [1])
  const decay = call.param<boolean>('gaussian')
    ? elementwise(
        w,
        'Exp',
        mul(w, sub(w, mul(w, highest, highest), mul(w, shared, shared)), double(call.param('sigma')))
      )
    : div(w, sub(w, double(1), shared), add(w, sub(w, double(1), highest), double(1e-10)))
  const factors = reduced(w, 'ReduceMin', elementwise(w, 'Where', isBetter, decay, double(1)), [2], false)
  const lowered = mul(w, extreme(w, 'Min', factors, double(1)), w.cast(scores, 'float64'))
  return w.cast(lowered, 'float32')
}

function matrixToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const all = classesOf(call, w)
  const isEnough = elementwise(w, 'Greater', all.scores, single(w, call.param('minScore')))
  const candidates = acceptedOf(call, w, all, isEnough)
  const lowered = decayed(call, w, candidates)
  const isKept = elementwise(
    w,
    'And',
    elementwise(w, 'Greater', candidates.scores, single(w, NONE)),
    elementwise(w, 'Greater', lowered, single(w, call.param('minDecayedScore')))
  )
  const kept = elementwise(w, 'Where', isKept, lowered, single(w, NONE))
  return outputsOf(call, w, all, acrossImages(call, w, all, bestOf(call, w, all, candidates, kept, false)))
}

/** Suppression by class and image in nodes of ONNX. */
export const classNmsRules: readonly Conversion[] = [
  toOnnx(multiclassNms, multiclassToOnnx),
  toOnnx(matrixNms, matrixToOnnx)
]
