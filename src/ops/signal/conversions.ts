import { fail } from '../../errors.ts'
import { halfOf } from '../../kernels/signal/lengths.ts'
import {
  asList,
  asScalar,
  dimAt,
  elementwise,
  gathered,
  joined,
  squeezed,
  transposed,
  unsqueezed,
  upTo,
  zeroOf
} from '../../op-kit/conversion-kit.ts'
import { div, mul, part, widened, wideType } from '../../op-kit/conversion-parts.ts'
import { numberParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversions,
  dimsOf,
  first,
  knownSizes,
  type Made,
  opNamed,
  rankOf,
  refuses,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { dftOps } from './dft.ts'
import { dynamicTimeWarping } from './dynamic-time-warping.ts'
import { istft } from './istft.ts'
import { stft } from './stft.ts'

interface Axis {
  readonly axis: number
  /** Number of points, where it is given. */
  readonly length: number | undefined
}

function axesOf(call: SourceCall, rank: number): Axis[] {
  const axes = call.param<readonly number[]>('axes')
  const lengths = call.param<readonly number[] | undefined>('lengths')
  const count = call.param<boolean>('partsIn') && !call.param<boolean>('countsParts') ? rank - 1 : rank
  return axes.map((axis, i) => ({
    axis: axis < 0 ? axis + count : axis,
    length: lengths === undefined || lengths[i] === -1 ? undefined : lengths[i]
  }))
}

/** One transform along one axis, by ONNX's operator. */
function transformed(w: Writer, x: Made, { axis, length }: Axis, attributes: Record<string, boolean>): Made {
  return transformedTo(w, x, axis, length === undefined ? undefined : w.scalar('int64', length), attributes)
}

/** The same for a number of points that may be known only while the model runs. */
function transformedTo(
  w: Writer,
  x: Made,
  axis: number,
  points: Made | undefined,
  attributes: Record<string, boolean>
): Made {
  return w.opset >= 20
    ? w.node('DFT', [x, points, w.scalar('int64', axis)], attributes)
    : w.node('DFT', [x, points], { ...attributes, axis })
}

/** The transform in another opset of ONNX: the axis is an attribute or a scalar there, and the length is a scalar. */
function fourierWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx' || !call.knows('axes')) return undefined
  const [axis] = call.param<readonly number[]>('axes')
  const attributes = { inverse: call.param<boolean>('inverse'), onesided: call.param('half') !== 'none' }
  const x = call.operand('x')
  const given = call.source('lengths')
  const length = call.knows('lengths') ? call.param<readonly number[] | undefined>('lengths')?.[0] : undefined
  const points = length === undefined ? given && asScalar(w, given) : w.scalar('int64', length)
  return [transformedTo(w, x, axis, points, attributes)]
}

/** Transforms along several axes, one after the other; that of real numbers is the last axis of the list. */
function fourierToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const axes = axesOf(call, rankOf(x))
  if (axes.length === 0) fail('unsupported-op', 'no axis is transformed')
  const inverse = call.param<boolean>('inverse')
  const half = call.param<'none' | 'in' | 'out'>('half')
  const last = axes[axes.length - 1]
  const complex = half === 'none' ? axes : axes.slice(0, -1)
  let y = widened(w, x)
  if (half === 'out') y = transformed(w, unsqueezed(w, y, [rankOf(y)]), last, { onesided: true })
  for (const axis of complex) y = transformed(w, y, axis, { inverse })
  if (half === 'in') y = realInverse(w, y, last)
  return [w.cast(y, typeOf(x))]
}

/** The inverse of a half spectrum: the whole one, transformed; what is left of imaginary parts is rounding. */
function realInverse(w: Writer, x: Made, { axis, length }: Axis): Made {
  const [bins] = knownSizes('the dims of a half spectrum', dimsOf(x)[axis])
  const points = length ?? 2 * (bins - 1)
  const whole = mirrored(w, x, axis, bins, points)
  const y = transformed(w, whole, { axis, length: undefined }, { inverse: true })
  return realPart(w, y)
}

const realPart = (w: Writer, x: Made): Made => {
  const parts = rankOf(x) - 1
  return gathered(w, x, w.scalar('int64', 0), parts)
}

