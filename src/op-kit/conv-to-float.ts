import { convertPaced } from '../kernels/core/convert-paced.ts'
import { binary } from '../kernels/core/elementwise.ts'
import { oncePer } from '../kernels/core/once.ts'
import { ADD, MULTIPLY } from '../kernels/elementwise/binary.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { convert } from '../tensor/convert.ts'
import { allocate, type Tensor, withDims } from '../tensor/tensor.ts'
import { defineOp, type Op } from './define.ts'
import { withOutput } from './with-output.ts'

/**
 * ConvInteger that is scaled to float32: what the planner makes of a convolution of dequantized codes. Its exact sums
 * are multiplied by the scale of the data and that of the weights (one, or one for each output channel) and a bias is
 * added, all in double precision, and rounded once.
 * @param conv ConvInteger
 */
export const convIntegerToFloat = /* @__PURE__ */ oncePer((conv: Op) =>
  defineOp({
    name: 'ConvIntegerToFloat',
    operands: {
      x: 'tensor',
      w: 'tensor',
      xScale: 'tensor',
      wScale: 'tensor',
      xZero: 'optional',
      wZero: 'optional',
      bias: 'optional'
    },

    shape: (facts, parameters, call) => {
      const [sums] = conv.shape(facts, parameters, call) as readonly TensorFact[]
      return [tensorFact('float32', sums.shape)]
    },

    *run(operands, parameters, context) {
      const { xScale, wScale, bias } = operands
      const out = context.rawOutput()
      const sums = allocate('int32', out.dims)
      yield* conv.run(operands, parameters, withOutput(context, sums)) ?? []
      const numbers = allocate('float64', out.dims)
      yield* convertPaced(sums, numbers)
      const ofChannels = (list: Tensor): Tensor =>
        convert(
          withDims(list, list.data.length === 1 ? [] : [list.data.length, ...ones(out.dims.length - 2)]),
          'float64'
        )
      for (const scale of [xScale, wScale]) yield* binary(MULTIPLY, numbers, ofChannels(scale), numbers)
      if (bias) yield* binary(ADD, numbers, ofChannels(bias), numbers)
      yield* convertPaced(numbers, out)
    }
  })
)

const ones = (count: number): number[] => new Array<number>(count).fill(1)
