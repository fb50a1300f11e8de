import { fail } from '../../errors.ts'
import { attend, type Head, maskedSoftmax } from '../../kernels/attention/attention.ts'
import { headsOf } from '../../kernels/attention/heads.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { matrix, type Matrix } from '../../kernels/matrix/gemm.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { flag, float, int, is, mapped, optional } from '../../op-kit/sources.ts'
import { addDims, type Dim, floorDivDims, mayMatch, mulDims, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { maskReader } from './scaled-dot-product-attention.ts'

interface Params {
  causal: boolean
  queryHeads: number | undefined
  valueHeads: number | undefined
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  softcap: number
  /**
   * What result 3 holds: the products (0), also after softcap (1), also with the mask added (2), or the weights (3).
   */
  shown: 0 | 1 | 2 | 3
  /** Number of keys that a query attends to before and after its own position; -1: all. */
  left: number
  right: number
}

const shown = mapped(int('qk_matmul_output_mode'), mode => {
  if (mode === 0 || mode === 1 || mode === 2 || mode === 3) return mode
  return fail('unknown-attribute-value', `qk_matmul_output_mode is ${mode}; expected 0 to 3`)
})

const common = {
  causal: flag('is_causal'),
  queryHeads: optional(int('q_num_heads')),
  valueHeads: optional(int('kv_num_heads')),
  scale: optional(float('scale')),
  softcap: float('softcap'),
  shown
}

/**
 * Attention of query heads over keys and values, which several query heads may share. Results: the attended values,
 * keys and values
 * with those of the past before them, and the scores. A query at `i` stands at position `i + offset`, where offset
 * counts the keys
 * before the block: those of the past, or `nonpad_kv_seqlen` less the queries. Keys hidden by the mask, by causality,
 * by the window or
 * as padding get no weight; a query that sees none gives zeros. All is computed in double precision, whatever
 * `softmax_precision`
 * says, and rounded once.
 */
export const attention = defineOp({
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
  },

  *run({ q, k, v, mask, pastKey, pastValue, lengths }, p, call) {
    const out = call.output()
    const keys = headsOf(k, p.valueHeads, pastKey)
    const values = headsOf(v, p.valueHeads, pastValue)
    if (call.outputCount > 1) call.give(1, keys)
    if (call.outputCount > 2) call.give(2, values)
    const scoresOut = call.outputCount > 3 ? call.output(3) : undefined
    if (out.data.length === 0 && !scoresOut?.data.length) return
    const [batches, sharedHeads, keyCount, width] = values.dims
    const heads = q.dims.length === 4 ? q.dims[1] : (p.queryHeads ?? 1)
    const queries = q.dims[q.dims.length - 2]
    const depth = keys.dims[3]
    const [qNumbers, kNumbers, vNumbers] = [yield* readNumbers(q), yield* readNumbers(keys), yield* readNumbers(values)]
    const target = targetOf(out)
    const scores = scoresOut && targetOf(scoresOut)
    const pace = new Pace()
    for (let batch = 0; batch < batches; batch++) {
      const length = lengths && toDoubles(lengths)[batch]
      const offset = pastKey ? pastKey.dims[2] : length === undefined ? 0 : length - queries
      const hide = hider(p, offset, length ?? keyCount)
      for (let head = 0; head < heads; head++) {
        const shared = batch * sharedHeads + Math.floor((head * sharedHeads) / heads)
        const at = batch * heads + head
        const bias = biasOf(mask, [batches, heads], queries, keyCount, at, hide)
        yield* attend(
          {
            queries,
            keys: keyCount,
            depth,
            width,
            q: headMatrix(qNumbers, q, heads, batch, head, depth),
            k: matrix(kNumbers, shared * keyCount * depth, depth),
            v: matrix(vNumbers, shared * keyCount * width, width),
            out: headMatrix(target.numbers, out, heads, batch, head, width),
            weigh: weigher(p, depth, bias, scores && { numbers: scores.numbers, start: at * queries * keyCount })
          },
          pace
        )
      }
    }
    yield* target.finish()
    if (scores) yield* scores.finish()
  }
})

/** The matrix of one head: contiguous in a tensor of rank 4, columns of a wider matrix in one of rank 3. */
function headMatrix(data: Numbers, of: Tensor, heads: number, batch: number, head: number, columns: number): Matrix {
  const rows = of.dims[of.dims.length - 2]
  if (of.dims.length === 4) return matrix(data, (batch * heads + head) * rows * columns, columns)
  return { data, offset: (batch * rows * heads + head) * columns, rowStride: heads * columns, columnStride: 1 }
}

