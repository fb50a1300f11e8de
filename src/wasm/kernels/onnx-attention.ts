import { copyBytes } from '../../host.ts'
import type { Stage } from '../../kernels/attention/attention.ts'
import { headsOf } from '../../kernels/attention/heads.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import type { Kernel, KernelContext, Op } from '../../op-kit/define.ts'
import { presentMaker } from '../../op-kit/present.ts'
import { makingOnce, withOutput } from '../../op-kit/with-output.ts'
import { bytesOf } from '../../tensor/arrays.ts'
import { isHalf } from '../../tensor/dtype.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { narrowed, widened } from '../halves.ts'
import { isOnHeap } from '../heap.ts'
import { jobWatcher } from '../job-watcher.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { areOf, arrayOf, selectorFor, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import {
  areServed,
  attentionInputs,
  attentionTemplate,
  type Layout,
  matrixStrides,
  type Scoring,
  type Strides
} from './attention.ts'

interface AttentionParams {
  readonly causal: boolean
  readonly queryHeads: number | undefined
  readonly valueHeads: number | undefined
  readonly scale: number | undefined
  readonly softcap: number
  readonly shown: Stage
  readonly left: number
  readonly right: number
}

/**
 * Attention of float32, or of floats of 16 bits over a past of such; with numbers of keys that are no padding, where
 * there is no past. Scores are left to the reference where a mask has fewer columns than there are keys, or where there
 * are such numbers.
 */
export const selectAttention = selectorFor<AttentionParams>(({ op, operands, parameters: p }) => {
  const { q, k, v, mask, pastKey, pastValue, lengths } = operands
  if (!q || !k || !v || (lengths && pastKey)) return undefined
  // Without a past, calls of 16 bits are widened as a whole.
  const isNarrow = isHalf(q.type) && pastKey !== undefined
  const heads16 = { q, k, v, pastKey, pastValue, mask: mask?.type === 'bool' ? undefined : mask }
  if (isNarrow ? !areOf(q.type, heads16) : !areServed([q, k, v, ...[pastKey, pastValue].filter(isGiven)], mask))
    return undefined
  const past = pastKey?.dims[2] ?? 0
  const [batches, heads, queries, depth] = headDims(q, p.queryHeads)
  const [, shared, fresh] = headDims(k, p.valueHeads)
  const [, , , width] = headDims(v, p.valueHeads)
  const keys = past + fresh
  // A mask may have fewer columns than there are keys: the keys beyond are hidden.
  const covered = mask ? (mask.dims.at(-1) === 1 ? keys : (mask.dims.at(-1) ?? 1)) : keys
  if (covered > keys) return undefined
  const joined = pastKey !== undefined
  const layout: Layout = {
    batches,
    heads,
    group: heads / shared,
    queries,
    keys: covered,
    depth,
    width,
    q: headStrides(q.dims.length, heads, queries, depth),
    k: headStrides(joined ? 4 : k.dims.length, shared, keys, depth),
    v: headStrides(joined ? 4 : v.dims.length, shared, keys, width),
    y: headStrides(q.dims.length, heads, queries, width)
  }
  const scoring: Scoring = {
    scale: p.scale ?? 1 / Math.sqrt(depth),
    softcap: p.softcap,
    mask: mask && {
      type: mask.type === 'bool' ? 'bool' : 'float32',
      strides: matrixStrides(broadcastStrides(mask.dims, [batches, heads, queries, covered]))
    },
    causalOffset: p.causal ? past : p.right >= 0 ? past + p.right : undefined,
    windowOffset: p.left >= 0 ? past - p.left : undefined,
    unseen: 0
  }
  const template = attentionTemplate(layout, scoring)
  if (template === undefined) return undefined
  // How many keys there are is known when they are read.
  if (lengths) return { kernel: ofLengths(op, layout, scoring) }
  const showing = covered === keys ? attentionTemplate(layout, { ...scoring, shown: p.shown }) : undefined
  if (isNarrow) return { kernel: withNarrowPast(op, template, showing, p.valueHeads) }
  return { kernel: withPresent(op, template, showing, p.valueHeads), looksAt: [] }
})

const isGiven = (tensor: Tensor | undefined): tensor is Tensor => tensor !== undefined

/** `[batch, heads, length, size]` of an operand of rank 4, or of rank 3 whose rows hold all heads. */
function headDims({ dims }: Tensor, heads = 1): readonly number[] {
  return dims.length === 4 ? dims : [dims[0], heads, dims[1], dims[2] / heads]
}

const headStrides = (rank: number, heads: number, length: number, size: number): Strides =>
  rank === 4 ? [heads * length * size, length * size, size, 1] : [length * heads * size, size, heads * size, 1]

/**
 * Keys and values with those of the past before them may be results of their own.
 * @param showing writes the scores, too; undefined where the reference does
 */
