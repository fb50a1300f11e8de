import type { GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { indexReader } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { widened } from '../halves.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import type { Temporaries } from '../temporary.ts'
import { rotateTemplate } from './rotary.ts'

/** Elements from batch to batch, head to head and row to row. */
export type RowStrides = readonly [batch: number, head: number, row: number]

/** Heads in an array, whose elements are moved only, or are of single precision. */
export interface PlacedHeads<A> {
  readonly numbers: A
  readonly steps: RowStrides
}
export interface FloatHeads extends PlacedHeads<Float32Array> {
  /** The same heads in 16 bits, where they come from such and have not changed. */
  readonly codes?: Uint16Array | undefined
}

/** Sizes of a call. */
export interface Sizes {
  readonly batches: number
  readonly heads: number
  readonly shared: number
  readonly fresh: number
  readonly size: number
  /** Rows of the past, and of the present. */
  readonly capacity: number
  readonly rows: number
  /** Keys of each entry of the batch before the fresh ones, and all that are valid. */
  readonly past: readonly number[]
  readonly valid: readonly number[]
  readonly total: number
  /** Row of the first key that is attended to. */
  readonly first: number
}

export const floatsOf = ({ data }: Tensor): Float32Array => data as Float32Array

/** Heads side by side in rows, which may have further columns; one after the other. */
export const inRows = (heads: number, rows: number, size: number, columns = heads * size): RowStrides => [
  rows * columns,
  size,
  columns
]
export const inBlocks = (heads: number, rows: number, size: number): RowStrides => [
  heads * rows * size,
  rows * size,
  size
]

/** What the layers of a model have alike. */
const queryRotations = /* @__PURE__ */ remembered<JobTemplate>()
const keyRotations = /* @__PURE__ */ remembered<JobTemplate>()

/** Queries, keys and values, which may be parts of one operand; undefined where they cannot be rotated. */
export function* preparedIn(
  x: GroupedOperands<Tensor>,
  p: GroupedRunParams,
  sizes: Sizes,
  parts: Temporaries,
  threads: number
): Generator<void, Readonly<Record<'q' | 'k' | 'v', FloatHeads>> | undefined> {
  const { heads, shared, fresh, size } = sizes
  const isPacked = x.key === undefined
  const query = yield* placed(x.query, inRows(heads, fresh, size, x.query.dims[2]), parts)
  const steps = inRows(shared, fresh, size)
  const key = x.key ? yield* placed(x.key, steps, parts) : headsFrom(query, heads)
  const value = x.value ? yield* placed(x.value, steps, parts) : headsFrom(query, heads + shared)
  if (!p.rotates) return { q: query, k: key, v: value }
  const angles = yield* anglesOf(x, p, sizes, parts)
  if (angles === undefined) return undefined
  // Those of one operand lie side by side.
  const q = yield* rotated(query, isPacked ? heads + shared : heads, angles, sizes, p, parts, threads)
  const k = q && (isPacked ? headsFrom(q, heads) : yield* rotated(key, shared, angles, sizes, p, parts, threads))
  return q && k && { q, k, v: value }
}

/** The heads from the one with a number on. */
const headsFrom = ({ numbers, codes, steps }: FloatHeads, head: number): FloatHeads => ({
  numbers: numbers.subarray(head * steps[1]),
  codes: codes?.subarray(head * steps[1]),
  steps
})

function* placed(tensor: Tensor, steps: RowStrides, parts: Temporaries): Generator<void, FloatHeads> {
  const codes = tensor.type === 'float32' ? undefined : (tensor.data as Uint16Array)
  return { numbers: yield* widened(tensor, parts), codes, steps }
}

/** Cosines and sines of the fresh rows, and the step from batch to batch. */
interface FreshAngles {
  readonly tables: readonly Float32Array[]
  readonly half: number
  readonly step: number
}

/** Undefined where a position has no angles: the operator's own kernel is to say which. */
function* anglesOf(
  { cos, sin, positions }: GroupedOperands<Tensor>,
  { total }: GroupedRunParams,
  { batches, fresh, past }: Sizes,
  parts: Temporaries
): Generator<void, FreshAngles | undefined> {
  const [limit, half] = cos!.dims
  const own = positions && indexReader(positions)
  const inPrompt = fresh === total
  const position = (token: number): number => {
    const [entry, row] = [Math.floor(token / fresh), token % fresh]
    if (!own) return past[entry] + row
    return inPrompt ? own(0) + row : own(token)
  }
  const rows = Array.from({ length: batches * fresh }, (_, token) => position(token))
  if (!rows.every(row => row >= 0 && row < limit)) return undefined
  const areAlike = rows.every((row, token) => row === rows[0] + (token % fresh))
  const count = areAlike ? fresh : rows.length
  const tables: Float32Array[] = []
  for (const table of [cos!, sin!]) {
    if (areAlike && table.type === 'float32') {
      tables.push(floatsOf(table).subarray(rows[0] * half, (rows[0] + fresh) * half))
      continue
    }
    const to = parts.allocate(count * half)
    for (let from = 0, end = 0; from < count; from = end) {
      for (end = from + 1; end < count && rows[end] === rows[end - 1] + 1;) end++
      yield* copyWide(table, rows[from] * half, to.subarray(from * half, end * half))
    }
    tables.push(to)
  }
  return { tables, half, step: areAlike ? 0 : fresh * half }
}

/** Copies numbers from an index on. */
export function* copyWide({ type, data }: Tensor, from: number, to: Float32Array): Generator<void> {
  const part = (data as Float32Array).subarray(from, from + to.length)
  if (type === 'float32') to.set(part)
  else if (part.length > 0) yield* widened(new Tensor(type, part as never, [part.length]), to)
}

/** Heads rotated by their positions; undefined where the heap is full. */
function* rotated(
  from: FloatHeads,
  heads: number,
  { tables, half, step }: FreshAngles,
  { batches, shared, fresh, size }: Sizes,
  { interleaved }: GroupedRunParams,
  parts: Temporaries,
  threads: number
): Generator<void, FloatHeads | undefined> {
  const steps = inBlocks(heads, fresh, size)
  const numbers = parts.allocate(batches * steps[0])
  const kept = heads === shared ? keyRotations : queryRotations
  const template = kept([batches, heads, fresh, size, half, step, Number(interleaved), ...from.steps], () =>
    rotateTemplate({
      ...{ batches, heads, length: fresh, size, half, interleaved, perElement: false },
      steps: [from.steps, steps, [step, 0, half]]
    })
  )
  const isDone = yield* runJob(template, [from.numbers, ...tables], numbers, threads)
  return isDone ? { numbers, steps } : undefined
}
