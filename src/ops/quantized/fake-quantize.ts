import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary, eachInnerLoop, innermost, loopsOf } from '../../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { ADD, DIVIDE, MULTIPLY, SUBTRACT } from '../../kernels/elementwise/binary.ts'
import { levelWithin } from '../../kernels/quantized/levels.ts'
import { alignedShape, autoBroadcast, type Broadcast, broadcastResult } from '../../op-kit/broadcast.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import type { Dim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { convert } from '../../tensor/convert.ts'
import type { DType } from '../../tensor/dtype.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { allocate, withDims } from '../../tensor/tensor.ts'

interface Params {
  levels: number
  broadcast: Broadcast
}

/** Rules of {@link fakeQuantize}. */
export const fakeQuantizeRules = defineRules({
  name: 'FakeQuantize',
  operands: { x: 'tensor', inputLow: 'tensor', inputHigh: 'tensor', outputLow: 'tensor', outputHigh: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      types: { x: FLOATS, inputLow: FLOATS, inputHigh: FLOATS, outputLow: FLOATS, outputHigh: FLOATS },
      bind: { levels: int('levels'), broadcast: autoBroadcast }
    }
  ],

  shape({ x, ...limits }, { levels, broadcast }) {
    if (levels < 2) fail('unknown-attribute-value', `levels is ${levels}; expected at least 2`)
    const isNumpy = broadcast.mode === 'numpy'
    const oneWay: Broadcast = isNumpy ? { mode: 'aligned', axis: -1 } : broadcast
    const shape = Object.values(limits).reduce((merged, { shape }) => {
      const limit = isNumpy && merged && shape ? withinRank(merged.length, shape) : shape
      return broadcastResult(merged, limit, oneWay)
    }, x.shape)
    return [tensorFact(commonType({ x, ...limits }), shape)]
  }
})

/** Dims of a limit that NumPy's rules broadcast to data of a rank. */
export function limitDims<D extends Dim>(rank: number, dims: readonly D[], broadcast: Broadcast): readonly (D | 1)[] {
  if (broadcast.mode === 'aligned') return alignedShape(rank, dims, broadcast.axis)
  return broadcast.mode === 'numpy' ? withinRank(rank, dims) : dims
}

/** OpenVINO drops axes of limits that come before those of the data, as long as their sizes are 1. */
function withinRank<D extends Dim>(rank: number, dims: readonly D[]): readonly D[] {
  const beyond = Math.max(0, dims.length - rank)
  return dims.slice(0, beyond).some(dim => typeof dim === 'number' && dim !== 1) ? dims : dims.slice(beyond)
}

/**
 * Rounds floats to one of `levels` levels. Up to the lower input limit the result is the lower output limit, beyond the
 * higher one the higher output limit; between them it is the nearest level (ties to even) of the input range, mapped to
 * the output range. Limits are broadcast to `x`.
 */
export const fakeQuantize = /* @__PURE__ */ withKernel(fakeQuantizeRules, {
  *run({ x, inputLow, inputHigh, outputLow, outputHigh }, { levels, broadcast }, call) {
    const limits = [inputLow, inputHigh, outputLow, outputHigh].map(limit =>
      withDims(limit, limitDims(x.dims.length, limit.dims, broadcast))
    )
    const loops = loopsOf(x.dims, [x.dims, ...limits.map(({ dims }) => dims)])
    const steps = innermost(loops)
    const values = yield* readNumbers(x)
    const [lows, highs, outLows, outHighs] = limits.map(toNumbers)
    const target = targetOf(call.output())
    yield* eachInnerLoop(loops, (at, n) => {
      for (let i = 0; i < n; i++) {
        const value = values[at[0] + i * steps[0]]
        const low = lows[at[1] + i * steps[1]]
        const high = highs[at[2] + i * steps[2]]
        const outLow = outLows[at[3] + i * steps[3]]
        const outHigh = outHighs[at[4] + i * steps[4]]
        target.numbers[at[5] + i * steps[5]] =
          value <= Math.min(low, high)
            ? outLow
            : value > Math.max(low, high)
              ? outHigh
              : levelWithin(value, low, high, levels) * ((outHigh - outLow) / (levels - 1)) + outLow
      }
    })
    yield* target.finish()
  }
})

/** Rules of {@link fakeConvert}. */
export const fakeConvertRules = defineRules({
  name: 'FakeConvert',
  operands: { x: 'tensor', scale: 'tensor', shift: 'optional' },
  params: params<{ to: DType }>(),
  openvino: [
    {
      since: 13,
      types: { x: FLOATS, scale: FLOATS, shift: FLOATS },
      bind: { to: choice('destination_type', { f8e4m3: 'float8e4m3fn', f8e5m2: 'float8e5m2' }) }
    }
  ],

  shape({ x, scale, shift }) {
    const oneWay: Broadcast = { mode: 'aligned', axis: -1 }
    const shape = [scale, shift].reduce(
      (merged, other) => (other ? broadcastResult(merged, other.shape, oneWay) : merged),
      x.shape
    )
    return [tensorFact(commonType({ data: x, scale, shift }), shape)]
  }
})

/** Rounds floats to an 8-bit type and back, scaled and shifted: `(f8(x * scale - shift) + shift) / scale`. */
export const fakeConvert = /* @__PURE__ */ withKernel(fakeConvertRules, {
  *run({ x, scale, shift }, { to }, call) {
    const out = call.output()
    const work = allocate('float32', x.dims)
    const [factor, offset] = [convert(scale, 'float32'), shift && convert(shift, 'float32')]
    yield* binary(MULTIPLY, yield* convertedPaced(x, 'float32'), factor, work)
    if (offset) yield* binary(SUBTRACT, work, offset, work)
    const rounded = yield* convertedPaced(
      yield* convertedPaced(work, to, { dialect: 'openvino', saturate: true }),
      'float32'
    )
    if (offset) yield* binary(ADD, rounded, offset, rounded)
    yield* binary(DIVIDE, rounded, factor, work)
    yield* convertPaced(work, out)
  }
})
