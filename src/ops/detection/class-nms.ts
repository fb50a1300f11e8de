import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { acceptedIndices, type Boxes, byScore, overlap } from '../../kernels/detection/boxes.ts'
import { OVERLAP_COST, suppressFalling } from '../../kernels/detection/suppress.ts'
import { defineOp, type KernelContext, params } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { type AttributeSource, choice, flag, float, int, mapped } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { type Dim, maxDim, meetDims, mulDims, printShape, unknownDim } from '../../shapes/dim.ts'
import { type Fact, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toDoubles, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

type Order = 'class' | 'score' | 'none'

/** Parameters of both operators. */
interface Shared {
  order: Order
  acrossBatch: boolean
  indexType: 'int32' | 'int64'
  minScore: number
  /** Limit on the candidates of a class; -1: none. */
  maxCandidates: number
  /** Limit on the boxes kept of an image; -1: none. */
  maxKept: number
  background: number
  /** Otherwise coordinates are pixels, and the second corner is the last pixel inside the box. */
  normalized: boolean
}

/** OpenVINO holds attributes in single precision, in which scores and overlaps are compared with them. */
const single = (name: string): AttributeSource<number> => mapped(float(name), Math.fround)

const shared = {
  order: choice<Order>('sort_result_type', { classid: 'class', score: 'score', none: 'none' }),
  acrossBatch: flag('sort_result_across_batch'),
  indexType: choice<Shared['indexType']>('output_type', { i32: 'int32', i64: 'int64' }),
  minScore: single('score_threshold'),
  maxCandidates: int('nms_top_k'),
  maxKept: int('keep_top_k'),
  background: int('background_class'),
  normalized: flag('normalized')
} as const

/**
 * Lowers the scores of boxes by their overlaps with boxes of higher scores, all at once (arXiv 2003.10152): OpenVINO
 * MatrixNms-8. With `classid` too, boxes of an image are ordered by score unless images are sorted together, as in
 * OpenVINO's core and CPU plugin.
 */
export const matrixNms = defineOp({
  name: 'MatrixNms',
  operands: { boxes: 'tensor', scores: 'tensor' },
  params: params<Shared & { gaussian: boolean; sigma: number; minDecayedScore: number }>(),
  openvino: [
    {
      since: 8,
      types: { boxes: FLOATS, scores: FLOATS },
      bind: {
        ...shared,
        gaussian: choice('decay_function', { gaussian: true, linear: false }),
        sigma: float('gaussian_sigma'),
        minDecayedScore: single('post_threshold')
      }
    }
  ],

  shape: ({ boxes, scores }, p) => facts(boxes, scores, undefined, p.indexType),

  *run({ boxes, scores }, p, call) {
    const decay = p.gaussian
      ? (shared: number, highest: number): number => Math.exp((highest * highest - shared * shared) * p.sigma)
      : (shared: number, highest: number): number => (1 - shared) / (1 - highest + 1e-10)
    yield* selectBoxes(
      boxes,
      scores,
      undefined,
      p,
      call,
      function* (image, scoresOf) {
        const accepted = yield* candidatesOf(scoresOf, p.maxCandidates, score => score > p.minScore)
        return (yield* decayed(image, accepted, scoresOf, p.normalized ? 0 : 1, decay)).filter(
          ({ score }) => score > p.minDecayedScore
        )
      },
      'across-batch'
    )
  }
})

/**
 * Non-maximum suppression in each class, then the best boxes of each image: OpenVINO MulticlassNms-8, -9 (boxes for
 * each class, with the number of boxes of each image). With `nms_eta` below 1 every kept box lowers the threshold while
 * it is above 0.5. By the specification the lowered threshold is for the overlaps with this box; OpenVINO's core and
 * CPU plugin compare overlaps with earlier boxes again. Boxes that are not normalized overlap where less than one pixel
 * is between them, as in OpenVINO.
 */
export const multiclassNms = defineOp({
  name: 'MulticlassNms',
  operands: { boxes: 'tensor', scores: 'tensor', counts: 'optional' },
  params: params<Shared & { iou: number; eta: number }>(),
  openvino: [
    {
      since: 8,
      types: { boxes: FLOATS, scores: FLOATS, counts: ['int32', 'int64'] },
      bind: { ...shared, iou: single('iou_threshold'), eta: float('nms_eta') }
    }
  ],

  shape: ({ boxes, scores, counts }, p, call) => {
    if (counts && call.version < 9) fail('wrong-input-count', 'there are 3 inputs; version 8 takes 2')
    return facts(boxes, scores, counts, p.indexType)
  },

  *run({ boxes, scores, counts }, p, call) {
    yield* selectBoxes(
      boxes,
      scores,
      counts,
      p,
      call,
      function* (image, scoresOf) {
        const candidates = yield* candidatesOf(scoresOf, p.maxCandidates, score => score >= p.minScore)
        const extra = p.normalized ? 0 : 1
        const kept = yield* suppressFalling((a, b) => overlap(image, 4 * a, 4 * b, extra, true), candidates, p)
        return kept.map(box => ({ box, score: scoresOf[box] }))
      },
      'always'
    )
  }
})

interface Scored {
  readonly box: number
  readonly score: number
}

interface Selected extends Scored {
  readonly batch: number
  readonly kind: number
  /** Index among all boxes. */
  readonly index: number
  readonly corners: Boxes
}

/** Boxes with accepted scores by descending score, at most `maxCandidates` of them. */
function* candidatesOf(
  scores: ArrayLike<number>,
  maxCandidates: number,
  accepts: (score: number) => boolean
): Generator<void, number[]> {
  const accepted = yield* byScore(yield* acceptedIndices(scores.length, i => accepts(scores[i])), scores)
  return maxCandidates >= 0 ? accepted.slice(0, maxCandidates) : accepted
}

/** Lowers each score by the strongest decay that a box of a higher score causes. */
function* decayed(
  boxes: Boxes,
  order: readonly number[],
  scores: ArrayLike<number>,
  extra: number,
  decay: (shared: number, highest: number) => number
): Generator<void, Scored[]> {
  const highest = new Float64Array(order.length)
  const overlaps = new Float32Array(order.length)
  const result: Scored[] = []
  const pace = new Pace()
  for (const [i, box] of order.entries()) {
    for (let j = 0; j < i; j++) {
      overlaps[j] = overlap(boxes, 4 * box, 4 * order[j], extra)
      if (overlaps[j] > highest[i]) highest[i] = overlaps[j]
      if (pace.isDue(OVERLAP_COST)) yield
    }
    let factor = 1
    for (let j = 0; j < i; j++) factor = Math.min(factor, decay(overlaps[j], highest[j]))
    result.push({ box, score: Math.fround(factor * scores[box]) })
  }
  return result
}

/** Boxes and scores of one class of one image. */
interface ClassOfImage {
  readonly batch: number
  readonly kind: number
  readonly boxes: Boxes
  readonly scores: Float32Array
  indexOf(box: number): number
}

/**
 * Selects boxes of every class and image, sorts them and stores the outputs.
 * @param keep suppresses boxes of one class of one image
 * @param classOrder whether `classid` orders the boxes of each image, or only those of all images together
 */
function* selectBoxes(
  boxes: Tensor,
  scores: Tensor,
  counts: Tensor | undefined,
  p: Shared,
  call: KernelContext,
  keep: (boxes: Boxes, scores: Float32Array) => Generator<void, Scored[]>,
  classOrder: 'always' | 'across-batch'
): Generator<void> {
  const images = counts ? counts.dims[0] : scores.dims[0]
  const found: Selected[][] = Array.from({ length: scores.data.length === 0 ? 0 : images }, () => [])
  for (const part of counts ? ownBoxes(boxes, scores, counts) : sharedBoxes(boxes, scores)) {
    if (part.kind !== p.background) {
      for (const { box, score } of yield* keep(part.boxes, part.scores)) {
        found[part.batch].push({
          batch: part.batch,
          kind: part.kind,
          box,
          score,
          index: part.indexOf(box),
          corners: part.boxes
        })
      }
    }
    yield
  }
  const best = found.map(image => {
    const sorted = image.sort((a, b) => b.score - a.score || a.kind - b.kind || a.box - b.box)
    const kept = p.maxKept >= 0 ? sorted.slice(0, p.maxKept) : sorted
    return p.order === 'class' && classOrder === 'always' ? kept.toSorted((a, b) => a.kind - b.kind) : kept
  })
  const all = best.flat()
  // Sorts are stable: equal items stay in the order of images, classes and boxes.
  if (p.acrossBatch && p.order === 'score') all.sort((a, b) => b.score - a.score)
  if (p.acrossBatch && p.order === 'class') all.sort((a, b) => a.kind - b.kind || a.batch - b.batch)
  const { numbers, finish } = targetOf(call.output(0, [all.length, 6]))
  all.forEach(({ kind, score, corners, box }, i) => {
    numbers.set([kind, score, ...corners.subarray(4 * box, 4 * box + 4)], 6 * i)
  })
  yield* finish()
  if (call.wanted(1))
    storeIntegers(
      call.output(1, [all.length, 1]),
      all.map(({ index }) => index)
    )
  if (call.wanted(2))
    storeIntegers(
      call.output(2, [images]),
      best.map(image => image.length)
    )
}

/** Classes and images where classes share boxes: boxes `[N, M, 4]`, scores `[N, C, M]`. */
function* sharedBoxes(boxes: Tensor, scores: Tensor): Generator<ClassOfImage> {
  if (scores.data.length === 0) return
  const [images, classes, count] = scores.dims
  const corners = Float32Array.from(toNumbers(boxes))
  const values = Float32Array.from(toNumbers(scores))
  for (let batch = 0; batch < images; batch++) {
    const part = corners.subarray(batch * count * 4, (batch + 1) * count * 4)
    for (let kind = 0; kind < classes; kind++) {
      const start = (batch * classes + kind) * count
      yield {
        batch,
        kind,
        boxes: part,
        scores: values.subarray(start, start + count),
        indexOf: box => batch * count + box
      }
    }
  }
}

/** Classes and images where each class has its own boxes `[C, M, 4]` and scores `[C, M]`, image after image. */
function* ownBoxes(boxes: Tensor, scores: Tensor, counts: Tensor): Generator<ClassOfImage> {
  const [classes, total] = scores.dims
  const corners = Float32Array.from(toNumbers(boxes))
  const values = Float32Array.from(toNumbers(scores))
  let start = 0
  for (const [batch, given] of toDoubles(counts).entries()) {
    const first = start
    const count = Math.max(0, given)
    if (first + count > total)
      fail('value-out-of-range', `image ${batch} has ${given} boxes; ${total - first} of ${total} are left`)
    for (let kind = 0; kind < classes && count > 0; kind++) {
      const from = kind * total + first
      yield {
        batch,
        kind,
        boxes: corners.subarray(4 * from, 4 * (from + count)),
        scores: values.subarray(from, from + count),
        indexOf: box => (first + box) * classes + kind
      }
    }
    start += count
  }
}

function facts(
  boxes: TensorFact,
  scores: TensorFact,
  counts: TensorFact | undefined,
  indexType: Shared['indexType']
): Fact[] {
  const type = commonType({ boxes, scores })
  const rank = counts ? 2 : 3
  const [b, s] = [boxes.shape, scores.shape]
  checkRank('boxes', boxes, 3)
  checkRank('scores', scores, rank)
  checkRank('roisnum', counts, 1)
  checkDim('boxes', boxes, 2, 4)
  if (b && s && (meetDims(b[0], s[0]) === undefined || meetDims(b[1], s[rank - 1]) === undefined)) {
    fail('dims-mismatch', `boxes ${printShape(b)} and scores ${printShape(s)} are for different numbers of boxes`)
  }
  const images: Dim = (counts ? counts.shape?.[0] : (s?.[0] ?? b?.[0])) ?? unknownDim()
  const count = unknownDim(0, s ? maxDim(s.reduce(mulDims)) : Infinity)
  return [tensorFact(type, [count, 6]), tensorFact(indexType, [count, 1]), tensorFact(indexType, [images])]
}
