import type { AxisLayout } from '../../kernels/core/axis-layout.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { L1, L2, MAX, type Norm } from '../../kernels/ml/norms.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, type Selector, selectorFor } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { aroundAxes } from './axes.ts'
import { conversionTemplate } from './convert.ts'
import { binaryTemplate, unaryTemplate } from './elementwise.ts'
import { mvnAxes, type MvnParams } from './normalization.ts'
import { inTurn, passesSelection } from './passes.ts'
import { FLOATS, keptOf, reducedAxes, type ReduceParams, reducePasses, reduceTemplate, sumTemplate } from './reduce.ts'
import { logSumExpTemplate } from './softmax.ts'

/** Elements below which setting several jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 11
/** With fewer elements in a group, what is done for each group takes longer than the jobs save; those of norms. */
const MIN_SIZE = 4
const MIN_NORM_SIZE = 2
/** Sums of squares below it may have lost what squares of float32 cannot hold. */
const MIN_SQUARES = 1e-30
const MIN_MAGNITUDES = 1e-35
/** What is added to variances that makes up for such a loss. */
const MIN_EPSILON = 1e-12
/** Costs of exp and log, in that of Relu. */
const EXP = 5
/** Numbers of float64 below it are converted to int32 and int64 alike by every kernel. */
const MAX_CONVERTED = 2 ** 31
const LOG = 5

/** Jobs one after the other; false where the reference has to compute the call. */
type Steps = (x: NumericArray, out: Float32Array, work: Work) => Generator<void, boolean>

/** A kernel of several jobs, with temporary arrays in between. */
const stepsSelection = (op: Op, name: string, steps: Steps): Selection => ({
  kernel: attemptKernel(op, (given, out, work) => steps(arrayOf(given[name]!), arrayOf(out()) as Float32Array, work))
})

/** The groups of `least` elements or more along some axes of float32; undefined where several jobs would not pay. */
function groupsOf(
  { operands }: Candidate<unknown>,
  name: string,
  axes: readonly number[],
  least = MIN_SIZE
): AxisLayout | undefined {
  const x = operands[name]
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
  const layout = aroundAxes(x.dims, axes)
  return layout && layout.size >= least ? layout : undefined
}

/** All elements by one number for each group. */
const withGroups = ({ outer, size, inner }: AxisLayout): JobTemplate | undefined => {
  const all = [outer, size, inner]
  return binaryTemplate('multiply', all, [outer, 1, inner], all)
}

/** ReduceLogSumExp of float32: the highest elements are subtracted first. */
export const selectLogSumExp = selectorFor<ReduceParams>(({ op, operands: { data }, parameters }) => {
  if (data?.type !== 'float32' || product(data.dims) < MIN_ELEMENTS) return undefined
  const { dims } = data
  const axes = reducedAxes(parameters, dims.length)
  const kept = keptOf(dims, axes)
  const [count, groups] = [product(dims), product(kept)]
  const subtract = binaryTemplate('subtract', dims, kept, dims)
  const sum = binaryTemplate('add', kept, kept, kept)
  if (count === groups || subtract === undefined || sum === undefined) return undefined
  const extremes = reducePasses(dims, 'max', axes, FLOATS)
  const sums = reducePasses(dims, 'sum', axes, FLOATS)
  const [exp, log] = [unaryTemplate(count, ['exp'], EXP), unaryTemplate(groups, ['log'], LOG)]
  return stepsSelection(op, 'data', function* (x, out, work) {
    const { allocate, run } = work
    const most = allocate(groups)
    if (!(yield* inTurn(extremes, x, most, work)) || !most.every(Number.isFinite)) return false
    const powers = allocate(count)
    if (!(yield* run(subtract, [x, most], powers)) || !(yield* run(exp, [powers], powers))) return false
    return (
      (yield* inTurn(sums, powers, out, work)) && (yield* run(log, [out], out)) && (yield* run(sum, [out, most], out))
    )
  })
})

/** ReduceLogSumExp of float64 and integers along axes that lie side by side, in double precision as the reference. */
export const selectWideLogSumExp = selectorFor<ReduceParams>(({ op, operands: { data }, parameters }) => {
  if (data?.type !== 'float64' && data?.type !== 'int32' && data?.type !== 'int64') return undefined
  const { type, dims } = data
  const layout = aroundAxes(dims, reducedAxes(parameters, dims.length))
  if (product(dims) < MIN_ELEMENTS || layout === undefined || layout.size < MIN_SIZE) return undefined
  const [count, groups] = [product(dims), layout.outer * layout.inner]
  const convert = type === 'float64' ? undefined : conversionTemplate(type, 'float64', count)
  const template = logSumExpTemplate(layout)
  const kernel = attemptKernel(op, function* (given, out, { allocateDoubles, run }) {
    const x = arrayOf(given.data!)
    const elements = convert ? allocateDoubles(count) : x
    const sums = allocateDoubles(groups)
    if (convert && !(yield* run(convert, [x], elements))) return false
    // What has no finite sum is left to the reference.
    if (!(yield* run(template, [elements], sums)) || !sums.every(Number.isFinite)) return false
    yield* convertPaced(new Tensor('float64', sums, out().dims), out())
    return true
  })
  return { kernel }
})

