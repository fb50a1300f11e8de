import { fail } from '../../errors.ts'
import { tapsOf } from '../../kernels/core/windows.ts'
import { lpPool as norm } from '../../kernels/pool/pool.ts'
import { params } from '../../op-kit/define.ts'
import { onnxPool, poolAxes, pooledShape, type PoolParams } from '../../op-kit/pool-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, int } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params extends PoolParams {
  p: number
}

/** Rules of {@link lpPool}. */
export const lpPoolRules = defineRules({
  name: 'LpPool',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...onnxPool, p: float('p') } },
    { since: 2, bind: { ...onnxPool, p: int('p') } }
  ],

  shape({ x }, params) {
    checkNorm(params.p)
    return [tensorFact(x.type, pooledShape(x, params))]
  }
})

/** The Lp norm of each window. ONNX LpPool; `p` is a float in version 1 and an integer from version 2 on. */
export const lpPool = /* @__PURE__ */ withKernel(lpPoolRules, {
  *run({ x }, params, call) {
    const out = call.output()
    if (out.data.length > 0) yield* norm(x, out, tapsOf(poolAxes(x.dims, out.dims, params)), params.p)
  }
})

/**
 * Checks that `p` is positive and finite.
 * @throws NodewiseError `value-out-of-range`
 */
export function checkNorm(p: number): void {
  if (!(p > 0 && p < Infinity)) fail('value-out-of-range', `p is ${p}; expected a positive number`)
}
