import { fail } from '../../errors.ts'
import { eachInnerLoop, innermost, loopsOf } from '../../kernels/core/elementwise.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { broadcastShapes } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** V8 has no longer strings. */
const MAX_STRING_LENGTH = 2 ** 29 - 24

/** Rules of {@link stringConcat}. */
export const stringConcatRules = defineRules({
  name: 'StringConcat',
  operands: { x: 'tensor', y: 'tensor' },
  onnx: [{ since: 20, bind: {} }],
  shape: ({ x, y }) => [tensorFact('string', broadcastShapes([x.shape, y.shape]))]
})

/** Concatenates pairs of strings; shapes are broadcast. ONNX StringConcat-20. */
export const stringConcat = /* @__PURE__ */ withKernel(stringConcatRules, {
  run({ x, y }, _, call) {
    const out = call.output()
    const loops = loopsOf(out.dims, [x.dims, y.dims])
    const [s, t, u] = innermost(loops)
    const [left, right, joined] = [x, y, out].map(({ data }) => data as string[])
    return eachInnerLoop(loops, ([p0, q0, o0], n) => {
      for (let i = 0, p = p0, q = q0, o = o0; i < n; i++, p += s, q += t, o += u) {
        const length = left[p].length + right[q].length
        if (length > MAX_STRING_LENGTH)
          fail('limit-exceeded', `a string of ${length} characters is longer than strings can be`)
        joined[o] = left[p] + right[q]
      }
    })
  }
})
