import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'
import { headOf, type Heads } from './heads.ts'

/** Cosines and sines of the angles by which the pairs of a row are rotated. */
export interface Angles {
  readonly cos: Numbers
  readonly sin: Numbers
  /** Number of pairs. */
  readonly half: number
  /** Neighbours are rotated as a pair, instead of elements at the same position of the two halves. */
  readonly interleaved: boolean
  /** Each element has an angle of its own, where it lies in its row, instead of one for both of a pair. */
  readonly perElement?: boolean
}

/**
 * Rotates pairs of elements of each row of each head; elements beyond the pairs are copied. `to` may be `from` itself.
 * @param at offset of the angles of a token, or of a row of a head, in the tables
 */
export function* rotateHeads(
  from: Heads,
  to: Heads,
  batches: number,
  { cos, sin, half, interleaved, perElement = false }: Angles,
  at: (batch: number, row: number, head: number) => number,
  pace: Pace
): Generator<void> {
  const [step, distance] = interleaved ? [2, 1] : [1, half]
  const [angleStep, angleDistance] = perElement ? [step, distance] : [1, 0]
  if (from.size === 0 || from.length === 0) return
  for (let batch = 0; batch < batches; batch++) {
    for (let row = 0; row < from.length; row++) {
      for (let head = 0; head < from.count; head++) {
        const angle = at(batch, row, head)
        const [source, target] = [headOf(from, batch, head), headOf(to, batch, head)]
        const start = source.offset + row * source.rowStride
        const shift = target.offset + row * target.rowStride - start
        for (let i = 0, p = start; i < half; i++, p += step) {
          const [a, b] = [source.data[p], source.data[p + distance]]
          const first = angle + i * angleStep
          const second = first + angleDistance
          target.data[p + shift] = cos[first] * a - sin[first] * b
          target.data[p + shift + distance] = sin[second] * a + cos[second] * b
        }
        for (let p = start + 2 * half; p < start + from.size; p++) target.data[p + shift] = source.data[p]
      }
      if (pace.isDue(from.count * (from.size * COST.element + COST.allocation))) yield
    }
  }
}

/**
 * Tables with the angles of each token, `[tokens, half]`, whose columns go by different positions of the token.
 * @param rows positions, `[streams, tokens]`
 * @param streams for each column the stream of positions that it goes by
 */
export function* selectAngles(
  { cos, sin, half, interleaved }: Angles,
  rows: ArrayLike<number>,
  tokens: number,
  streams: Uint8Array,
  pace: Pace
): Generator<void, Angles> {
  const selected = { cos: doubles(tokens * half), sin: doubles(tokens * half), half, interleaved }
  for (let token = 0; token < tokens; token++) {
    for (let i = 0; i < half; i++) {
      const from = rows[streams[i] * tokens + token] * half + i
      selected.cos[token * half + i] = cos[from]
      selected.sin[token * half + i] = sin[from]
    }
    if (pace.isDue(half * COST.element)) yield
  }
  return selected
}
