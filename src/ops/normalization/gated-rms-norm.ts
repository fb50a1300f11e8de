import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary, unary, type UnaryLoop } from '../../kernels/core/elementwise.ts'
import { SIGMOID, swish } from '../../kernels/elementwise/activations.ts'
import { MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { normalizeRows } from '../../kernels/normalization/normalize.ts'
import { params } from '../../op-kit/define.ts'
import { sameDims } from '../../op-kit/embedding.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, int } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, elementCount, type Tensor, withDims } from '../../tensor/tensor.ts'

interface GatedParams {
  activation: UnaryLoop
  epsilon: number
}

const SILU = swish(1)

/** Rules of {@link gatedRmsNorm}. */
export const gatedRmsNormRules = defineRules({
  name: 'GatedRMSNorm',
  operands: { x: 'tensor', scale: 'tensor', gate: 'tensor' },
  params: params<GatedParams>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        activation: choice<UnaryLoop>('activation', { silu: SILU, swish: SILU, sigmoid: SIGMOID }),
        epsilon: float('epsilon')
      }
    }
  ],

  shape({ x, scale, gate }) {
    checkRankAtLeast('X', x, 1)
    checkRank('scale', scale, 1)
    if (gate.shape) checkRank('X', x, gate.shape.length)
    sameDims('X', x, 'gate', gate)
    const [width, group] = [x.shape?.at(-1), scale.shape?.[0]]
    if (width !== undefined && group !== undefined) checkWidth(width, group)
    return [tensorFact(commonType({ X: x, scale, gate }), x.shape ?? gate.shape)]
  }
})

/**
 * Divides groups of the last axis, each as long as the scale, by their root mean square, scales them and multiplies
 * them by an activation of the gate. com.microsoft GatedRMSNorm-1.
 */
export const gatedRmsNorm = /* @__PURE__ */ withKernel(gatedRmsNormRules, {
  *run({ x, scale, gate }, { activation, epsilon }, call) {
    const factors = allocate('float64', gate.dims)
    yield* unary({ float: activation }, yield* convertedPaced(gate, 'float64'), factors)
    const groups = yield* inGroups(x, scale.dims[0])
    yield* normalizeRows(groups, epsilon, false)
    yield* binary(MULTIPLY, groups, yield* convertedPaced(scale, 'float64'), groups)
    const whole = withDims(groups, x.dims)
    yield* binary(MULTIPLY, whole, factors, whole)
    yield* convertPaced(whole, call.rawOutput())
  }
})

interface BranchParams {
  epsilon: number
  /** Into how many branches the last axis is divided; 0: branches are the axis before the last. */
  branches: number
}

/** Rules of {@link branchwiseRmsNorm}. */
export const branchwiseRmsNormRules = defineRules({
  name: 'BranchwiseRMSNorm',
  operands: { x: 'tensor', scale: 'optional' },
  params: params<BranchParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { epsilon: float('epsilon'), branches: int('num_branches') } }],

  shape({ x, scale }, { branches }) {
    if (branches < 0) fail('unknown-attribute-value', `attribute "num_branches" is ${branches}; 0 or more is expected`)
    checkRankAtLeast('X', x, branches > 0 ? 1 : 2)
    const width = x.shape?.at(-1)
    if (branches > 0 && width !== undefined) checkWidth(width, branches)
    if (scale) checkScale(x, scale, branches)
    return [tensorFact(x.type, x.shape)]
  }
})

/**
 * Divides the rows of each branch by their root mean square, then scales them; the scale is one row for all branches,
 * or one for each. com.microsoft BranchwiseRMSNorm-1.
 */
export const branchwiseRmsNorm = /* @__PURE__ */ withKernel(branchwiseRmsNormRules, {
  *run({ x, scale }, { epsilon, branches }, call) {
    const size = branchSize(x.dims, branches)
    const rows = yield* inGroups(x, size)
    yield* normalizeRows(rows, epsilon, false)
    if (scale) {
      const perBranch = elementCount(scale.dims) !== size
      const count = branches > 0 ? branches : x.dims[x.dims.length - 2]
      const factors = withDims(scale, perBranch ? [count, size] : [size])
      const grouped = withDims(rows, [rows.dims[0] / count, count, size])
      yield* binary(MULTIPLY, grouped, yield* convertedPaced(factors, 'float64'), grouped)
    }
    yield* convertPaced(withDims(rows, x.dims), call.rawOutput())
  }
})

const branchSize = (dims: readonly number[], branches: number): number => dims[dims.length - 1] / Math.max(1, branches)

/** A copy in double precision as a matrix whose rows are `size` elements side by side. */
function* inGroups(x: Tensor, size: number): Generator<void, Tensor<'float64'>> {
  const count = elementCount(x.dims)
  const groups = allocate('float64', [count === 0 ? 0 : count / size, size])
  yield* convertPaced(x, withDims(groups, x.dims))
  return groups
}

/** Checks the last dim of X. */
function checkWidth(width: Dim, of: Dim): void {
  if (typeof width !== 'number' || typeof of !== 'number' || (of > 0 && width % of === 0)) return
  fail('dims-mismatch', `the last dim of X is ${printDim(width)}; a multiple of ${printDim(of)} is expected`)
}

/** Dims that a scale may have: those of a row, of a list of the rows of all branches, and of a matrix of them. */
function checkScale({ shape }: TensorFact, { shape: found }: TensorFact, branches: number): void {
  if (shape === undefined || found === undefined) return
  const last = shape[shape.length - 1]
  const count = branches > 0 ? branches : shape[shape.length - 2]
  if (typeof last !== 'number' || typeof count !== 'number') return
  const size = branches > 0 ? last / branches : last
  const allowed = [[size], [size * count], [count, size]]
  const fits = allowed.some(dims => dims.length === found.length && dims.every((dim, i) => found[i] === dim))
  const mayFit = found.some(dim => typeof dim !== 'number') && found.length <= 2
  if (!fits && !mayFit)
    fail(
      found.length > 2 ? 'rank-mismatch' : 'dims-mismatch',
      `scale has shape ${printShape(found)}; one of ${allowed.map(printShape).join(', ')} is expected`
    )
}