/**
 * ReduceL2 and ReduceLogSum of integers, and the latter of float64, in double precision as the reference: elements are
 * converted and squared, and roots and logarithms of sums converted back.
 */
export const selectByDoubles = (kind: 'l2' | 'logSum'): Selector =>
  selectorFor<ReduceParams>(({ op, operands: { data }, parameters }) => {
    if (data === undefined) return undefined
    const { type, dims } = data
    if (type !== 'int32' && type !== 'int64' && !(type === 'float64' && kind === 'logSum')) return undefined
    const axes = reducedAxes(parameters, dims.length)
    const sums = reducePasses(dims, 'sum', axes, layout => sumTemplate('float64', layout))
    const [count, groups] = [product(dims), product(keptOf(dims, axes))]
    const last = arithmeticTemplate(kind === 'l2' ? 'sqrt' : 'log', 'float64', [groups], [groups], [groups], 1)
    const square = arithmeticTemplate('square', 'float64', [count], [count], [count], 1)
    if (count < MIN_ELEMENTS || sums.length === 0 || last === undefined || square === undefined) return undefined
    const [convert, back] =
      type === 'float64'
        ? []
        : [conversionTemplate(type, 'float64', count), conversionTemplate('float64', type, groups)]
    const kernel = attemptKernel(op, function* (given, out, work) {
      const { allocateDoubles, run } = work
      const x = arrayOf(given.data!)
      const results = allocateDoubles(groups)
      const elements = convert ? allocateDoubles(count) : x
      const isDone =
        (convert === undefined || (yield* run(convert, [x], elements))) &&
        (kind === 'logSum' || (yield* run(square, [elements, elements], elements))) &&
        (yield* inTurn(sums, elements, results, work)) &&
        (yield* run(last, [results, results], results))
      if (!isDone) return false
      // The kernel converts what the type holds alone.
      const isHeld = back !== undefined && areBelow(MAX_CONVERTED, results)
      if (!isHeld || !(yield* run(back, [results], arrayOf(out()))))
        yield* convertPaced(new Tensor('float64', results, out().dims), out())
      return true
    })
    return { kernel }
  })

/** Whether all magnitudes are below a limit, and none is NaN. */
function areBelow(limit: number, numbers: Float64Array): boolean {
  for (let i = 0; i < numbers.length; i++) if (!(Math.abs(numbers[i]) < limit)) return false
  return true
}

/** ReduceLogSum of float32: sums, then their logarithms. */
export const selectLogSum = selectorFor<ReduceParams>(call => {
  const { data } = call.operands
  const { op, dims, parameters } = call
  if (data?.type !== 'float32' || product(data.dims) < MIN_ELEMENTS) return undefined
  const passes = reducePasses(data.dims, 'sum', reducedAxes(parameters, data.dims.length), FLOATS)
  if (passes.length === 0) return undefined
  const count = product(dims)
  return passesSelection(op, 'data', [...passes, { template: unaryTemplate(count, ['log'], LOG), tables: [], count }])
})

/** LpNormalization of float32. */
export const selectLpNorm = selectorFor<{ readonly axis: number; readonly order: 1 | 2 }>(call => {
  const { x } = call.operands
  const { axis, order } = call.parameters
  const least = order === 1 ? MIN_MAGNITUDES : MIN_SQUARES
  const factorOf = order === 1 ? (sum: number) => 1 / sum : (sum: number) => 1 / Math.sqrt(sum)
  return (
    x && normSelection(call, [normalizeAxis(axis, x.dims.length)], order, sum => (sum > least ? factorOf(sum) : NaN))
  )
})

/** NormalizeL2 of float32 over axes that lie side by side. */
export const selectNormalizeL2 = selectorFor<{
  readonly axes: readonly number[]
  readonly epsilon: number
  readonly mode: 'add' | 'max'
}>(call => {
  const { x } = call.operands
  const { axes, epsilon, mode } = call.parameters
  if (x === undefined || axes.length === 0) return undefined
  return normSelection(call, normalizeAxes(axes, x.dims.length), 2, sum => {
    const guarded = mode === 'add' ? sum + epsilon : Math.max(sum, epsilon)
    return guarded > MIN_SQUARES ? 1 / Math.sqrt(guarded) : NaN
  })
})

