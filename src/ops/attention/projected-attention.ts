import { fail } from '../../errors.ts'
import { REFERENCE } from '../../kernels/attention/multi-head.ts'
import { params } from '../../op-kit/define.ts'
import { checkAttentionBias, checkKept, checkPadding } from '../../op-kit/multi-head.ts'
import { attendProjected, columnsOf, type ProjectedOperands, type ProjectedParams } from '../../op-kit/projected-run.ts'
import { meetShape, sizeOfHeads } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, inputInt, int, ints, optional, optionalInput } from '../../op-kit/sources.ts'
import { addDims, type Dim, mayMatch, mulDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

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

/** Rules of {@link projectedAttention}. */
export const projectedAttentionRules = defineRules({
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
  }
})

/**
 * `[q | k | v] = input weights + bias`, then `softmax(q kᵀ * scale + attentionBias + mask) v` for each head:
 * com.microsoft Attention-1. Results: the attended values, and keys and values, stacked, with those of the past before
 * them. With a past length the past is a buffer, and its rows from there on are replaced. `do_rotary` rotates halves by
 * angles `position / 10000^(2i / rotary_embedding_dim)`, as ONNX Runtime's CUDA kernel does; its CPU kernel has none.
 */
export const projectedAttention = /* @__PURE__ */ withKernel(projectedAttentionRules, {
  *run({ input, weights, bias, ...rest }, p, call) {
    const attending = call.accelerateAttention?.(REFERENCE) ?? REFERENCE
    const dims = [...input.dims.slice(0, 2), weights.dims[1]]
    const projected = attending.allocate(product(dims))
    yield* attending.project(input, weights, bias, projected)
    yield* attendProjected(projected, dims, rest, p, call, attending)
  }
})

/**
 * Shapes of the results of attention with projections.
 * @throws NodewiseError `unknown-attribute-value` for sizes that do not go together, `rank-mismatch`, `dims-mismatch`,
 *   `shape-mismatch`, `value-out-of-range`
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
