import { fail } from '../../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../../kernels/attention/heads.ts'
import { behindPast, followBeams, multiHead } from '../../kernels/attention/multi-head.ts'
import { readNumbers, type Target, targetOf } from '../../kernels/core/numbers.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { type DataDependent, defineOp, params, type RunParams } from '../../op-kit/define.ts'
import { type InputHeads, inputHeads, type InputLayout, inputLayout } from '../../op-kit/multi-head-inputs.ts'
import { checkAttentionBias, checkKept, checkPadding, LOWEST, pastRows } from '../../op-kit/multi-head.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { flag, float, inputInt, int, is, optional, optionalInput } from '../../op-kit/sources.ts'
import {
  addDims,
  type Dim,
  floorDivDims,
  mayMatch,
  mulDims,
  printDim,
  printShape,
  unknownDim
} from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  heads: number
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  /** What the padding mask adds to the scores of masked keys. */
  filter: number
  causal: boolean
  /** Number of valid rows of the past, where it is a buffer with room for the fresh ones. */
  kept: DataDependent<number | undefined>
  /** There is a single query, as DecoderMaskedMultiHeadAttention has it. */
  single: boolean
}

interface Given<T> {
  readonly query: T
  readonly key: T | undefined
  readonly value: T | undefined
  readonly pastKey: T | undefined
  readonly pastValue: T | undefined
  readonly beams: T | undefined
}

const common = {
  heads: int('num_heads'),
  scale: optional(float('scale')),
  filter: float('mask_filter_value', -10000)
}

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
export const multiHeadAttention = defineOp({
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
  params: params<Params>(),
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

  grows: { 1: 'pastKey', 2: 'pastValue' },

  *run(tensors, p, call) {
    const { query, key, value } = tensors
    const layout = layoutOf(dimsOnly(tensors), p)
    if (layout === undefined) fail('internal', 'the dims of tensors are known')
    const before = pastOf(tensors, layout)
    const inputs = inputHeads(
      layout,
      p.heads,
      yield* readNumbers(query),
      key && (yield* readNumbers(key)),
      value && (yield* readNumbers(value))
    )
    const batches = layout.batch as number
    const bias = tensors.bias && (yield* readNumbers(tensors.bias))
    const past = (before.pastKey && p.kept) ?? before.pastKey?.dims[2] ?? 0
    const target = targetOf(call.output())
    // Every element of a present is written, or is that of the past where both are one.
    const results = [1, 2, 3].map(i => {
      if (i >= call.outputCount || !call.wanted(i)) return undefined
      return targetOf(i < 3 ? call.rawOutput(i) : call.output(i))
    })
    const [k, v] = yield* attendedHeads(
      before,
      inputs,
      p,
      layout.form === 'blocks' ? undefined : bias,
      batches,
      results
    )
    yield* multiHead({
      batches,
      q: inputs.q,
      queryBias: bias,
      k,
      v,
      out: headsInRows(target.numbers, p.heads, inputs.q.length, v.size),
      past,
      scale: p.scale,
      causal: p.causal,
      mask: tensors.mask,
      filter: p.filter,
      attentionBias: tensors.attentionBias,
      scores: results[2] && { numbers: results[2].numbers, lowest: LOWEST[query.type] }
    })
    for (const each of [target, ...results]) if (each) yield* each.finish()
  }
})

/** Keys and values with those of the past; presents are the targets of results 1 and 2. */
function* attendedHeads(
  { pastKey, pastValue, beams }: Past<Tensor>,
  { k, v }: InputHeads,
  p: RunParams<Params>,
  bias: Numbers | undefined,
  batches: number,
  presents: readonly (Target | undefined)[]
): Generator<void, Heads[]> {
  const pace = new Pace()
  const attended: Heads[] = []
  for (const [i, fresh] of [k, v].entries()) {
    const past = i === 0 ? pastKey : pastValue
    const rows = past?.dims[2] ?? 0
    const kept = (past && p.kept) ?? rows
    const first = p.heads * (i === 0 ? k.size : 2 * k.size)
    const all = yield* behindPast(
      {
        heads: fresh,
        bias: bias?.subarray(first, first + p.heads * fresh.size),
        past: past && headsInBlocks(yield* readNumbers(past), p.heads, rows, fresh.size),
        present: presents[i]?.numbers,
        rows: past && p.kept !== undefined ? rows : rows + fresh.length
      },
      kept,
      batches,
      pace
    )
    attended.push(beams ? yield* followBeams(all, kept, beams, batches, pace) : all)
  }
  return attended
}

type Past<T> = Pick<Given<T>, 'pastKey' | 'pastValue' | 'beams'>

/** What is read of the past: nothing where keys and values come as heads. */
const pastOf = <T>({ pastKey, pastValue, beams }: Past<T>, { form }: InputLayout): Past<T> =>
  form === 'blocks' ? { pastKey: undefined, pastValue: undefined, beams: undefined } : { pastKey, pastValue, beams }

/** The layout of the inputs; a decoder's query alone holds all three, and its past says how they are divided. */
function layoutOf(
  { query, key, value, pastValue }: Pick<Given<TensorFact>, 'query' | 'key' | 'value' | 'pastValue'>,
  { heads, single }: Pick<Params, 'heads' | 'single'>
): InputLayout | undefined {
  const packed = single && key === undefined && query.shape?.length === 3
  const width = pastValue?.shape?.length === 4 ? pastValue.shape[3] : undefined
  const values = width === undefined ? floorDivDims(query.shape?.[2] ?? 0, 3) : mulDims(width, heads)
  return inputLayout(query, key, value, heads, packed ? values : undefined)
}

const dimsOnly = ({ query, key, value, pastValue }: Given<Tensor>) => {
  const fact = (tensor: Tensor | undefined): TensorFact | undefined => tensor && tensorFact(tensor.type, tensor.dims)
  return { query: tensorFact(query.type, query.dims), key: fact(key), value: fact(value), pastValue: fact(pastValue) }
}

function checkBeams(beams: TensorFact | undefined, batch: Dim, rows: Dim): void {
  if (!beams) return
  const [samples, width] = meetShape('cache_indirection', beams, [unknownDim(), unknownDim(1), rows])
  if (!mayMatch(mulDims(samples, width), batch))
    fail('dims-mismatch', `cache_indirection has shape ${printShape(beams.shape)}; the batch has ${printDim(batch)}`)
}

const outputsOf = (query: TensorFact, shapes: readonly (readonly Dim[] | undefined)[], count: number): TensorFact[] =>
  shapes.slice(0, count).map(shape => tensorFact(query.type, shape))
