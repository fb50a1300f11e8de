import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, floats, optional } from '../../op-kit/sources.ts'
import { mayMatch, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

interface Params {
  scale: number
  /** One for each channel. */
  bias: readonly number[] | undefined
}

/** Rules of {@link imageScaler}. */
export const imageScalerRules = defineRules({
  name: 'ImageScaler',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { scale: float('scale'), bias: optional(floats('bias')) } }],
  inPlace: ['x'],

  shape({ x }, { bias = [] }) {
    checkRank('the input', x, 4)
    const channels = x.shape?.[1]
    if (bias.length > 0 && channels !== undefined && !mayMatch(channels, bias.length))
      fail('dims-mismatch', `there are ${bias.length} biases for ${printDim(channels)} channels`)
    return [tensorFact(x.type, x.shape)]
  }
})

/** Scales images `[N, C, H, W]` and adds a bias to each channel. ONNX ImageScaler-1, which ONNX removed. */
export const imageScaler = /* @__PURE__ */ withKernel(imageScalerRules, {
  *run({ x }, { scale, bias = [] }, call) {
    const numbers = yield* readNumbers(x)
    const { numbers: out, finish } = targetOf(call.rawOutput())
    const [, channels] = x.dims
    const plane = product(x.dims, 2)
    yield* inChunks(numbers.length, (from, to) => {
      for (let i = from; i < to; i++)
        out[i] = scale * numbers[i] + (bias.length > 0 ? bias[Math.floor(i / plane) % channels] : 0)
    })
    yield* finish()
  }
})
