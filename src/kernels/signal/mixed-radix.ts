import { chunkSize } from '../core/pace.ts'
import { type Complex, complexLine, type Fft, swapped } from './complex.ts'
import { rootsOf } from './roots.ts'

/** Nanoseconds for one element in one stage of factor 2 or 4. */
const BUTTERFLY_COST = 10

/**
 * Mixed-radix Stockham algorithm: one stage for each factor, between two arrays, without a bit reversal. After stages
 * whose factors have the product `l`, element `k * (n / l) + s` is element k of the transform of the elements
 * `s, s + n/l, s + 2n/l, …`
 */
export function mixedRadixFft(length: number, factors: readonly number[]): Fft {
  let known: Complex | undefined
  const spare = complexLine(length)
  const stages = stagesOf(length, factors)
  return {
    length,
    *transform(line, inverse, pace) {
      const roots = (known ??= yield* rootsOf(length))
      const own = inverse ? swapped(line) : line
      let [from, to] = [own, spare]
      for (const parts of stages) {
        for (const part of parts) {
          if (part.factor === 4) stageOf4(from, to, roots, part)
          else if (part.factor === 2) stageOf2(from, to, roots, part)
          else stageOfAny(from, to, roots, part)
          if (pace.isDue(part.cost)) yield
        }
        ;[from, to] = [to, from]
      }
      if (from === spare) copyLine(spare, own)
    }
  }
}

function copyLine(from: Complex, to: Complex): void {
  to.re.set(from.re)
  to.im.set(from.im)
}

/** A part of a stage between two yields: rows `[firstRow, lastRow)`, columns `[first, last)`. */
interface Part {
  readonly factor: number
  /** Product of the factors before this one. */
  readonly done: number
  /** Product of the factors after it. */
  readonly rest: number
  readonly firstRow: number
  readonly lastRow: number
  readonly first: number
  readonly last: number
  /** Nanoseconds that it takes. */
  readonly cost: number
}

/** Nanoseconds for one column of a row: `factor` elements, each a sum of `factor` terms for factors above 4. */
const costOf = (factor: number): number => BUTTERFLY_COST * factor * Math.max(1, factor / 4)

/** The parts of each stage, which take at most about a quantum each. */
function stagesOf(length: number, factors: readonly number[]): readonly (readonly Part[])[] {
  let done = 1
  return factors.map(factor => {
    const parts = partsOf(factor, done, length / (done * factor))
    done *= factor
    return parts
  })
}

function partsOf(factor: number, done: number, rest: number): readonly Part[] {
  const parts: Part[] = []
  const columns = chunkSize(costOf(factor))
  const rows = Math.max(1, Math.floor(columns / rest))
  for (let firstRow = 0; firstRow < done; firstRow += rows) {
    const lastRow = Math.min(done, firstRow + rows)
    for (let first = 0; first < rest; first += columns) {
      const last = Math.min(rest, first + columns)
      const cost = (lastRow - firstRow) * (last - first) * costOf(factor)
      parts.push({ factor, done, rest, firstRow, lastRow, first, last, cost })
    }
  }
  return parts
}

function stageOf2(
  from: Complex,
  to: Complex,
  roots: Complex,
  { done, rest, firstRow, lastRow, first, last }: Part
): void {
  const step = done * rest
  for (let k = firstRow; k < lastRow; k++) {
    const wr = roots.re[k * rest],
      wi = roots.im[k * rest]
    for (let s = first, at = 2 * k * rest + s, out = k * rest + s; s < last; s++, at++, out++) {
      const br = from.re[at + rest],
        bi = from.im[at + rest]
      const tr = br * wr - bi * wi,
        ti = br * wi + bi * wr
      const ar = from.re[at],
        ai = from.im[at]
      to.re[out] = ar + tr
      to.im[out] = ai + ti
      to.re[out + step] = ar - tr
      to.im[out + step] = ai - ti
    }
  }
}

function stageOf4(
  { re, im }: Complex,
  to: Complex,
  roots: Complex,
  { done, rest, firstRow, lastRow, first, last }: Part
): void {
  const step = done * rest
  for (let k = firstRow; k < lastRow; k++) {
    const w1r = roots.re[k * rest],
      w1i = roots.im[k * rest]
    const w2r = roots.re[2 * k * rest],
      w2i = roots.im[2 * k * rest]
    const w3r = roots.re[3 * k * rest],
      w3i = roots.im[3 * k * rest]
    for (let s = first, at = 4 * k * rest + s, out = k * rest + s; s < last; s++, at++, out++) {
      const b = at + rest,
        c = b + rest,
        d = c + rest
      const ar = re[at],
        ai = im[at]
      const br = re[b] * w1r - im[b] * w1i,
        bi = re[b] * w1i + im[b] * w1r
      const cr = re[c] * w2r - im[c] * w2i,
        ci = re[c] * w2i + im[c] * w2r
      const dr = re[d] * w3r - im[d] * w3i,
        di = re[d] * w3i + im[d] * w3r
      const sumR = ar + cr,
        sumI = ai + ci,
        gapR = ar - cr,
        gapI = ai - ci
      const oddR = br + dr,
        oddI = bi + di,
        turnR = bi - di,
        turnI = dr - br
      to.re[out] = sumR + oddR
      to.im[out] = sumI + oddI
      to.re[out + step] = gapR + turnR
      to.im[out + step] = gapI + turnI
      to.re[out + 2 * step] = sumR - oddR
      to.im[out + 2 * step] = sumI - oddI
      to.re[out + 3 * step] = gapR - turnR
      to.im[out + 3 * step] = gapI - turnI
    }
  }
}

function stageOfAny(
  from: Complex,
  to: Complex,
  roots: Complex,
  { done, rest, factor, firstRow, lastRow, first, last }: Part
): void {
  const step = done * rest
  const n = step * factor
  for (let c = 0; c < factor; c++) {
    for (let k = firstRow; k < lastRow; k++) {
      // For element k + done * c of the longer transform, term q is multiplied by root q * turn.
      const turn = (k + done * c) * rest
      const out = c * step + k * rest
      for (let s = first; s < last; s++) {
        let re = 0
        let im = 0
        for (let q = 0, at = k * factor * rest + s, w = 0; q < factor; q++, at += rest, w = (w + turn) % n) {
          re += from.re[at] * roots.re[w] - from.im[at] * roots.im[w]
          im += from.re[at] * roots.im[w] + from.im[at] * roots.re[w]
        }
        to.re[out + s] = re
        to.im[out + s] = im
      }
    }
  }
}
