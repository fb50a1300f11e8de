import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { applyToGroups, momentsOf } from '../../kernels/normalization/normalize.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, flag, float, inputInts, ints, is, type NodeFacts } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { isConcrete, normalizeAxes } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** The axes over which mean and variance are computed, unless `axesFrom` is given. */
  axes: DataDependent<readonly number[]>
  /** Instead of `axes`: all axes from this one on. */
  axesFrom: number | undefined
  /** Whether means are subtracted; without, it is the root mean square that divides: only in calls of a plan. */
  centers: boolean
  scales: boolean
  epsilon: number
  /** Whether epsilon is added to the variance, or to its square root. */
  epsilonInside: boolean
}

/**
 * The axes that an IR lists, if any: where OpenVINO did not know the rank, it wrote an empty list, and
 * `across_channels` says which axes are meant.
 */
function reductionAxes(node: NodeFacts): readonly number[] | undefined {
  const axes = node.node.attributes.has('reduction_axes') ? node.get(ints('reduction_axes')) : undefined
  return axes?.length ? axes : undefined
}

const ONNX = { axesFrom: is(undefined), centers: is(true), epsilon: is(1e-9), epsilonInside: is(false) }

const axesOfVersion1 = (node: NodeFacts): readonly number[] =>
  node.get(flag('across_channels')) ? [0, 1, 2, 3] : [0, 2, 3]

/** Rules of {@link mvn}. */
export const mvnRules = defineRules({
  name: 'MeanVarianceNormalization',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...ONNX, axes: derive(axesOfVersion1), scales: flag('normalize_variance') } },
    { since: 9, bind: { ...ONNX, axes: ints('axes'), scales: is(true) } }
  ],
  openvino: [
    {
      type: 'MVN',
      since: 2,
      types: { x: FLOATS },
      bind: {
        axes: derive(node => reductionAxes(node) ?? []),
        axesFrom: derive(node => (reductionAxes(node) ? undefined : node.get(flag('across_channels')) ? 1 : 2)),
        centers: is(true),
        scales: flag('normalize_variance'),
        epsilon: float('eps'),
        epsilonInside: is(true)
      }
    },
    {
      type: 'MVN',
      since: 6,
      types: { x: FLOATS, axes: ['int32', 'int64'] },
      bind: {
        axes: inputInts(1),
        axesFrom: is(undefined),
        centers: is(true),
        scales: flag('normalize_variance'),
        epsilon: float('eps'),
        epsilonInside: choice('eps_mode', { inside_sqrt: true, outside_sqrt: false })
      }
    }
  ],

  shape({ x }, { axes }) {
    if (x.shape && axes !== 'unknown' && isConcrete(axes)) normalizeAxes(axes, x.shape.length)
    return [tensorFact(x.type, x.shape)]
  }
})

/**
 * Normalizes to mean 0 and, if asked for, variance 1 over some axes: ONNX MeanVarianceNormalization-9, -13 (epsilon
 * 1e-9, outside the root), version 1 as ONNX Runtime takes it before; OpenVINO MVN-2, -6.
 */
export const mvn = /* @__PURE__ */ withKernel(mvnRules, {
  *run({ x }, { axes, axesFrom, centers, scales, epsilon, epsilonInside }, call) {
    const rank = x.dims.length
    const together = axesFrom === undefined ? normalizeAxes(axes, rank) : x.dims.map((_, i) => i).slice(axesFrom)
    const numbers = yield* readNumbers(x)
    const { mean, variance } = yield* momentsOf(numbers, x.dims, together)
    if (!centers) {
      // The mean of squares is the variance and the square of the mean.
      for (let i = 0; i < mean.length; i++) variance[i] += mean[i] ** 2
      mean.fill(0)
    }
    const scale = variance.map(value =>
      !scales ? 1 : epsilonInside ? 1 / Math.sqrt(value + epsilon) : 1 / (Math.sqrt(value) + epsilon)
    )
    const target = targetOf(call.output())
    yield* applyToGroups(numbers, x.dims, together, { shift: mean, scale }, target.numbers)
    yield* target.finish()
  }
})
