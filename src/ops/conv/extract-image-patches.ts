import { fail } from '../../errors.ts'
import { extractPatches } from '../../kernels/conv/patches.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { choice, ints, is } from '../../op-kit/sources.ts'
import { mulDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { unknownDims } from '../../shapes/lists.ts'
import {
  type AutoPad,
  axisValues,
  slidings,
  windowAxes,
  windowCountOrNone,
  type WindowParams
} from '../../shapes/window.ts'

interface Params extends WindowParams {
  sizes: readonly number[]
}

/**
 * im2col: puts the elements of each window into channels, those of one tap together. OpenVINO ExtractImagePatches-3;
 * padding is zeros. Data smaller than an unpadded window have no patches, as in OpenVINO.
 */
export const extractImagePatches = defineOp({
  name: 'ExtractImagePatches',
  operands: { x: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 3,
      bind: {
        sizes: ints('sizes'),
        strides: ints('strides'),
        dilations: ints('rates'),
        begin: is(undefined),
        end: is(undefined),
        autoPad: choice<AutoPad>('auto_pad', { valid: 'valid', same_upper: 'same_upper', same_lower: 'same_lower' })
      }
    }
  ],
  moves: ['x'],

  shape({ x }, p) {
    checkRank('the data', x, 4)
    const shape = x.shape ?? unknownDims(4)
    if (p.sizes.length !== 2) fail('dims-mismatch', `sizes has ${p.sizes.length} elements; expected 2`)
    const sizes = axisValues(p.sizes, 2, 'sizes', 1)
    const counts = slidings(2, p).map((sliding, i) => windowCountOrNone(shape[i + 2], sizes[i], sliding))
    return [tensorFact(x.type, [shape[0], mulDims(shape[1], sizes[0] * sizes[1]), ...counts])]
  },

  run({ x }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    return extractPatches(x, out, windowAxes(x.dims.slice(2), p.sizes, out.dims.slice(2), p))
  }
})
