import { fail } from '../errors.ts'
import { blockMask } from '../kernels/attention/block-mask.ts'
import { type CacheRows, type Coding, extendCache, residentRows } from '../kernels/attention/cache.ts'
import { type Grouped, type grouped, preparedHeads, type Preparing } from '../kernels/attention/grouped.ts'
import { type Heads, headsInRows } from '../kernels/attention/heads.ts'
import { type KeyCounts, keyCountsOf } from '../kernels/attention/key-counts.ts'
import { maskReader } from '../kernels/attention/masks.ts'
import { readNumbers, targetOf } from '../kernels/core/numbers.ts'
import { Pace } from '../kernels/core/pace.ts'
import { indexReader, toNumbers } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { KernelContext } from './define.ts'
import type { GroupedOperands, GroupedParams } from './grouped.ts'

/** Attention in the place of the reference, which it is given for what it cannot do. */
export type Attend = (given: Grouped, pace: Pace, reference: typeof grouped) => Generator<void>

/** Parameters of a call of grouped attention. */
export interface GroupedRunParams extends GroupedParams {
  /** 0: 1 / sqrt(depth). */
  readonly scale: number
  readonly softcap: number
  readonly interleaved: boolean
  /** A hidden key of score 0 takes part in softmax. */
  readonly smooth: boolean
  /** What result 3 holds. */
  readonly shown: 'nothing' | 'biased' | 'weights'
  readonly epsilon: number
  /** What is added to the lengths to get numbers of valid keys. */
  readonly counted: 0 | 1
  /** The largest number of valid keys. */
  readonly total: number
  /** The accelerated kernel, where one runs. */
  readonly attend?: Attend
}

type Given = GroupedOperands<Tensor>

/**
 * Prepares queries and fresh keys, extends the caches, and attends.
 * @param reference {@link grouped}
 */
export function* runGrouped(
  x: Given,
  p: GroupedRunParams,
  call: KernelContext,
  reference: typeof grouped
): Generator<void> {
  const [batches, fresh] = x.query.dims
  const lengths = toNumbers(x.lengths)
  const keyCounts = keyCountsOf(
    Array.from({ length: batches }, (_, i) => lengths[i] + p.counted),
    fresh,
    p.total
  )
  const pace = new Pace()
  const { q, k, v } = yield* inputsOf(x, p, keyCounts, pace)
  const target = targetOf(call.output())
  const { rows, first } = cacheRows(x.pastKey, keyCounts, fresh, p)
  const attended: Heads[] = []
  for (const [i, heads] of [k, v].entries()) {
    const [past, scales] = i === 0 ? [x.pastKey, x.keyScale] : [x.pastValue, x.valueScale]
    const coding = scales && p.bits !== 0 ? { type: codeType(past, p.bits), scales: toNumbers(scales) } : undefined
    const present = call.wanted(i + 1) ? call.rawOutput(i + 1) : undefined
    const side = { fresh: heads, past, present, coding, isSingle: p.attend !== undefined }
    attended.push(yield* extendCache(side, rows, batches, pace))
  }
  const shown = call.wanted(3) && p.shown !== 'nothing' ? targetOf(call.output(3)) : undefined
  const { attend = reference } = p
  yield* attend(
    {
      batches,
      q,
      k: attended[0],
      v: attended[1],
      first,
      keyCounts,
      out: headsInRows(target.numbers, p.heads, fresh, q.size),
      scale: p.scale,
      softcap: p.softcap,
      causal: p.causal,
      window: p.window,
      bias: x.bias && maskReader(x.bias, [batches, p.heads], fresh, p.total),
      hideBlocks: x.blockRows && x.blockColumns && blockMask(x.blockRows, x.blockColumns, p.block),
      sinks: x.sinks ? toNumbers(x.sinks) : p.smooth ? new Float64Array(p.heads) : undefined,
      shown: shown && { numbers: shown.numbers, total: p.total, stage: p.shown as 'biased' | 'weights' }
    },
    pace,
    reference
  )
  yield* target.finish()
  if (shown) yield* shown.finish()
}

/** Queries, keys and values as heads, normalized and rotated. */
function* inputsOf(
  x: Given,
  p: GroupedRunParams,
  { past }: KeyCounts,
  pace: Pace
): Generator<void, { q: Heads; k: Heads; v: Heads }> {
  const [batches, fresh, columns] = x.query.dims
  const [query, key, value] = [
    yield* readNumbers(x.query),
    x.key && (yield* readNumbers(x.key)),
    x.value && (yield* readNumbers(x.value))
  ]
  const size = columns / (key ? p.heads : p.heads + 2 * p.shared)
  const part = (count: number, before: number): Heads => headsInRows(query, count, fresh, size, columns, before * size)
  const own = x.positions && indexReader(x.positions)
  const inPrompt = fresh === p.total
  const angles =
    p.rotates && x.cos && x.sin ? { cos: yield* readNumbers(x.cos), sin: yield* readNumbers(x.sin) } : undefined
  const half = x.cos?.dims[1] ?? 0
  const how = (norm: Tensor | undefined): Preparing => ({
    norm: norm && { factors: toNumbers(norm), epsilon: p.epsilon },
    angles: angles && { ...angles, half, interleaved: p.interleaved },
    positions: x.cos?.dims[0] ?? 0,
    position: (batch, row) => {
      if (!own) return past[batch] + row
      return inPrompt ? own(0) + row : own(batch * fresh + row)
    }
  })
  return {
    q: yield* preparedHeads(part(p.heads, 0), batches, how(x.queryNorm), pace),
    k: yield* preparedHeads(
      key ? headsInRows(key, p.shared, fresh, size) : part(p.shared, p.heads),
      batches,
      how(x.keyNorm),
      pace
    ),
    v: value ? headsInRows(value, p.shared, fresh, size) : part(p.shared, p.heads + p.shared)
  }
}

/** The type of the codes of a cache. */
const codeType = (past: Tensor | undefined, bits: number): Coding['type'] =>
  bits === 4 ? 'uint8' : past?.type === 'float8e4m3fn' ? 'float8e4m3fn' : 'int8'

/** Which rows the caches have, and the position of the first row of each entry of the batch. */
function cacheRows(
  cache: Tensor | undefined,
  { past, valid }: KeyCounts,
  fresh: number,
  { total, slides, window, block }: GroupedRunParams
): { rows: CacheRows; first: readonly number[] } {
  const capacity = cache?.dims[2] ?? 0
  if (!slides) {
    past.forEach((count, batch) => {
      if (count > capacity)
        fail(
          'value-out-of-range',
          `entry ${batch} has ${count} keys before the fresh ones; the past has ${capacity} rows`
        )
    })
    const kept = (batch: number): number => (block > 0 ? capacity : past[batch])
    const rows = { attended: Math.max(total, capacity), kept, fresh: (batch: number) => past[batch] }
    return { rows, first: past.map(() => 0) }
  }
  const resident = past.map(count => residentRows(count, capacity, window))
  const left = (batch: number): number => residentRows(valid[batch], capacity, window)
  const slide = {
    rows: capacity,
    from: (batch: number) => resident[batch] + valid[batch] - past[batch] - left(batch),
    count: left
  }
  const own = (batch: number): number => resident[batch]
  return {
    rows: { attended: capacity + fresh, kept: own, fresh: own, slides: slide },
    first: past.map((count, batch) => count - resident[batch])
  }
}
