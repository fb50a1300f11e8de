import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { geluOf } from '../../kernels/elementwise/activations.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { commonType } from '../../op-kit/types.ts'
import { floorDivDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

/**
 * Adds a bias to the last of three axes and multiplies its first half by Gelu, by erf, of its second: GEGLU.
 * com.microsoft BiasSplitGelu-1, which ONNX Runtime has for GPUs only, there for 2560, 5120 or 10240 columns.
 */
export const biasSplitGelu = defineOp({
  name: 'BiasSplitGelu',
  operands: { x: 'tensor', bias: 'tensor' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ x, bias }) {
    const type = commonType({ X: x, bias })
    checkRank('X', x, 3)
    checkRank('the bias', bias, 1)
    const columns = sharedDim({ X: [x, 2], 'the bias': [bias, 0] })
    if (typeof columns === 'number' && columns % 2 !== 0)
      fail('dims-mismatch', `X has ${columns} columns; they make no two halves`)
    return [tensorFact(type, x.shape && [...x.shape.slice(0, -1), floorDivDims(columns!, 2)])]
  },

  *run({ x, bias }, _, call) {
    const [xs, biases] = [yield* readNumbers(x), yield* readNumbers(bias)]
    const { numbers, finish } = targetOf(call.rawOutput())
    const half = biases.length / 2
    yield* inChunks(
      numbers.length,
      (from, to) => {
        for (let i = from, c = from % half; i < to; i++) {
          // Element `i` is of row `(i - c) / half`, before which there are twice as many elements in x.
          const left = 2 * i - c
          numbers[i] = (xs[left] + biases[c]) * geluOf(xs[left + half] + biases[half + c])
          if (++c === half) c = 0
        }
      },
      COST.element + COST.transcendental
    )
    yield* finish()
  }
})
