import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { sortPaced } from '../../kernels/core/sort.ts'
import {
  buffersFor,
  fromCenters,
  fromCorners,
  keptBoxes,
  type KeptBoxes,
  overlap,
  readBoxes
} from '../../kernels/detection/boxes.ts'
import { type RotatedBox, rotatedOverlap } from '../../kernels/detection/rotated-boxes.ts'
import { type Overlap, OVERLAP_COST, suppress } from '../../kernels/detection/suppress.ts'
import {
  type DataDependent,
  defineOp,
  type KernelContext,
  params,
  type RunParams,
  type ShapeParams
} from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { choice, flag, inputFloat, inputInt, is, mapped, optionalInput } from '../../op-kit/sources.ts'
import { commonType, FLOATS, INDEX_TYPES } from '../../op-kit/types.ts'
import { type Dim, maxDim, meetDims, minDims, mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { type Fact, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  encoding: 'corner' | 'center'
  /** Limit on the boxes kept of a batch and class. */
  maxBoxes: DataDependent<number>
  iou: DataDependent<number>
  /** Least score of a box that is kept; undefined: any. */
  minScore: DataDependent<number | undefined>
  /** Whether a score equal to `minScore` is enough. */
  takesEqual: boolean
  sigma: DataDependent<number>
  dropsFading: boolean
  /** Whether the boxes of all batches and classes are ordered by score. */
  sorted: boolean
  indexType: 'int32' | 'int64'
  /** Whether the scores and the number of the boxes are outputs too. */
  withScores: boolean
}

const openvino = {
  encoding: choice<Params['encoding']>('box_encoding', { corner: 'corner', center: 'center' }),
  maxBoxes: inputInt(2, 0),
  iou: inputFloat(3, 0),
  minScore: inputFloat(4, 0),
  takesEqual: is(true),
  sorted: flag('sort_result_descending')
} as const
const outputType = choice<Params['indexType']>('output_type', { i32: 'int32', i64: 'int64' })
const types = { boxes: FLOATS, scores: FLOATS, maxBoxes: INDEX_TYPES, iou: FLOATS, minScore: FLOATS, sigma: FLOATS }
const hard = { sigma: is(0), dropsFading: is(false), withScores: is(false) } as const

/**
 * Keeps the boxes of each batch and class that do not overlap a box of a higher score too much: ONNX
 * NonMaxSuppression-10, -11; OpenVINO NonMaxSuppression-1, -3, -4, -5 (Soft-NMS), -9. Outputs are
 * `[batch, class, box]`, in OpenVINO also `[batch, class, score]` and the number of boxes.
 *
 * - OpenVINO's outputs have a row for each box kept, in versions 1 to 4 too, as in OpenVINO 2026.4; the specification
 *   of those versions fills them up with -1.
 * - A score equal to the threshold is enough in OpenVINO, as its specification says (its core and CPU plugin drop it),
 *   but not in ONNX, as in its reference.
 * - Soft-NMS drops boxes that overlap too much in version 5 and only lowers scores in version 9, as the specification
 *   says.
 */
export const nonMaxSuppression = defineOp({
  name: 'NonMaxSuppression',
  operands: { boxes: 'tensor', scores: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 10,
      bind: {
        ...hard,
        encoding: mapped(flag('center_point_box'), (center): Params['encoding'] => (center ? 'center' : 'corner')),
        maxBoxes: inputInt(2, 0),
        iou: inputFloat(3, 0),
        minScore: optionalInput(inputFloat(4)),
        takesEqual: is(false),
        sorted: is(false),
        indexType: is('int64')
      }
    }
  ],
  openvino: [
    { since: 1, types, bind: { ...openvino, ...hard, indexType: is('int64') } },
    { since: 3, types, bind: { ...openvino, ...hard, indexType: outputType } },
    {
      since: 5,
      types,
      bind: { ...openvino, sigma: inputFloat(5, 0), dropsFading: is(true), withScores: is(true), indexType: outputType }
    },
    {
      since: 9,
      types,
      bind: {
        ...openvino,
        sigma: inputFloat(5, 0),
        dropsFading: is(false),
        withScores: is(true),
        indexType: outputType
      }
    }
  ],

  shape: ({ boxes, scores }, p) => factsOf(boxes, scores, 4, p),

  *run({ boxes, scores }, p, call) {
    const read = p.encoding === 'corner' ? fromCorners : fromCenters
    const numbers = yield* readNumbers(boxes)
    // Only the soft variant needs all boxes at once; otherwise the few that matter are read one by one.
    const corners = p.sigma > 0 ? yield* readBoxes(read, numbers) : new Float32Array()
    const count = boxes.dims[1]
    const kept = keptBoxes(read, numbers)
    yield* selectBoxes(
      scores,
      p,
      call,
      batch => (a, b) => overlap(corners, 4 * (batch * count + a), 4 * (batch * count + b)),
      { keptIn: batch => kept.from(batch * count) }
    )
  }
})

