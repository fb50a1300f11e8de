import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'
import { reportIndex } from '../gather/indices.ts'
import { attendHeads, type Weighing } from './attention.ts'
import type { HideBlocks } from './block-mask.ts'
import { copyHeads, headOf, type Heads, headsInBlocks } from './heads.ts'
import type { KeyCounts } from './key-counts.ts'
import type { MaskReader } from './masks.ts'
import { type Angles, rotateHeads } from './rotary.ts'

/** What is done to queries and keys before they meet. */
export interface Preparing {
  /** Root mean square normalization of each row, with a factor for each column. */
  readonly norm?: { readonly factors: Numbers; readonly epsilon: number } | undefined
  readonly angles?: Angles | undefined
  /** Number of positions that `angles` has. */
  readonly positions: number
  position(batch: number, row: number): number
}

/**
 * Heads normalized and rotated by position.
 * @throws NodewiseError `index-out-of-range` for a position without angles
 */
export function* preparedHeads(heads: Heads, batches: number, how: Preparing, pace: Pace): Generator<void, Heads> {
  if (!how.norm && !how.angles) return heads
  const { count, length, size } = heads
  const prepared = headsInBlocks(doubles(batches * count * length * size), count, length, size)
  yield* copyHeads(heads, prepared, batches, pace)
  if (how.norm) yield* normalizeRows(prepared, batches, how.norm.factors, how.norm.epsilon, pace)
  const { angles } = how
  if (!angles) return prepared
  const at = (batch: number, row: number): number => {
    const position = how.position(batch, row)
    if (!(position >= 0 && position < how.positions)) reportIndex(String(position), [batch, row], 0, how.positions)
    return position * angles.half
  }
  yield* rotateHeads(prepared, prepared, batches, angles, at, pace)
  return prepared
}

function* normalizeRows(heads: Heads, batches: number, factors: Numbers, epsilon: number, pace: Pace): Generator<void> {
  const { size } = heads
  if (size === 0 || heads.length === 0) return
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < heads.count; head++) {
      const { data, offset, rowStride } = headOf(heads, batch, head)
      for (let row = 0; row < heads.length; row++) {
        const start = offset + row * rowStride
        let sum = 0
        for (let i = 0; i < size; i++) sum += data[start + i] ** 2
        const scale = 1 / Math.sqrt(sum / size + epsilon)
        for (let i = 0; i < size; i++) data[start + i] *= scale * factors[i]
        if (pace.isDue(size * 2 * COST.element)) yield
      }
    }
  }
}

/** Attention of grouped query heads over a cache. */
export interface Grouped {
  readonly batches: number
  readonly q: Heads
  /** Keys and values; row `j` of entry `b` has position `first[b] + j`. */
  readonly k: Heads
  readonly v: Heads
  readonly first: readonly number[]
  readonly keyCounts: KeyCounts
  readonly out: Heads
  /** 0: 1 / sqrt(depth). */
  readonly scale: number
  readonly softcap: number
  readonly causal: boolean
  /** Number of keys that a query sees, its own included; 0 or less: all before it. */
  readonly window: number
  /** Added to the scores; its keys count by position. */
  readonly bias?: MaskReader | undefined
  readonly hideBlocks?: HideBlocks | undefined
  /** Score of a hidden key for each head. */
  readonly sinks?: Numbers | undefined
  /** Where scores before or weights after softmax go, `[batch, heads, queries, total]`; 0 for hidden keys. */
  readonly shown?:
    | { readonly numbers: Numbers; readonly total: number; readonly stage: 'biased' | 'weights' }
    | undefined
}

/** `out += softmax(softcap(q kᵀ * scale) + bias) v` over the keys that a query may see by its position. */
export function* grouped(given: Grouped, pace: Pace): Generator<void> {
  const { q, k, keyCounts, first, causal, window, bias, hideBlocks, shown } = given
  if (given.out.numbers.length === 0 && !shown?.numbers.length) return
  const weighing = (batch: number, head: number): Weighing => {
    const at = batch * q.count + head
    const [past, valid, base] = [keyCounts.past[batch], keyCounts.valid[batch], first[batch]]
    return {
      factor: given.scale === 0 ? 1 / Math.sqrt(q.size) : given.scale,
      softcap: given.softcap,
      addBias(row, line, from) {
        bias?.(at, row, line, from + base)
        hideBlocks?.(head, past + row, line, from + base)
      },
      seen(row) {
        const position = past + row
        const end = causal ? Math.min(position + 1, valid) : valid
        return [Math.max(0, (window > 0 ? position - window + 1 : 0) - base), Math.min(k.length, end - base)]
      },
      ...(given.sinks && { sink: given.sinks[head] }),
      ...(shown && {
        show(stage, row, line) {
          if (stage !== shown.stage) return
          const start = (at * q.length + row) * shown.total + base
          const count = Math.min(line.length, shown.total - base)
          for (let j = 0; j < count; j++) shown.numbers[start + j] = line[j] === -Infinity ? 0 : line[j]
        }
      })
    }
  }
  yield* attendHeads({ batches: given.batches, q, k, v: given.v, out: given.out, weighing }, pace)
}
