import { keyCountsOf } from '../../kernels/attention/key-counts.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import type { KernelContext } from '../../op-kit/define.ts'
import type { GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { indexReader, toNumbers } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { narrowed, widened } from '../halves.ts'
import { isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { type Temporaries, temporaries } from '../temporary.ts'
import { attentionInputs, attentionTemplate, matrixStrides, type Strides } from './attention.ts'
import { rotateTemplate } from './rotary.ts'

/** Elements from batch to batch, head to head and row to row. */
type RowStrides = readonly [batch: number, head: number, row: number]

/** Heads in an array, whose elements are moved only, or are of single precision. */
interface PlacedHeads<A> {
  readonly numbers: A
  readonly steps: RowStrides
}
interface FloatHeads extends PlacedHeads<Float32Array> {
  /** The same heads in 16 bits, where they come from such and have not changed. */
  readonly codes?: Uint16Array | undefined
}

/** Sizes of a call. */
interface Sizes {
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

/**
 * Grouped attention of floats of one type by jobs alone: those that rotate queries and fresh keys, and one that
 * attends, or one for each entry of the batch where these have different numbers of keys. A token spends more on what a
 * general kernel looks at and copies than on its keys. Floats of 16 bits are widened, and of the present only the fresh
 * rows are rounded.
 * @returns false, with nothing done that counts, where the operator's own kernel has to compute the call: scores of
 *   entries with padding, too little to do, no room, and whatever has to be refused
 */
export function* attendInJobs(
  x: GroupedOperands<Tensor>,
  p: GroupedRunParams,
  call: KernelContext
): Generator<void, boolean> {
  const { heads, shared, total } = p
  const [batches, fresh, columns] = x.query.dims
  const valid = Array.from(toNumbers(x.lengths), length => length + p.counted)
  if (valid.length !== batches) return false
  const { past } = keyCountsOf(valid, fresh, total)
  const capacity = x.pastKey?.dims[2] ?? 0
  const isShown = p.shown !== 'nothing' && call.wanted(3)
  const sizes: Sizes = {
    ...{ batches, heads, shared, fresh, size: columns / (x.key ? heads : heads + 2 * shared) },
    ...{ capacity, rows: Math.max(total, capacity), past, valid, total },
    // A bias and shown scores have columns for all keys.
    first: p.window > 0 && !x.bias && !isShown ? Math.max(0, Math.min(...past) - p.window + 1) : 0
  }
  if (past.some(count => count > capacity) || (isShown && valid.some(count => count !== total))) return false
  const parts = temporaries()
  try {
    const prepared = yield* preparedIn(x, p, sizes, parts, call.threads)
    if (prepared === undefined) return false
    const { q, k, v } = prepared
    const keys = yield* extended(k, x.pastKey, call.wanted(1) ? call.rawOutput(1) : undefined, sizes, parts)
    const values = yield* extended(v, x.pastValue, call.wanted(2) ? call.rawOutput(2) : undefined, sizes, parts)
    const result = call.rawOutput()
    const out = roomFor(result, parts)
    const scores = isShown ? call.rawOutput(3) : undefined
    const shown = scores && roomFor(scores, parts, true)
    if (shown && !isOnHeap(shown)) return false
    const mask = x.bias && (yield* widened(x.bias, parts))
    const sinks = x.sinks ? yield* widened(x.sinks, parts) : p.smooth ? new Float32Array(heads) : undefined
    const y = inRows(heads, fresh, sizes.size)
    const maskSteps = x.bias && matrixStrides(broadcastStrides(x.bias.dims, [batches, heads, fresh, total]))
    const isEven = valid.every((count, entry) => count === valid[0] && past[entry] === past[0])
    const each = isEven ? batches : 1
    for (let entry = 0; entry < batches; entry += each) {
      const steps = [q.steps, keys.steps, values.steps, y] as const
      const template = templateOf(sizes, entry, each, steps, maskSteps, sinks !== undefined, isShown, p)
      const [queries, own, others] = [q, keys, values].map(({ numbers, steps: [step] }) =>
        entry === 0 ? numbers : numbers.subarray(entry * step)
      )
      const inputs = attentionInputs(queries, own, others, {
        ...{ mask: mask?.subarray(entry * maskSteps![0]), sinks },
        shown: shown?.subarray(entry * heads * fresh * total)
      })
      const to = isEven ? out : out.subarray(entry * y[0], (entry + 1) * y[0])
      if (template === undefined || !(yield* runJob(template, inputs, to, call.threads))) return false
    }
    if (shown && p.shown === 'biased') yield* showHidden(shown)
    for (const [from, own] of [[out, result] as const, [shown, scores] as const])
      if (from && own && from !== own.data) yield* finished(from, own)
    return true
  } finally {
    parts.free()
  }
}

/** An array of float32 for what a result is made of: its own, unless this has another type or has to lie elsewhere. */
const roomFor = ({ type, data }: Tensor, parts: Temporaries, mustBeOnHeap = false): Float32Array =>
  type === 'float32' && (!mustBeOnHeap || isOnHeap(data)) ? data : parts.allocate(data.length)

/** Writes a result from the array of {@link roomFor}. */
function* finished(from: Float32Array, result: Tensor): Generator<void> {
  if (result.type === 'float32') result.data.set(from)
  else yield* narrowed(new Tensor('float32', from, [from.length]), result)
}

/** Scores of hidden keys become 0. */
const showHidden = (scores: Float32Array): Generator<void> =>
  inChunks(scores.length, (from, to) => {
    for (let i = from; i < to; i++) if (scores[i] === -Infinity) scores[i] = 0
  })

const floatsOf = ({ data }: Tensor): Float32Array => data as Float32Array

/** Heads side by side in rows, which may have further columns; one after the other. */
const inRows = (heads: number, rows: number, size: number, columns = heads * size): RowStrides => [
  rows * columns,
  size,
  columns
]
const inBlocks = (heads: number, rows: number, size: number): RowStrides => [heads * rows * size, rows * size, size]

/** What the layers of a model have alike. */
const attentions = /* @__PURE__ */ remembered<JobTemplate | undefined>()
const queryRotations = /* @__PURE__ */ remembered<JobTemplate>()
const keyRotations = /* @__PURE__ */ remembered<JobTemplate>()

/** @param steps of queries, keys, values and results */
function templateOf(
  { heads, shared, fresh, size, past: pasts, valid, first }: Sizes,
  entry: number,
  each: number,
  steps: readonly RowStrides[],
  mask: Strides | undefined,
  hasSinks: boolean,
  isShown: boolean,
  p: GroupedRunParams
): JobTemplate | undefined {
  const [past, keys] = [pasts[entry] - first, valid[entry] - first]
  const stage = isShown ? (p.shown as 'biased' | 'weights') : undefined
  const numbers = [each, heads, shared, fresh, size, past, keys, ...steps.flat(), ...(mask ?? [])]
  const flags = [p.causal, hasSinks, stage !== undefined, stage === 'weights'].map(Number)
  return attentions([...numbers, p.scale, p.softcap, p.window, ...flags], () => {
    const [q, k, v, y] = steps.map((own): Strides => [...own, 1])
    return attentionTemplate(
      { batches: each, heads, group: heads / shared, queries: fresh, keys, depth: size, width: size, q, k, v, y },
      {
        scale: p.scale === 0 ? 1 / Math.sqrt(size) : p.scale,
        softcap: p.softcap,
        mask: mask && { type: 'float32', strides: mask },
        causalOffset: p.causal ? past : undefined,
        windowOffset: p.window > 0 ? past - p.window + 1 : undefined,
        hasSinks,
        shown: stage,
        unseen: 0
      }
    )
  })
}

/** Queries, keys and values, which may be parts of one operand; undefined where they cannot be rotated. */
function* preparedIn(
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
function* copyWide({ type, data }: Tensor, from: number, to: Float32Array): Generator<void> {
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

/**
 * Makes a present where it is wanted, and gives what is attended to from the first such key on: the present itself, or
 * of 16 bits and where there is none, the rows that count, the fresh ones as they were before rounding.
 */
function* extended(
  fresh: FloatHeads,
  past: Tensor | undefined,
  present: Tensor | undefined,
  sizes: Sizes,
  parts: Temporaries
): Generator<void, FloatHeads> {
  const { batches, shared, size, rows, first } = sizes
  if (present?.type === 'float32') {
    const to = floatsOf(present)
    extend(fresh, past && floatsOf(past), to, sizes)
    return { numbers: to.subarray(first * size), steps: inBlocks(shared, rows, size) }
  }
  if (present) {
    const codes = fresh.codes ?? (yield* rounded(fresh.numbers, present.type, parts))
    extend(
      { numbers: codes, steps: fresh.steps },
      past && (past.data as Uint16Array),
      present.data as Uint16Array,
      sizes
    )
  }
  const before = sizes.past.map(count => count - first)
  const most = Math.max(...before)
  if (most === 0) return fresh
  const kept = most + sizes.fresh
  const numbers = parts.allocate(batches * shared * kept * size)
  for (let at = 0; at < batches * shared; at++) {
    const start = at * kept * size
    const to = numbers.subarray(start, start + before[Math.floor(at / shared)] * size)
    yield* copyWide(past!, (at * sizes.capacity + first) * size, to)
  }
  place(fresh, numbers, kept, { ...sizes, past: before })
  return { numbers, steps: inBlocks(shared, kept, size) }
}

/** Numbers in 16 bits. */
function* rounded(
  numbers: Float32Array,
  type: Tensor['type'],
  parts: Temporaries
): Generator<void, Uint16Array<ArrayBufferLike>> {
  const room = parts.allocate(Math.ceil(numbers.length / 2))
  const codes = new Uint16Array(room.buffer, room.byteOffset, numbers.length)
  const from = new Tensor('float32', numbers, [numbers.length])
  const to = new Tensor(type, codes as never, [numbers.length])
  // Rounded into an array elsewhere, numbers on the heap would be lost.
  yield* isOnHeap(codes) ? narrowed(from, to) : convertPaced(from, to)
  return codes
}

/** The present: the rows of the past, unless they are there, then the fresh ones, then zeros. */
function extend<A extends Float32Array | Uint16Array>(
  own: PlacedHeads<A>,
  from: A | undefined,
  to: A,
  sizes: Sizes
): void {
  const { batches, shared, fresh, size, capacity, rows } = sizes
  for (let at = 0; from !== to && at < batches * shared; at++) {
    const start = at * rows * size
    const past = sizes.past[Math.floor(at / shared)]
    if (from) to.set(from.subarray(at * capacity * size, (at * capacity + past) * size), start)
    to.fill(0, start + (past + fresh) * size, start + rows * size)
  }
  place(own, to, rows, sizes)
}

/** Writes the fresh rows of heads of `rows` rows, which follow those of the past. */
function place<A extends Float32Array | Uint16Array>(
  { numbers, steps }: PlacedHeads<A>,
  to: A,
  rows: number,
  { batches, shared, fresh, size, past }: Sizes
): void {
  // Rows that follow one another go at once.
  const [runs, count] = steps[2] === size ? [1, fresh] : [fresh, 1]
  const length = count * size
  for (let batch = 0; batch < batches; batch++)
    for (let head = 0; head < shared; head++) {
      const own = batch * steps[0] + head * steps[1]
      let next = ((batch * shared + head) * rows + past[batch]) * size
      for (let run = 0; run < runs; run++, next += length)
        to.set(numbers.subarray(own + run * steps[2], own + run * steps[2] + length), next)
    }
}
