import { fail } from '../../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../../kernels/attention/heads.ts'
import { behindPast, multiHead } from '../../kernels/attention/multi-head.ts'
import { rotateHeads } from '../../kernels/attention/rotary.ts'
import { doubles, readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { gemm, matrix } from '../../kernels/matrix/gemm.ts'
import { type DataDependent, defineOp, type KernelContext, params, type RunParams } from '../../op-kit/define.ts'
import { checkAttentionBias, checkKept, checkPadding } from '../../op-kit/multi-head.ts'
import { meetShape, sizeOfHeads } from '../../op-kit/ranks.ts'
import { flag, float, inputInt, int, ints, optional, optionalInput } from '../../op-kit/sources.ts'
import { addDims, type Dim, floorDivDims, mayMatch, mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** Parameters of attention with projections. */
export interface ProjectedParams {
  heads: number
  /** Columns of the projected queries, keys and values; undefined: a third of all each. */
  columns: readonly number[] | undefined
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  /** What the padding mask adds to the scores of masked keys. */
  filter: number
  causal: boolean
  /** Queries and keys are rotated by their positions. */
  rotates: boolean
  /** Number of elements of each head that are rotated; 0: all. */
  rotated: number
  /** Number of valid rows of the past, where it is a buffer with room for the fresh ones. */
  kept: DataDependent<number | undefined>
}

/** Where {@link ProjectedParams} come from, but for the past length, whose input is another in each operator. */
export const projectedBind = {
  heads: int('num_heads'),
  columns: optional(ints('qkv_hidden_sizes')),
  scale: optional(float('scale')),
  filter: float('mask_filter_value', -10000),
  causal: flag('unidirectional'),
  rotates: flag('do_rotary', false),
  rotated: int('rotary_embedding_dim', 0)
}

/** Operands beside the projections' own. */
export interface ProjectedOperands<T> {
  readonly mask: T | undefined
  readonly past: T | undefined
  readonly attentionBias: T | undefined
}

/**
 * `[q | k | v] = input weights + bias`, then `softmax(q kᵀ * scale + attentionBias + mask) v` for each head:
 * com.microsoft Attention-1. Results: the attended values, and keys and values, stacked, with those of the past before
 * them. With a past length the past is a buffer, and its rows from there on are replaced. `do_rotary` rotates halves by
 * angles `position / 10000^(2i / rotary_embedding_dim)`, as ONNX Runtime's CUDA kernel does; its CPU kernel has none.
 */
export const projectedAttention = defineOp({
  name: 'Attention',
  operands: {
    input: 'tensor',
    weights: 'tensor',
    bias: 'optional',
    mask: 'optional',
    past: 'optional',
    attentionBias: 'optional'
  },
  params: params<ProjectedParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { ...projectedBind, kept: optionalInput(inputInt(6)) } }],

  shape({ input, weights, bias, ...rest }, p, { outputCount }) {
    const shapes = projectedShapes(input, weights, bias, rest, p, outputCount)
    return shapes.map(shape => tensorFact(input.type, shape))
  },

  *run({ input, weights, bias, ...rest }, p, call) {
    const [batch, queries, features] = input.dims
    const columns = weights.dims[1]
    const rows = batch * queries
    const projected = doubles(rows * columns)
    const added = bias && (yield* readNumbers(bias))
    if (added && columns > 0) for (let row = 0; row < rows; row++) projected.set(added, row * columns)
    const [x, w] = [yield* readNumbers(input), yield* readNumbers(weights)]
    const out = matrix(projected, 0, columns)
    if (projected.length > 0)
      yield* gemm(rows, columns, features, matrix(x, 0, features), matrix(w, 0, columns), out, new Pace())
    yield* attendProjected(projected, [batch, queries, columns], rest, p, call)
  }
})

/** Columns of queries (and of keys), and of values. */
function columnsOf({ columns }: Pick<ProjectedParams, 'columns'>, all: Dim): readonly [Dim, Dim] {
  if (columns === undefined) {
    if (typeof all === 'number' && all % 3 !== 0)
      fail('dims-mismatch', `weights have ${all} columns; expected a multiple of 3`)
    return [floorDivDims(all, 3), floorDivDims(all, 3)]
  }
  const [query, key, value] = columns
  if (columns.length !== 3 || query !== key || Math.min(query, value) < 1)
    fail('unknown-attribute-value', `qkv_hidden_sizes is [${columns.join(', ')}]; expected three, the first two equal`)
  if (!mayMatch(all, 2 * query + value))
    fail('dims-mismatch', `weights have ${printDim(all)} columns; qkv_hidden_sizes add up to ${2 * query + value}`)
  return [query, value]
}

/**
 * Shapes of the results of attention with projections.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`, `shape-mismatch`, `value-out-of-range`
 */
