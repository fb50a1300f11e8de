import { fail } from '../../errors.ts'
import { params } from '../../op-kit/define.ts'
import { attendInputs, layoutOf, type MultiHeadParams, pastOf } from '../../op-kit/multi-head-run.ts'
import { checkAttentionBias, checkKept, checkPadding, pastRows } from '../../op-kit/multi-head.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, inputInt, int, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { addDims, type Dim, mayMatch, mulDims, printDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

const common = {
  heads: int('num_heads'),
  scale: optional(float('scale')),
  filter: float('mask_filter_value', -10000)
}

/** Rules of {@link multiHeadAttention}. */
export const multiHeadAttentionRules = defineRules({
  name: 'MultiHeadAttention',
  operands: {
    query: 'tensor',
    key: 'optional',
    value: 'optional',
    bias: 'optional',
    mask: 'optional',
    attentionBias: 'optional',
    pastKey: 'optional',
    pastValue: 'optional',
    beams: 'optional'
  },
  params: params<MultiHeadParams>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      in: { query: 0, key: 1, value: 2, bias: 3, mask: 4, attentionBias: 5, pastKey: 6, pastValue: 7, beams: 9 },
      bind: { ...common, causal: flag('unidirectional'), kept: optionalInput(inputInt(8)), single: is(false) }
    },
    {
      type: 'DecoderMaskedMultiHeadAttention',
      domain: 'com.microsoft',
      since: 1,
      in: { query: 0, key: 1, value: 2, mask: 3, attentionBias: 4, pastKey: 5, pastValue: 6, beams: 9, bias: 10 },
      bind: { ...common, causal: is(false), kept: optionalInput(inputInt(7)), single: is(true) }
    }
  ],

  shape(facts, p, { outputCount }) {
    const { query } = facts
    const layout = layoutOf(facts, p)
    if (layout === undefined) return outputsOf(query, [undefined, undefined, undefined, undefined], outputCount)
    const { batch, queries, fresh, size, width } = layout
    if (p.single && !mayMatch(queries, 1))
      fail('dims-mismatch', `query has ${printDim(queries)} positions; one is expected`)
    const [heads, columns] = [p.heads, mulDims(p.heads, size)]
    const { pastKey, pastValue } = pastOf(facts, layout)
    const rows = pastRows(pastKey, pastValue, [batch, heads, size, width])
    const buffered = pastKey && p.kept !== undefined
    const kept = buffered ? checkKept(p.kept, fresh, rows) : rows
    const sizes = { batch, heads, queries, keys: addDims(kept, fresh), fresh }
    meetShape('bias', facts.bias, [addDims(mulDims(2, columns), mulDims(width, heads))])
    checkPadding(p.single ? 'mask_index' : 'key_padding_mask', facts.mask, sizes, false)
    checkAttentionBias(facts.attentionBias, sizes)
    const present = buffered ? rows : sizes.keys
    checkBeams(facts.beams, batch, present)
    const shapes = [
      [batch, queries, mulDims(width, heads)],
      [batch, heads, present, size],
      [batch, heads, present, width],
      [batch, heads, queries, sizes.keys]
    ]
    return outputsOf(query, shapes, outputCount)
  },

  grows: { 1: 'pastKey', 2: 'pastValue' }
})

/**
 * `softmax(query keyᵀ * scale + attentionBias + mask) value` for each head, with biases of the projections and keys and
 * values of the past; com.microsoft MultiHeadAttention-1 and, for one query, DecoderMaskedMultiHeadAttention-1.
 * Results: the attended values, keys and values with those of the past before them, and the scores before softmax,
 * where keys that causality hides have the lowest number of the type. With a past length the past is a buffer, and its
 * rows from there on are replaced. `cache_indirection` says for each row of a buffer which beam of the same sample it
 * is read from. A causal query at `i` sees the keys up to `past + i`; ONNX Runtime's CPU kernel does otherwise where
 * fewer or more keys than queries are given without a past. Where keys and values come as heads (rank 4), the past is
 * not looked at, as in ONNX Runtime.
 */
export const multiHeadAttention = /* @__PURE__ */ withKernel(multiHeadAttentionRules, {
  run: attendInputs
})

function checkBeams(beams: TensorFact | undefined, batch: Dim, rows: Dim): void {
  if (!beams) return
  const [samples, width] = meetShape('cache_indirection', beams, [unknownDim(), unknownDim(1), rows])
  if (!mayMatch(mulDims(samples, width), batch))
    fail('dims-mismatch', `cache_indirection has shape ${printShape(beams.shape)}; the batch has ${printDim(batch)}`)
}

const outputsOf = (query: TensorFact, shapes: readonly (readonly Dim[] | undefined)[], count: number): TensorFact[] =>
  shapes.slice(0, count).map(shape => tensorFact(query.type, shape))
