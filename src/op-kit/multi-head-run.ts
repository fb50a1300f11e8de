import { fail } from '../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../kernels/attention/heads.ts'
import { type Attending, behindPast, followBeams, REFERENCE } from '../kernels/attention/multi-head.ts'
import { readNumbers, type Target, targetOf } from '../kernels/core/numbers.ts'
import { Pace, type Paced } from '../kernels/core/pace.ts'
import { floorDivDims, mulDims } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import type { Numbers } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { DataDependent, KernelContext, RunParams } from './define.ts'
import { type InputHeads, inputHeads, type InputLayout, inputLayout } from './multi-head-inputs.ts'
import { LOWEST } from './multi-head.ts'

/** Parameters of MultiHeadAttention. */
export interface MultiHeadParams {
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

/** Its operands that are tensors or facts of floats. */
interface Given<T> {
  readonly query: T
  readonly key: T | undefined
  readonly value: T | undefined
  readonly pastKey: T | undefined
  readonly pastValue: T | undefined
  readonly beams: T | undefined
}

/** Its operands. */
export interface MultiHeadTensors extends Given<Tensor> {
  readonly bias: Tensor | undefined
  readonly mask: Tensor | undefined
  readonly attentionBias: Tensor | undefined
}

/** Computes the results of MultiHeadAttention. */
export function* attendInputs(tensors: MultiHeadTensors, p: RunParams<MultiHeadParams>, call: KernelContext): Paced {
  const attending = call.accelerateAttention?.(REFERENCE) ?? REFERENCE
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
    if (!call.wanted(i)) return undefined
    return targetOf(i < 3 ? call.rawOutput(i) : call.output(i))
  })
  const [k, v] = yield* attendedHeads(
    before,
    inputs,
    p,
    layout.form === 'blocks' ? undefined : bias,
    batches,
    results,
    attending
  )
  const unbiased = { heads: inputs.q, bias, rows: inputs.q.length }
  const q = yield* behindPast(unbiased, 0, batches, new Pace(), attending.allocate)
  yield* attending.attend({
    batches,
    q,
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

/** Keys and values with those of the past; presents are the targets of results 1 and 2. */
function* attendedHeads(
  { pastKey, pastValue, beams }: Past<Tensor>,
  { k, v }: InputHeads,
  p: RunParams<MultiHeadParams>,
  bias: Numbers | undefined,
  batches: number,
  presents: readonly (Target | undefined)[],
  { allocate }: Attending
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
      pace,
      allocate
    )
    attended.push(beams ? yield* followBeams(all, kept, beams, batches, pace) : all)
  }
  return attended
}

/** Keys, values and beams of the past. */
export type Past<T> = Pick<Given<T>, 'pastKey' | 'pastValue' | 'beams'>

/** What is read of the past: nothing where keys and values come as heads. */
export const pastOf = <T>({ pastKey, pastValue, beams }: Past<T>, { form }: InputLayout): Past<T> =>
  form === 'blocks' ? { pastKey: undefined, pastValue: undefined, beams: undefined } : { pastKey, pastValue, beams }

/** The layout of the inputs; a decoder's query alone holds all three, and its past says how they are divided. */
export function layoutOf(
  { query, key, value, pastValue }: Pick<Given<TensorFact>, 'query' | 'key' | 'value' | 'pastValue'>,
  { heads, single }: Pick<MultiHeadParams, 'heads' | 'single'>
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
