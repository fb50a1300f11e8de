import type { Stage } from '../../kernels/attention/attention.ts'
import {
  commonRows,
  type Heads,
  headsFirstDims,
  type Part,
  partDims,
  type Parts,
  partStrides,
  type RowsFirst,
  sharedBatch,
  swapHeads
} from '../../kernels/attention/heads.ts'
import { type Hidden, HIDDEN } from '../../kernels/attention/masks.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { liesInRoom, type Room, roomOf, stridesIn } from '../../tensor/room.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  arrayOf,
  floatBits,
  jobKernel,
  selectorFor,
  staged,
  type TensorOperands,
  tileOfFlops,
  workOfFlops
} from '../selector.ts'

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 7
/** Queries of a block: so many share the packing of keys and values. */
const MAX_ROWS = 128
/** Keys that are computed together: their scores for eight queries lie in the first cache. */
const MAX_CHUNK = 128
/** Bytes of scratch memory for queries and results of a block, as many for keys and values of a chunk. */
const MAX_PACKED = 1 << 19

/** Steps from batch to batch, head to head, row to row and element to element, in elements; 0 where all share one. */
export type Strides = readonly [batch: number, head: number, row: number, element: number]

/** Those of the elements of heads. */
const stridesOfHeads = ({ batchStride, headStride, rowStride }: Heads): Strides => [
  batchStride,
  headStride,
  rowStride,
  1
]

/** The layout of a call all of whose elements are those of heads. */
export const layoutOfHeads = (batches: number, q: Heads, k: Heads, v: Heads, y: Heads): Layout => ({
  batches,
  heads: q.count,
  group: q.count / k.count,
  queries: q.length,
  keys: k.length,
  depth: q.size,
  width: v.size,
  q: stridesOfHeads(q),
  k: stridesOfHeads(k),
  v: stridesOfHeads(v),
  y: stridesOfHeads(y)
})

/** Sizes and layout of a call. */
export interface Layout {
  readonly batches: number
  readonly heads: number
  /** Heads that share keys and values. */
  readonly group: number
  readonly queries: number
  readonly keys: number
  readonly depth: number
  readonly width: number
  readonly q: Strides
  readonly k: Strides
  readonly v: Strides
  readonly y: Strides
}

/** A mask that is broadcast to the scores. */
interface Mask {
  readonly type: DType
  readonly strides: Strides
}

/** What is done to the scores. */
export interface Scoring {
  readonly scale: number
  readonly softcap?: number
  readonly mask?: Mask | undefined
  /** Applied after the first one. */
  readonly further?: Mask | undefined
  /** What a boolean mask does; one of the two is one at most. */
  readonly hidden?: Hidden
  /** Undefined: a query sees all keys; else those up to its own position, which is its number and the offset. */
  readonly causalOffset?: number | undefined
  /** Undefined: a query sees all keys before; else those from its own number and this on. */
  readonly windowOffset?: number | undefined
  /** Whether each head has the score of one more key, which takes its share of the weights and has no value. */
  readonly hasSinks?: boolean
  /** Which scores are written; those of all keys are, `[batches, heads, queries, keys]`. */
  readonly shown?: Stage | undefined
  /** What a query gives that sees no key. */
  readonly unseen: number
  /** Whether a query whose weights are NaN gives the same. */
  readonly isSafe?: boolean
}

interface DotProductParams {
  readonly causal: boolean
  readonly scale: number | undefined
  readonly keysInColumns: boolean
  readonly hidden: Hidden
  readonly group: number
  readonly rowsFirst: RowsFirst
  readonly parts: Parts
  readonly safe: boolean
  readonly softcap: number
}

/** ScaledDotProductAttention of float32 whose batch axes are two at most once those that lie side by side are one. */
export const selectScaledDotProductAttention = selectorFor<DotProductParams>(({ op, operands, parameters, dims }) => {
  const { parts } = parameters
  const template = dotProductTemplate(operands, parameters, dims)
  const reads: Reads = given => [
    ...(['query', 'key', 'value'] as const).map(name => placedArray(name, given[name]!, parts[name])),
    ...masksOf(given, parameters).map(arrayOf)
  ]
  if (template === undefined) return undefined
  const kernelFor = (given: TensorOperands): Kernel =>
    attentionKernel(op, dotProductTemplate(given, parameters, dims)!, reads)
  // Where rows lie in a room does not follow from dims alone, so the kernel that is kept is for other operands only.
  let dense = liesApart(operands) ? undefined : attentionKernel(op, template, reads)
  return {
    kernel: (given, own, context) => {
      const tensors = given as TensorOperands
      const kernel = liesApart(tensors) ? kernelFor(tensors) : (dense ??= kernelFor(tensors))
      return kernel(given, own, context)
    },
    looksAt: []
  }
})

/** Masks that there are; where causality hides keys they are ignored. */
const masksOf = ({ mask, further }: TensorOperands, { causal }: DotProductParams): readonly Tensor[] =>
  causal ? [] : [mask, further].filter(one => one !== undefined)