export function projectedShapes(
  input: TensorFact,
  weights: TensorFact,
  bias: TensorFact | undefined,
  { mask, past, attentionBias }: ProjectedOperands<TensorFact>,
  p: Omit<ProjectedParams, 'kept'> & { readonly kept: Dim | undefined },
  outputCount: number
): (readonly Dim[])[] {
  const { heads } = p
  const [batch, queries, features] = meetShape('input', input, [unknownDim(), unknownDim(), unknownDim()])
  const all = meetShape('weights', weights, [features, unknownDim()])[1]
  meetShape('bias', bias, [all])
  const [columns, valueColumns] = columnsOf(p, all)
  const size = sizeOfHeads('queries', columns, heads)
  const width = sizeOfHeads('values', valueColumns, heads)
  const stacked = past !== undefined || outputCount > 1
  if (stacked && !mayMatch(size, width))
    fail('dims-mismatch', `heads of ${printDim(size)} and of ${printDim(width)} elements cannot be stacked`)
  checkRotated(p, size)
  const rows = past ? meetShape('past', past, [2, batch, heads, unknownDim(), size])[3] : 0
  const kept = past && p.kept !== undefined ? checkKept(p.kept, queries, rows) : undefined
  const keys = addDims(kept ?? rows, queries)
  const sizes = { batch, heads, queries, keys, fresh: queries }
  checkPadding('mask_index', mask, sizes, true)
  checkAttentionBias(attentionBias, sizes)
  const present = [2, batch, heads, kept === undefined ? keys : rows, size]
  return [[batch, queries, mulDims(width, heads)], present].slice(0, outputCount)
}

function checkRotated({ rotates, rotated }: Pick<ProjectedParams, 'rotates' | 'rotated'>, size: Dim): void {
  if (!rotates || typeof size !== 'number') return
  const count = rotated === 0 ? size : rotated
  if (count < 0 || count % 2 !== 0 || count > size)
    fail(
      'unknown-attribute-value',
      `${count} elements of heads of ${size} are to be rotated; expected an even number of them`
    )
}

/**
 * Attention over projected queries, keys and values; writes the results of `call`.
 * @param projected `[batch, queries, columns]`: queries, keys and values, biases included. Overwritten.
 */
export function* attendProjected(
  projected: Numbers,
  [batches, queries, all]: readonly number[],
  { mask, past, attentionBias }: ProjectedOperands<Tensor>,
  p: RunParams<ProjectedParams>,
  call: KernelContext
): Generator<void> {
  const { heads } = p
  const [columns, valueColumns] = columnsOf(p, all) as readonly [number, number]
  const rows = past?.dims[3] ?? 0
  const kept = (past && p.kept) ?? rows
  const parts = [columns, columns, valueColumns].map((own, i) =>
    headsInRows(projected, heads, queries, own / heads, all, i * columns)
  )
  const pace = new Pace()
  if (p.rotates) yield* rotateByPosition(parts.slice(0, 2), batches, kept, p.rotated, pace)
  const target = targetOf(call.output())
  const present = call.outputCount > 1 && call.wanted(1) ? targetOf(call.output(1)) : undefined
  const before = past && (yield* readNumbers(past))
  const attended: Heads[] = []
  for (const [i, fresh] of parts.slice(1).entries()) {
    const half = (numbers: Numbers | undefined): Numbers | undefined =>
      numbers?.subarray((i * numbers.length) / 2, ((i + 1) * numbers.length) / 2)
    const earlier = half(before)
    attended.push(
      yield* behindPast(
        {
          heads: fresh,
          past: earlier && headsInBlocks(earlier, heads, rows, fresh.size),
          present: half(present?.numbers),
          rows: past && p.kept !== undefined ? rows : rows + queries
        },
        kept,
        batches,
        pace
      )
    )
  }
  const out = headsInRows(target.numbers, heads, queries, valueColumns / heads)
  const { scale, causal, filter } = p
  const [q, [k, v]] = [parts[0], attended]
  yield* multiHead({ batches, q, k, v, out, past: kept, scale, causal, mask, filter, attentionBias })
  yield* target.finish()
  if (present) yield* present.finish()
}

/** Rotates queries and keys in place; the first row of each has position `first`. */
function* rotateByPosition(
  parts: readonly Heads[],
  batches: number,
  first: number,
  rotated: number,
  pace: Pace
): Generator<void> {
  for (const heads of parts) {
    const half = (rotated === 0 ? heads.size : rotated) / 2
    const [cos, sin] = [doubles(heads.length * half), doubles(heads.length * half)]
    for (let row = 0, at = 0; row < heads.length; row++) {
      for (let i = 0; i < half; i++, at++) {
        const angle = (first + row) / 10000 ** (i / half)
        cos[at] = Math.cos(angle)
        sin[at] = Math.sin(angle)
      }
      if (pace.isDue(half * 3 * COST.transcendental)) yield
    }
    yield* rotateHeads(heads, heads, batches, { cos, sin, half, interleaved: false }, (_, row) => row * half, pace)
  }
}
