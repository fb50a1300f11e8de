import { binary, type NumberInnerLoop } from '../../kernels/core/elementwise.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { float } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** `a * sigmoid(alpha * a) * b`, both of one shape. ONNX SwiGLU-28. */
export const swiGlu = defineOp({
  name: 'SwiGLU',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<{ alpha: number }>(),
  onnx: [{ since: 28, bind: { alpha: float('alpha') } }],
  shape: ({ a, b }) => [tensorFact(a.type ?? b.type, broadcastResult(a.shape, b.shape, { mode: 'none' }))],
  run: ({ a, b }, { alpha }, call) => binary({ float: gated(alpha) }, a, b, call.output())
})

const gated =
  (alpha: number): NumberInnerLoop =>
  (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = (a[p] / (1 + Math.exp(-alpha * a[p]))) * b[q]
  }
