import { unary, type UnaryLoops } from '../../kernels/core/elementwise.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** Rules of {@link binarizer}. */
export const binarizerRules = defineRules({
  name: 'Binarizer',
  operands: { x: 'tensor' },
  params: params<{ threshold: number }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { threshold: float('threshold') } }],
  shape: ({ x }) => [tensorFact(x.type, x.shape)]
})

/** 1 for elements above the threshold, 0 for the others. ai.onnx.ml Binarizer-1. */
export const binarizer = /* @__PURE__ */ withKernel(binarizerRules, {
  run: ({ x }, { threshold }, call) => unary(above(threshold), x, call.output())
})

const above = (threshold: number): UnaryLoops => ({
  float: (x, out, i, to) => {
    // Without a branch, which nobody could foresee.
    for (; i < to; i++) out[i] = Number(x[i] > threshold)
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] > threshold ? 1n : 0n
  }
})
