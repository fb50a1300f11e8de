import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { roundHalfAwayFromZero } from '../../kernels/core/rounding.ts'
import { byScore, overlap } from '../../kernels/detection/boxes.ts'
import { suppress } from '../../kernels/detection/suppress.ts'
import { type DataDependent, params, type RunParams } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, flag, float, floats, inputFloats, int, is } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { mayMatch, meetDims, mulDims, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** Height and width of the image, and the scale of `minSize`: one for both directions, or one for each. */
  image: DataDependent<readonly number[]>
  baseSize: number
  maxCandidates: number
  maxKept: number
  iou: number
  stride: number
  minSize: number
  ratios: readonly number[]
  scales: readonly number[]
  clipBefore: boolean
  clipAfter: boolean
  normalize: boolean
  sizeScale: number
  coordinateScale: number
  /** TensorFlow's object detection; otherwise Caffe's R-CNN, where the second corner is the last pixel of a box. */
  tensorflow: boolean
  withScores: boolean
}

/** The parameters that are known before the graph runs. */
export type ProposalParams = Omit<Params, 'image'>

const shared = {
  image: inputFloats(2),
  baseSize: int('base_size'),
  maxCandidates: int('pre_nms_topn'),
  maxKept: int('post_nms_topn'),
  iou: float('nms_thresh'),
  stride: int('feat_stride'),
  minSize: int('min_size'),
  ratios: floats('ratio'),
  scales: floats('scale'),
  clipBefore: flag('clip_before_nms'),
  clipAfter: flag('clip_after_nms'),
  normalize: flag('normalize'),
  sizeScale: float('box_size_scale'),
  coordinateScale: float('box_coordinate_scale'),
  tensorflow: choice('framework', { '': false, tensorflow: true })
} as const
const types = { scores: FLOATS, deltas: FLOATS, image: FLOATS }

/** Rules of {@link proposal}. */
export const proposalRules = defineRules({
  name: 'Proposal',
  operands: { scores: 'tensor', deltas: 'tensor' },
  params: params<Params>(),
  openvino: [
    { since: 1, types, bind: { ...shared, withScores: is(false) } },
    { since: 4, types, bind: { ...shared, withScores: is(true) } }
  ],

  shape({ scores, deltas }, p) {
    const type = commonType({ scores, deltas })
    if (p.image !== 'unknown' && p.image.length !== 3 && p.image.length !== 4)
      fail('dims-mismatch', `image_shape has ${p.image.length} elements; expected 3 or 4`)
    if (p.maxKept < 1 || p.maxCandidates < 1)
      fail(
        'value-out-of-range',
        `pre_nms_topn is ${p.maxCandidates} and post_nms_topn ${p.maxKept}; expected at least 1`
      )
    checkMaps(scores, deltas, p.ratios.length * p.scales.length)
    const batch = scores.shape?.[0] ?? deltas.shape?.[0]
    const rows = batch === undefined ? undefined : mulDims(batch, p.maxKept)
    const boxes = tensorFact(type, rows === undefined ? undefined : [rows, 5])
    return p.withScores ? [boxes, tensorFact(type, rows === undefined ? undefined : [rows])] : [boxes]
  }
})

/**
 * Decodes boxes from anchors and keeps the best by non-maximum suppression: OpenVINO Proposal-1, -4 (scores as a second
 * output). A box smaller than the minimum size gets score 0, as in OpenVINO's core and CPU plugin. Unused rows are
 * zero; the first of them begins with -1.
 */
export const proposal = /* @__PURE__ */ withKernel(proposalRules, {
  *run({ scores, deltas }, p, call) {
    const [batch, , height, width] = scores.dims
    const anchors = anchorsOf(p)
    const count = anchors.length * height * width
    const rows = targetOf(call.output())
    const values = p.withScores && call.wanted(1) ? targetOf(call.output(1)) : undefined
    for (let image = 0; image < batch; image++) {
      const found = yield* proposalsOf(
        (yield* readNumbers(scores)).subarray((2 * image + 1) * count, (2 * image + 2) * count),
        (yield* readNumbers(deltas)).subarray(4 * image * count, 4 * (image + 1) * count),
        anchors,
        height,
        width,
        p
      )
      const best = (yield* byScore(Array.from(found.scores.keys()), found.scores)).slice(0, p.maxCandidates)
      const ranked = Float32Array.from(best, i => found.scores[i])
      const extra = p.tensorflow ? 0 : 1
      const kept = yield* suppress((a, b) => overlap(found.boxes, 4 * best[a], 4 * best[b], extra), ranked, {
        maxBoxes: p.maxKept,
        iou: p.iou,
        minScore: undefined,
        takesEqual: false,
        sigma: 0,
        dropsFading: false
      })
      kept.forEach(({ box, score }, i) => {
        rows.numbers.set(
          [image, ...rowOf(found.boxes.subarray(4 * best[box], 4 * best[box] + 4), p)],
          5 * (image * p.maxKept + i)
        )
        if (values) values.numbers[image * p.maxKept + i] = score
      })
      if (kept.length < p.maxKept) rows.numbers[5 * (image * p.maxKept + kept.length)] = -1
    }
    yield* rows.finish()
    if (values) yield* values.finish()
  }
})

