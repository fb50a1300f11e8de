import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { targetOf } from '../../kernels/core/numbers.ts'
import { isDue } from '../../kernels/core/steps.ts'
import { type Boxes, byScore, numbersBelow, overlap } from '../../kernels/detection/boxes.ts'
import { defineOp, type KernelContext, params } from '../../op-kit/define.ts'
import { choice, flag, float, int } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, maxDim, mayMatch, meetDims, mulDims, printDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type Fact, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { commonType } from '../../shapes/lists.ts'
import { toDoubles, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

type Order = 'class' | 'score' | 'none'

/** What both operators are told. */
interface Shared {
  order: Order
  acrossBatch: boolean
  indexType: 'int32' | 'int64'
  leastScore: number
  /** Candidates of a class; -1: all. */
  candidates: number
  /** Boxes kept of an image; -1: all. */
  keep: number
  background: number
  /** Without it coordinates are those of pixels, the last one inside. */
  normalized: boolean
}

const shared = {
  order: choice<Order>('sort_result_type', { classid: 'class', score: 'score', none: 'none' }),
  acrossBatch: flag('sort_result_across_batch'),
  indexType: choice<Shared['indexType']>('output_type', { i32: 'int32', i64: 'int64' }),
  leastScore: float('score_threshold'),
  candidates: int('nms_top_k'),
  keep: int('keep_top_k'),
  background: int('background_class'),
  normalized: flag('normalized')
} as const

/**
 * Lowers the scores of boxes by their overlaps with better ones, all at once: OpenVINO MatrixNms-8 (arXiv 2003.10152).
 * Boxes of an image are in the order of
 * their scores also where `classid` is asked for, unless images are sorted together, as OpenVINO's core and CPU have
 * it.
 */
export const matrixNms = defineOp({
  name: 'MatrixNms',
  operands: { boxes: 'tensor', scores: 'tensor' },
  params: params<Shared & { gaussian: boolean; sigma: number; leastAfter: number }>(),
  openvino: [
    {
      since: 8,
      types: { boxes: FLOATS, scores: FLOATS },
      bind: {
        ...shared,
        gaussian: choice('decay_function', { gaussian: true, linear: false }),
        sigma: float('gaussian_sigma'),
        leastAfter: float('post_threshold')
      }
    }
  ],

  shape: ({ boxes, scores }, p) => facts(boxes, scores, undefined, p.indexType),

  *run({ boxes, scores }, p, call) {
    const decay = p.gaussian
      ? (shared: number, most: number): number => Math.exp((most * most - shared * shared) * p.sigma)
      : (shared: number, most: number): number => (1 - shared) / (1 - most + 1e-10)
    yield* selectBoxes(
      boxes,
      scores,
      undefined,
      p,
      call,
      function* (image, scoresOf) {
        const accepted = yield* candidatesOf(scoresOf, p.candidates, score => score > p.leastScore)
        return (yield* decayed(image, accepted, scoresOf, p.normalized ? 0 : 1, decay)).filter(
          ({ score }) => score > p.leastAfter
        )
      },
      'across-batch'
    )
  }
})

/**
 * Keeps the boxes of every class that overlap no better one, and the best of each image: OpenVINO MulticlassNms-8, -9
 * (boxes of each class, with the number
 * of boxes of each image). With `nms_eta` below 1 every kept box lowers the threshold while it is above a half; by the
 * page the lowered one holds for the
 * overlaps with this box (OpenVINO's core and CPU compare those with earlier boxes again).
 */
export const multiclassNms = defineOp({
  name: 'MulticlassNms',
  operands: { boxes: 'tensor', scores: 'tensor', counts: 'optional' },
  params: params<Shared & { iou: number; eta: number }>(),
  openvino: [
    {
      since: 8,
      types: { boxes: FLOATS, scores: FLOATS, counts: ['int32', 'int64'] },
      bind: { ...shared, iou: float('iou_threshold'), eta: float('nms_eta') }
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
        const kept: Scored[] = []
        const pace = { work: 0 }
        let left = yield* candidatesOf(scoresOf, p.candidates, score => score >= p.leastScore)
        let threshold = p.iou
        while (left.length > 0) {
          const [best, ...others] = left
          kept.push({ box: best, score: scoresOf[best] })
          if (p.eta < 1 && threshold > 0.5) threshold *= p.eta
          left = []
          for (const box of others) {
            if (overlap(image, 4 * best, 4 * box, p.normalized ? 0 : 1) <= threshold) left.push(box)
            if (isDue(pace, OVERLAP_COST)) yield
          }
        }
        return kept
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
  /** Position among all boxes. */
  readonly index: number
  readonly corners: Boxes
}

/** What an overlap costs, in elements. */
const OVERLAP_COST = 16

function* candidatesOf(
  scores: ArrayLike<number>,
  most: number,
  accepts: (score: number) => boolean
): Generator<void, number[]> {
  const accepted = yield* byScore(yield* numbersBelow(scores.length, i => accepts(scores[i])), scores)
  return most >= 0 ? accepted.slice(0, most) : accepted
}

/** Scores lowered by the worst that any better box does to them. */
function* decayed(
  boxes: Boxes,
  order: readonly number[],
  scores: ArrayLike<number>,
  extra: number,
  decay: (shared: number, most: number) => number
): Generator<void, Scored[]> {
  const most = new Float64Array(order.length)
  const shares = new Float32Array(order.length)
  const result: Scored[] = []
  const pace = { work: 0 }
  for (const [i, box] of order.entries()) {
    for (let j = 0; j < i; j++) {
      shares[j] = overlap(boxes, 4 * box, 4 * order[j], extra)
      if (shares[j] > most[i]) most[i] = shares[j]
      if (isDue(pace, OVERLAP_COST)) yield
    }
    let least = 1
    for (let j = 0; j < i; j++) least = Math.min(least, decay(shares[j], most[j]))
    result.push({ box, score: Math.fround(least * scores[box]) })
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
  const found: Selected[][] = Array.from({ length: images }, () => [])
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
    const kept = p.keep >= 0 ? sorted.slice(0, p.keep) : sorted
    return p.order === 'class' && classOrder === 'always' ? kept.toSorted((a, b) => a.kind - b.kind) : kept
  })
  const all = best.flat()
  // Sorts are stable: what is equal stays in the order of images, classes and boxes.
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

/** Boxes `[N, M, 4]` for all classes, scores `[N, C, M]`. */
function* sharedBoxes(boxes: Tensor, scores: Tensor): Generator<ClassOfImage> {
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

/** Boxes `[C, M, 4]` and scores `[C, M]`, those of one image after those of the other. */
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
    for (let kind = 0; kind < classes; kind++) {
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
  const type = commonType([boxes, scores])
  const rank = counts ? 2 : 3
  const [b, s] = [boxes.shape, scores.shape]
  if (b && b.length !== 3) fail('rank-mismatch', `boxes has rank ${b.length}; expected 3`)
  if (s && s.length !== rank) fail('rank-mismatch', `scores has rank ${s.length}; expected ${rank}`)
  if (counts?.shape && counts.shape.length !== 1)
    fail('rank-mismatch', `roisnum has rank ${counts.shape.length}; expected 1`)
  if (b && !mayMatch(b[2], 4)) fail('dims-mismatch', `boxes have ${printDim(b[2])} coordinates; expected 4`)
  if (b && s && (meetDims(b[0], s[0]) === undefined || meetDims(b[1], s[rank - 1]) === undefined)) {
    fail('dims-mismatch', `boxes ${printShape(b)} and scores ${printShape(s)} are for different numbers of boxes`)
  }
  const images: Dim = (counts ? counts.shape?.[0] : (s?.[0] ?? b?.[0])) ?? unknownDim()
  const count = unknownDim(0, s ? maxDim(s.reduce(mulDims)) : Infinity)
  return [tensorFact(type, [count, 6]), tensorFact(indexType, [count, 1]), tensorFact(indexType, [images])]
}
