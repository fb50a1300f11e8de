import { keyCountsOf } from '../../kernels/attention/key-counts.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import type { KernelContext } from '../../op-kit/define.ts'
import type { GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { narrowed, widened } from '../halves.ts'
import { isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { type Temporaries, temporaries } from '../temporary.ts'
import { attentionInputs, attentionTemplate, matrixStrides, type Strides } from './attention.ts'
import { inRows, preparedIn, type RowStrides, type Sizes } from './grouped-heads.ts'
import { extended } from './grouped-present.ts'

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

/** What the layers of a model have alike. */
const attentions = /* @__PURE__ */ remembered<JobTemplate | undefined>()

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
