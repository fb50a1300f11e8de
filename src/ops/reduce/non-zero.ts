import { storeIntegers } from '../../kernels/core/integers.ts'
import { nonZeroPositions } from '../../kernels/core/non-zero.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import type { Positions } from '../../kernels/core/positions.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { choice, is } from '../../op-kit/sources.ts'
import { maxDim, productOf, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { halvesOf } from '../../tensor/elements.ts'

interface Params {
  outputType: 'int32' | 'int64'
}

/**
 * Positions of the elements that are not zero (empty text, false) in row-major order, as a tensor `[rank, count]`; so
 * `[0, count]` for a scalar. ONNX NonZero-9, -13; OpenVINO NonZero-3.
 */
export const nonZero = defineOp({
  name: 'NonZero',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 9, bind: { outputType: is('int64') } }],
  openvino: [{ since: 3, bind: { outputType: choice('output_type', { i32: 'int32', i64: 'int64' }) } }],

  shape({ data }, p) {
    const maxCount = data.shape ? maxDim(productOf(data.shape)) : Infinity
    return [tensorFact(p.outputType, [data.shape?.length ?? unknownDim(), unknownDim(0, maxCount)])]
  },

  *run({ data }, _, call) {
    const positions = yield* nonZeroPositions(data)
    const count = positions.length
    const out = call.output(0, [data.dims.length, count])
    const per = out.type === 'int64' ? 2 : 1
    // The high halves of integers of 64 bits stay zero.
    const words = per === 2 ? halvesOf(out) : (out.data as Int32Array)
    for (let axis = data.dims.length - 1; axis >= 0; axis--) {
      const size = data.dims[axis]
      yield* inChunks(count, (from, to) => {
        if (positions instanceof Int32Array) {
          splitOff(positions, from, to, size, words, per * (axis * count + from), per)
          return
        }
        const coordinates = new Float64Array(to - from)
        splitOff(positions, from, to, size, coordinates, 0, 1)
        storeIntegers(out, coordinates, axis * count + from)
      })
      yield
    }
  }
})

/**
 * Writes the coordinates of positions `from <= i < to` along the last axis, of `size` elements, to `target` from `at`
 * on, `step` apart, and leaves the positions along the other axes.
 */
function splitOff(
  positions: Positions,
  from: number,
  to: number,
  size: number,
  target: Positions,
  at: number,
  step: number
): void {
  for (let i = from; i < to; i++, at += step) {
    const position = positions[i]
    const rest = Math.floor(position / size)
    target[at] = position - rest * size
    positions[i] = rest
  }
}