/** Non-maximum suppression of boxes `[center x, center y, width, height, angle]` (radians): OpenVINO NMSRotated-13. */
export const nmsRotated = defineOp({
  name: 'NMSRotated',
  operands: { boxes: 'tensor', scores: 'tensor' },
  params: params<Omit<Params, 'encoding'> & { clockwise: boolean }>(),
  openvino: [
    {
      since: 13,
      types,
      bind: {
        maxBoxes: inputInt(2),
        iou: inputFloat(3),
        minScore: inputFloat(4),
        takesEqual: is(true),
        sorted: flag('sort_result_descending'),
        sigma: is(0),
        dropsFading: is(false),
        indexType: outputType,
        withScores: is(true),
        clockwise: flag('clockwise')
      }
    }
  ],

  shape: ({ boxes, scores }, p) => factsOf(boxes, scores, 5, p),

  *run({ boxes, scores }, p, call) {
    const numbers = yield* readNumbers(boxes)
    const boxAt = (i: number): RotatedBox => {
      const [x, y, width, height, angle] = numbers.subarray(5 * i, 5 * i + 5)
      return { x, y, width, height, angle: p.clockwise ? angle : -angle }
    }
    const count = boxes.dims[1]
    yield* selectBoxes(
      scores,
      p,
      call,
      batch => (a, b) => Math.fround(rotatedOverlap(boxAt(batch * count + a), boxAt(batch * count + b))),
      { cost: ROTATED_COST }
    )
  }
})

/** Nanoseconds for one overlap of rotated boxes. */
const ROTATED_COST = 512 * COST.element

type Rule = RunParams<Omit<Params, 'encoding'>>

interface Comparing {
  /** Nanoseconds for one overlap. */
  readonly cost?: number
  /** What compares the boxes of a batch with those that are kept faster. */
  keptIn?(batch: number): KeptBoxes
}

function* selectBoxes(
  scores: Tensor,
  p: Rule,
  call: KernelContext,
  overlapIn: (batch: number) => Overlap,
  { cost = OVERLAP_COST, keptIn }: Comparing
): Generator<void> {
  const [, classes, count] = scores.dims
  const batches = scores.data.length === 0 ? 0 : scores.dims[0]
  const numbers = yield* readNumbers(scores)
  const { maxBoxes, iou, sigma, dropsFading, minScore, takesEqual } = p
  const found: Selected[] = []
  const buffers = buffersFor(sigma > 0 ? 0 : count)
  const pace = new Pace()
  for (let batch = 0; batch < batches; batch++) {
    for (let kind = 0; kind < classes; kind++) {
      const start = (batch * classes + kind) * count
      const kept = yield* suppress(overlapIn(batch), numbers.subarray(start, start + count), {
        maxBoxes,
        iou,
        sigma,
        dropsFading,
        minScore,
        takesEqual,
        cost,
        buffers,
        kept: keptIn?.(batch)
      })
      for (const { box, score } of kept) found.push({ batch, kind, box, score })
      if (pace.isDue(2 * count * COST.element + kept.length * cost + COST.allocation)) yield
    }
  }
  // The sort is stable: equal scores stay in the order of batch, class and box.
  if (p.sorted) yield* sortPaced(found, (a, b) => b.score - a.score)
  yield* storeSelected(found, p, call)
}

interface Selected {
  readonly batch: number
  readonly kind: number
  readonly box: number
  readonly score: number
}

function* storeSelected(
  found: readonly Selected[],
  { withScores }: { withScores: boolean },
  call: KernelContext
): Generator<void> {
  const indices = call.output(0, [found.length, 3])
  yield* inChunks(
    found.length,
    (from, to) =>
      storeIntegers(
        indices,
        triples(found, from, to, ({ box }) => box),
        3 * from
      ),
    32 * COST.element
  )
  if (!withScores) return
  if (call.wanted(1)) {
    const { numbers, finish } = targetOf(call.output(1, [found.length, 3]))
    yield* inChunks(
      found.length,
      (from, to) =>
        numbers.set(
          triples(found, from, to, ({ score }) => score),
          3 * from
        ),
      32 * COST.element
    )
    yield* finish()
  }
  if (call.wanted(2)) storeIntegers(call.output(2), [found.length])
}

/** Batch, class, and what `last` gives, of the boxes `from <= i < to`. */
function triples(
  found: readonly Selected[],
  from: number,
  to: number,
  last: (selected: Selected) => number
): Float64Array {
  const numbers = new Float64Array(3 * (to - from))
  for (let i = from, at = 0; i < to; i++, at += 3) {
    numbers[at] = found[i].batch
    numbers[at + 1] = found[i].kind
    numbers[at + 2] = last(found[i])
  }
  return numbers
}

/**
 * Facts of the outputs.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`, `type-mismatch`
 */
function factsOf(
  boxes: TensorFact,
  scores: TensorFact,
  width: number,
  p: ShapeParams<Omit<Params, 'encoding'>>
): Fact[] {
  commonType({ boxes, scores })
  const [b, s] = [boxes.shape, scores.shape]
  checkRank('boxes', boxes, 3)
  checkRank('scores', scores, 3)
  checkDim('boxes', boxes, 2, width)
  const batches = meet(b?.[0], s?.[0], 'batches')
  const count = meet(b?.[1], s?.[2], 'boxes')
  const each = typeof p.maxBoxes === 'number' ? Math.max(0, p.maxBoxes) : p.maxBoxes
  const limit = s ? maxDim(mulDims(mulDims(batches, s[1]), minDims(count, each))) : Infinity
  const found = unknownDim(0, limit)
  const indices = tensorFact(p.indexType, [found, 3])
  return p.withScores ? [indices, tensorFact('float32', [found, 3]), tensorFact(p.indexType, [1])] : [indices]
}

function meet(boxes: Dim | undefined, scores: Dim | undefined, what: string): Dim {
  if (boxes === undefined || scores === undefined) return boxes ?? scores ?? unknownDim()
  return (
    meetDims(boxes, scores) ??
    fail('dims-mismatch', `there are ${printDim(boxes)} ${what} in boxes and ${printDim(scores)} in scores`)
  )
}
