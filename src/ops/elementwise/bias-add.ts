import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkRank, meetShape, sharedDim } from '../../op-kit/ranks.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'

/**
 * `x + bias + skip` of images whose positions are one axis, `[batch, positions, channels]`, with a bias for each
 * channel. com.microsoft BiasAdd-1, which ONNX Runtime has for GPUs only, there for 320, 640 or 1280 channels.
 */
export const biasAdd = defineOp({
  name: 'BiasAdd',
  operands: { x: 'tensor', bias: 'tensor', skip: 'tensor' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],
  inPlace: ['x', 'skip'],

  shape({ x, bias, skip }) {
    const type = commonType({ X: x, bias, skip })
    checkRank('X', x, 3)
    checkRank('the bias', bias, 1)
    checkRank('skip', skip, 3)
    const channels = sharedDim({ X: [x, 2], 'the bias': [bias, 0], skip: [skip, 2] })
    const shape = x.shape && [...x.shape.slice(0, -1), channels!]
    return [tensorFact(type, shape ? meetShape('skip', skip, shape) : skip.shape)]
  },

  *run({ x, bias, skip }, _, call) {
    const [xs, biases, skips] = [yield* readNumbers(x), yield* readNumbers(bias), yield* readNumbers(skip)]
    const { numbers, finish } = targetOf(call.rawOutput())
    const channels = biases.length
    yield* inChunks(
      numbers.length,
      (from, to) => {
        for (let i = from, c = from % channels; i < to; i++) {
          numbers[i] = xs[i] + biases[c] + skips[i]
          if (++c === channels) c = 0
        }
      },
      COST.element
    )
    yield* finish()
  }
})
