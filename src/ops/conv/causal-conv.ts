import { fail } from '../../errors.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { unary } from '../../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { swish } from '../../kernels/elementwise/activations.ts'
import { params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, flag, int, is, type NodeFacts } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, mulDims, subDims, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { atLeastOne } from '../../shapes/window.ts'
import { convertInto } from '../../tensor/convert.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  activation: 'none' | 'silu'
  dilation: number
  /** Data, states and results have the channels last. */
  channelsLast: boolean
}

const activation = choice<Params['activation']>('activation', { none: 'none', silu: 'silu', swish: 'silu' })

/** Rules of {@link causalConv}. */
export const causalConvRules = defineRules({
  name: 'CausalConvWithState',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional', past: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 27, bind: { activation, dilation: is(1), channelsLast: is(false) } },
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { activation: derive(plainActivation), dilation: int('dilation'), channelsLast: flag('channels_last') }
    }
  ],

  shape({ x, w, bias, past }, { dilation, channelsLast }) {
    if (dilation < 1) fail('unknown-attribute-value', `dilation is ${dilation}; expected 1 or more`)
    const type = commonType({ input: x, weight: w, bias, past_state: past })
    const [channels, , kernel] = meetShape('weight', w, [unknownDim(), 1, unknownDim(1)])
    const layout = (batch: Dim, length: Dim): Dim[] =>
      channelsLast ? [batch, length, channels] : [batch, channels, length]
    const data = meetShape('input', x, layout(unknownDim(), unknownDim()))
    meetShape('bias', bias, [channels])
    const before = mulDims(subDims(atLeastOne(kernel), 1), dilation)
    meetShape('past_state', past, layout(data[0], before))
    const own = data[channelsLast ? 2 : 1]
    return [tensorFact(type, data), tensorFact(type, channelsLast ? [data[0], before, own] : [data[0], own, before])]
  }
})

/**
 * Convolves each channel with its own kernel over the elements before and at each position. The state of an earlier
 * call (zeros without one) precedes the data; the last elements are the state for the next call. ONNX
 * CausalConvWithState-27; com.microsoft CausalConvWithState-1 with dilations and channels last, not with several axes
 * (`ndim`) or several states (`state_window`), which ONNX Runtime's CPU kernel does not have either.
 */
export const causalConv = /* @__PURE__ */ withKernel(causalConvRules, {
  *run({ x, w, bias, past }, { activation, dilation, channelsLast }, call) {
    const [batch] = x.dims
    const [channels, length] = channelsLast ? [x.dims[2], x.dims[1]] : [x.dims[1], x.dims[2]]
    const kernel = w.dims[2]
    const before = (kernel - 1) * dilation
    const sequence = yield* withState(x, past, [batch, channels, length], before, channelsLast)
    const out = call.output()
    const inPlace = out.type === 'float32' && !channelsLast
    const sums = inPlace ? out : allocate('float32', [batch, channels, length])
    const axis = { size: before + length, count: length, kernel, stride: 1, dilation, begin: 0, end: 0 }
    yield* convolve(sequence, w, bias, sums, {
      batch,
      groups: channels,
      windowChannels: 1,
      elementChannels: 1,
      axes: [axis]
    })
    if (activation === 'silu') yield* unary({ float: swish(1) }, sums, sums)
    if (channelsLast) yield* storeLast(sums, length, out)
    else if (sums !== out) yield* convertPaced(sums, out)
    if (!call.wanted(1)) return
    if (channelsLast) yield* storeLast(sequence, before, call.output(1))
    else convertInto(lastOf(sequence, before), call.output(1))
  }
})

/** Options that have no kernel fail. */
function plainActivation(node: NodeFacts): Params['activation'] {
  const [axes, window] = [node.get(int('ndim')) ?? 1, node.get(int('state_window')) ?? 0]
  if (axes !== 1) fail('unknown-attribute-value', `ndim is ${axes}; only 1 is supported`)
  if (window !== 0) fail('unknown-attribute-value', `state_window is ${window}; only 0 is supported`)
  return node.get(activation) ?? 'none'
}

/** State and data, concatenated along the last axis in float32; channels come first. */
function* withState(
  x: Tensor,
  past: Tensor | undefined,
  [batch, channels, length]: readonly number[],
  before: number,
  channelsLast: boolean
): Generator<void, Tensor<'float32'>> {
  const all = allocate('float32', [batch, channels, before + length])
  if (all.data.length === 0) return all
  const numbers = yield* readNumbers(x)
  const state = past && (yield* readNumbers(past))
  const pace = new Pace()
  const place = (from: Numbers, row: number, count: number, to: number): void => {
    if (!channelsLast) all.data.set(from.subarray(row * count, (row + 1) * count), to)
    else {
      const start = Math.floor(row / channels) * count * channels + (row % channels)
      for (let i = 0; i < count; i++) all.data[to + i] = from[start + i * channels]
    }
  }
  for (let row = 0; row < batch * channels; row++) {
    const start = row * (before + length)
    if (state) place(state, row, before, start)
    place(numbers, row, length, start + before)
    if (pace.isDue((before + length) * COST.copy)) yield
  }
  return all
}

/** Writes the last `count` elements of each channel with the channels last. */
function* storeLast({ dims, data }: Tensor<'float32'>, count: number, out: Tensor): Generator<void> {
  const [batch, channels, length] = dims
  if (out.data.length === 0) return
  const target = targetOf(out)
  const pace = new Pace()
  for (let row = 0; row < batch * channels; row++) {
    const start = Math.floor(row / channels) * count * channels + (row % channels)
    const from = (row + 1) * length - count
    for (let i = 0; i < count; i++) target.numbers[start + i * channels] = data[from + i]
    if (pace.isDue(count * COST.copy)) yield
  }
  yield* target.finish()
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