/** Whether keys or values lie in a room. */
const liesApart = ({ key, value }: TensorOperands): boolean =>
  [key, value].some(tensor => tensor !== undefined && liesInRoom(tensor))

/** @returns undefined where the kernel does not serve the call, which dims and types decide */
function dotProductTemplate(
  operands: TensorOperands,
  parameters: DotProductParams,
  made: readonly number[]
): JobTemplate | undefined {
  const { query, key, value } = operands
  const { causal, scale, keysInColumns, hidden, group, rowsFirst, parts, safe, softcap } = parameters
  const masks = masksOf(operands, parameters)
  if (!query || !key || !value || !areServed([query, key, value], ...masks)) return undefined
  const dims = swapHeads(made, rowsFirst.result === true)
  const dimsOf = (name: keyof Parts, of: Tensor): readonly number[] =>
    headsFirstDims(of.dims, rowsFirst[name], parts[name])
  const depth = dimsOf('query', query).at(-1)!
  const queries = dims[dims.length - 2]
  const [values, width] = dimsOf('value', value).slice(-2)
  const ownKeys = dimsOf('key', key).at(keysInColumns ? -1 : -2)!
  const keys = commonRows(ownKeys, values, ...masks.map(one => one.dims.at(-1) ?? 1))
  const batch = dims.slice(0, -2)
  const strides = (name: keyof Parts, tensor: Tensor, of: readonly number[], matrix: readonly number[]) =>
    placedStrides(tensor, [...of, ...matrix], rowsFirst[name] === true, parts[name], placeOf(name, tensor))
  const shared = sharedBatch(batch, group)
  const all = [
    strides('query', query, batch, [queries, depth]),
    strides('key', key, shared, keysInColumns ? [depth, keys] : [keys, depth]),
    strides('value', value, shared, [keys, width]),
    swapHeads(broadcastStrides(made, made), rowsFirst.result === true),
    ...masks.map(one => broadcastStrides(one.dims, [...batch, queries, keys]))
  ]
  const merged = batch.length > 2 ? mergedBatches(batch, all) : { batch, strides: all }
  if (merged === undefined) return undefined
  const [q, k, v, y, ...ofMasks] = merged.strides.map(matrixStrides)
  const [first, second] = masks.map(({ type }, i): Mask => ({ type, strides: ofMasks[i] }))
  const layout: Layout = {
    batches: merged.batch.length > 1 ? merged.batch[0] : 1,
    heads: merged.batch.at(-1) ?? 1,
    group,
    queries,
    keys,
    depth,
    width,
    q,
    k: keysInColumns ? [k[0], k[1], k[3], k[2]] : k,
    v,
    y
  }
  const scoring: Scoring = {
    scale: scale ?? 1 / Math.sqrt(depth),
    softcap,
    mask: first,
    further: second,
    hidden,
    causalOffset: causal ? 0 : undefined,
    unseen: safe ? 0 : NaN,
    isSafe: safe
  }
  return attentionTemplate(layout, scoring)
}

/**
 * Batch axes and strides with neighbours as one where every operand moves through both by one step.
 * @param strides of each operand, its last two of a matrix
 * @returns undefined where more than two axes are left
 */
function mergedBatches(
  batch: readonly number[],
  strides: readonly (readonly number[])[]
): { readonly batch: readonly number[]; readonly strides: readonly (readonly number[])[] } | undefined {
  const axes: { size: number; readonly steps: readonly number[] }[] = []
  for (let i = batch.length - 1; i >= 0; i--) {
    const steps = strides.map(of => of[i])
    const inner = axes[0]
    if (batch[i] === 1) continue
    if (inner && steps.every((step, operand) => step === inner.steps[operand] * inner.size)) inner.size *= batch[i]
    else axes.unshift({ size: batch[i], steps })
  }
  if (axes.length > 2) return undefined
  return {
    batch: axes.map(({ size }) => size),
    strides: strides.map((of, operand) => [...axes.map(({ steps }) => steps[operand]), ...of.slice(-2)])
  }
}

/** {@link broadcastStrides} of a tensor that may lie in a room or a projection, or whose rows may come before heads. */
function placedStrides(
  tensor: Tensor,
  dims: readonly number[],
  rowsFirst: boolean,
  part: Part | undefined,
  room: Room | undefined
): readonly number[] {
  if (part) {
    const own = partStrides(tensor.dims, part)
    return broadcastStrides(partDims(tensor.dims, part), dims).map((stride, i) => (stride === 0 ? 0 : own[i]))
  }
  const strides = swapHeads(broadcastStrides(tensor.dims, swapHeads(dims, rowsFirst)), rowsFirst)
  const placed = room && swapHeads(stridesIn(room, tensor.dims), rowsFirst)
  return placed ? strides.map((stride, i) => (stride === 0 ? 0 : placed[i - dims.length + placed.length])) : strides
}

