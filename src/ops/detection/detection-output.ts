import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { detect, type DetectionPlan } from '../../kernels/detection/detections.ts'
import { type FactsOf, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, flag, float, int, ints, is, mapped } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import {
  type Dim,
  floorDivDims,
  mayMatch,
  meetDims,
  mulDims,
  printDim,
  printShape,
  unknownDim
} from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Undefined: follows from the number of scores (version 8). */
  classes: number | undefined
  background: number
  maxCandidates: number
  maxKept: number
  hasVariances: boolean
  centers: boolean
  sharesBoxes: boolean
  iou: number
  minScore: number
  clipBefore: boolean
  clipAfter: boolean
  bestClassOnly: boolean
  normalized: boolean
  width: number
  height: number
  objectness: number
}

const shared = {
  background: int('background_label_id'),
  maxCandidates: int('top_k'),
  maxKept: mapped(ints('keep_top_k'), list =>
    list.length > 0 ? list[0] : fail('unknown-attribute-value', 'keep_top_k is empty; expected a number')
  ),
  hasVariances: mapped(flag('variance_encoded_in_target'), encoded => !encoded),
  centers: choice('code_type', {
    'caffe.PriorBoxParameter.CENTER_SIZE': true,
    'caffe.PriorBoxParameter.CORNER': false
  }),
  sharesBoxes: flag('share_location'),
  iou: float('nms_threshold'),
  minScore: float('confidence_threshold'),
  clipBefore: flag('clip_before_nms'),
  clipAfter: flag('clip_after_nms'),
  bestClassOnly: flag('decrease_label_id'),
  normalized: flag('normalized'),
  width: int('input_width'),
  height: int('input_height'),
  objectness: float('objectness_score')
} as const
const types = { locations: FLOATS, scores: FLOATS, priors: FLOATS, firstScores: FLOATS, firstLocations: FLOATS }

const operands = {
  locations: 'tensor',
  scores: 'tensor',
  priors: 'tensor',
  firstScores: 'optional',
  firstLocations: 'optional'
} as const

/** Rules of {@link detectionOutput}. */
export const detectionOutputRules = defineRules({
  name: 'DetectionOutput',
  operands,
  params: params<Params>(),
  openvino: [
    { since: 1, types, bind: { ...shared, classes: int('num_classes') } },
    { since: 8, types, bind: { ...shared, classes: is(undefined) } }
  ],

  shape(facts, p) {
    const type = commonType(facts)
    return [tensorFact(type, [1, 1, rowsOf(facts, p), 7])]
  }
})

/**
 * Decodes boxes, suppresses overlapping ones and returns detections `[image, label, score, x1, y1, x2, y2]`: OpenVINO
 * DetectionOutput-1, -8. Unused rows are zero; the first of them begins with -1. Priors in pixels are normalized once,
 * also where a first stage moves them (OpenVINO's core and CPU plugin divide again).
 */
export const detectionOutput = /* @__PURE__ */ withKernel(detectionOutputRules, {
  *run({ locations, scores, priors, firstScores, firstLocations }, p, call) {
    const priorSize = priorSizeOf(p)
    const count = priors.dims[2] / priorSize
    const classes = p.classes ?? scores.dims[1] / Math.max(1, count)
    const images = scores.data.length === 0 ? 0 : scores.dims[0]
    const plan: DetectionPlan = { ...p, images, priors: count, classes, priorSize }
    const both = firstScores && firstLocations
    const found = yield* detect(
      {
        locations: yield* readNumbers(locations),
        scores: yield* readNumbers(scores),
        priors: yield* readNumbers(priors),
        priorBatches: priors.dims[0],
        ...(both && {
          firstScores: yield* readNumbers(firstScores),
          firstLocations: yield* readNumbers(firstLocations)
        })
      },
      plan
    )
    const out = call.output()
    const { numbers, finish } = targetOf(out)
    const rows = found.slice(0, out.dims[2])
    rows.forEach(({ image, label, score, box }, i) => {
      numbers.set([image, label, score, ...box], 7 * i)
    })
    if (rows.length < out.dims[2]) numbers[7 * rows.length] = -1
    yield* finish()
  }
})

