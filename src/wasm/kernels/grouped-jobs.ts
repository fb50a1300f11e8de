import { keyCountsOf } from '../../kernels/attention/key-counts.ts'
import type { KernelContext } from '../../op-kit/define.ts'
import type { GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered, type Remembered } from '../remembered.ts'
import { runHere } from '../selector.ts'
import { type Temporaries, temporaries } from '../temporary.ts'
import { attentionTemplate, type Strides } from './attention.ts'
import { rotateTemplate } from './rotary.ts'

/** Elements from batch to batch, head to head and row to row. */
type RowStrides = readonly [batch: number, head: number, row: number]

/** Heads in an array. */
interface FloatHeads {
  readonly numbers: Float32Array
  readonly steps: RowStrides
}

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
}

/**
 * Grouped attention of float32 by jobs alone: those that rotate queries and fresh keys, and one that attends. A token
 * spends more on what a general kernel looks at and copies than on its keys.
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
    ...{ capacity, rows: Math.max(p.total, capacity), past }
  }
  const isServed =
    valid.length === batches &&
    valid.every(count => count === valid[0]) &&
    past <= capacity &&
    (!p.rotates || past + fresh <= x.cos!.dims[0]) &&
    call.wanted(1) &&
    call.wanted(2)
  const template = isServed ? templateOf(sizes, valid[0], p) : undefined
  if (template === undefined) return false
  const out = floatsOf(call.rawOutput())
  const parts = temporaries()
  try {
    const key = { numbers: floatsOf(x.key!), steps: inRows(p.shared, fresh, sizes.size) }
    const query = { numbers: floatsOf(x.query), steps: inRows(p.heads, fresh, sizes.size) }
    const isRotated = p.rotates
    const q = isRotated ? yield* rotated(query, p.heads, sizes, x, p, parts, call.threads, queryRotations) : query
    const k = isRotated ? yield* rotated(key, p.shared, sizes, x, p, parts, call.threads, keyRotations) : key
    if (q === undefined || k === undefined) return false
    const keys = extended(k, x.pastKey, call.rawOutput(1), sizes)
    const v = { numbers: floatsOf(x.value!), steps: key.steps }
    const values = extended(v, x.pastValue, call.rawOutput(2), sizes)
    return yield* runHere(template, [q.numbers, keys, values, q.numbers, q.numbers], out, call.threads)
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

function templateOf(sizes: Sizes, keys: number, p: GroupedRunParams): JobTemplate | undefined {
  const { batches, heads, shared, fresh, size, rows, past } = sizes
  const numbers = [batches, heads, shared, fresh, size, rows, past, keys]
  return attentions([...numbers, p.scale, p.softcap, Number(p.causal), Number(p.rotates)], () =>
    makeTemplate(sizes, keys, p)
  )
}

function makeTemplate({ batches, heads, shared, fresh, size, rows, past }: Sizes, keys: number, p: GroupedRunParams) {
  const cache: Strides = [...inBlocks(shared, rows, size), 1]
  const own: Strides = [...inRows(heads, fresh, size), 1]
  return attentionTemplate(
    {
      ...{ batches, heads, group: heads / shared, queries: fresh, keys, depth: size, width: size },
      ...{ q: p.rotates ? [...inBlocks(heads, fresh, size), 1] : own, k: cache, v: cache, y: own }
    },
    {
      scale: p.scale === 0 ? 1 / Math.sqrt(size) : p.scale,
      softcap: p.softcap,
      causalOffset: p.causal ? past : undefined,
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
  const angles = [cos!, sin!].map(table => floatsOf(table).subarray(start, end))
  const isDone = yield* runHere(template, [from.numbers, ...angles], numbers, threads)
  return isDone ? { numbers, steps } : undefined
}

/** The present: the rows of the past, unless they are there, then the fresh ones, then zeros. */
function extended(
  { numbers, steps }: FloatHeads,
  past: Tensor | undefined,
  present: Tensor,
  sizes: Sizes
): Float32Array {
  const to = floatsOf(present)
  const { batches, shared, fresh, size, capacity, rows, past: before } = sizes
  const from = past && floatsOf(past)
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < shared; head++) {
      const at = batch * shared + head
      const start = at * rows * size
      const end = start + (before + fresh) * size
      if (from !== to) {
        if (from) to.set(from.subarray(at * capacity * size, (at * capacity + before) * size), start)
        to.fill(0, end, start + rows * size)
      }
      const own = batch * steps[0] + head * steps[1]
      for (let row = 0, next = start + before * size; row < fresh; row++, next += size)
        to.set(numbers.subarray(own + row * steps[2], own + row * steps[2] + size), next)
    }
  }
  return to
}