function checkMaps(scores: TensorFact, deltas: TensorFact, anchors: number): void {
  const [s, d] = [scores.shape, deltas.shape]
  for (const [name, fact, each] of [
    ['class_probs', scores, 2],
    ['bbox_deltas', deltas, 4]
  ] as const) {
    checkRank(name, fact, 4)
    const { shape } = fact
    if (shape && !mayMatch(shape[1], each * anchors))
      fail('dims-mismatch', `${name} has ${printDim(shape[1])} channels; ${anchors} anchors need ${each * anchors}`)
  }
  if (s && d && [0, 2, 3].some(i => meetDims(s[i], d[i]) === undefined))
    fail('dims-mismatch', `class_probs ${printShape(s)} and bbox_deltas ${printShape(d)} do not fit together`)
}

/** Corners `[x1, y1, x2, y2]` of the anchors of the first cell. */
export function anchorsOf({
  baseSize,
  ratios,
  scales,
  tensorflow
}: ProposalParams): (readonly [number, number, number, number])[] {
  const extra = tensorflow ? 0 : 1
  const center = tensorflow ? 0 : 0.5 * (baseSize - extra)
  const whole = tensorflow ? (x: number): number => x : roundHalfAwayFromZero
  return ratios.flatMap(ratio => {
    const width = whole(Math.sqrt((baseSize * baseSize) / ratio))
    const height = whole(width * ratio)
    return scales.map(scale => {
      const [right, down] = [0.5 * (width * scale - extra), 0.5 * (height * scale - extra)]
      return [center - right, center - down, center + right, center + down] as const
    })
  })
}

/** Nanoseconds for one anchor of one cell. */
const ANCHOR_COST = 128 * COST.element

/** Moves and scales the anchors of every cell by their deltas; boxes are ordered by cell, then by anchor. */
function* proposalsOf(
  scores: Numbers,
  deltas: Numbers,
  anchors: readonly (readonly number[])[],
  height: number,
  width: number,
  p: RunParams<Params>
): Generator<void, { boxes: Float32Array; scores: Float32Array }> {
  const pace = new Pace()
  const [, , scaleY, scaleX = scaleY] = p.image
  const limits = limitsOf(p)
  const extra = p.tensorflow ? 0 : 1
  const plane = height * width
  const boxes = new Float32Array(4 * anchors.length * plane)
  const values = new Float32Array(anchors.length * plane)
  const within = (box: readonly number[], less: number): number[] =>
    box.map((at, i) => Math.max(0, Math.min(at, limits[i % 2] - less)))
  for (let cell = 0; cell < plane; cell++) {
    const [row, column] = [Math.floor(cell / width) * p.stride, (cell % width) * p.stride]
    const shift = p.tensorflow ? [row, column] : [column, row]
    anchors.forEach((anchor, a) => {
      const moved = anchor.map((at, i) => at + shift[i % 2])
      const box = decode(
        p.tensorflow ? within(moved, 0) : moved,
        [0, 1, 2, 3].map(i => deltas[(4 * a + i) * plane + cell]),
        p,
        extra
      )
      const clipped = p.clipBefore ? within(box, extra) : box
      const at = cell * anchors.length + a
      boxes.set(clipped, 4 * at)
      const isLarge =
        boxes[4 * at + 2] - boxes[4 * at] + extra >= p.minSize * scaleX &&
        boxes[4 * at + 3] - boxes[4 * at + 1] + extra >= p.minSize * scaleY
      values[at] = isLarge ? scores[a * plane + cell] : 0
    })
    if (pace.isDue(ANCHOR_COST * anchors.length)) yield
  }
  return { boxes, scores: values }
}

function decode(
  [left, top, right, bottom]: readonly number[],
  [dx, dy, scaleX, scaleY]: readonly number[],
  p: RunParams<Params>,
  extra: number
): number[] {
  const [width, height] = [right - left + extra, bottom - top + extra]
  const [x, y] = [left + (0.5 + dx / p.coordinateScale) * width, top + (0.5 + dy / p.coordinateScale) * height]
  const [halfWidth, halfHeight] = [
    0.5 * width * Math.exp(scaleX / p.sizeScale),
    0.5 * height * Math.exp(scaleY / p.sizeScale)
  ]
  return [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight]
}

/** The image's size along the two coordinates of a corner: x and y, in TensorFlow y and x. */
const limitsOf = ({ image: [height, width], tensorflow }: RunParams<Params>): readonly [number, number] =>
  tensorflow ? [height, width] : [width, height]

function rowOf(box: Float32Array, p: RunParams<Params>): number[] {
  const limits = limitsOf(p)
  const { clipAfter, normalize } = p
  return Array.from(box, (at, i) => {
    const size = limits[i % 2]
    const inside = clipAfter ? Math.max(0, Math.min(at, size)) : at
    return normalize ? inside / size : inside
  })
}
