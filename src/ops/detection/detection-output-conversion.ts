import { elementwise, gathered, joined, reduced, transposed, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, part, sub } from '../../op-kit/conversion-parts.ts'
import {
  counted,
  extremeSize,
  floorDivSizes,
  mulSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import { type Conversion, type Made, type SourceCall, toOnnx, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { atPlaces, candidatesOf, type Classes } from './class-nms-conversion.ts'
import { detectionOutput } from './detection-output.ts'
import { NONE, single, suppressed } from './suppress-conversion.ts'

const clipped = (w: Writer, x: Made): Made => w.node('Clip', [x, single(w, 0), single(w, 1)])

/** Numbers of a call that many of its parts depend on. */
interface Sizes {
  readonly images: Size
  readonly priors: Size
  readonly classes: Size
}

function sizesOf(call: SourceCall, w: Writer): Sizes {
  const priors = floorDivSizes(w, sizeAt(w, call.operand('priors'), 2), call.param<boolean>('normalized') ? 4 : 5)
  const [images, scores] = [0, 1].map(axis => sizeAt(w, call.operand('scores'), axis))
  return { images, priors, classes: call.param<number | undefined>('classes') ?? floorDivSizes(w, scores, priors) }
}

/** Prior boxes `[images or 1, priors, 1, 4]`, from 0 to 1, and what codes are multiplied by. */
function priorsOf(call: SourceCall, w: Writer, { priors }: Sizes): { boxes: Made; variances: Made | undefined } {
  const given = w.cast(call.operand('priors'), 'float32')
  const normalized = call.param<boolean>('normalized')
  const size = normalized ? 4 : 5
  const batch = sizeAt(w, given, 0)
  const row = (at: number): Made => gathered(w, given, w.scalar('int64', at), 1)
  const all = reshapedBy(w, row(0), [batch, priors, 1, size])
  const [width, height] = [call.param<number>('width'), call.param<number>('height')]
  const pixels = w.constant('float32', [width, height, width, height])
  const boxes = normalized ? all : div(w, part(w, all, -1, 1, 5), pixels)
  if (!call.param<boolean>('hasVariances')) return { boxes, variances: undefined }
  return { boxes, variances: reshapedBy(w, part(w, row(1), -1, 0, mulSizes(w, priors, 4)), [batch, priors, 1, 4]) }
}

/** Boxes that codes move from others. */
function moved(call: SourceCall, w: Writer, from: Made, codes: Made, variances: Made | undefined): Made {
  const steps = variances ? mul(w, variances, codes) : codes
  const centered = (): Made => {
    const [low, high] = [part(w, from, -1, 0, 2), part(w, from, -1, 2, 4)]
    const size = sub(w, high, low)
    const middle = div(w, add(w, low, high), single(w, 2))
    const center = add(w, middle, mul(w, part(w, steps, -1, 0, 2), size))
    const half = div(w, mul(w, elementwise(w, 'Exp', part(w, steps, -1, 2, 4)), size), single(w, 2))
    return joined(w, [sub(w, center, half), add(w, center, half)], 3)
  }
  const boxes = call.param<boolean>('centers') ? centered() : add(w, from, steps)
  return call.param<boolean>('clipBefore') ? clipped(w, boxes) : boxes
}

/** Boxes `[images, classes, priors, 4]`. */
function boxesOf(call: SourceCall, w: Writer, sizes: Sizes): Made {
  const { images, priors, classes } = sizes
  const rows = call.param<boolean>('sharesBoxes') ? 1 : classes
  const { boxes, variances } = priorsOf(call, w, sizes)
  const first = call.has('firstScores') ? call.optional('firstLocations') : undefined
  const coded = [first, call.operand('locations')].flatMap(codes =>
    codes ? [reshapedBy(w, w.cast(codes, 'float32'), [images, priors, rows, 4])] : []
  )
  const decoded = coded.reduce((from, codes) => moved(call, w, from, codes, variances), boxes)
  return w.node('Expand', [transposed(w, decoded, [0, 2, 1, 3]), sizeList(w, [images, classes, priors, 4])])
}

/** Scores `[images, classes, priors]`; a prior without an object in the first stage is background. */
function scoresOf(call: SourceCall, w: Writer, { images, priors, classes }: Sizes): Made {
  const given = reshapedBy(w, w.cast(call.operand('scores'), 'float32'), [images, priors, classes])
  const scores = transposed(w, given, [0, 2, 1])
  const first = call.has('firstLocations') ? call.optional('firstScores') : undefined
  if (first === undefined) return scores
  const pairs = reshapedBy(w, w.cast(first, 'float32'), [images, 1, priors, 2])
  const objects = gathered(w, pairs, w.scalar('int64', 1), 3)
  const isNone = elementwise(w, 'Less', objects, single(w, call.param('objectness')))
  const kinds = unsqueezed(w, counted(w, 0, classes), [1])
  const isBackground = elementwise(w, 'Equal', kinds, w.scalar('int64', call.param<number>('background')))
  return elementwise(w, 'Where', isNone, w.cast(isBackground, 'float32'), scores)
}

/** Scores of candidates, {@link NONE} for others: of each class, or of the best class of each of the best priors. */
function candidateScores(call: SourceCall, w: Writer, scores: Made, { images, priors, classes }: Sizes): Made {
  const none = single(w, NONE)
  const least = single(w, call.param('minScore'))
  if (!call.param<boolean>('bestClassOnly'))
    return elementwise(w, 'Where', elementwise(w, 'Greater', scores, least), scores, none)
  const kinds = unsqueezed(w, counted(w, 0, classes), [1])
  const isNone = elementwise(
    w,
    'Or',
    elementwise(w, 'Equal', kinds, w.scalar('int64', 0)),
    elementwise(w, 'Equal', kinds, w.scalar('int64', call.param<number>('background')))
  )
  const objects = elementwise(w, 'Where', isNone, none, scores)
  const values = reduced(w, 'ReduceMax', objects, [1], false)
  const isEnough = elementwise(
    w,
    'And',
    elementwise(w, 'Greater', values, single(w, -1)),
    elementwise(w, 'GreaterOrEqual', values, least)
  )
  const accepted = elementwise(w, 'Where', isEnough, values, none)
  const limit = call.param<number>('maxCandidates')
  const count = limit >= 0 ? extremeSize(w, 'Min', limit, priors) : priors
  const [best, places] = w.nodes('TopK', [accepted, sizeList(w, [count])], { axis: 1 }, { outputs: 2 })
  const empty = w.node('Expand', [none, sizeList(w, [images, priors])])
  const chosen = w.node('ScatterElements', [empty, places, best], { axis: 1 })
  const label = w.node('ArgMax', [objects], { axis: 1, keepdims: 1 })
  return elementwise(w, 'Where', elementwise(w, 'Equal', kinds, label), unsqueezed(w, chosen, [1]), none)
}

/** Detections of each image by label, then by score: image, label and prior of each, and its score. */
function detectionsOf(
  call: SourceCall,
  w: Writer,
  { images, priors, classes }: Sizes,
  kept: Made
): { places: Made; label: Made; score: Made } {
  const whole = mulSizes(w, priors, classes)
  const byPrior = transposed(w, reshapedBy(w, kept, [images, classes, priors]), [0, 2, 1])
  const limit = call.param<number>('maxKept')
  const size = limit >= 0 ? extremeSize(w, 'Min', limit, whole) : whole
  const flat = reshapedBy(w, byPrior, [images, whole])
  const [values, at] = w.nodes('TopK', [flat, sizeList(w, [size])], { axis: 1 }, { outputs: 2 })
  const perPrior = sizeList(w, [classes])
  const isKept = elementwise(w, 'Greater', values, single(w, NONE))
  const labels = elementwise(w, 'Where', isKept, w.node('Mod', [at, perPrior]), perPrior)
  const keys = add(w, mul(w, labels, sizeList(w, [size])), counted(w, 0, size))
  const [, order] = w.nodes('TopK', [keys, sizeList(w, [size])], { axis: 1, largest: 0 }, { outputs: 2 })
  const ordered = (x: Made): Made => w.node('GatherElements', [x, order], { axis: 1 })
  const found = w.node('NonZero', [elementwise(w, 'Greater', ordered(values), single(w, NONE))])
  const pairs = transposed(w, found, [1, 0])
  const column = (x: Made): Made => w.reshape(w.node('GatherND', [ordered(x), pairs]), [-1, 1])
  const image = gathered(w, pairs, w.constant('int64', [0]), 1)
  const label = column(labels)
  return {
    places: joined(w, [image, label, column(div(w, at, perPrior))], 1),
    label,
    score: column(values)
  }
}

/** Rows for as many detections as there may be: zeros, and -1 where they begin. */
function filled(call: SourceCall, w: Writer, found: Made, { images, priors, classes }: Sizes): Made {
  const [limit, most] = [call.param<number>('maxKept'), call.param<number>('maxCandidates')]
  const each = limit > 0 ? limit : mulSizes(w, classes, limit === -1 && most > 0 ? most : priors)
  const rows = mulSizes(w, images, each)
  const marked = joined(w, [found, w.constant('float32', [-1, 0, 0, 0, 0, 0, 0], [1, 7])], 0)
  const missing = extremeSize(w, 'Max', subSizes(w, rows, sizeAt(w, marked, 0)), 0)
  const padded = w.node('Pad', [marked, sizeList(w, [0, 0, missing, 0])])
  const all = part(w, padded, 0, 0, rows)
  return reshapedBy(w, all, [1, 1, rows, 7])
}

function detectionOutputToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const sizes = sizesOf(call, w)
  const { images, priors, classes } = sizes
  const best = call.param<boolean>('bestClassOnly')
  const scores = candidateScores(call, w, scoresOf(call, w, sizes), sizes)
  const all: Classes = { images, classes, count: priors, boxes: boxesOf(call, w, sizes), scores }
  const candidates = candidatesOf(w, all, call.param('background'), best ? -1 : call.param('maxCandidates'))
  const kept = suppressed(w, candidates, { maxBoxes: undefined, iou: single(w, call.param('iou')) })
  const { places, label, score } = detectionsOf(call, w, sizes, atPlaces(w, all, candidates, kept))
  const corners = w.node('GatherND', [all.boxes, places])
  const image = w.cast(gathered(w, places, w.constant('int64', [0]), 1), 'float32')
  const shown = best ? sub(w, label, w.scalar('int64', 1)) : label
  const boxes = call.param<boolean>('clipAfter') ? clipped(w, corners) : corners
  const found = joined(w, [image, w.cast(shown, 'float32'), score, boxes], 1)
  return [w.cast(filled(call, w, found, sizes), typeOf(call.operand('locations')))]
}

/** The last operator of SSD in nodes of ONNX. */
export const detectionOutputRules: readonly Conversion[] = [toOnnx(detectionOutput, detectionOutputToOnnx)]
