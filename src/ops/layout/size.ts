import { defineOp } from '../../op-kit/define.ts'
import { productOf, toInt } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { elementCount } from '../../tensor/tensor.ts'

/** The number of elements of `data`: ONNX Size. */
export const size = defineOp({
  name: 'Size',
  operands: { data: 'tensor' },
  onnx: [{ since: 1, bind: {} }],

  shape: () => [tensorFact('int64', [])],

  value({ data }) {
    return data.shape && [toInt(productOf(data.shape))]
  },

  run({ data }, _, call) {
    call.output().data[0] = BigInt(elementCount(data.dims))
  }
})
