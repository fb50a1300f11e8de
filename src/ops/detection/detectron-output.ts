import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { overlap } from '../../kernels/detection/boxes.ts'
import { refineBox } from '../../kernels/detection/refine.ts'
import { suppress } from '../../kernels/detection/suppress.ts'
import { params, type RunParams } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, floats, int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { meetDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  minScore: number
  iou: number
  classes: number
  /** Limit on the boxes of a class; -1: none. */
  maxKept: number
  /** Rows of the result. */
  rows: number
  maxLog: number
  weights: readonly number[]
}

interface Detection {
  readonly kind: number
  readonly box: number
  readonly score: number
}

/** Rules of {@link detectronDetectionOutput}. */
export const detectronDetectionOutputRules = defineRules({
  name: 'ExperimentalDetectronDetectionOutput',
  operands: { rois: 'tensor', deltas: 'tensor', scores: 'tensor', image: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 6,
      types: { rois: FLOATS, deltas: FLOATS, scores: FLOATS, image: FLOATS },
      bind: {
        minScore: float('score_threshold'),
        iou: float('nms_threshold'),
        classes: int('num_classes'),
        maxKept: int('post_nms_count'),
        rows: int('max_detections_per_image'),
        maxLog: float('max_delta_log_wh'),
        weights: floats('deltas_weights')
      }
    }
  ],

  shape({ rois, deltas, scores, image }, p) {
    const type = commonType({ input_rois: rois, input_deltas: deltas, input_scores: scores, input_im_info: image })
    if (p.weights.length !== 4) fail('value-out-of-range', `deltas_weights has ${p.weights.length} numbers; expected 4`)
    if (p.classes < 1 || p.rows < 0)
      fail('value-out-of-range', `num_classes is ${p.classes} and max_detections_per_image ${p.rows}`)
    for (const [name, fact, width] of [
      ['input_rois', rois, 4],
      ['input_deltas', deltas, 4 * p.classes],
      ['input_scores', scores, p.classes],
      ['input_im_info', image, 3]
    ] as const) {
      checkRank(name, fact, 2)
      checkDim(name, fact, 1, width)
    }
    checkDim('input_im_info', image, 0, 1)
    for (const { shape } of [deltas, scores])
      if (rois.shape && shape && meetDims(rois.shape[0], shape[0]) === undefined)
        fail(
          'dims-mismatch',
          `there are ${printDim(rois.shape[0])} regions, and deltas or scores of ${printDim(shape[0])}`
        )
    return [tensorFact(type, [p.rows, 4]), tensorFact('int32', [p.rows]), tensorFact(type, [p.rows])]
  }
})

/**
 * Refines the regions for each class and keeps the best by non-maximum suppression in each class: OpenVINO
 * ExperimentalDetectronDetectionOutput-6. Class 0 is the background. Rows without a detection are zero; where there are
 * more detections than rows, the best are given, by score, else all in the order of classes. As in OpenVINO, boxes are
 * clipped at 0 only, a region without area gives a box of zeros with score 0, and `class_agnostic_box_regression` and
 * the size of the image change nothing.
 */
export const detectronDetectionOutput = /* @__PURE__ */ withKernel(detectronDetectionOutputRules, {
  *run({ rois, deltas, scores }, p, call) {
    const corners = yield* readNumbers(rois)
    const shifts = yield* readNumbers(deltas)
    const given = yield* readNumbers(scores)
    const regions = rois.dims[0]
    const found: Detection[] = []
    const ofClass: Float32Array[] = []
    for (let kind = 1; kind < p.classes && regions > 0; kind++) {
      const { boxes, values } = yield* refined(corners, shifts, given, kind, regions, p)
      ofClass[kind] = boxes
      const kept = yield* suppress((a, b) => overlap(boxes, 4 * a, 4 * b, 1), values, {
        maxBoxes: p.maxKept < 0 ? Infinity : p.maxKept,
        iou: p.iou,
        minScore: p.minScore,
        takesEqual: false,
        sigma: 0,
        dropsFading: false
      })
      for (const { box, score } of kept) found.push({ kind, box, score })
    }
    const best =
      found.length > p.rows
        ? found.sort((a, b) => b.score - a.score || a.box - b.box || a.kind - b.kind).slice(0, p.rows)
        : found
    const rows = targetOf(call.output())
    best.forEach(({ kind, box }, i) => rows.numbers.set(ofClass[kind].subarray(4 * box, 4 * box + 4), 4 * i))
    yield* rows.finish()
    if (call.wanted(1))
      storeIntegers(
        call.output(1),
        best.map(({ kind }) => kind)
      )
    if (!call.wanted(2)) return
    const kept = targetOf(call.output(2))
    best.forEach(({ score }, i) => (kept.numbers[i] = score))
    yield* kept.finish()
  }
})

/** Boxes and scores of one class. */
function* refined(
  rois: Numbers,
  deltas: Numbers,
  scores: Numbers,
  kind: number,
  regions: number,
  { classes, maxLog, weights }: RunParams<Params>
): Generator<void, { boxes: Float32Array; values: Float32Array }> {
  const boxes = new Float32Array(4 * regions)
  const values = new Float32Array(regions)
  const pace = new Pace()
  const rule = { maxLog, extra: 1, weights }
  for (let r = 0; r < regions; r++) {
    if (rois[4 * r + 2] - rois[4 * r] <= 0 || rois[4 * r + 3] - rois[4 * r + 1] <= 0) continue
    const column = r * classes + kind
    refineBox(rois, 4 * r, deltas, 4 * column, 1, rule, boxes, 4 * r)
    for (let i = 4 * r; i < 4 * r + 4; i++) boxes[i] = Math.max(0, boxes[i])
    values[r] = scores[column]
    if (pace.isDue(64 * COST.element)) yield
  }
  return { boxes, values }
}
