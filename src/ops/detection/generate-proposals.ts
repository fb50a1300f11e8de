import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { acceptedIndices, byScore, overlap } from '../../kernels/detection/boxes.ts'
import { clipBox, MAX_LOG_SCALE, refineBox } from '../../kernels/detection/refine.ts'
import { suppressFalling } from '../../kernels/detection/suppress.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { choice, flag, float, int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { type Dim, maxDim, mayMatch, meetDims, mulDims, printDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

/** Parameters of both operators. */
interface Shared {
  minSize: number
  iou: number
  maxCandidates: number
  maxKept: number
}

const shared = {
  minSize: float('min_size'),
  iou: float('nms_threshold'),
  maxCandidates: int('pre_nms_count'),
  maxKept: int('post_nms_count')
} as const
const types = { image: FLOATS, anchors: FLOATS, deltas: FLOATS, scores: FLOATS }

/**
 * Decodes boxes from anchors and keeps the best by non-maximum suppression: OpenVINO
 * ExperimentalDetectronGenerateProposalsSingleImage-6. Rows without a box are zero. A box smaller than the minimum size
 * gets score 0, as in OpenVINO, whose specification removes it. Boxes have one pixel more where they are decoded, and
 * not where they are compared, also as in OpenVINO.
 */
export const generateProposalsSingleImage = defineOp({
  name: 'ExperimentalDetectronGenerateProposalsSingleImage',
  operands: { image: 'tensor', anchors: 'tensor', deltas: 'tensor', scores: 'tensor' },
  params: params<Shared>(),
  openvino: [{ since: 6, types, bind: shared }],

  shape({ image, anchors, deltas, scores }, p) {
    const type = commonType({ im_info: image, anchors, deltas, scores })
    checkCounts(p)
    checkRank('im_info', image, 1)
    checkRank('anchors', anchors, 2)
    if (image.shape && !mayMatch(image.shape[0], 3))
      fail('dims-mismatch', `im_info has ${printDim(image.shape[0])} elements; expected 3`)
    checkMaps(deltas, scores, 3)
    checkLast(anchors)
    if (anchors.shape && scores.shape) checkAnchors(anchors.shape[0], scores.shape.reduce(mulDims))
    return [tensorFact(type, [p.maxKept, 4]), tensorFact(type, [p.maxKept])]
  },

  *run({ image, anchors, deltas, scores }, p, call) {
    const [height, width] = yield* readNumbers(image)
    const maps: Maps = {
      anchors: yield* readNumbers(anchors),
      deltas: yield* readNumbers(deltas),
      scores: yield* readNumbers(scores),
      start: 0,
      dims: scores.dims
    }
    const { boxes, isLarge } = yield* decode(maps, {
      width,
      height,
      minWidth: p.minSize,
      minHeight: p.minSize,
      extra: 1
    })
    const found = inCellOrder(maps)
    const values = found.map((score, i) => (isLarge[i] ? score : 0))
    const best = yield* keep(boxes, values, Array.from(values.keys()), { ...p, extra: 0, eta: 1 })
    const rois = targetOf(call.output())
    best.forEach((box, i) => rois.numbers.set(boxes.subarray(4 * box, 4 * box + 4), 4 * i))
    yield* rois.finish()
    if (!call.wanted(1)) return
    const kept = targetOf(call.output(1))
    best.forEach((box, i) => (kept.numbers[i] = values[box]))
    yield* kept.finish()
  }
})

/**
 * Decodes boxes from anchors for each image of a batch and keeps the best by non-maximum suppression: OpenVINO
 * GenerateProposals-9. Boxes smaller than the minimum size are dropped after the candidates are counted. With `nms_eta`
 * below 1 every kept box lowers the threshold while it is above 0.5, as the specification says; OpenVINO's reference
 * and CPU plugin do not look at that attribute.
 */
