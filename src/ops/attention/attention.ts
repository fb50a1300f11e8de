import { fail } from '../../errors.ts'
import { attendHeads, type Keys, type Stage, type Weighing } from '../../kernels/attention/attention.ts'
import { type Heads, headsInBlocks, headsInRows, headsOf } from '../../kernels/attention/heads.ts'
import { maskReader } from '../../kernels/attention/masks.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { params } from '../../op-kit/define.ts'
import { presentMaker } from '../../op-kit/present.ts'
import { checkEqual, checkRank, sizeOfHeads } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, int, is, mapped, optional } from '../../op-kit/sources.ts'
import { addDims, type Dim, mulDims } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'

interface Params {
  causal: boolean
  queryHeads: number | undefined
  valueHeads: number | undefined
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  softcap: number
  /** The stage of the scores that result 3 holds. */
  shown: Stage
  /** Number of keys that a query attends to before and after its own position; -1: all. */
  left: number
  right: number
}

const STAGES: readonly Stage[] = ['products', 'capped', 'biased', 'weights']

const shown = mapped(
  int('qk_matmul_output_mode'),
  mode => STAGES[mode] ?? fail('unknown-attribute-value', `qk_matmul_output_mode is ${mode}; expected 0 to 3`)
)

const common = {
  causal: flag('is_causal'),
  queryHeads: optional(int('q_num_heads')),
  valueHeads: optional(int('kv_num_heads')),
  scale: optional(float('scale')),
  softcap: float('softcap'),
  shown
}

/** Rules of {@link attention}. */
export const attentionRules = defineRules({
  name: 'Attention',
  operands: {
    q: 'tensor',
    k: 'tensor',
    v: 'tensor',
    mask: 'optional',
    pastKey: 'optional',
    pastValue: 'optional',
    lengths: 'optional'
  },
  params: params<Params>(),
  onnx: [
    { since: 23, bind: { ...common, left: is(-1), right: is(-1) } },
    { since: 25, bind: { ...common, left: int('left_window_size'), right: int('right_window_size') } }
  ],

  shape({ q, k, v, mask, pastKey, pastValue }, p, { outputCount }) {
    if ((pastKey === undefined) !== (pastValue === undefined))
      fail('missing-input', 'past_key and past_value must be given together')
    const shapes = resultShapes(q, k, v, mask, pastKey, pastValue, p)
    return [q.type, k.type, v.type, q.type].map((type, i) => tensorFact(type, shapes?.[i])).slice(0, outputCount)
  }
})

/**
 * Attention of query heads over keys and values, which several query heads may share. Results: the attended values,
 * keys and values with those of the past before them, and the scores. A query at `i` stands at position `i + offset`,
 * where offset counts the keys before the block: those of the past, or `nonpad_kv_seqlen` less the queries. Keys hidden
 * by the mask, by causality, by the window or as padding get no weight; a query that sees none gives zeros. All is
 * computed in double precision, whatever `softmax_precision` says, and rounded once.
 */
export const attention = /* @__PURE__ */ withKernel(attentionRules, {
  *run({ q, k, v, mask, pastKey, pastValue, lengths }, p, call) {
    const out = call.output()
    const keys = headsOf(k, p.valueHeads, pastKey, presentMaker(call, 1))
    const values = headsOf(v, p.valueHeads, pastValue, presentMaker(call, 2))
    if (call.outputCount > 1) call.give(1, keys)
    if (call.outputCount > 2) call.give(2, values)
    const scoresOut = call.outputCount > 3 ? call.output(3) : undefined
    if (out.data.length === 0 && !scoresOut?.data.length) return
    const [batches, , keyCount, width] = values.dims
    const heads = q.dims.length === 4 ? q.dims[1] : (p.queryHeads ?? 1)
    const queries = q.dims[q.dims.length - 2]
    const depth = keys.dims[3]
    const target = targetOf(out)
    const scores = scoresOut && targetOf(scoresOut)
    // A mask may have fewer columns than there are keys; the keys beyond are hidden.
    const last = mask?.dims.at(-1) ?? 1
    const covered = last === 1 ? keyCount : last
    const addMask = mask && maskReader(mask, [batches, heads], queries, covered)
    const weighing = (batch: number, head: number): Weighing => {
      const length = lengths && toDoubles(lengths)[batch]
      const offset = pastKey ? pastKey.dims[2] : length === undefined ? 0 : length - queries
      const at = batch * heads + head
      return {
        factor: p.scale ?? 1 / Math.sqrt(depth),
        softcap: p.softcap,
        seen: seenOf(p, offset, Math.min(length ?? keyCount, covered)),
        ...(addMask && { addBias: (row, line, from) => addMask(at, row, line, from) }),
        ...(scores && {
          show: (stage, row, line) => {
            if (stage === p.shown) scores.numbers.set(line, (at * queries + row) * keyCount)
          }
        })
      }
    }
    yield* attendHeads(
      {
        batches,
        q: queryHeads(yield* readNumbers(q), q.dims, heads, depth),
        k: headsInBlocks(yield* readNumbers(keys), keys.dims[1], keyCount, depth),
        v: headsInBlocks(yield* readNumbers(values), values.dims[1], keyCount, width),
        out: queryHeads(target.numbers, out.dims, heads, width),
        weighing
      },
      new Pace()
    )
    yield* target.finish()
    if (scores) yield* scores.finish()
  }
})

