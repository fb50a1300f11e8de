import { COST, inChunks } from '../core/pace.ts'
import { type Complex, complexLine, type Fft } from './complex.ts'
import { fftOf } from './fft.ts'
import { rootsOf } from './roots.ts'

/** Nanoseconds for one element, which is computed from two of the shorter transform. */
const ELEMENT_COST = COST.element

/**
 * The transform of lines whose imaginary parts are zero. Of an even length it is made of one of half of it, over the
 * even elements as real and the odd ones as imaginary parts.
 */
export function realFftOf(length: number): Fft {
  if (length % 2 !== 0 || length < 4) return fftOf(length)
  const half = length / 2
  const fft = fftOf(half)
  const pairs = complexLine(half)
  let known: Complex | undefined
  return {
    length,
    *transform(line, inverse, pace) {
      const roots = (known ??= yield* rootsOf(length, half))
      yield* inChunks(half, (from, to) => pair(line.re, pairs, from, to), ELEMENT_COST)
      yield* fft.transform(pairs, false, pace)
      yield* inChunks(half, (from, to) => untangle(pairs, roots, line, inverse, from, to), 2 * ELEMENT_COST)
      if (pace.isDue(length * ELEMENT_COST)) yield
    }
  }
}

function pair(line: Float64Array, { re, im }: Complex, from: number, to: number): void {
  for (let k = from; k < to; k++) {
    re[k] = line[2 * k]
    im[k] = line[2 * k + 1]
  }
}

/**
 * Writes elements `from <= k < to` and those half a line behind them: with E and O, the transforms of the even and of
 * the odd elements, `E + w O` and `E - w O`. Of numbers that are real E and O mirror themselves, so that the transform
 * of the pairs tells them apart. The inverse transform of real numbers is the conjugate one.
 */
function untangle(
  { re, im }: Complex,
  { re: rootsRe, im: rootsIm }: Complex,
  { re: outRe, im: outIm }: Complex,
  inverse: boolean,
  from: number,
  to: number
): void {
  const half = re.length
  const sign = inverse ? -1 : 1
  for (let k = from; k < to; k++) {
    const mirrored = k === 0 ? 0 : half - k
    const evenRe = (re[k] + re[mirrored]) / 2
    const evenIm = (im[k] - im[mirrored]) / 2
    const oddRe = (im[k] + im[mirrored]) / 2
    const oddIm = (re[mirrored] - re[k]) / 2
    const turnedRe = oddRe * rootsRe[k] - oddIm * rootsIm[k]
    const turnedIm = oddRe * rootsIm[k] + oddIm * rootsRe[k]
    outRe[k] = evenRe + turnedRe
    outIm[k] = sign * (evenIm + turnedIm)
    outRe[k + half] = evenRe - turnedRe
    outIm[k + half] = sign * (evenIm - turnedIm)
  }
}