/** Sets the bias of the keys to -Infinity that the query of a row may not attend to. */
type Hide = (row: number, bias: Float64Array) => void

function hider({ causal, left, right }: Params, offset: number, length: number): Hide {
  return (row, bias) => {
    const position = row + offset
    const last = Math.min(length - 1, causal ? position : Infinity, right >= 0 ? position + right : Infinity)
    bias.fill(-Infinity, Math.max(0, last + 1))
    if (left >= 0) bias.fill(-Infinity, 0, Math.max(0, position - left))
  }
}

/**
 * What is added to the scores of a query: the mask, and -Infinity for hidden keys. A mask may have fewer columns than
 * there are keys; the keys beyond are hidden.
 */
function biasOf(
  mask: Tensor | undefined,
  batch: readonly number[],
  queries: number,
  keys: number,
  at: number,
  hide: Hide
): (row: number) => Float64Array {
  const bias = new Float64Array(keys)
  const last = mask?.dims.at(-1) ?? 1
  const covered = last === 1 ? keys : last
  const add = mask && maskReader(mask, batch, queries, covered)
  return row => {
    bias.fill(0)
    add?.(at, row, bias)
    bias.fill(-Infinity, covered)
    hide(row, bias)
    return bias
  }
}

/** Where the scores of one head go in result 3. */
interface Shown {
  readonly numbers: Numbers
  readonly start: number
}

/** The function from scores to weights, which also copies the scores for result 3. */
function weigher(
  { scale, softcap, shown: mode }: Params,
  depth: number,
  biasFor: (row: number) => Float64Array,
  shownAt: Shown | undefined
): Head['weigh'] {
  const factor = scale ?? 1 / Math.sqrt(depth)
  return (row, scores) => {
    const show = (now: Params['shown']): void => {
      if (shownAt && mode === now) shownAt.numbers.set(scores, shownAt.start + row * scores.length)
    }
    for (let j = 0; j < scores.length; j++) scores[j] *= factor
    show(0)
    if (softcap !== 0) for (let j = 0; j < scores.length; j++) scores[j] = softcap * Math.tanh(scores[j] / softcap)
    show(1)
    const bias = biasFor(row)
    let allMasked = true
    for (let j = 0; j < scores.length; j++) {
      if (bias[j] !== -Infinity) allMasked = false
      scores[j] += bias[j]
    }
    show(2)
    maskedSoftmax(scores, allMasked)
    show(3)
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
  demandEqual('head sizes of Q and K', depth, keyDepth)
  demandEqual('heads of K and V', shared, valueShared)
  demandEqual('lengths of K and V', newKeys, newValues)
  for (const other of [k.shape[0], v.shape[0]]) demandEqual('batch sizes', batch, other)
  if (typeof heads === 'number' && typeof shared === 'number' && (shared === 0 || heads % shared !== 0)) {
    fail('shape-mismatch', `${heads} query heads are no multiple of ${shared} heads of keys`)
  }
  const past = pastLength(pastKey, [batch, shared, depth])
  const pastValues = pastLength(pastValue, [batch, shared, width])
  if (past !== undefined && pastValues !== undefined) demandEqual('lengths of past keys and values', past, pastValues)
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
  if (heads < 1 || (typeof all === 'number' && all % heads !== 0)) {
    fail('shape-mismatch', `${printDim(all)} columns are no multiple of ${heads} heads`)
  }
  return [batch, heads, length, floorDivDims(all, heads)]
}

function pastLength(past: TensorFact | undefined, [batch, heads, size]: readonly Dim[]): Dim | undefined {
  if (past === undefined) return 0
  if (past.shape === undefined) return undefined
  if (past.shape.length !== 4)
    fail('rank-mismatch', `keys and values of the past have dims ${printShape(past.shape)}; expected rank 4`)
  demandEqual('batch sizes of present and past', batch, past.shape[0])
  demandEqual('heads of present and past', heads, past.shape[1])
  demandEqual('head sizes of present and past', size, past.shape[3])
  return past.shape[2]
}

function checkMask(mask: readonly Dim[] | undefined, scores: readonly Dim[]): void {
  const last = mask?.at(-1)
  const [total] = scores.slice(-1)
  if (mask === undefined || last === undefined) return
  const shorter = typeof last === 'number' && typeof total === 'number' && last < total
  broadcastResult(shorter ? [...scores.slice(0, -1), last] : scores, mask, { mode: 'aligned', axis: -1 })
}

function demandEqual(what: string, a: Dim, b: Dim): void {
  if (!mayMatch(a, b)) fail('shape-mismatch', `the ${what} must be equal; they are ${printDim(a)} and ${printDim(b)}`)
}
