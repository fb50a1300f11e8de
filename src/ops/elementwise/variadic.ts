import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { binary, type BinaryLoops } from '../../kernels/core/elementwise.ts'
import { workTensorOf } from '../../kernels/core/numbers.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import { ADD, MAXIMUM, MINIMUM } from '../../kernels/elementwise/binary.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { is } from '../../op-kit/sources.ts'
import { commonType, numbered } from '../../op-kit/types.ts'
import { arithmetic, type ElemFunction, folded, maxElems, minElems } from '../../shapes/elem.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { add } from '../../shapes/sym.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  broadcast: 'numpy' | 'none'
}

/**
 * Elementwise functions of one or more operands: ONNX Max, Mean, Min and Sum, without broadcasting before version 8.
 * The result of Max and Min is NaN where an operand is NaN.
 */
export const variadicOps: readonly Op[] = [
  define('Max', MAXIMUM, folded(maxElems)),
  define('Mean', ADD, () => undefined),
  define('Min', MINIMUM, folded(minElems)),
  define('Sum', ADD, folded(arithmetic(add, (a, b) => a + b)))
]

function define(name: string, loops: BinaryLoops, elem: ElemFunction): Op {
  return defineOp({
    name,
    operands: { inputs: 'variadic' },
    params: params<Params>(),
    onnx: [
      { since: 1, bind: { broadcast: is('none') } },
      { since: 8, bind: { broadcast: is('numpy') } }
    ],

    shape({ inputs }, { broadcast }) {
      const type = commonType(numbered('input', inputs))
      const [first, ...rest] = inputs.map(input => input.shape)
      return [
        tensorFact(
          type,
          rest.reduce((shape, other) => broadcastResult(shape, other, { mode: broadcast }), first)
        )
      ]
    },

    elem,

    *run({ inputs }, _, call) {
      if (inputs.length === 1) return call.give(0, inputs[0])
      const { work: sum, finish } = workTensorOf(call.output())
      let left = yield* convertedPaced(inputs[0], sum.type)
      for (const right of inputs.slice(1)) {
        yield* binary(loops, left, yield* convertedPaced(right, sum.type), sum)
        left = sum
      }
      if (name === 'Mean') yield* divide(sum.data as Numbers, inputs.length)
      yield* finish()
    }
  })
}

function* divide(sums: Numbers, count: number): Generator<void> {
  yield* inChunks(sums.length, (from, to) => {
    for (let i = from; i < to; i++) sums[i] /= count
  })
}
