import { fail } from '../../errors.ts'
import { doubles, readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { shortTimeFourier } from '../../kernels/signal/fourier.ts'
import { halfOf } from '../../kernels/signal/lengths.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputInt, is, optionalInput } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import {
  addDims,
  asDim,
  type Dim,
  floorDivDims,
  maxDim,
  mayMatch,
  minDim,
  printDim,
  subDims,
  unknownDim
} from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  step: DataDependent<number>
  /** Length of a frame; undefined: that of the window, or of the signal without one. */
  length: DataDependent<number | undefined>
  /** Whether only the half of a transform that does not mirror the other is returned. */
  onesided: boolean
  /** Whether the axis of frames comes after that of the transform. */
  transposed: boolean
  /**
   * ONNX: a batch axis, and a last axis of real and imaginary parts. IR: a real signal, with or without a batch axis.
   */
  form: 'onnx' | 'openvino'
}

const INDEX = ['int32', 'int64'] as const

/** Rules of {@link stft}. */
export const stftRules = defineRules({
  name: 'STFT',
  operands: { signal: 'tensor', window: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      since: 17,
      in: { signal: 0, window: 2 },
      bind: {
        step: inputInt(1),
        length: optionalInput(inputInt(3)),
        onesided: flag('onesided'),
        transposed: is(false),
        form: is('onnx')
      }
    }
  ],
  openvino: [
    {
      since: 15,
      types: { signal: FLOATS, window: FLOATS, step: INDEX, length: INDEX },
      bind: {
        step: inputInt(3),
        length: inputInt(2),
        onesided: is(true),
        transposed: flag('transpose_frames'),
        form: is('openvino')
      }
    }
  ],

  shape({ signal, window }, p) {
    const type = commonType({ signal, window })
    checkStep(p.step)
    checkRank('the window', window, 1)
    checkRank('the signal', signal, ...(p.form === 'onnx' ? [2, 3] : [1, 2]))
    if (signal.shape === undefined) return [tensorFact(type, undefined)]
    const { batch, samples } = partsOf(signal.shape, p.form)
    const length = asDim(p.length ?? window?.shape?.[0] ?? (window ? unknownDim() : samples))
    checkLength(length, samples)
    checkWindow(window, length, p.form)
    const frames = addDims(floorDivDims(subDims(samples, length), p.step), 1)
    const bins = p.onesided ? addDims(floorDivDims(length, 2), 1) : length
    const [first, second] = p.transposed ? [bins, asDim(frames)] : [asDim(frames), bins]
    return [tensorFact(type, [...batch, first, second, 2])]
  }
})

/**
 * Short-time Fourier transform: transforms of a signal's overlapping frames. ONNX STFT-17, OpenVINO STFT-15. A window
 * shorter than the frame is padded with zeros on both sides in OpenVINO and an error in ONNX. As in ONNX Runtime
 * (exporters need it), a real ONNX signal may lack its last axis, and a complex signal with `onesided` gives the first
 * half of its transform.
 */
export const stft = /* @__PURE__ */ withKernel(stftRules, {
  *run({ signal, window }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const { batch, samples, parts } = partsOf(signal.dims, p.form)
    const length = p.length ?? window?.dims[0] ?? (samples as number)
    const target = targetOf(out)
    yield* shortTimeFourier(yield* readNumbers(signal), parts, target.numbers, {
      batch: batch.length === 0 ? 1 : (batch[0] as number),
      samples: samples as number,
      frames: out.dims[out.dims.length - (p.transposed ? 2 : 3)],
      step: p.step,
      bins: p.onesided ? halfOf(length) : length,
      window: paddedWindow(window, length),
      transposed: p.transposed
    })
    yield* target.finish()
  }
})

interface SignalParts {
  /** One dim or none. */
  readonly batch: readonly Dim[]
  readonly samples: Dim
  readonly parts: 1 | 2
}

/** @throws NodewiseError `dims-mismatch` */
function partsOf(shape: readonly Dim[], form: Params['form']): SignalParts {
  if (form === 'openvino') return { batch: shape.slice(0, -1), samples: shape[shape.length - 1], parts: 1 }
  const [batch, samples, parts = 1] = shape
  if (!mayMatch(parts, 1) && !mayMatch(parts, 2)) {
    fail(
      'dims-mismatch',
      `the last dim of the signal is ${printDim(parts)}; expected 1 for real numbers or 2 for complex ones`
    )
  }
  return { batch: [batch], samples, parts: parts === 2 ? 2 : 1 }
}

/** @throws NodewiseError `value-out-of-range` */
export function checkStep(step: Dim): void {
  if (maxDim(step) < 1) fail('value-out-of-range', `the frame step is ${printDim(step)}; expected at least 1`)
}

function checkLength(length: Dim, samples: Dim): void {
  if (maxDim(length) < 1 || minDim(length) > maxDim(samples)) {
    fail(
      'value-out-of-range',
      `the frame length is ${printDim(length)}; expected 1 to ${printDim(samples)}, the length of the signal`
    )
  }
}

function checkWindow(window: TensorFact | undefined, length: Dim, form: Params['form']): void {
  const size = window?.shape?.[0]
  if (size === undefined) return
  const fits = form === 'onnx' ? mayMatch(size, length) : minDim(size) <= maxDim(length)
  if (!fits) fail('dims-mismatch', `the window has ${printDim(size)} elements, a frame ${printDim(length)}`)
}

/**
 * The window padded with zeros on both sides, with one more on the right where the number is odd; ones without a
 * window.
 */
export function paddedWindow(window: Tensor | undefined, length: number): Float64Array {
  const padded = doubles(length)
  if (window === undefined) return padded.fill(1)
  const numbers: Numbers = toNumbers(window)
  padded.set(numbers, Math.floor((length - numbers.length) / 2))
  return padded
}
