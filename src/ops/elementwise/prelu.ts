import { binary } from '../../kernels/core/elementwise.ts'
import { PRELU } from '../../kernels/elementwise/binary.ts'
import { alignedShape, broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { slopeAxis, type SlopeParams } from '../../op-kit/slopes.ts'
import { is } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { withDims } from '../../tensor/tensor.ts'

/**
 * `x` where it is not negative, else `slope * x`. The slope is broadcast to x, never x to the slope. Before ONNX
 * version 7, and in IR where the sizes agree, a list of slopes has one for each channel (dim 1). OpenVINO takes slopes
 * of another type, too: Model Optimizer left those of networks compressed to float16 in float32.
 */
export const prelu = defineOp({
  name: 'PRelu',
  operands: { x: 'tensor', slope: 'tensor' },
  params: params<SlopeParams>(),
  onnx: [
    { since: 1, bind: { list: is('channels') } },
    { since: 7, bind: { list: is('last') } }
  ],
  openvino: [{ type: 'PReLU', since: 1, types: { x: FLOATS, slope: FLOATS }, bind: { list: is('either') } }],

  shape({ x, slope }, { list }) {
    const type = list === 'either' ? x.type : commonType({ x, slope })
    const axis = slopeAxis(list, x.shape, slope.shape)
    return [
      tensorFact(type, axis === undefined ? x.shape : broadcastResult(x.shape, slope.shape, { mode: 'aligned', axis }))
    ]
  },

  *run({ x, slope }, { list }, call) {
    const axis = slopeAxis(list, x.dims, slope.dims) ?? -1
    yield* binary(PRELU, x, withDims(slope, alignedShape(x.dims.length, slope.dims, axis)), call.rawOutput())
  }
})