/** A whole spectrum of a half one: number `k` is the conjugate of number `points - k`; missing ones are zero. */
function mirrored(w: Writer, x: Made, axis: number, bins: number, points: number): Made {
  const half = halfOf(points)
  const sources = upTo(points).map(k => (k < half ? k : points - k))
  const signs = sources.flatMap((source, k) => (source >= bins ? [0, 0] : [1, k < half ? 1 : -1]))
  const indices = w.constant(
    'int64',
    sources.map(source => Math.min(source, bins - 1))
  )
  const ones = upTo(rankOf(x) - axis - 2).map(() => 1)
  return mul(w, gathered(w, x, indices, axis), w.constant(typeOf(x), signs, [points, ...ones, 2]))
}

/** The length of frames as a scalar, where it is given. */
const lengthOf = (call: SourceCall, w: Writer): Made | undefined =>
  call.knows('length') && call.param('length') === undefined ? undefined : numberParameter(call, 'length', w)

function stftToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param('form') !== 'openvino') return undefined
  const signal = call.operand('signal')
  const type = typeOf(signal)
  const isBatched = rankOf(signal) === 2
  const x = widened(w, unsqueezed(w, signal, isBatched ? [2] : [0, 2]))
  const window = widened(w, paddedTo(w, call.operand('window'), call.param('length')))
  const inputs = [x, numberParameter(call, 'step', w), window, lengthOf(call, w)]
  // The shape inference of ONNX takes 0 where the attribute is absent, its specification 1.
  const frames = w.node('STFT', inputs, { onesided: true }, { isExplicit: true })
  const inOrder = call.param<boolean>('transposed') ? transposed(w, frames, [0, 2, 1, 3]) : frames
  return [w.cast(isBatched ? inOrder : squeezed(w, inOrder, [0]), type)]
}

/** Of real signals; a whole spectrum is made of the half one. */
function stftToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param('form') !== 'onnx') return undefined
  const signal = call.operand('signal')
  const dims = dimsOf(signal)
  if (dims.length === 3 && dims[2] !== 1) fail('unsupported-op', 'STFT of IR transforms real signals only')
  const x = dims.length === 3 ? squeezed(w, signal, [2]) : signal
  const given = call.optional('window')
  const length = lengthOf(call, w) ?? (given ? asScalar(w, dimAt(w, given, 0)) : asScalar(w, dimAt(w, x, 1)))
  const window = given ?? w.node('Broadcast', [w.scalar(typeOf(x), 1), asList(w, length)], { mode: 'numpy' })
  const step = numberParameter(call, 'step', w)
  const half = w.node('STFT', [x, window, length, step], { transpose_frames: false })
  if (call.param<boolean>('onesided')) return [half]
  const own = call.knows('length')
    ? (call.param<number | undefined>('length') ?? (given && dimsOf(given)[0]))
    : undefined
  const [bins, points] = knownSizes('the length of a whole transform', dimsOf(half)[2], own)
  return [mirrored(w, half, 2, bins, points)]
}

/** Numbers of a half spectrum as those of the signal: each is a sum of cosines and sines. */
function basisOf(size: number): number[] {
  const bins = halfOf(size)
  const basis: number[] = []
  for (let bin = 0; bin < bins; bin++)
    for (const wave of [Math.cos, (angle: number) => -Math.sin(angle)])
      for (let at = 0; at < size; at++) {
        // All but the first, and the middle one of an even number, stand for their mirror images too.
        const isAlone = bin === 0 || 2 * bin === size
        basis.push(((isAlone ? 1 : 2) / size) * wave((2 * Math.PI * ((bin * at) % size)) / size))
      }
  return basis
}

/** Elements of a basis that are written as a constant. */
const MAX_BASIS = 2 ** 24

/** Frames are transformed, weighted and added up by a transposed convolution; the squares of the window by another. */
function istftToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const [size, step] = [call.param<number>('frameSize'), call.param<number>('step')]
  const bins = halfOf(size)
  if (2 * bins * size > MAX_BASIS) fail('unsupported-op', `frames of ${size} elements`)
  const own = wideType(typeOf(x))
  const isBatched = rankOf(x) === 4
  const batched = widened(w, isBatched ? x : unsqueezed(w, x, [0]))
  const [, , frames] = dimsOf(batched)
  const columns = w.reshape(transposed(w, batched, [0, 1, 3, 2]), [
    0,
    2 * bins,
    typeof frames === 'number' ? frames : -1
  ])
  const window = widened(w, paddedTo(w, call.operand('window'), size))
  const waves = mul(w, w.constant(own, basisOf(size), [2 * bins, 1, size]), window)
  const sums = w.node('ConvTranspose', [columns, waves], { strides: [step] })
  const ones = elementwise(w, 'Equal', part(w, columns, 1, 0, 1), w.scalar(own, NaN))
  const counts = w.cast(elementwise(w, 'Not', ones), own)
  const squares = w.reshape(mul(w, window, window), [1, 1, size])
  const weights = w.node('ConvTranspose', [counts, squares], { strides: [step] })
  const isEmpty = elementwise(w, 'Equal', weights, zeroOf(w, own))
  const safe = elementwise(w, 'Where', isEmpty, w.scalar(own, 1), weights)
  const factor = call.param<boolean>('normalized') ? Math.sqrt(size) : 1
  const quotient = div(w, mul(w, sums, w.scalar(own, factor)), safe)
  const signal = cut(call, w, elementwise(w, 'Where', isEmpty, zeroOf(w, own), quotient), frames)
  const flat = squeezed(w, signal, [1])
  return [w.cast(isBatched ? flat : squeezed(w, flat, [0]), typeOf(x))]
}

