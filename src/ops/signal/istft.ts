import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { inverseShortTimeFourier } from '../../kernels/signal/fourier.ts'
import { halfOf } from '../../kernels/signal/lengths.ts'
import { type DataDependent, params, type ShapeParams } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputInt, optionalInput } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import {
  addDims,
  asDim,
  type Dim,
  floorDivDims,
  maxDim,
  mayMatch,
  minDim,
  mulDims,
  printDim,
  subDims,
  unknownDim
} from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { checkStep, paddedWindow } from './stft.ts'

interface Params {
  frameSize: DataDependent<number>
  step: DataDependent<number>
  /** Length of the signal; undefined: as long as the frames make it. */
  samples: DataDependent<number | undefined>
  /** Whether the signal was padded with half a frame at both ends, which is removed. */
  center: boolean
  /** Whether the transforms were divided by the square root of the frame size. */
  normalized: boolean
}

const INDEX = ['int32', 'int64'] as const

/** Rules of {@link istft}. */
export const istftRules = defineRules({
  name: 'ISTFT',
  operands: { x: 'tensor', window: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 16,
      types: { x: FLOATS, window: FLOATS, frameSize: INDEX, step: INDEX, samples: INDEX },
      bind: {
        frameSize: inputInt(2),
        step: inputInt(3),
        samples: optionalInput(inputInt(4)),
        center: flag('center'),
        normalized: flag('normalized')
      }
    }
  ],

  shape({ x, window }, p) {
    const type = commonType({ data: x, window })
    checkStep(p.step)
    if (maxDim(p.frameSize) < 1)
      fail('value-out-of-range', `the frame size is ${printDim(p.frameSize)}; expected at least 1`)
    checkRank('the window', window, 1)
    if (window.shape) checkWindow(window.shape, p.frameSize)
    checkRank('the data', x, 3, 4)
    if (x.shape === undefined) return [tensorFact(type, undefined)]
    checkData(x.shape, p.frameSize)
    return [tensorFact(type, [...x.shape.slice(0, -3), samplesOf(x.shape[x.shape.length - 2], p)])]
  }
})

/**
 * Inverse short-time Fourier transform to a real signal. OpenVINO ISTFT-16. A centered signal is `(frames - 1) * step`
 * long where no length is given, as the specification says and shows; OpenVINO 2026.4 gives one sample more for frames
 * of odd size.
 */
export const istft = /* @__PURE__ */ withKernel(istftRules, {
  *run({ x, window }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const [bins, frames] = x.dims.slice(-3)
    const target = targetOf(out)
    const layout = {
      batch: x.dims.length === 4 ? x.dims[0] : 1,
      samples: out.dims[out.dims.length - 1],
      frames,
      step: p.step,
      bins,
      window: paddedWindow(window, p.frameSize),
      transposed: true
    }
    const scale = p.normalized ? Math.sqrt(p.frameSize) : 1
    yield* inverseShortTimeFourier(
      yield* readNumbers(x),
      target.numbers,
      layout,
      p.center ? Math.floor(p.frameSize / 2) : 0,
      scale
    )
    yield* target.finish()
  }
})

function checkWindow(shape: readonly Dim[], frameSize: Dim): void {
  if (minDim(shape[0]) > maxDim(frameSize))
    fail('dims-mismatch', `the window has ${printDim(shape[0])} elements, a frame ${printDim(frameSize)}`)
}

function checkData(shape: readonly Dim[], frameSize: Dim): void {
  const [bins, , parts] = shape.slice(-3)
  if (!mayMatch(parts, 2))
    fail('dims-mismatch', `the last dim of the data is ${printDim(parts)}; expected 2, real and imaginary part`)
  const expected = typeof frameSize === 'number' ? halfOf(frameSize) : addDims(floorDivDims(frameSize, 2), 1)
  if (!mayMatch(bins, expected)) {
    fail(
      'dims-mismatch',
      `the data have ${printDim(bins)} numbers a frame; ` +
        `expected ${printDim(expected)} for frames of ${printDim(frameSize)}`
    )
  }
}

/**
 * Length of the signal.
 * @throws NodewiseError `value-out-of-range` for a negative length
 */
function samplesOf(frames: Dim, { frameSize, step, samples, center }: ShapeParams<Params>): Dim {
  if (samples !== undefined && maxDim(samples) < 0)
    fail('value-out-of-range', `the signal length is ${printDim(samples)}; it is not negative`)
  if (samples !== undefined) return asDim(samples)
  if (maxDim(frames) < 1) return 0
  if (minDim(step) < 1 || minDim(frameSize) < 1) return unknownDim()
  const between = mulDims(subDims(frames, 1), step)
  return asDim(center ? between : addDims(between, frameSize))
}