export const generateProposals = defineOp({
  name: 'GenerateProposals',
  operands: { image: 'tensor', anchors: 'tensor', deltas: 'tensor', scores: 'tensor' },
  params: params<Shared & { normalized: boolean; eta: number; countType: 'int32' | 'int64' }>(),
  openvino: [
    {
      since: 9,
      types,
      bind: {
        ...shared,
        normalized: flag('normalized'),
        eta: float('nms_eta'),
        countType: choice<'int32' | 'int64'>('roi_num_type', { i32: 'int32', i64: 'int64' })
      }
    }
  ],

  shape({ image, anchors, deltas, scores }, p) {
    const type = commonType({ im_info: image, anchors, boxesdeltas: deltas, scores })
    checkCounts(p)
    if (!(p.eta >= 0 && p.eta <= 1)) fail('value-out-of-range', `nms_eta is ${p.eta}; expected 0..1`)
    checkRank('im_info', image, 2)
    checkRank('anchors', anchors, 4)
    if (image.shape && !mayMatch(image.shape[1], 3) && !mayMatch(image.shape[1], 4))
      fail('dims-mismatch', `im_info has rows of ${printDim(image.shape[1])} elements; expected 3 or 4`)
    checkMaps(deltas, scores, 4)
    checkLast(anchors)
    const [grid, maps] = [anchors.shape, scores.shape]
    if (grid && maps && [2, 3, 1].some((axis, i) => meetDims(grid[i], maps[axis]) === undefined))
      fail('dims-mismatch', `anchors ${printShape(grid)} and scores ${printShape(maps)} do not fit together`)
    const images = meetBatch([image, deltas, scores])
    const count = unknownDim(0, maxDim(mulDims(images, p.maxKept)))
    return [tensorFact(type, [count, 4]), tensorFact(type, [count]), tensorFact(p.countType, [images])]
  },

  *run({ image, anchors, deltas, scores }, p, call) {
    const info = yield* readNumbers(image)
    const [images, each] = image.dims
    const maps: Omit<Maps, 'start'> = {
      anchors: yield* readNumbers(anchors),
      deltas: yield* readNumbers(deltas),
      scores: yield* readNumbers(scores),
      dims: scores.dims.slice(1)
    }
    const extra = p.normalized ? 0 : 1
    const found: { boxes: Float32Array; values: Float32Array; best: readonly number[] }[] = []
    for (let i = 0; i < images; i++) {
      const [height, width, scaleY, scaleX = scaleY] = info.subarray(i * each, (i + 1) * each)
      const frame = { width, height, minWidth: p.minSize * scaleX, minHeight: p.minSize * scaleY, extra }
      const own = { ...maps, start: i * maps.dims.reduce((a, b) => a * b, 1) }
      const { boxes, isLarge } = yield* decode(own, frame)
      const values = inCellOrder(own)
      const best = yield* keep(boxes, values, Array.from(values.keys()), { ...p, extra }, isLarge)
      found.push({ boxes, values, best })
    }
    const total = found.reduce((sum, { best }) => sum + best.length, 0)
    const rois = targetOf(call.output(0, [total, 4]))
    const kept = call.wanted(1) ? targetOf(call.output(1, [total])) : undefined
    let row = 0
    for (const { boxes, values, best } of found) {
      for (const box of best) {
        rois.numbers.set(boxes.subarray(4 * box, 4 * box + 4), 4 * row)
        if (kept) kept.numbers[row] = values[box]
        row++
      }
    }
    yield* rois.finish()
    if (kept) yield* kept.finish()
    if (call.wanted(2))
      storeIntegers(
        call.output(2),
        found.map(({ best }) => best.length)
      )
  }
})

/** Anchors `[height, width, anchors, 4]`, deltas `[anchors * 4, height, width]` and scores of one image. */
interface Maps {
  readonly anchors: Numbers
  readonly deltas: Numbers
  readonly scores: Numbers
  /** Index of the first score of the image. */
  readonly start: number
  /** Anchors, height and width. */
  readonly dims: readonly number[]
}

interface Frame {
  readonly width: number
  readonly height: number
  readonly minWidth: number
  readonly minHeight: number
  readonly extra: number
}

