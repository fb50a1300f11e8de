import type { Numbers } from '../../tensor/elements.ts'
import { allocate } from '../../tensor/tensor.ts'
import { axisLayout } from '../core/axis-layout.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import { type Complex, complexLine } from './complex.ts'
import { fftOf } from './fft.ts'
import { type AxisStep, axisSteps, type AxisTransform, type Half, halfOf } from './lengths.ts'
import { realFftOf } from './real-fft.ts'

/** A tensor of real numbers (1 part), or of complex ones, whose two parts are adjacent. */
export interface Field {
  readonly dims: readonly number[]
  readonly parts: 1 | 2
  readonly data: Numbers
}

/** The transform along all `axes`, in double precision; an inverse is divided by the number of points. */
export function* fourier(
  from: Field,
  to: Field,
  axes: readonly AxisTransform[],
  inverse: boolean,
  half: Half
): Generator<void> {
  const pace = new Pace()
  const steps = axisSteps(from.dims, axes, half)
  let field = from
  for (const [i, step] of steps.entries()) {
    const isLast = i === steps.length - 1
    const next: Field = isLast ? to : { dims: step.to, parts: 2, data: allocate('float64', [...step.to, 2]).data }
    yield* alongAxis(field, next, step, inverse, pace)
    field = next
  }
  if (steps.length === 0) yield* copyField(from, to)
}

function* copyField(from: Field, to: Field): Generator<void> {
  yield* inChunks(to.data.length / to.parts, (start, end) => {
    for (let i = start; i < end; i++) {
      to.data[i * to.parts] = from.data[i * from.parts]
      if (to.parts === 2 && from.parts === 2) to.data[2 * i + 1] = from.data[2 * i + 1]
    }
  })
}

function* alongAxis(
  from: Field,
  to: Field,
  { axis, length, mirrors }: AxisStep,
  inverse: boolean,
  pace: Pace
): Generator<void> {
  const { outer, size, inner } = axisLayout(from.dims, axis)
  const kept = to.dims[axis]
  const fft = from.parts === 1 && !mirrors ? realFftOf(length) : fftOf(length)
  const line = complexLine(length)
  const count = Math.min(size, mirrors ? halfOf(length) : length)
  for (let block = 0; block < outer; block++) {
    for (let column = 0; column < inner; column++) {
      yield* readLine(from, block * size * inner + column, inner, count, line)
      if (mirrors) mirror(line)
      yield* fft.transform(line, inverse, pace)
      yield* writeLine(line, inverse ? 1 / length : 1, to, block * kept * inner + column, inner, kept)
    }
  }
}

function* readLine(
  { data, parts }: Field,
  start: number,
  step: number,
  count: number,
  { re, im }: Complex
): Generator<void> {
  re.fill(0, count)
  im.fill(0, parts === 2 ? count : 0)
  yield* inChunks(count, (from, to) => {
    for (let i = from, at = (start + from * step) * parts; i < to; i++, at += step * parts) {
      re[i] = data[at]
      if (parts === 2) im[i] = data[at + 1]
    }
  })
}

function* writeLine(
  { re, im }: Complex,
  scale: number,
  { data, parts }: Field,
  start: number,
  step: number,
  count: number
): Generator<void> {
  yield* inChunks(count, (from, to) => {
    for (let i = from, at = (start + from * step) * parts; i < to; i++, at += step * parts) {
      data[at] = re[i] * scale
      if (parts === 2) data[at + 1] = im[i] * scale
    }
  })
}

/** Completes a line whose first half is given by its conjugate mirror image, so that its transform is real. */
function mirror({ re, im }: Complex): void {
  const { length } = re
  for (let i = halfOf(length); i < length; i++) {
    re[i] = re[length - i]
    im[i] = -im[length - i]
  }
  // Elements without a mirror image are real.
  im[0] = 0
  if (length % 2 === 0) im[length / 2] = 0
}

/** The layout of a signal, its frames and their transforms. */
export interface Frames {
  readonly batch: number
  /** Samples of one signal. */
  readonly samples: number
  readonly frames: number
  readonly step: number
  /** Elements of a frame's transform that are stored: all, or only the half that does not mirror the other. */
  readonly bins: number
  /** Window function; its length is that of a frame. */
  readonly window: Float64Array
  /** Whether `bins` come before `frames` in the transformed tensor. */
  readonly transposed: boolean
}

/** Strides of a transformed signal, in complex numbers. */
const frameStrides = ({ frames, bins, transposed }: Frames): { frame: number; bin: number } =>
  transposed ? { frame: 1, bin: frames } : { frame: bins, bin: 1 }

/** Short-time Fourier transform: transforms the windowed frames of real (1 part) or complex (2 parts) signals. */
export function* shortTimeFourier(signal: Numbers, parts: 1 | 2, out: Numbers, layout: Frames): Generator<void> {
  const { batch, samples, frames, step, bins, window } = layout
  const { length } = window
  const pace = new Pace()
  const fft = parts === 1 ? realFftOf(length) : fftOf(length)
  const line = complexLine(length)
  const strides = frameStrides(layout)
  const spectrum: Field = { dims: [], parts: 2, data: out }
  for (let b = 0; b < batch; b++) {
    for (let f = 0; f < frames; f++) {
      yield* readLine({ dims: [], parts, data: signal }, b * samples + f * step, 1, length, line)
      applyWindow(line.re, window)
      if (parts === 2) applyWindow(line.im, window)
      yield* fft.transform(line, false, pace)
      yield* writeLine(line, 1, spectrum, b * frames * bins + f * strides.frame, strides.bin, bins)
    }
  }
}

function applyWindow(line: Float64Array, window: Float64Array): void {
  for (let i = 0; i < line.length; i++) line[i] *= window[i]
}

/**
 * Inverse short-time Fourier transform to a real signal, by overlap-add: frames are transformed back, windowed, added
 * and divided by the sum of the squared windows; where that sum is 0, the signal is 0. The output begins at sample
 * `start` and ends with zeros where it is longer than the frames.
 */
export function* inverseShortTimeFourier(
  spectrum: Numbers,
  out: Numbers,
  layout: Frames,
  start: number,
  scale: number
): Generator<void> {
  const { batch, samples, frames, step, bins, window } = layout
  const { length } = window
  const pace = new Pace()
  const fft = fftOf(length)
  const line = complexLine(length)
  const strides = frameStrides(layout)
  const whole = frames === 0 ? 0 : (frames - 1) * step + length
  const squares = allocate('float64', [whole]).data
  yield* inChunks(
    frames,
    (first, last) => {
      for (let f = first; f < last; f++) for (let i = 0; i < length; i++) squares[f * step + i] += window[i] * window[i]
    },
    length * COST.element
  )
  const sums = allocate('float64', [whole]).data
  for (let b = 0; b < batch; b++) {
    sums.fill(0)
    for (let f = 0; f < frames; f++) {
      yield* readLine(
        { dims: [], parts: 2, data: spectrum },
        b * frames * bins + f * strides.frame,
        strides.bin,
        bins,
        line
      )
      mirror(line)
      yield* fft.transform(line, true, pace)
      for (let i = 0; i < length; i++) sums[f * step + i] += line.re[i] * window[i]
    }
    yield* inChunks(Math.min(samples, whole - start), (from, to) => {
      for (let i = from; i < to; i++) {
        const square = squares[start + i]
        out[b * samples + i] = square === 0 ? 0 : (sums[start + i] * scale) / (length * square)
      }
    })
  }
}
