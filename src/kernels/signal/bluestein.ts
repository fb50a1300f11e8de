import { COST, inChunks, type Pace } from '../core/pace.ts'
import { type Complex, complexLine, type Fft, ROOT_COST, swapped } from './complex.ts'

/** Nanoseconds for one complex product. */
const PRODUCT_COST = 2 * COST.element

/** Roots of unity that a transform of one length needs. */
interface Chirp {
  /** `exp(-πi k²/n)` for k below n. */
  readonly factors: Complex
  /** The transform of the conjugate factors, laid out for a circular convolution. */
  readonly spectrum: Complex
}

/**
 * Bluestein's algorithm, for lengths with a large prime factor: `jk = (j² + k² - (k - j)²) / 2` turns the transform
 * into a convolution, which another transform computes.
 * @param inner a transform of at least `2 * length - 1`
 */
export function bluesteinFft(length: number, inner: Fft): Fft {
  let chirp: Chirp | undefined
  return {
    length,
    *transform(line, inverse, pace) {
      chirp ??= yield* chirpOf(length, inner, pace)
      yield* convolve(inverse ? swapped(line) : line, chirp, inner, pace)
    }
  }
}

function* chirpOf(length: number, inner: Fft, pace: Pace): Generator<void, Chirp> {
  const { length: size } = inner
  const factors = complexLine(length)
  const spectrum = complexLine(size)
  let square = 0
  yield* inChunks(
    length,
    (from, to) => {
      for (let k = from; k < to; k++) {
        // k² modulo 2n, so that the angles of large k stay exact.
        factors.re[k] = Math.cos((Math.PI * square) / length)
        factors.im[k] = -Math.sin((Math.PI * square) / length)
        square = (square + 2 * k + 1) % (2 * length)
      }
    },
    ROOT_COST
  )
  yield* inChunks(
    length,
    (from, to) => {
      for (let k = from; k < to; k++) {
        spectrum.re[k] = spectrum.re[(size - k) % size] = factors.re[k]
        spectrum.im[k] = spectrum.im[(size - k) % size] = -factors.im[k]
      }
    },
    PRODUCT_COST
  )
  yield* inner.transform(spectrum, false, pace)
  return { factors, spectrum }
}

/** Multiplies a line by the chirp, convolves it with the conjugate chirp and multiplies it by the chirp again. */
function* convolve({ re, im }: Complex, { factors, spectrum }: Chirp, inner: Fft, pace: Pace): Generator<void> {
  const { length: size } = inner
  const work = complexLine(size)
  yield* inChunks(
    re.length,
    (from, to) => {
      for (let k = from; k < to; k++) {
        work.re[k] = re[k] * factors.re[k] - im[k] * factors.im[k]
        work.im[k] = re[k] * factors.im[k] + im[k] * factors.re[k]
      }
    },
    PRODUCT_COST
  )
  yield* inner.transform(work, false, pace)
  yield* inChunks(
    size,
    (from, to) => {
      for (let k = from; k < to; k++) {
        const real = work.re[k] * spectrum.re[k] - work.im[k] * spectrum.im[k]
        work.im[k] = work.re[k] * spectrum.im[k] + work.im[k] * spectrum.re[k]
        work.re[k] = real
      }
    },
    PRODUCT_COST
  )
  yield* inner.transform(work, true, pace)
  yield* inChunks(
    re.length,
    (from, to) => {
      for (let k = from; k < to; k++) {
        const real = work.re[k] / size
        const imaginary = work.im[k] / size
        re[k] = real * factors.re[k] - imaginary * factors.im[k]
        im[k] = real * factors.im[k] + imaginary * factors.re[k]
      }
    },
    PRODUCT_COST
  )
}