/** Heads of a tensor of rank 4, where they lie one after the other, or of rank 3, where they lie side by side. */
const queryHeads = (numbers: Numbers, dims: readonly number[], heads: number, size: number): Heads =>
  dims.length === 4 ? headsInBlocks(numbers, heads, dims[2], size) : headsInRows(numbers, heads, dims[1], size)

/** The keys that a query may see by causality, windows and the number of keys that are no padding. */
function seenOf({ causal, left, right }: Params, offset: number, length: number): (row: number) => Keys {
  return row => {
    const position = row + offset
    const last = Math.min(length - 1, causal ? position : Infinity, right >= 0 ? position + right : Infinity)
    return [left >= 0 ? Math.max(0, position - left) : 0, Math.max(0, last + 1)]
  }
}

/** Shapes of the results: values, keys and values with the past, scores. Undefined when a rank is unknown. */
function resultShapes(
  q: TensorFact,
  k: TensorFact,
  v: TensorFact,
  mask: TensorFact | undefined,
  pastKey: TensorFact | undefined,
  pastValue: TensorFact | undefined,
  { queryHeads, valueHeads }: Pick<Params, 'queryHeads' | 'valueHeads'>
): (readonly Dim[] | undefined)[] | undefined {
  if (!q.shape || !k.shape || !v.shape) return undefined
  const rank = q.shape.length
  if ((rank !== 3 && rank !== 4) || k.shape.length !== rank || v.shape.length !== rank) {
    fail(
      'rank-mismatch',
      `Q, K and V have ranks ${rank}, ${k.shape.length} and ${v.shape.length}; expected 3 or 4, the same for all`
    )
  }
  const [batch, heads, queries, depth] = splitHeads('q_num_heads', q.shape, queryHeads)
  const [, shared, newKeys, keyDepth] = splitHeads('kv_num_heads', k.shape, valueHeads)
  const [, valueShared, newValues, width] = splitHeads('kv_num_heads', v.shape, valueHeads)
  checkEqual('head sizes of Q and K', depth, keyDepth)
  checkEqual('heads of K and V', shared, valueShared)
  checkEqual('lengths of K and V', newKeys, newValues)
  for (const other of [k.shape[0], v.shape[0]]) checkEqual('batch sizes', batch, other)
  if (typeof heads === 'number' && typeof shared === 'number' && (shared === 0 || heads % shared !== 0)) {
    fail('shape-mismatch', `${heads} query heads are no multiple of ${shared} heads of keys`)
  }
  const past = pastLength(pastKey, [batch, shared, depth])
  const pastValues = pastLength(pastValue, [batch, shared, width])
  if (past !== undefined && pastValues !== undefined) checkEqual('lengths of past keys and values', past, pastValues)
  if (past === undefined) return [rank === 4 ? [batch, heads, queries, width] : [batch, queries, mulDims(heads, width)]]
  const keys = addDims(past, newKeys)
  checkMask(mask?.shape, [batch, heads, queries, keys])
  return [
    rank === 4 ? [batch, heads, queries, width] : [batch, queries, mulDims(heads, width)],
    [batch, shared, keys, depth],
    [batch, shared, keys, width],
    [batch, heads, queries, keys]
  ]
}

/** `[batch, heads, length, size]` of an operand of rank 4, or of rank 3 whose last dim holds all heads. */
function splitHeads(attribute: string, shape: readonly Dim[], heads: number | undefined): readonly Dim[] {
  if (shape.length === 4) return shape
  if (heads === undefined) fail('missing-attribute', `attribute "${attribute}" is missing; operands of rank 3 need it`)
  const [batch, length, all] = shape
  return [batch, heads, length, sizeOfHeads('an operand', all, heads)]
}

function pastLength(past: TensorFact | undefined, [batch, heads, size]: readonly Dim[]): Dim | undefined {
  if (past === undefined) return 0
  checkRank('the past', past, 4)
  if (past.shape === undefined) return undefined
  checkEqual('batch sizes of present and past', batch, past.shape[0])
  checkEqual('heads of present and past', heads, past.shape[1])
  checkEqual('head sizes of present and past', size, past.shape[3])
  return past.shape[2]
}

function checkMask(mask: readonly Dim[] | undefined, scores: readonly Dim[]): void {
  const last = mask?.at(-1)
  const [total] = scores.slice(-1)
  if (mask === undefined || last === undefined) return
  const shorter = typeof last === 'number' && typeof total === 'number' && last < total
  broadcastResult(shorter ? [...scores.slice(0, -1), last] : scores, mask, { mode: 'aligned', axis: -1 })
}
