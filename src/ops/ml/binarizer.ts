import { unary, type UnaryLoops } from '../../kernels/core/elementwise.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { float } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** 1 for elements above the threshold, 0 for the others. ai.onnx.ml Binarizer-1. */
export const binarizer = defineOp({
  name: 'Binarizer',
  operands: { x: 'tensor' },
  params: params<{ threshold: number }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { threshold: float('threshold') } }],
  shape: ({ x }) => [tensorFact(x.type, x.shape)],
  run: ({ x }, { threshold }, call) => unary(above(threshold), x, call.output())
})

const above = (threshold: number): UnaryLoops => ({
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] > threshold ? 1 : 0
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] > threshold ? 1n : 0n
  }
})