/** Boxes by cell, then by anchor, and whether each is large enough. */
function* decode(
  { anchors, deltas, start, dims: [count, rows, columns] }: Maps,
  { width, height, minWidth, minHeight, extra }: Frame
): Generator<void, { boxes: Float32Array; isLarge: Uint8Array }> {
  const plane = rows * columns
  const boxes = new Float32Array(4 * count * plane)
  const isLarge = new Uint8Array(count * plane)
  const rule = { maxLog: MAX_LOG_SCALE, extra }
  const pace = new Pace()
  const round = Math.fround
  if (boxes.length === 0) return { boxes, isLarge }
  for (let cell = 0; cell < plane; cell++) {
    for (let a = 0; a < count; a++) {
      const box = cell * count + a
      const at = 4 * box
      refineBox(anchors, at, deltas, 4 * (start + a * plane) + cell, plane, rule, boxes, at)
      clipBox(boxes, at, round(width - extra), round(height - extra))
      const [w, h] = [0, 1].map(i => round(round(boxes[at + i + 2] - boxes[at + i]) + extra))
      isLarge[box] = round(minWidth) <= w && round(minHeight) <= h ? 1 : 0
    }
    if (pace.isDue(64 * COST.element * count)) yield
  }
  return { boxes, isLarge }
}

/** The scores of an image, in the order of its boxes. */
function inCellOrder({ scores, start, dims: [count, rows, columns] }: Maps): Float32Array {
  const plane = rows * columns
  const result = new Float32Array(count * plane)
  if (result.length === 0) return result
  for (let a = 0; a < count; a++)
    for (let cell = 0; cell < plane; cell++) result[cell * count + a] = scores[start + a * plane + cell]
  return result
}

/** The boxes that are kept, best first. */
function* keep(
  boxes: Float32Array,
  scores: Float32Array,
  all: readonly number[],
  p: Shared & { readonly extra: number; readonly eta: number },
  allowed?: Uint8Array
): Generator<void, number[]> {
  const best = (yield* byScore(all, scores)).slice(0, p.maxCandidates)
  const large = allowed ? (yield* acceptedIndices(best.length, i => allowed[best[i]] === 1)).map(i => best[i]) : best
  return yield* suppressFalling((a, b) => overlap(boxes, 4 * a, 4 * b, p.extra), large, {
    iou: p.iou,
    eta: p.eta,
    maxBoxes: p.maxKept
  })
}

function checkCounts({ maxCandidates, maxKept }: Shared): void {
  if (maxCandidates < 0 || maxKept < 0)
    fail(
      'value-out-of-range',
      `pre_nms_count is ${maxCandidates} and post_nms_count ${maxKept}; they cannot be negative`
    )
}

function checkLast({ shape }: TensorFact): void {
  const last = shape?.at(-1)
  if (last !== undefined && !mayMatch(last, 4))
    fail('dims-mismatch', `an anchor has ${printDim(last)} numbers; expected 4`)
}

function checkAnchors(anchors: Dim, scores: Dim): void {
  if (!mayMatch(anchors, scores))
    fail('dims-mismatch', `there are ${printDim(anchors)} anchors and ${printDim(scores)} scores`)
}

/** Checks deltas `[…, 4 anchors, height, width]` against scores `[…, anchors, height, width]`. */
function checkMaps(deltas: TensorFact, scores: TensorFact, rank: number): void {
  checkRank('deltas', deltas, rank)
  checkRank('scores', scores, rank)
  const [d, s] = [deltas.shape?.slice(-3), scores.shape?.slice(-3)]
  if (d && s && !(mayMatch(d[0], mulDims(s[0], 4)) && mayMatch(d[1], s[1]) && mayMatch(d[2], s[2])))
    fail('dims-mismatch', `deltas ${printShape(d)} and scores ${printShape(s)} do not fit together`)
}

function meetBatch(facts: readonly TensorFact[]): Dim {
  let images: Dim | undefined
  for (const { shape } of facts) {
    if (shape === undefined) continue
    const met = images === undefined ? shape[0] : meetDims(images, shape[0])
    images = met ?? fail('dims-mismatch', `the batch has size ${printDim(images ?? 0)} and ${printDim(shape[0])}`)
  }
  return images ?? unknownDim()
}