/**
 * Multiplies each group by a factor of its sum of magnitudes (order 1) or squares (order 2).
 * @param factorOf NaN or 0 where the reference has to compute the call: sums of float32 would not do
 */
function normSelection(
  call: Candidate<unknown>,
  axes: readonly number[],
  order: 1 | 2,
  factorOf: (sum: number) => number
): Selection | undefined {
  const layout = groupsOf(call, 'x', axes, MIN_NORM_SIZE)
  const multiply = layout && withGroups(layout)
  if (layout === undefined || multiply === undefined) return undefined
  const groups = layout.outer * layout.inner
  const sum = reduceTemplate(layout, order === 1 ? 'l1' : 'sumSquare')
  return stepsSelection(call.op, 'x', function* (x, out, { allocate, run }) {
    const factors = allocate(groups)
    if (!(yield* run(sum, [x], factors))) return false
    return areFactors(factors, factorOf) && (yield* run(multiply, [x, factors], out))
  })
}

/**
 * Puts factors in place of the sums that they are of: in a function, since V8 leaves loops of generators slow.
 * @returns false where one is not above 0
 */
function areFactors(sums: Float32Array, factorOf: (sum: number) => number): boolean {
  for (let i = 0; i < sums.length; i++) {
    const factor = factorOf(sums[i])
    if (!(factor > 0)) return false
    sums[i] = factor
  }
  return true
}

/** MeanVarianceNormalization and MVN of float32 over axes that are not the last ones, such as those of a batch. */
export const selectMvnSteps = selectorFor<MvnParams>(({ op, operands, parameters }) => {
  const { x } = operands
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS || !parameters.centers) return undefined
  const { dims } = x
  const axes = mvnAxes(parameters, dims.length)
  const kept = keptOf(dims, axes)
  const groups = product(kept)
  const size = product(dims) / groups
  const subtract = binaryTemplate('subtract', dims, kept, dims)
  const multiply = binaryTemplate('multiply', dims, kept, dims)
  if (size < MIN_SIZE || subtract === undefined || multiply === undefined) return undefined
  const sums = reducePasses(dims, 'sum', axes, FLOATS)
  const squares = reducePasses(dims, 'sumSquare', axes, FLOATS)
  const { scales, epsilon, epsilonInside } = parameters
  return stepsSelection(op, 'x', function* (elements, out, work) {
    const { allocate, run } = work
    const means = allocate(groups)
    if (!(yield* inTurn(sums, elements, means, work))) return false
    for (let i = 0; i < groups; i++) means[i] /= size
    if (!(yield* run(subtract, [elements, means], out))) return false
    if (!scales) return true
    const factors = allocate(groups)
    if (!(yield* inTurn(squares, out, factors, work))) return false
    for (let i = 0; i < groups; i++) {
      const sum = factors[i]
      if (sum === Infinity || (sum <= MIN_SQUARES && epsilon < MIN_EPSILON)) return false
      factors[i] = epsilonInside ? 1 / Math.sqrt(sum / size + epsilon) : 1 / (Math.sqrt(sum / size) + epsilon)
    }
    return yield* run(multiply, [out, factors], out)
  })
})

/** How rows are reduced, and above which result float32 has lost nothing. */
const MEASURES: ReadonlyMap<Norm, readonly [kind: 'max' | 'l1' | 'sumSquare', least: number]> = new Map([
  [MAX, ['max', MIN_MAGNITUDES]],
  [L1, ['l1', MIN_MAGNITUDES]],
  [L2, ['sumSquare', MIN_SQUARES]]
])

/** Normalizer of float32: rows by their largest element, their 1-norm or their 2-norm. */
export const selectNormalizer = selectorFor<{ readonly norm: Norm }>(call => {
  const { x } = call.operands
  const { norm } = call.parameters
  const layout = x && groupsOf(call, 'x', [x.dims.length - 1])
  const multiply = layout && withGroups(layout)
  if (layout === undefined || multiply === undefined) return undefined
  const { outer, size } = layout
  const [kind, least] = MEASURES.get(norm)!
  const measure = reduceTemplate(layout, kind)
  return stepsSelection(call.op, 'x', function* (elements, out, { allocate, run }) {
    const factors = allocate(outer)
    if (!(yield* run(measure, [elements], factors))) return false
    for (let row = 0; row < outer; row++) {
      const found = factors[row]
      // A row of zeros stays as it is; what float32 cannot hold is left to the reference.
      if (found === 0 && isZero(elements as Float32Array, row * size, (row + 1) * size)) factors[row] = 1
      else if (Math.abs(found) > least && Number.isFinite(found)) factors[row] = 1 / norm.divisor(found)
      else return false
    }
    return yield* run(multiply, [elements, factors], out)
  })
})

function isZero(elements: Float32Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (elements[i] !== 0) return false
  return true
}
