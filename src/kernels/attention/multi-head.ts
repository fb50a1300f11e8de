import { fail } from '../../errors.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { doubles, readNumbers } from '../core/numbers.ts'
import { COST, Pace, type Paced } from '../core/pace.ts'
import { gemm, matrix } from '../matrix/gemm.ts'
import { attendHeads, type Weighing } from './attention.ts'
import { copyHeads, headOf, type Heads, headsInBlocks } from './heads.ts'
import { maskReader, paddingReader } from './masks.ts'

/** What computes multi-head attention: {@link REFERENCE}, or faster kernels in its place. */
export interface Attending {
  /** An array for intermediate numbers, which may hold anything. */
  allocate(count: number): Numbers
  /** `x weights + bias`; `x` is `[batch, rows, features]`, `projected` holds anything. */
  project(x: Tensor, weights: Tensor, bias: Tensor | undefined, projected: Numbers): Paced
  /** As {@link multiHead}. */
  attend(given: MultiHead): Paced
}

/** Keys or values of one call, and where they go. */
export interface Fresh {
  readonly heads: Heads
  /** Added to each row, head after head. */
  readonly bias?: Numbers | undefined
  /** Those of earlier calls, `[batch, count, length, size]`. */
  readonly past?: Heads | undefined
  /** Array for past and fresh ones together, `[batch, count, rows, size]`, where they are a result. */
  readonly present?: Numbers | undefined
  /** Rows of `present`. */
  readonly rows: number
}

/**
 * Fresh keys or values behind those of the past, in the array of the result where there is one.
 * @param kept number of rows of the past that precede the fresh ones
 * @param allocate makes the array where there is no result
 */
export function* behindPast(
  { heads, bias, past, present, rows }: Fresh,
  kept: number,
  batches: number,
  pace: Pace,
  allocate: Attending['allocate'] = doubles
): Generator<void, Heads> {
  if (!bias && !past && !present) return heads
  const numbers = present ?? allocate(batches * heads.count * rows * heads.size)
  const all = headsInBlocks(numbers, heads.count, rows, heads.size)
  if (past) yield* copyHeads(past, all, batches, pace)
  yield* copyHeads(heads, all, batches, pace, { to: () => kept, bias })
  return { ...all, length: kept + heads.length }
}

/**
 * Heads whose rows of the past are read from the beams that made them.
 * @param kept number of rows of the past
 * @param beams for each row of the past the number of a beam of the same sample, `[samples, beams, rows]`
 * @throws NodewiseError `index-out-of-range`
 */
export function* followBeams(
  heads: Heads,
  kept: number,
  beams: Tensor,
  batches: number,
  pace: Pace
): Generator<void, Heads> {
  const [, width, stride] = beams.dims
  const from = beams.data as Int32Array
  const { count, length, size } = heads
  const all = headsInBlocks(doubles(batches * count * length * size), count, length, size)
  yield* copyHeads(heads, all, batches, pace)
  for (let batch = 0; batch < batches; batch++) {
    for (let row = 0; row < kept; row++) {
      const beam = from[batch * stride + row]
      if (!(beam >= 0 && beam < width))
        fail('index-out-of-range', `cache_indirection names beam ${beam}; there are ${width}`)
      const source = batch - (batch % width) + beam
      for (let head = 0; head < count; head++) {
        const [own, other] = [headOf(all, batch, head), headOf(heads, source, head)]
        for (let i = 0; i < size; i++)
          own.data[own.offset + row * size + i] = other.data[other.offset + row * other.rowStride + i]
      }
      if (pace.isDue(count * size * COST.element)) yield
    }
  }
  return all
}

/** Multi-head attention as com.microsoft has it: bias, past, additive masks. */
export interface MultiHead {
  readonly batches: number
  readonly q: Heads
  readonly k: Heads
  readonly v: Heads
  readonly out: Heads
  /** Number of keys before the one of the first query. */
  readonly past: number
  /** Undefined: 1 / sqrt(depth). */
  readonly scale: number | undefined
  /** Hides the keys after a query's own position. */
  readonly causal: boolean
  /** See {@link paddingReader}. */
  readonly mask?: Tensor | undefined
  /** What the mask adds to the scores of masked keys. */
  readonly filter: number
  /** Added to the scores; broadcast to `[batch, heads, queries, keys]`. */
  readonly attentionBias?: Tensor | undefined
  /** Where the scores go, `[batch, heads, queries, keys]`; those of keys that causality hides are `lowest`. */
  readonly scores?: { readonly numbers: Numbers; readonly lowest: number } | undefined
}

/** `out += softmax(q kᵀ * scale + attentionBias + mask) v`. */
function* multiHead(given: MultiHead): Generator<void> {
  const { batches, q, k, v, out, past, mask, filter, attentionBias, scores } = given
  if (out.numbers.length === 0 && !scores?.numbers.length) return
  const pace = new Pace()
  const rows = q.length
  const addMask = mask && paddingReader(mask, batches, k.length, past, filter)
  const addBias = attentionBias && maskReader(attentionBias, [batches, q.count], rows, k.length)
  const weighing = (batch: number, head: number): Weighing => {
    const at = batch * q.count + head
    return {
      factor: given.scale ?? 1 / Math.sqrt(q.size),
      addBias(row, line, from) {
        addBias?.(at, row, line, from)
        addMask?.(batch, row, line, from)
      },
      ...(given.causal && { seen: row => [0, Math.min(k.length, past + row + 1)] }),
      ...(scores && {
        show(stage, row, line) {
          if (stage !== 'biased') return
          const start = (at * rows + row) * k.length
          const seen = given.causal ? Math.min(k.length, past + row + 1) : k.length
          for (let j = 0; j < line.length; j++) scores.numbers[start + j] = j < seen ? line[j] : scores.lowest
        }
      })
    }
  }
  yield* attendHeads({ batches, q, k, v, out, weighing }, pace)
}

/** Adds up in double precision. */
function* project(x: Tensor, weights: Tensor, bias: Tensor | undefined, projected: Numbers): Generator<void> {
  const [features, columns] = weights.dims
  if (projected.length === 0) return
  const rows = projected.length / columns
  const added = bias && (yield* readNumbers(bias))
  projected.fill(0)
  if (added) for (let row = 0; row < rows; row++) projected.set(added, row * columns)
  const [a, b] = [yield* readNumbers(x), yield* readNumbers(weights)]
  const out = matrix(projected, 0, columns)
  yield* gemm(rows, columns, features, matrix(a, 0, features), matrix(b, 0, columns), out, new Pace())
}

/** Products and attention in double precision. */
export const REFERENCE: Attending = { allocate: doubles, project, attend: multiHead }