/** A window that is shorter than the frame is padded with zeros on both sides in IR, and an error in ONNX. */
function paddedTo(w: Writer, window: Made, length: number): Made {
  const [size] = knownSizes('the length of the window', dimsOf(window)[0])
  const before = Math.floor((length - size) / 2)
  const zeros = (count: number): Made[] =>
    count > 0 ? [w.constant(typeOf(window), new Array<number>(count).fill(0))] : []
  return joined(w, [...zeros(before), window, ...zeros(length - size - before)], 0)
}

/** The signal without what centering added at both ends, in the length that is asked for: zeros where there is less. */
function cut(call: SourceCall, w: Writer, signal: Made, frames: unknown): Made {
  const [size, step] = [call.param<number>('frameSize'), call.param<number>('step')]
  const isCentered = call.param<boolean>('center')
  const start = isCentered ? Math.floor(size / 2) : 0
  const given = call.knows('samples') ? call.param<number | undefined>('samples') : NaN
  if (given === undefined && !isCentered) return signal
  if (typeof frames !== 'number' || Number.isNaN(given))
    return fail('unsupported-op', 'the length of the signal is not known before the model runs')
  const whole = (frames - 1) * step + size
  const samples = given ?? (frames - 1) * step
  const kept = part(w, signal, 2, start, Math.min(whole, start + samples))
  const missing = samples - Math.max(0, Math.min(whole, start + samples) - start)
  if (missing <= 0) return kept
  const pads = w.constant('int64', [0, 0, 0, 0, 0, missing])
  return w.node('Pad', [kept, pads, zeroOf(w, typeOf(kept))], { mode: 'constant' })
}

/** Complex transforms along one axis; half spectra are transforms of real numbers. */
function fourierToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx') return undefined
  const x = call.operand('x')
  const rank = rankOf(x)
  const [{ axis, length }] = axesOf(call, rank)
  const [inverse, half] = [call.param<boolean>('inverse'), call.param<'none' | 'in' | 'out'>('half')]
  const parts = dimsOf(x)[rank - 1]
  const axes = w.constant('int64', [axis])
  const lengths = length === undefined ? [] : [w.constant('int64', [length])]
  const transform = (type: string, from: Made): Made => w.node(type, [from, axes, ...lengths])
  if (half === 'in') return [unsqueezed(w, transform('IRDFT', x), [rank - 1])]
  if (parts === 2) {
    const whole = transform(inverse ? 'IDFT' : 'DFT', x)
    if (half === 'none') return [whole]
    return fail('unsupported-op', 'half of the transform of complex numbers')
  }
  if (parts !== 1) return fail('unsupported-op', 'it is not known whether the numbers are complex')
  if (half === 'out') return [transform('RDFT', squeezed(w, x, [rank - 1]))]
  const complex = joined(w, [x, mul(w, x, zeroOf(w, typeOf(x)))], rank - 1)
  return [transform(inverse ? 'IDFT' : 'DFT', complex)]
}

/** Fourier transforms of one dialect in words of the other. */
export const signalConversions: Conversions = {
  rules: [
    first(within(toOnnx(opNamed(dftOps, 'DFT'), fourierWithin))),
    ...dftOps.map(op => toOnnx(op, fourierToOnnx)),
    ...dftOps.map(op => first(toOpenvino(op, fourierToOpenvino))),
    toOnnx(stft, stftToOnnx),
    toOpenvino(stft, stftToOpenvino),
    toOnnx(istft, istftToOnnx),
    refuses(dynamicTimeWarping, 'openvino', 'a path that is followed back cell by cell')
  ],
  leniencies: []
}
