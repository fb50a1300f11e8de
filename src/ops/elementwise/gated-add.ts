import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import { defineOp } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** `x + gate * y` with one gate for each row, `[..., 1]`: com.microsoft GatedAdd-1. */
export const gatedAdd = defineOp({
  name: 'GatedAdd',
  operands: { x: 'tensor', y: 'tensor', gate: 'tensor' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ x, y, gate }) {
    if (x.shape === undefined) return [tensorFact(x.type, undefined)]
    if (x.shape.length === 0) fail('rank-mismatch', 'X is a scalar; rank 1 or more is expected')
    const shape = meetShape('Y', y, x.shape)
    const rows = meetShape('gate', gate, [...shape.slice(0, -1), 1])
    return [tensorFact(x.type, [...rows.slice(0, -1), shape[shape.length - 1]])]
  },

  *run({ x, y, gate }, _, call) {
    const [xs, ys, gates] = [yield* readNumbers(x), yield* readNumbers(y), yield* readNumbers(gate)]
    const target = targetOf(call.rawOutput())
    const columns = x.dims[x.dims.length - 1]
    yield* inChunks(xs.length, (from, to) => {
      for (let i = from; i < to; i++) target.numbers[i] = xs[i] + gates[Math.floor(i / columns)] * ys[i]
    })
    yield* target.finish()
  }
})
