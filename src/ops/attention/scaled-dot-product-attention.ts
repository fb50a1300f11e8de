import { attend } from '../../kernels/attention/attention.ts'
import {
  commonRows,
  headsFirstDims,
  type Part,
  type Parts,
  partStrides,
  type RowsFirst,
  sharedBatch,
  swapHeads
} from '../../kernels/attention/heads.ts'
import { type Hidden, HIDDEN, maskReader } from '../../kernels/attention/masks.ts'
import { offsetsOf } from '../../kernels/core/elementwise.ts'
import { changeLine, softmaxLine } from '../../kernels/core/lines.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { matrix, type Matrix, transposed } from '../../kernels/matrix/gemm.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkEqual, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputFloat, is, optionalInput } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { broadcastDim, broadcastShapes, type Dim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { stridesOf, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  causal: boolean
  /** Undefined: 1 / sqrt(depth). */
  scale: DataDependent<number | undefined>
  /** The keys are columns, `[..., depth, keys]`, as in the products that a plan makes one call of. */
  keysInColumns: boolean
  /** What a boolean mask does, the opposite for a Where that a plan makes part of a call. */
  hidden: Hidden
  /**
   * Heads of queries, side by side, that share a head of keys and values: more than one only in calls of a plan. Then
   * one row of keys or of values may stand for all, as an Expand repeats it.
   */
  group: number
  /** Operands, and the result, of rank 4 whose rows come before heads: only in calls of a plan. */
  rowsFirst: RowsFirst
  /** Operands that lie in one projection: only in calls of a plan. */
  parts: Parts
  /** Weights that are NaN become 0, as those of PyTorch's safe softmax: only in calls of a plan. */
  safe: boolean
  /** c in c tanh(score / c), which scores become before masks; 0: they stay. Other than 0 only in calls of a plan. */
  softcap: number
  /**
   * Scores and masks are broadcast to each other, as those of a file that has both in nodes of their own: only in calls
   * of a plan.
   */
  spreads: boolean
}

/** Rules of {@link scaledDotProductAttention}. */
export const scaledDotProductRules = defineRules({
  name: 'ScaledDotProductAttention',
  // Scores have `further` after `mask`: only in calls of a plan. One of the two is a boolean mask at most.
  operands: { query: 'tensor', key: 'tensor', value: 'tensor', mask: 'optional', further: 'optional' },
  params: params<Params>(),
  openvino: [
    {
      since: 13,
      in: { query: 0, key: 1, value: 2, mask: 3 },
      types: { query: FLOATS, key: FLOATS, value: FLOATS, mask: [...FLOATS, 'bool'], scale: FLOATS },
      bind: {
        causal: flag('causal'),
        scale: optionalInput(inputFloat(4)),
        keysInColumns: is(false),
        hidden: is(HIDDEN),
        group: is(1),
        rowsFirst: is({}),
        parts: is({}),
        safe: is(false),
        softcap: is(0),
        spreads: is(false)
      }
    }
  ],

  shape(given, { causal, keysInColumns, group, rowsFirst, parts, spreads }) {
    const { mask, further } = given
    const [query, key, value] = (['query', 'key', 'value'] as const).map(name => {
      const { type, shape } = given[name]
      return tensorFact(type, shape && headsFirstDims(shape, rowsFirst[name], parts[name]))
    })
    const type = commonType({ query, key, value, ...(mask?.type !== 'bool' && !causal && { attention_mask: mask }) })
    const rows = keysInColumns && key.shape ? tensorFact(key.type, swapLast(key.shape)) : key
    const [keys, values] = [rows, value].map(shared => repeatedHeads(shared, group))
    const masks = causal ? [] : [mask, further].filter(one => one !== undefined)
    const result = tensorFact(type, resultShape([query, keys, values], masks, { isShared: group > 1, spreads }))
    return [rowsFirst.result ? headsFirst(result) : result]
  }
})

/**
 * `softmax(query keyᵀ * scale + mask) value`: OpenVINO ScaledDotProductAttention-13. Batch dims and the mask are
 * broadcast by NumPy's rules (an example of the specification repeats dims other than 1, which OpenVINO refuses, and so
 * does this). `causal` hides every key after the query's own position and ignores the mask. A query without keys gives
 * NaN, as the formula of the specification does.
 */
export const scaledDotProductAttention = /* @__PURE__ */ withKernel(scaledDotProductRules, {
  *run({ query, key, value, mask, further }, given, call) {
    const { causal, scale, keysInColumns, hidden, group, rowsFirst, parts, safe, softcap } = given
    const out = call.output()
    if (out.data.length === 0) return
    const [q4, k4, v4, out4] = [
      placed(query, rowsFirst.query, parts.query),
      placed(key, rowsFirst.key, parts.key),
      placed(value, rowsFirst.value, parts.value),
      placed(out, rowsFirst.result)
    ]
    const depth = q4.dims[q4.dims.length - 1]
    const [values, width] = v4.dims.slice(-2)
    const ownKeys = k4.dims[k4.dims.length - (keysInColumns ? 1 : 2)]
    const masks = causal ? [] : [mask, further].filter(one => one !== undefined)
    const keys = commonRows(ownKeys, values, ...masks.map(({ dims }) => dims.at(-1) ?? 1))
    const batch = out4.dims.slice(0, -2)
    const queries = out4.dims[out4.dims.length - 2]
    const factor = scale ?? 1 / Math.sqrt(depth)
    const shared = sharedBatch(batch, group)
    const [q, k, v, o] = [startsOf(q4, batch), startsOf(k4, shared), startsOf(v4, shared), startsOf(out4, batch)]
    const numbers = { q: yield* readNumbers(query), k: yield* readNumbers(key), v: yield* readNumbers(value) }
    const readers = masks.map(one => maskReader(one, batch, queries, keys, hidden))
    const target = targetOf(out)
    const pace = new Pace()
    for (let i = 0; i < q.length; i++) {
      const head = Math.floor(i / group)
      yield* attend(
        {
          queries,
          keys,
          depth,
          width,
          q: matrix(numbers.q, q[i], q4.dims[q4.dims.length - 2] === queries ? rowStride(q4) : 0),
          k: keysInColumns
            ? keyColumns(matrix(numbers.k, k[head], ownKeys), ownKeys === keys)
            : matrix(numbers.k, k[head], ownKeys === keys ? rowStride(k4) : 0),
          v: matrix(numbers.v, v[head], values === keys ? rowStride(v4) : 0),
          out: matrix(target.numbers, o[i], rowStride(out4)),
          weigh(row, scores) {
            for (let j = 0; j < keys; j++) scores[j] *= factor
            if (softcap !== 0) for (let j = 0; j < keys; j++) scores[j] = softcap * Math.tanh(scores[j] / softcap)
            if (causal) scores.fill(-Infinity, row + 1)
            for (const read of readers) read(i, row, scores)
            changeLine(softmaxLine, scores)
            if (safe && Number.isNaN(scores[0])) scores.fill(0)
          },
          ...(causal && { seen: row => [0, Math.min(keys, row + 1)] })
        },
        pace
      )
    }
    yield* target.finish()
  }
})

/** Where matrices lie: dims and strides, heads first, and the first element. */
interface Placed {
  readonly dims: readonly number[]
  readonly strides: readonly number[]
  readonly first: number
}

const placed = ({ dims }: Tensor, rowsFirst: boolean | undefined, part?: Part): Placed => ({
  dims: headsFirstDims(dims, rowsFirst, part),
  strides: part ? partStrides(dims, part) : swapHeads(stridesOf(dims), rowsFirst === true),
  first: part ? part.first : 0
})

/** Keys, one of which may stand for all, as rows. */
function keyColumns(columns: Matrix, isEach: boolean): Matrix {
  const rows = transposed(columns)
  return isEach ? rows : { ...rows, rowStride: 0 }
}

const rowStride = ({ strides }: Placed): number => strides[strides.length - 2]

/** Where the matrix of each entry of a batch begins, to which those there are are broadcast. */
function startsOf({ dims, strides, first }: Placed, batch: readonly number[]): Float64Array {
  const missing = batch.length - (dims.length - 2)
  const steps = batch.map((_, i) => (i < missing || dims[i - missing] === 1 ? 0 : strides[i - missing]))
  return offsetsOf(batch, steps).map(offset => first + offset)
}

const headsFirst = ({ type, shape }: TensorFact): TensorFact => tensorFact(type, shape && swapHeads(shape))

/** Keys or values as if each head had been repeated for the queries that share it. */
function repeatedHeads(fact: TensorFact, group: number): TensorFact {
  const heads = fact.shape?.at(-3)
  if (group === 1 || fact.shape === undefined || heads === undefined) return fact
  const repeated = typeof heads === 'number' ? heads * group : unknownDim()
  return tensorFact(fact.type, fact.shape.with(-3, repeated))
}

/** A shape with its last two dims in the other order. */
const swapLast = (shape: readonly Dim[]): readonly Dim[] => [...shape.slice(0, -2), ...shape.slice(-2).reverse()]

function resultShape(
  [query, key, value]: readonly TensorFact[],
  masks: readonly TensorFact[],
  { isShared, spreads }: { readonly isShared: boolean; readonly spreads: boolean }
): Dim[] | undefined {
  for (const [name, fact] of Object.entries({ query, key, value })) checkRankAtLeast(name, fact, 3)
  const maskShapes = masks.map(({ shape }) => shape)
  if (!query.shape || !key.shape || !value.shape || !maskShapes.every(shape => shape !== undefined)) return undefined
  const [queries, depth] = query.shape.slice(-2)
  const [keys, keyDepth] = key.shape.slice(-2)
  const [values, width] = value.shape.slice(-2)
  checkEqual('columns of query and key', depth, keyDepth)
  const common = isShared ? broadcastDim(keys, values) : undefined
  const batch = [query.shape, key.shape, value.shape, ...maskShapes].map(shape => shape.slice(0, -2))
  if (spreads) {
    const [rows, columns] = broadcastShapes([[queries, common ?? keys], ...maskShapes.map(shape => shape.slice(-2))])!
    if (common === undefined) checkEqual('columns of weights and rows of value', columns, values)
    return [...broadcastShapes(batch)!, rows, width]
  }
  if (common === undefined) checkEqual('rows of key and value', keys, values)
  for (const shape of maskShapes) {
    const rows = common === undefined ? keys : (broadcastDim(common, shape.at(-1) ?? 1) ?? common)
    if (shape.length > 0) broadcastResult([queries, rows], shape.slice(-2), { mode: 'aligned', axis: -1 })
  }
  return [...broadcastShapes(batch)!, queries, width]
}
