import { convolve } from '../../kernels/conv/conv.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { unary } from '../../kernels/core/elementwise.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { swish } from '../../kernels/elementwise/activations.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { choice } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { subDims, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { atLeastOne } from '../../shapes/window.ts'
import { convertInto } from '../../tensor/convert.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  activation: 'none' | 'silu'
}

/**
 * Convolves each channel with its own kernel over the elements before and at each position. The state of an earlier
 * call (zeros without one) precedes the data; the last elements are the state for the next call. ONNX
 * CausalConvWithState-27.
 */
export const causalConv = defineOp({
  name: 'CausalConvWithState',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional', past: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      since: 27,
      bind: { activation: choice<Params['activation']>('activation', { none: 'none', silu: 'silu', swish: 'silu' }) }
    }
  ],

  shape({ x, w, bias, past }) {
    const type = commonType({ input: x, weight: w, bias, past_state: past })
    const [channels, , kernel] = meetShape('weight', w, [unknownDim(), 1, unknownDim(1)])
    const data = meetShape('input', x, [unknownDim(), channels, unknownDim()])
    meetShape('bias', bias, [channels])
    const state = meetShape('past_state', past, [data[0], channels, subDims(atLeastOne(kernel), 1)])
    return [tensorFact(type, data), tensorFact(type, [data[0], data[1], state[2]])]
  },

  *run({ x, w, bias, past }, { activation }, call) {
    const [batch, channels, length] = x.dims
    const kernel = w.dims[2]
    const sequence = yield* withState(x, past, kernel - 1)
    const out = call.output()
    const sums = (out.type === 'float32' ? out : allocate('float32', out.dims)) as Tensor<'float32'>
    const axis = { size: kernel - 1 + length, count: length, kernel, stride: 1, dilation: 1, begin: 0, end: 0 }
    yield* convolve(sequence, w, bias, sums, {
      batch,
      groups: channels,
      windowChannels: 1,
      elementChannels: 1,
      axes: [axis]
    })
    if (activation === 'silu') yield* unary({ float: swish(1) }, sums, sums)
    if (sums !== out) yield* convertPaced(sums, out)
    if (call.wanted(1)) convertInto(lastOf(sequence, kernel - 1), call.output(1))
  }
})

/** State and data, concatenated along the last axis in float32. */
function* withState(x: Tensor, past: Tensor | undefined, before: number): Generator<void, Tensor<'float32'>> {
  const [batch, channels, length] = x.dims
  const all = allocate('float32', [batch, channels, before + length])
  if (all.data.length === 0) return all
  const numbers = yield* readNumbers(x)
  const state = past && (yield* readNumbers(past))
  for (let row = 0; row < batch * channels; row++) {
    const start = row * (before + length)
    if (state) all.data.set(state.subarray(row * before, (row + 1) * before), start)
    all.data.set(numbers.subarray(row * length, (row + 1) * length), start + before)
  }
  return all
}

/** The last `count` elements of each channel. */
function lastOf({ dims, data }: Tensor<'float32'>, count: number): Tensor {
  const [batch, channels, length] = dims
  const last = allocate('float32', [batch, channels, count])
  for (let row = 1; count > 0 && row <= batch * channels; row++) {
    last.data.set(data.subarray(row * length - count, row * length), (row - 1) * count)
  }
  return last
}