/** The room in which an operand is read: caches alone are, what else lies in one is read in row-major order. */
const placeOf = (name: keyof Parts, tensor: Tensor): Room | undefined => (name === 'query' ? undefined : roomOf(tensor))

/** The array in which an operand's elements lie, in a room with {@link stridesIn}. */
const placedArray = (name: keyof Parts, tensor: Tensor, part: Part | undefined): NumericArray =>
  part ? arrayOf(tensor).subarray(part.first) : (placeOf(name, tensor)?.array ?? arrayOf(tensor))

/** Whether the kernel reads operands of these types. */
export const areServed = (operands: readonly Tensor[], ...masks: readonly (Tensor | undefined)[]): boolean =>
  operands.every(({ type }) => type === 'float32') &&
  masks.every(mask => mask === undefined || mask.type === 'float32' || mask.type === 'bool')

/** Strides of the last four axes, as many as there are. */
export function matrixStrides(strides: readonly number[]): Strides {
  const [element, row, head = 0, batch = 0] = [...strides].reverse()
  return [batch, head, row, element]
}

/** Where queries, keys, values and two masks begin. */
type Reads = (given: TensorOperands) => readonly (NumericArray | undefined)[]

const attentionKernel = (op: Op, template: JobTemplate, reads: Reads): Kernel =>
  jobKernel(op, given => {
    const [q, k, v, mask, further] = reads(given)
    return { template, inputs: attentionInputs(q!, k!, v!, { mask, further }) }
  })

/** Arrays that a job of attention may have beside queries, keys and values; scores that are shown lie on the heap. */
type FurtherInputs = Readonly<Partial<Record<'mask' | 'further' | 'sinks' | 'shown', NumericArray | undefined>>>

/** Inputs of a job; in the place of one that there is not any array may lie. */
export const attentionInputs = (
  q: NumericArray,
  k: NumericArray,
  v: NumericArray,
  { mask = q, further = q, sinks = q, shown = q }: FurtherInputs = {}
): readonly NumericArray[] => [q, k, v, mask, further, sinks, shown]

/** Numbers of the stages in the assembly; 0: none. */
const STAGES: readonly (Stage | undefined)[] = [undefined, 'products', 'capped', 'biased', 'weights']

/**
 * The arguments are those of AttentionArguments in ../assembly/f32/attention-arguments.ts, the inputs those of
 * {@link attentionInputs}.
 * @returns undefined where there is too little to do, or a row of a chunk of keys has no room
 */
export function attentionTemplate(layout: Layout, scoring: Scoring): JobTemplate | undefined {
  const { scale, softcap = 0, mask, further, hidden = HIDDEN, causalOffset, windowOffset, unseen } = scoring
  const { batches, heads, group, queries, keys, depth, width, q, k, v, y } = layout
  const multiplications = batches * heads * queries * keys * (depth + width)
  if (multiplications < MIN_MULTIPLICATIONS) return undefined
  const most = 8 * Math.floor(MAX_PACKED / 32 / (depth + width + 4))
  if (most === 0) return undefined
  const maxRows = Math.min(MAX_ROWS, most)
  const rows = Math.min(queries, 8 * Math.ceil(queries / 8 / Math.ceil(queries / maxRows)))
  const chunk = Math.min(MAX_CHUNK, most, 8 * Math.ceil(keys / 8))
  const blocks = batches * heads * Math.ceil(queries / rows)
  const bytes = (strides: Strides, count = 3): number[] => strides.slice(0, count).map(stride => stride * 4)
  return {
    kernel: 'attention',
    blocks,
    blockBytes: rows * width * 4,
    tile: tileOfFlops((2 * multiplications) / blocks, 64),
    work: workOfFlops(2 * multiplications),
    inputs: staged(7),
    args: [
      ...[heads, group, queries, keys, depth, width, rows, chunk],
      ...bytes(q),
      ...bytes(k, 4),
      ...bytes(v),
      ...bytes(y),
      ...maskArguments(mask, hidden),
      ...maskArguments(further, hidden),
      ...offsetArguments(causalOffset, layout),
      ...offsetArguments(windowOffset, layout),
      Number(scoring.hasSinks === true),
      STAGES.indexOf(scoring.shown),
      ...[scale, softcap, hidden.score, unseen].map(floatBits),
      Number(scoring.isSafe === true)
    ]
  }
}

/**
 * Whether there is an offset, and the offset itself: a window may be wider than 32 bits count, and one beyond all
 * queries and keys hides or shows as many as all of them.
 */
const offsetArguments = (offset: number | undefined, { queries, keys }: Layout): readonly number[] =>
  offset === undefined ? [0, 0] : [1, Math.max(-queries, Math.min(offset, keys))]

/** The kind of a mask and its steps. */
function maskArguments(mask: Mask | undefined, hidden: Hidden): readonly number[] {
  if (mask === undefined) return [0, 0, 0, 0, 0]
  const isBool = mask.type === 'bool'
  return [isBool ? 2 + hidden.where : 1, ...mask.strides.map(stride => stride * (isBool ? 1 : 4))]
}
