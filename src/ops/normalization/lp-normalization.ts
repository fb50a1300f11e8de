import { fail } from '../../errors.ts'
import { unary, type UnaryLoop } from '../../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { applyToGroups, groupSums } from '../../kernels/normalization/normalize.ts'
import { SUM_OF_MAGNITUDES, SUM_OF_SQUARES } from '../../kernels/reduce/reduce.ts'
import { type DataDependent, type KernelContext, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, inputInts, int, mapped } from '../../op-kit/sources.ts'
import { FLOATS, INDEX_TYPES } from '../../op-kit/types.ts'
import { isConcrete, normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

type EpsilonMode = 'add' | 'max'

const orderOf = (p: number): 1 | 2 =>
  p === 1 || p === 2 ? p : fail('unknown-attribute-value', `p is ${p}; expected 1 or 2`)

/** Rules of {@link lpNormalization}. */
export const lpNormalizationRules = defineRules({
  name: 'LpNormalization',
  operands: { x: 'tensor' },
  params: params<{ axis: number; order: 1 | 2 }>(),
  onnx: [{ since: 1, bind: { axis: int('axis'), order: mapped(int('p'), orderOf) } }],

  shape({ x }, { axis }) {
    if (x.shape) normalizeAxis(axis, x.shape.length)
    return [tensorFact(x.type, x.shape)]
  }
})

/** Divides by the 1-norm or 2-norm along an axis; where that is 0 the result is 0. ONNX LpNormalization-1, -22. */
export const lpNormalization = /* @__PURE__ */ withKernel(lpNormalizationRules, {
  run: ({ x }, { axis, order }, call) =>
    divideByNorm(
      x,
      [normalizeAxis(axis, x.dims.length)],
      order,
      sum => (sum === 0 ? 0 : 1 / (order === 1 ? sum : Math.sqrt(sum))),
      call
    )
})

/** Rules of {@link normalizeL2}. */
export const normalizeL2Rules = defineRules({
  name: 'NormalizeL2',
  operands: { x: 'tensor' },
  params: params<{ axes: DataDependent<readonly number[]>; epsilon: number; mode: EpsilonMode }>(),
  openvino: [
    {
      since: 1,
      types: { x: FLOATS, axes: INDEX_TYPES },
      bind: { axes: inputInts(1), epsilon: float('eps'), mode: choice('eps_mode', { add: 'add', max: 'max' }) }
    }
  ],

  shape({ x }, { axes }) {
    if (x.shape && axes !== 'unknown' && isConcrete(axes)) normalizeAxes(axes, x.shape.length)
    return [tensorFact(x.type, x.shape)]
  }
})

/**
 * Divides by the 2-norm over some axes; epsilon is added to the sum of squares, or is its lower bound. Without axes
 * each element is divided by itself, as the specification says: 1, and 0 for zeros. OpenVINO NormalizeL2-1.
 */
export const normalizeL2 = /* @__PURE__ */ withKernel(normalizeL2Rules, {
  run({ x }, { axes, epsilon, mode }, call) {
    if (axes.length === 0) return unary({ float: divideBySelf }, x, call.output())
    const guarded = (sum: number): number => (mode === 'add' ? sum + epsilon : Math.max(sum, epsilon))
    return divideByNorm(x, normalizeAxes(axes, x.dims.length), 2, sum => 1 / Math.sqrt(guarded(sum)), call)
  }
})

const divideBySelf: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = x[i] === 0 ? 0 : x[i] / x[i]
}

/** Rules of {@link grn}. */
export const grnRules = defineRules({
  name: 'GRN',
  operands: { x: 'tensor' },
  params: params<{ bias: number }>(),
  openvino: [{ since: 1, types: { x: FLOATS }, bind: { bias: float('bias') } }],

  shape({ x }) {
    checkRankAtLeast('data', x, 2)
    return [tensorFact(x.type, x.shape)]
  }
})

/** Divides by the 2-norm across channels. OpenVINO GRN-1. */
export const grn = /* @__PURE__ */ withKernel(grnRules, {
  run: ({ x }, { bias }, call) => divideByNorm(x, [1], 2, sum => 1 / Math.sqrt(sum + bias), call)
})

/** Multiplies by `factor` of the sum of magnitudes (order 1) or of squares (order 2) over the axes. */
function* divideByNorm(
  x: Tensor,
  axes: readonly number[],
  order: 1 | 2,
  factor: (sum: number) => number,
  call: KernelContext
): Generator<void> {
  const numbers = yield* readNumbers(x)
  const sums = yield* groupSums(numbers, x.dims, axes, order === 1 ? SUM_OF_MAGNITUDES : SUM_OF_SQUARES)
  const target = targetOf(call.output())
  yield* applyToGroups(numbers, x.dims, axes, { scale: sums.map(factor) }, target.numbers)
  yield* target.finish()
}
