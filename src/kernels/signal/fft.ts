import { allocate } from '../../tensor/tensor.ts'
import { inSteps } from '../core/steps.ts'
import type { OldPace as Pace } from '../matrix/gemm.ts'

/** A line of complex numbers. */
export interface Complex {
  readonly re: Float64Array
  readonly im: Float64Array
}

/** Butterflies between two yields: about 8 ms. */
const WORK_PER_YIELD = 1 << 20
/** Larger prime factors cost more by their own definition than by a convolution. */
const MAX_FACTOR = 61

/**
 * Replaces a line by its transform `Σ x[j] exp(-2πi jk/n)`, where `inverse` by `Σ x[j] exp(2πi jk/n)`: nothing is
 * divided by n.
 * Any length; computed in double precision.
 */
export interface Fft {
  readonly length: number
  transform(line: Complex, inverse: boolean, pace: Pace): Generator<void>
}

export const complexLine = (length: number): Complex => ({
  re: allocate('float64', [length]).data,
  im: allocate('float64', [length]).data
})

/** What transforms of a length need; to be used again for every line of it. */
export function fftOf(length: number): Fft {
  const factors = factorsOf(length)
  return factors.some(factor => factor > MAX_FACTOR) ? convolvingFft(length) : mixedRadixFft(length, factors)
}

/** Fours first, since their butterflies cost least, then primes. */
function factorsOf(length: number): number[] {
  const factors: number[] = []
  let rest = length
  for (let factor = 4; rest > 1; factor = factor === 4 ? 2 : factor === 2 ? 3 : factor + 2) {
    if (factor > 4 && factor * factor > rest) factor = rest
    for (; rest % factor === 0; rest /= factor) factors.push(factor)
  }
  return factors
}

/** What a root costs, in butterflies. */
const ROOT_COST = 8

/** `exp(-2πi k/n)` for all k. */
function* rootsOf(n: number): Generator<void, Complex> {
  const { re, im } = complexLine(n)
  yield* inSteps(
    n,
    (from, to) => {
      for (let k = from; k < to; k++) {
        re[k] = Math.cos((2 * Math.PI * k) / n)
        im[k] = -Math.sin((2 * Math.PI * k) / n)
      }
    },
    ROOT_COST
  )
  return { re, im }
}

/**
 * Stage by stage, without reordering: once factors of product `l` are done, element `k * (n / l) + s` is number k of
 * the transform of
 * the elements s, s + n/l, s + 2n/l, …
 */
function mixedRadixFft(length: number, factors: readonly number[]): Fft {
  let known: Complex | undefined
  const spare = complexLine(length)
  return {
    length,
    *transform(line, inverse, pace) {
      const roots = (known ??= yield* rootsOf(length))
      // Swapping the parts on both sides turns a transform into its inverse.
      const own: Complex = inverse ? { re: line.im, im: line.re } : line
      let [from, to] = [own, spare]
      let done = 1
      for (const factor of factors) {
        const stage = { done, rest: length / (done * factor), factor }
        for (const part of partsOf(stage)) {
          if (factor === 4) stageOf4(from, to, roots, part)
          else if (factor === 2) stageOf2(from, to, roots, part)
          else stageOfAny(from, to, roots, part)
          pace.work += (part.lastRow - part.firstRow) * (part.last - part.first) * factor * Math.max(1, factor / 4)
          if (pace.work < WORK_PER_YIELD) continue
          pace.work = 0
          yield
        }
        done *= factor
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

interface Stage {
  /** Product of the factors before this one. */
  readonly done: number
  /** Product of the factors after it. */
  readonly rest: number
  readonly factor: number
}

/** Some rows of a stage, and some places of each: short enough to be worked through at once. */
interface Part extends Stage {
  readonly firstRow: number
  readonly lastRow: number
  readonly first: number
  readonly last: number
}

/** A stage in parts; a short one is one part. */
function* partsOf(stage: Stage): Generator<Part> {
  const most = Math.ceil(WORK_PER_YIELD / (stage.factor * Math.max(1, stage.factor / 4)))
  const rows = Math.max(1, Math.floor(most / stage.rest))
  for (let firstRow = 0; firstRow < stage.done; firstRow += rows) {
    const lastRow = Math.min(stage.done, firstRow + rows)
    for (let first = 0; first < stage.rest; first += most)
      yield { ...stage, firstRow, lastRow, first, last: Math.min(stage.rest, first + most) }
  }
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
      // Number k + done * c of the longer transform: element q is turned by q times this.
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

/**
 * Bluestein: `jk = (j² + k² - (k - j)²) / 2` makes the transform a convolution, which transforms of a power of two
 * compute.
 */
function convolvingFft(length: number): Fft {
  const inner = fftOf(2 ** Math.ceil(Math.log2(2 * length - 1)))
  const size = inner.length
  const chirp = complexLine(length)
  let spectrum: Complex | undefined

  function* spectrumOfChirp(pace: Pace): Generator<void, Complex> {
    const line = complexLine(size)
    let square = 0
    yield* inSteps(
      length,
      (from, to) => {
        for (let k = from; k < to; k++) {
          // Angles of k² mod 2n, so that large ones stay exact.
          chirp.re[k] = Math.cos((Math.PI * square) / length)
          chirp.im[k] = -Math.sin((Math.PI * square) / length)
          square = (square + 2 * k + 1) % (2 * length)
        }
      },
      ROOT_COST
    )
    yield* inSteps(
      length,
      (from, to) => {
        for (let k = from; k < to; k++) {
          line.re[k] = line.re[(size - k) % size] = chirp.re[k]
          line.im[k] = line.im[(size - k) % size] = -chirp.im[k]
        }
      },
      2
    )
    yield* inner.transform(line, false, pace)
    return line
  }

  return {
    length,
    *transform(line, inverse, pace) {
      const { re, im }: Complex = inverse ? { re: line.im, im: line.re } : line
      const factor = (spectrum ??= yield* spectrumOfChirp(pace))
      const work = complexLine(size)
      yield* inSteps(
        length,
        (from, to) => {
          for (let k = from; k < to; k++) {
            work.re[k] = re[k] * chirp.re[k] - im[k] * chirp.im[k]
            work.im[k] = re[k] * chirp.im[k] + im[k] * chirp.re[k]
          }
        },
        2
      )
      yield* inner.transform(work, false, pace)
      yield* inSteps(
        size,
        (from, to) => {
          for (let k = from; k < to; k++) {
            const real = work.re[k] * factor.re[k] - work.im[k] * factor.im[k]
            work.im[k] = work.re[k] * factor.im[k] + work.im[k] * factor.re[k]
            work.re[k] = real
          }
        },
        2
      )
      yield* inner.transform(work, true, pace)
      yield* inSteps(
        length,
        (from, to) => {
          for (let k = from; k < to; k++) {
            const real = work.re[k] / size,
              imaginary = work.im[k] / size
            re[k] = real * chirp.re[k] - imaginary * chirp.im[k]
            im[k] = real * chirp.im[k] + imaginary * chirp.re[k]
          }
        },
        2
      )
    }
  }
}