/**
 * The number of rows of the output.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`, `value-out-of-range`
 */
function rowsOf({ locations, scores, priors, firstScores, firstLocations }: FactsOf<typeof operands>, p: Params): Dim {
  checkRank('box_logits', locations, 2)
  checkRank('class_preds', scores, 2)
  checkRank('proposals', priors, 3)
  checkRank('aux_class_preds', firstScores, 2)
  checkRank('aux_box_preds', firstLocations, 2)
  const [l, s, q] = [locations.shape, scores.shape, priors.shape]
  const count = q ? priorsIn(q, p) : unknownDim()
  const classes = p.classes ?? classesIn(s, count)
  if (typeof classes === 'number' && !Number.isInteger(classes))
    fail('dims-mismatch', `${printDim(s?.[1] ?? 0)} scores are no multiple of ${printDim(count)} priors`)
  expectSize(s, mulDims(count, classes), 'class_preds')
  expectSize(l, mulDims(count, mulDims(p.sharesBoxes ? 1 : classes, 4)), 'box_logits')
  expectSize(firstScores?.shape, mulDims(count, 2), 'aux_class_preds')
  if (l && firstLocations?.shape) expectSize(firstLocations.shape, l[1], 'aux_box_preds')
  const images = imagesIn(l, s)
  for (const fact of [firstScores, firstLocations]) {
    if (fact?.shape && !mayMatch(fact.shape[0], images))
      fail('dims-mismatch', `a first stage has ${printDim(fact.shape[0])} images; expected ${printDim(images)}`)
  }
  if (q && !mayMatch(q[0], 1) && !mayMatch(q[0], images))
    fail('dims-mismatch', `proposals are for ${printDim(q[0])} images; expected 1 or ${printDim(images)}`)
  if (!p.normalized && (p.width < 1 || p.height < 1))
    fail('value-out-of-range', `the image is ${p.width} x ${p.height}; expected at least 1`)
  if (p.maxKept > 0) return mulDims(images, p.maxKept)
  return p.maxKept === -1 && p.maxCandidates > 0
    ? mulDims(images, mulDims(classes, p.maxCandidates))
    : mulDims(images, mulDims(classes, count))
}

/** The number of priors in proposals `[batch, 1 or 2, numbers]`. */
function priorsIn(proposals: readonly Dim[], p: Params): Dim {
  const [, kinds, numbers] = proposals
  const count = floorDivDims(numbers, priorSizeOf(p))
  if (!mayMatch(mulDims(count, priorSizeOf(p)), numbers))
    fail('dims-mismatch', `proposals hold ${printDim(numbers)} numbers, which is no multiple of ${priorSizeOf(p)}`)
  const needed = p.hasVariances ? 2 : 1
  if (!mayMatch(kinds, needed))
    fail('dims-mismatch', `proposals has dims ${printShape(proposals)}; its second must be ${needed}`)
  return count
}

/**
 * The number of classes that scores of so many priors tell, which is a fraction where they are no multiple. Without
 * priors there are no scores, whatever the classes: none counts.
 */
function classesIn(scores: readonly Dim[] | undefined, count: Dim): Dim {
  if (count === 0) return 0
  return typeof scores?.[1] === 'number' && typeof count === 'number' ? scores[1] / count : unknownDim()
}

function imagesIn(locations: readonly Dim[] | undefined, scores: readonly Dim[] | undefined): Dim {
  if (!locations || !scores) return (locations ?? scores)?.[0] ?? unknownDim()
  const [boxed, scored] = [locations[0], scores[0]]
  return (
    meetDims(boxed, scored) ??
    fail('dims-mismatch', `there are ${printDim(boxed)} images in box_logits and ${printDim(scored)} in class_preds`)
  )
}

/** Numbers of one prior: its image comes first where it is in pixels. */
const priorSizeOf = ({ normalized }: Params): 4 | 5 => (normalized ? 4 : 5)

function expectSize(shape: readonly Dim[] | undefined, size: Dim, name: string): void {
  if (shape && !mayMatch(shape[1], size))
    fail('dims-mismatch', `${name} has ${printDim(shape[1])} numbers an image; expected ${printDim(size)}`)
}
