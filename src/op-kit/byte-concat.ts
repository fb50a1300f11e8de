import { axisLayout } from '../kernels/core/axis-layout.ts'
import { oncePer } from '../kernels/core/once.ts'
import { COST, Pace } from '../kernels/core/pace.ts'
import { bytesOf } from '../kernels/quantized/codes.ts'
import { normalizeAxis } from '../shapes/dim.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import type { Op } from './define.ts'
import { withOtherKernel } from './derived.ts'
import { withOutput } from './with-output.ts'

/** What {@link byteConcat} computes. */
export interface ByteConcatParams {
  readonly axis: number
  /** For each operand the codes of the result by its own; undefined where they are the same. */
  readonly tables: readonly (Tensor | undefined)[]
}

/**
 * Concat of bytes, some of which are codes of another quantization than the result's: what the planner makes of
 * DequantizeLinear, Concat and QuantizeLinear.
 * @param concat the operator in its place
 */
export const byteConcat = /* @__PURE__ */ oncePer((concat: Op) =>
  withOtherKernel(concat, 'ByteConcat', function* (operands, parameters, context) {
    const inputs = operands.inputs as readonly Tensor[]
    const { axis, tables } = parameters as unknown as ByteConcatParams
    const out = context.rawOutput()
    yield* concat.run(operands, parameters, withOutput(context, out)) ?? []
    const { outer, size, inner } = axisLayout(out.dims, normalizeAxis(axis, out.dims.length))
    const bytes = bytesOf(out)
    const pace = new Pace()
    let before = 0
    for (const [i, { dims }] of inputs.entries()) {
      const line = product(dims) / outer
      const table = tables[i] && bytesOf(tables[i])
      for (let at = before; table && at < outer * size * inner; at += size * inner) {
        for (let j = at; j < at + line; j++) bytes[j] = table[bytes[j]]
        if (pace.isDue(line * COST.copy)) yield
      }
      before += line
    }
  })
)
