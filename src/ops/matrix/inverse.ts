import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { determinantOf, invert } from '../../kernels/matrix/matrices.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, is } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, meetDims, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** Rules of {@link det}. */
export const detRules = defineRules({
  name: 'Det',
  operands: { x: 'tensor' },
  onnx: [{ since: 11, bind: {} }],

  shape: ({ x }) => [tensorFact(x.type, x.shape && squares(x.shape).slice(0, -2))]
})

/** Determinants of square matrices: ONNX Det-11, -22. */
export const det = /* @__PURE__ */ withKernel(detRules, {
  *run({ x }, _, call) {
    const n = x.dims[x.dims.length - 1]
    const numbers = yield* readNumbers(x)
    const target = targetOf(call.output())
    const pace = new Pace()
    for (let i = 0; i < target.numbers.length; i++) {
      if (pace.isDue(COST.allocation)) yield
      target.numbers[i] = yield* determinantOf(numbers, i * n * n, n, pace)
    }
    yield* target.finish()
  }
})

/** Rules of {@link inverse}. */
export const inverseRules = defineRules({
  name: 'Inverse',
  operands: { x: 'tensor' },
  params: params<{ adjoint: boolean }>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { adjoint: is(false) } }],
  openvino: [{ since: 14, types: { x: FLOATS }, bind: { adjoint: flag('adjoint') } }],

  shape: ({ x }) => [tensorFact(x.type, x.shape && squares(x.shape))]
})

/**
 * Inverses of square matrices; `adjoint` transposes them, as OpenVINO 2026.4 does: OpenVINO Inverse-14, and Inverse-1
 * of com.microsoft.
 * @throws NodewiseError `value-out-of-range` for a matrix without inverse, whose result the specification leaves open
 */
export const inverse = /* @__PURE__ */ withKernel(inverseRules, {
  *run({ x }, { adjoint }, call) {
    const n = x.dims[x.dims.length - 1]
    const numbers = yield* readNumbers(x)
    const target = targetOf(call.output())
    const pace = new Pace()
    for (let start = 0; start < numbers.length; start += n * n) {
      if (pace.isDue(COST.allocation)) yield
      const exists = yield* invert(numbers, start, n, adjoint, target.numbers, pace)
      if (!exists) fail('value-out-of-range', `matrix ${start / (n * n)} has no inverse`)
    }
    yield* target.finish()
  }
})

/** The dims of `shape`, the last two of which are made equal. @throws NodewiseError `rank-mismatch`, `dims-mismatch` */
function squares(shape: readonly Dim[]): Dim[] {
  if (shape.length < 2) fail('rank-mismatch', `x has rank ${shape.length}; expected at least 2`)
  const [rows, columns] = shape.slice(-2)
  const size =
    meetDims(rows, columns) ?? fail('dims-mismatch', `x has dims ${printShape(shape)}; its last two must be the same`)
  return [...shape.slice(0, -2), size, size]
}
