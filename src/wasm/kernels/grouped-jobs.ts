import { keyCountsOf } from '../../kernels/attention/key-counts.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import type { KernelContext } from '../../op-kit/define.ts'
import type { GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { narrowed, widened } from '../halves.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered, type Remembered } from '../remembered.ts'
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
type FloatHeads = PlacedHeads<Float32Array>

/** Sizes of a call all of whose entries have as many keys. */
interface Sizes {
  readonly batches: number
  readonly heads: number
  readonly shared: number
  readonly fresh: number
  readonly size: number
  /** Rows of the past, of the present, and those of both before the fresh ones. */
  readonly capacity: number
  readonly rows: number
  readonly past: number
  /** Row of the first key that is attended to. */
  readonly first: number
}

/**
 * Grouped attention of floats of one type by jobs alone: those that rotate queries and fresh keys, and one that
 * attends. A token spends more on what a general kernel looks at and copies than on its keys. Floats of 16 bits are
 * widened, and of the present only the fresh rows are rounded.
 * @returns false, with nothing done that counts, where the operator's own kernel has to compute the call: entries with
 *   different numbers of keys, results that nobody wants, too little to do, no room, and whatever has to be refused
 */
export function* attendInJobs(
  x: GroupedOperands<Tensor>,
  p: GroupedRunParams,
  call: KernelContext
): Generator<void, boolean> {
  const [batches, fresh, columns] = x.query.dims
  const valid = toNumbers(x.lengths).map(length => length + p.counted)
  const keyCounts = keyCountsOf(valid, fresh, p.total)
  const [past] = keyCounts.past
  const capacity = x.pastKey?.dims[2] ?? 0
  const sizes: Sizes = {
    ...{ batches, heads: p.heads, shared: p.shared, fresh, size: columns / p.heads },
    ...{ capacity, rows: Math.max(p.total, capacity), past },
    // A bias has columns for all keys.
    first: p.window > 0 && x.bias === undefined ? Math.max(0, past - p.window + 1) : 0
  }
  const isServed =
    valid.length === batches &&
    valid.every(count => count === valid[0]) &&
    past <= capacity &&
    (!p.rotates || past + fresh <= x.cos!.dims[0]) &&
    call.wanted(1) &&
    call.wanted(2)
  const template = isServed ? templateOf(sizes, valid[0], x, p) : undefined
  if (template === undefined) return false
  const parts = temporaries()
  try {
    const result = call.rawOutput()
    const isHalf = result.type !== 'float32'
    const out = isHalf ? new Tensor('float32', parts.allocate(batches * fresh * columns), result.dims) : result
    const key = { numbers: yield* widened(x.key!, parts), steps: inRows(p.shared, fresh, sizes.size) }
    const query = { numbers: yield* widened(x.query, parts), steps: inRows(p.heads, fresh, sizes.size) }
    const isRotated = p.rotates
    const q = isRotated ? yield* rotated(query, p.heads, sizes, x, p, parts, call.threads, queryRotations) : query
    const k = isRotated ? yield* rotated(key, p.shared, sizes, x, p, parts, call.threads, keyRotations) : key
    if (q === undefined || k === undefined) return false
    const v = { numbers: yield* widened(x.value!, parts), steps: key.steps }
    const keys = yield* extended(k, x.pastKey, call.rawOutput(1), sizes, parts)
    const values = yield* extended(v, x.pastValue, call.rawOutput(2), sizes, parts)
    const mask = x.bias && (yield* widened(x.bias, parts))
    const sinks = x.sinks ? yield* widened(x.sinks, parts) : p.smooth ? new Float32Array(p.heads) : undefined
    const inputs = attentionInputs(q.numbers, keys, values, { mask, sinks })
    if (!(yield* runJob(template, inputs, floatsOf(out), call.threads))) return false
    if (isHalf) yield* narrowed(out, result)
    return true
  } finally {
    parts.free()
  }
}

const floatsOf = ({ data }: Tensor): Float32Array => data as Float32Array

/** Heads side by side in rows; one after the other. */
const inRows = (heads: number, rows: number, size: number): RowStrides => [rows * heads * size, size, heads * size]
const inBlocks = (heads: number, rows: number, size: number): RowStrides => [heads * rows * size, rows * size, size]

/** What the layers of a model have alike. */
const attentions = /* @__PURE__ */ remembered<JobTemplate | undefined>()
const queryRotations = /* @__PURE__ */ remembered<JobTemplate>()
const keyRotations = /* @__PURE__ */ remembered<JobTemplate>()

function templateOf(
  sizes: Sizes,
  keys: number,
  { query, bias, sinks }: GroupedOperands<Tensor>,
  p: GroupedRunParams
): JobTemplate | undefined {
  const { batches, heads, shared, fresh, size, past, first } = sizes
  const rows = query.type === 'float32' ? sizes.rows : past + fresh - first
  const hasSinks = sinks !== undefined || p.smooth
  const numbers = [batches, heads, shared, fresh, size, rows, past, first, keys, p.total, ...(bias?.dims ?? [])]
  const flags = [p.causal, p.rotates, hasSinks].map(Number)
  return attentions([...numbers, p.scale, p.softcap, p.window, ...flags], () =>
    makeTemplate({ ...sizes, rows }, keys, bias, p, hasSinks)
  )
}

function makeTemplate(
  { batches, heads, shared, fresh, size, rows, past, first }: Sizes,
  keys: number,
  bias: Tensor | undefined,
  p: GroupedRunParams,
  hasSinks: boolean
): JobTemplate | undefined {
  const cache: Strides = [...inBlocks(shared, rows, size), 1]
  const own: Strides = [...inRows(heads, fresh, size), 1]
  const steps = bias && matrixStrides(broadcastStrides(bias.dims, [batches, heads, fresh, p.total]))
  return attentionTemplate(
    {
      ...{ batches, heads, group: heads / shared, queries: fresh, keys: keys - first, depth: size, width: size },
      ...{ q: p.rotates ? [...inBlocks(heads, fresh, size), 1] : own, k: cache, v: cache, y: own }
    },
    {
      scale: p.scale === 0 ? 1 / Math.sqrt(size) : p.scale,
      softcap: p.softcap,
      mask: steps && { type: 'float32', strides: steps },
      causalOffset: p.causal ? past - first : undefined,
      windowOffset: p.window > 0 ? past - first - p.window + 1 : undefined,
      hasSinks,
      unseen: 0
    }
  )
}

/** Heads rotated by their positions, which follow those of the past; undefined where the heap is full. */
function* rotated(
  from: FloatHeads,
  heads: number,
  { batches, fresh, size, past }: Sizes,
  { cos, sin }: GroupedOperands<Tensor>,
  { interleaved }: GroupedRunParams,
  parts: Temporaries,
  threads: number,
  kept: Remembered<JobTemplate>
): Generator<void, FloatHeads | undefined> {
  const half = cos!.dims[1]
  const steps = inBlocks(heads, fresh, size)
  const numbers = parts.allocate(batches * steps[0])
  const template = kept([batches, heads, fresh, size, half, Number(interleaved), ...from.steps], () =>
    rotateTemplate({
      ...{ batches, heads, length: fresh, size, half, interleaved, perElement: false },
      steps: [from.steps, steps, [0, 0, half]]
    })
  )
  const [start, end] = [past * half, (past + fresh) * half]
  const angles: Float32Array[] = []
  for (const { type, data } of [cos!, sin!]) {
    const rows = (data as Float32Array).subarray(start, end)
    angles.push(yield* widened(new Tensor(type, rows as never, [rows.length]), parts))
  }
  const isDone = yield* runJob(template, [from.numbers, ...angles], numbers, threads)
  return isDone ? { numbers, steps } : undefined
}

/**
 * Makes a present, and gives the numbers that are attended to: the present itself, or of 16 bits the rows that count,
 * the fresh ones as they were before rounding.
 */
function* extended(
  fresh: FloatHeads,
  past: Tensor | undefined,
  present: Tensor,
  sizes: Sizes,
  parts: Temporaries
): Generator<void, Float32Array> {
  const { batches, shared, size, rows, first } = sizes
  const before = sizes.past - first
  if (present.type === 'float32') {
    const to = floatsOf(present)
    extend(fresh, past && floatsOf(past), to, sizes)
    return to.subarray(first * size)
  }
  const own = new Tensor('float32', fresh.numbers, [fresh.numbers.length])
  const codes = new Uint16Array(fresh.numbers.length)
  yield* convertPaced(own, new Tensor(present.type, codes as never, own.dims))
  const to = present.data as Uint16Array
  extend({ ...fresh, numbers: codes }, past && (past.data as Uint16Array), to, sizes)
  const kept = before + sizes.fresh
  const numbers = parts.allocate(batches * shared * kept * size)
  for (let head = 0; head < batches * shared; head++) {
    const row = (head * rows + first) * size
    const part = new Tensor(present.type, to.subarray(row, row + before * size) as never, [before * size])
    const start = head * kept * size
    yield* widened(part, numbers.subarray(start, start + before * size))
  }
  place(fresh, numbers, kept, { ...sizes, past: before })
  return numbers
}

/** The present: the rows of the past, unless they are there, then the fresh ones, then zeros. */
function extend<A extends Float32Array | Uint16Array>(
  own: PlacedHeads<A>,
  from: A | undefined,
  to: A,
  sizes: Sizes
): void {
  const { batches, shared, fresh, size, capacity, rows, past } = sizes
  for (let at = 0; from !== to && at < batches * shared; at++) {
    const start = at * rows * size
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
  for (let batch = 0; batch < batches; batch++)
    for (let head = 0; head < shared; head++) {
      const own = batch * steps[0] + head * steps[1]
      let next = ((batch * shared + head) * rows + past) * size
      for (let row = 0; row < fresh; row++, next += size)
        to.set(numbers.subarray(own + row * steps[2], own + row * steps[2] + size), next)
    }
}
