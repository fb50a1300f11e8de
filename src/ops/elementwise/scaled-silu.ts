import { unary } from '../../kernels/core/elementwise.ts'
import { scaledSilu } from '../../kernels/elementwise/activations.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { float } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { toNumbers } from '../../tensor/elements.ts'

/**
 * `k x` times its sigmoid, where k is a scalar operand or, without that, the attribute. com.microsoft ScaledSiLU-1,
 * rounded once, where ONNX Runtime rounds the product of 16-bit floats, too.
 */
export const scaledSiLU = defineOp({
  name: 'ScaledSiLU',
  operands: { x: 'tensor', scale: 'optional' },
  params: params<{ alpha: number }>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { alpha: float('alpha') } }],
  inPlace: ['x'],

  shape({ x, scale }) {
    checkRank('scale', scale, 0)
    return [tensorFact(x.type, x.shape)]
  },

  run: ({ x, scale }, { alpha }, call) =>
    unary({ float: scaledSilu(scale ? toNumbers(scale)[0] : alpha) }, x, call.rawOutput())
})
