import { fail } from '../../errors.ts'
import { type DeformBorder, deformConvolve } from '../../kernels/conv/deform.ts'
import type { WeightParams } from '../../op-kit/conv-shape.ts'
import { convPlan } from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, ints, is, mapped, optional } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { onnxWindows, openvinoWindows } from '../../op-kit/window-sources.ts'
import { type Dim, mayMatch, mulDims, printDim, printShape, productOf, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { WindowParams } from '../../shapes/window.ts'
import { convolvedShape } from './conv.ts'

interface Params extends WindowParams, WeightParams {
  offsetGroups: number
  border: DeformBorder
}

const openvino = {
  ...openvinoWindows,
  kernelShape: is(undefined),
  group: int('group'),
  offsetGroups: int('deformable_group')
}
const types = { x: NUMERIC, offsets: NUMERIC, w: NUMERIC, mask: NUMERIC }

/** Rules of {@link deformConv}. */
export const deformConvRules = defineRules({
  name: 'DeformConv',
  operands: { x: 'tensor', w: 'tensor', offsets: 'tensor', bias: 'optional', mask: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      since: 19,
      bind: {
        ...onnxWindows,
        group: int('group'),
        kernelShape: optional(ints('kernel_shape')),
        offsetGroups: int('offset_group'),
        border: is('zeros')
      }
    }
  ],
  openvino: [
    {
      type: 'DeformableConvolution',
      since: 1,
      in: { x: 0, offsets: 1, w: 2 },
      types,
      bind: { ...openvino, border: is('shift') }
    },
    {
      type: 'DeformableConvolution',
      since: 8,
      in: { x: 0, offsets: 1, w: 2, mask: 3 },
      types,
      bind: { ...openvino, border: mapped(flag('bilinear_interpolation_pad'), fades => (fades ? 'zeros' : 'shift')) }
    }
  ],

  shape({ x, w, offsets, bias, mask }, p, { dialect }) {
    const type = commonType({ x, w, offsets, bias, mask })
    if (dialect === 'openvino') checkRank('the data', x, 4)
    const shape = convolvedShape(x, w, bias, p)
    const channels = x.shape?.[1]
    if (p.offsetGroups < 1 || (typeof channels === 'number' && channels % p.offsetGroups !== 0)) {
      fail(
        'value-out-of-range',
        `${p.offsetGroups} groups of offsets do not divide ${printDim(channels ?? unknownDim())} channels`
      )
    }
    if (shape && w.shape) {
      const rank = shape.length - 2
      const locations = mulDims(productOf(w.shape.slice(2)), p.offsetGroups)
      checkShape('offsets', offsets, [shape[0], mulDims(locations, rank), ...shape.slice(2)])
      checkShape('the mask', mask, [shape[0], locations, ...shape.slice(2)])
    }
    return [tensorFact(type, shape)]
  }
})

/**
 * Deformable convolution, whose taps read at locations moved by offsets: ONNX DeformConv and OpenVINO
 * DeformableConvolution-1, -8. Elements outside are zero in ONNX, and in OpenVINO with `bilinear_interpolation_pad`, so
 * that values fade out. Without it locations before the first element read zero, as in its CPU plugin; the
 * specification would move them to the first element.
 */
export const deformConv = /* @__PURE__ */ withKernel(deformConvRules, {
  run({ x, w, offsets, bias, mask }, p, call) {
    const out = call.output()
    const plan = { ...convPlan(x.dims, w.dims, out.dims, p), offsetGroups: p.offsetGroups, border: p.border }
    return deformConvolve({ x, w, offsets, mask, bias }, out, plan)
  }
})

function checkShape(what: string, fact: TensorFact | undefined, expected: readonly Dim[]): void {
  const shape = fact?.shape
  if (shape && (shape.length !== expected.length || shape.some((dim, i) => !mayMatch(dim, expected[i])))) {
    fail(
      'shape-mismatch',
      `${what} of shape ${printShape(shape)} do not go with the result; ${printShape(expected)} is expected`
    )
  }
}