const withPresent = (
  op: Op,
  template: JobTemplate,
  showing: JobTemplate | undefined,
  heads: number | undefined
): Kernel =>
  function* (operands, parameters, context) {
    const { q, k, v, mask, pastKey, pastValue } = operands as TensorOperands
    const call = makingOnce(context)
    const shows = context.outputCount > 3
    const scores = shows && showing ? shownScores(call) : undefined
    if (shows && scores === undefined) {
      const whole = op.run(operands, parameters, call)
      if (whole) yield* whole
      return
    }
    try {
      const isJoined = pastKey !== undefined
      // Keys and values are joined by no job, so jobs alone would not repeat the call.
      if (isJoined || context.outputCount > 1) jobWatcher()?.missed()
      const keys = isJoined || context.outputCount > 1 ? headsOf(k!, heads, pastKey, presentMaker(call, 1)) : k!
      const values = isJoined || context.outputCount > 2 ? headsOf(v!, heads, pastValue, presentMaker(call, 2)) : v!
      const inputs = attentionInputs(arrayOf(q!), arrayOf(keys), arrayOf(values), {
        mask: mask && arrayOf(mask),
        shown: scores?.numbers
      })
      const out = arrayOf(call.rawOutput())
      if (yield* runJob(scores ? showing! : template, inputs, out, context.threads)) {
        if (context.outputCount > 1) context.give(1, keys)
        if (context.outputCount > 2) context.give(2, values)
        scores?.finish()
      } else {
        const rest = op.run(operands, parameters, call)
        if (rest) yield* rest
      }
    } finally {
      scores?.free()
    }
  }

/**
 * Of floats of 16 bits: codes of fresh keys and values are moved behind those of the past, and all are widened. Widened
 * before, all of a present would be rounded.
 */
const withNarrowPast = (
  op: Op,
  template: JobTemplate,
  showing: JobTemplate | undefined,
  heads: number | undefined
): Kernel =>
  function* (operands, parameters, context) {
    const { q, k, v, mask, pastKey, pastValue } = operands as TensorOperands
    const call = makingOnce(context)
    const shows = context.outputCount > 3
    const job = shows ? showing : template
    const parts = temporaries()
    try {
      const result = call.rawOutput()
      const scores = shows ? call.rawOutput(3) : undefined
      const out = parts.allocate(result.data.length)
      const shown = scores && parts.allocate(scores.data.length)
      if (job && (!shown || isOnHeap(shown))) {
        const keys = headsOf(k!, heads, pastKey, presentMaker(call, 1))
        const values = headsOf(v!, heads, pastValue, presentMaker(call, 2))
        const queries = yield* widened(q!, parts)
        const wide = [yield* widened(keys, parts), yield* widened(values, parts)] as const
        const added = mask && (mask.type === 'bool' ? arrayOf(mask) : yield* widened(mask, parts))
        if (yield* runJob(job, attentionInputs(queries, ...wide, { mask: added, shown }), out, context.threads)) {
          if (context.outputCount > 1) context.give(1, keys)
          if (context.outputCount > 2) context.give(2, values)
          yield* narrowed(new Tensor('float32', out, result.dims), result)
          if (scores) yield* narrowed(new Tensor('float32', shown!, scores.dims), scores)
          return
        }
      }
      const rest = op.run(operands, parameters, call)
      if (rest) yield* rest
    } finally {
      parts.free()
    }
  }

/** Where the job writes scores: the result itself, or where that does not lie on the heap, what is copied to it. */
interface ShownScores {
  readonly numbers: Float32Array
  finish(): void
  free(): void
}

/** @returns undefined where the heap is full */
function shownScores(call: KernelContext): ShownScores | undefined {
  const result = arrayOf(call.rawOutput(3)) as Float32Array
  const { allocate, free } = temporaries()
  const numbers = isOnHeap(result) ? result : allocate(result.length)
  if (isOnHeap(numbers))
    return { numbers, finish: () => numbers !== result && copyBytes(bytesOf(numbers), bytesOf(result)), free }
  free()
  return undefined
}

const movedBy = (by: number, offset: number | undefined): number | undefined =>
  offset === undefined ? undefined : offset + by

/** Attention over the keys of each entry of the batch that are no padding: the first ones, the last of them causal. */
const ofLengths = (op: Op, layout: Layout, scoring: Scoring): Kernel =>
  function* (operands, parameters, context) {
    const { q, k, v, mask, lengths } = operands as TensorOperands
    const out = context.rawOutput()
    if (context.outputCount === 1) {
      const counts = toDoubles(lengths!)
      const isEven = counts.every(count => count === counts[0])
      const each = isEven ? layout.batches : 1
      const arrays = [q!, k!, v!, mask ?? q!].map(arrayOf)
      const steps = [layout.q, layout.k, layout.v, mask ? scoring.mask!.strides : layout.q].map(([batch]) => batch)
      let isDone = true
      for (let batch = 0; isDone && batch < layout.batches; batch += each) {
        const template = attentionTemplate(
          { ...layout, batches: each, keys: Math.max(0, Math.min(layout.keys, counts[batch])) },
          {
            ...scoring,
            causalOffset: movedBy(counts[batch] - layout.queries, scoring.causalOffset),
            windowOffset: movedBy(counts[batch] - layout.queries, scoring.windowOffset)
          }
        )
        const [queries, keys, values, added] = arrays.map((array, i) => array.subarray(batch * steps[i]))
        const y = arrayOf(out).subarray(batch * layout.y[0], (batch + each) * layout.y[0])
        const inputs = attentionInputs(queries, keys, values, { mask: added })
        isDone = template !== undefined && (yield* runJob(template, inputs, y, context.threads))
      }
      if (isDone) return
    }
    const rest = op.run(operands, parameters, withOutput(context, out))
    if (rest) yield* rest
  }
