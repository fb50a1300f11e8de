import { binary, unary, type UnaryLoop } from '../../kernels/core/elementwise.ts'
import type { Paced } from '../../kernels/core/pace.ts'
import { ADD } from '../../kernels/elementwise/binary.ts'
import { alignedDims, channelsOf } from '../../kernels/normalization/groups.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { areFloat32, arrayOf, type Selector, selectorFor, type TensorOperands } from '../selector.ts'
import { binaryTemplate, geluCall, selectGelu, type UnaryCall, unaryTemplate } from './elementwise.ts'
import { channelGroupsTemplate, groupsTemplate, rowsTemplate } from './normalization.ts'

// Operators of com.microsoft that add first. The jobs of their parts run one after the other, the later ones in place.

/** Elements below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 6

/** A job on tensors: whether it is done; otherwise its output holds anything. */
function* isDone(template: JobTemplate, inputs: readonly Tensor[], out: Tensor, threads: number): Paced<boolean> {
  return yield* runJob(template, inputs.map(arrayOf), arrayOf(out), threads)
}

/**
 * A kernel that adds two operands by a job, and then changes the sum where it lies.
 * @param next changes the sum, `out`; it has to end without the operator's own kernel
 */
const afterSum = (
  op: Op,
  addition: JobTemplate,
  [left, right]: readonly [string, string],
  next: (given: TensorOperands, out: Tensor, threads: number) => Paced
): Kernel =>
  function* (given, params, context) {
    const out = context.rawOutput()
    const tensors = given as TensorOperands
    if (yield* isDone(addition, [tensors[left]!, tensors[right]!], out, context.threads))
      return yield* next(tensors, out, context.threads)
    const rest = op.run(given, params, withOutput(context, out))
    if (rest) yield* rest
  }

interface GeluParams {
  readonly function: { readonly approximation?: 'none' | 'tanh'; readonly loop: UnaryLoop }
}

/** BiasGelu and FastGelu of float32. */
export const selectBiasGelu = selectorFor<GeluParams>(call => {
  const { op, operands, parameters, dims } = call
  const { x, bias } = operands
  if (bias === undefined) return selectGelu(call as never)
  const count = product(dims)
  const gelu = geluCall(parameters.function)
  if (x === undefined || gelu === undefined || !areFloat32(operands) || count < MIN_ELEMENTS) return undefined
  const addition = binaryTemplate('add', x.dims, bias.dims, dims)
  const activation = unaryTemplate(count, ...gelu)
  if (addition === undefined) return undefined
  const kernel = afterSum(op, addition, ['x', 'bias'], function* (_, out, threads) {
    if (yield* isDone(activation, [out], out, threads)) return
    // The sum may lie where x did, so that the reference cannot begin anew.
    yield* unary({ float: parameters.function.loop }, out, out)
  })
  return { kernel, looksAt: [] }
})

/** BiasAdd of float32. */
export const selectBiasAdd: Selector = ({ op, operands, dims }) => {
  const { x, bias } = operands
  if (!x || !bias || !areFloat32(operands) || product(dims) < MIN_ELEMENTS) return undefined
  const skipping = binaryTemplate('add', dims, dims, dims)
  const biasing = binaryTemplate('add', dims, bias.dims, dims)
  if (skipping === undefined || biasing === undefined) return undefined
  // The sum of the two that the result may lie over comes first.
  const kernel = afterSum(op, skipping, ['x', 'skip'], function* ({ bias }, out, threads) {
    if (!(yield* isDone(biasing, [out, bias!], out, threads))) yield* binary(ADD, out, bias!, out)
  })
  return { kernel, looksAt: [] }
}

/** BiasSplitGelu of float32: the sums of each half by a job, then their product. */
export const selectBiasSplitGelu: Selector = ({ op, operands, dims }) => {
  const gelu = geluCall({ approximation: 'none' })
  const count = product(dims)
  if (gelu === undefined || !areFloat32(operands) || count < MIN_ELEMENTS) return undefined
  const half = dims[2]
  const rows = count / half
  const [fn, cost] = gelu
  // Of the two halves of each row a job reads the one that its operands begin with.
  const sumsOf = (then?: UnaryCall): JobTemplate | undefined =>
    binaryTemplate('add', [rows, 2, half], [2, half], [rows, 1, half], then ? cost : 1, then)
  const [left, right, times] = [sumsOf(), sumsOf(fn), binaryTemplate('multiply', dims, dims, dims)]
  if (left === undefined || right === undefined || times === undefined) return undefined
  const kernel = attemptKernel(op, function* (given, out, work) {
    const [x, bias] = [arrayOf(given.x!), arrayOf(given.bias!)]
    const sums = work.allocate(count)
    const result = arrayOf(out())
    return (
      (yield* work.run(left, [x, bias], sums)) &&
      (yield* work.run(right, [x.subarray(half), bias.subarray(half)], result)) &&
      (yield* work.run(times, [sums, result], result))
    )
  })
  return { kernel }
}

interface SkipParams {
  readonly epsilon: number
  readonly centers: boolean
}

/** Position of the result that is the sum. */
const SUM = 3

/** SkipLayerNormalization of float32; where statistics are wanted, the reference computes all. */
export const selectSkipLayerNorm = selectorFor<SkipParams>(({ op, operands, parameters, dims }) => {
  const { x, skip, shift, bias } = operands
  if (x === undefined || skip === undefined || !areFloat32(operands) || product(dims) < MIN_ELEMENTS) return undefined
  const addition = binaryTemplate('add', x.dims, skip.dims, dims)
  const ofBias = bias && binaryTemplate('add', dims, bias.dims, dims)
  if (addition === undefined || (bias && ofBias === undefined)) return undefined
  const rows = { count: product(dims, 0, dims.length - 1), size: dims[dims.length - 1] }
  const { epsilon, centers } = parameters
  const options = { hasScale: true, hasBias: shift !== undefined, epsilon }
  const template = rowsTemplate(centers ? 'layerNorm' : 'rmsNorm', rows, options)
  const kernel: Kernel = function* (given, params, context) {
    if (context.wanted(1) || context.wanted(2)) return yield* op.run(given, params, context) as Paced
    const out = context.rawOutput()
    const sum = context.wanted(SUM) ? context.rawOutput(SUM) : out
    const t = given as TensorOperands
    const { threads } = context
    if (
      (yield* isDone(addition, [t.x!, t.skip!], sum, threads)) &&
      (ofBias === undefined || (yield* isDone(ofBias, [sum, t.bias!], sum, threads))) &&
      (yield* isDone(template, [sum, t.scale!, t.shift ?? sum, sum], out, threads))
    )
      return
    yield* op.run(given, params, withOutput(withOutput(context, out), sum, SUM)) as Paced
  }
  return { kernel, looksAt: [] }
})

interface GroupParams {
  readonly epsilon: number
  readonly groups: number
  readonly activates: boolean
  readonly channelsLast: boolean
}

/** Position of the result of SkipGroupNorm that is the sum. */
const GROUP_SUM = 1

/** GroupNorm and SkipGroupNorm of float32. */
export const selectSkipGroupNorm = selectorFor<GroupParams>(({ op, operands, parameters, dims }) => {
  const count = product(dims)
  if (!areFloat32(operands) || count < MIN_ELEMENTS) return undefined
  const { channelsLast, groups, epsilon, activates } = parameters
  const additions: { readonly name: string; readonly template: JobTemplate }[] = []
  for (const name of ['skip', 'bias']) {
    const addend = operands[name]
    if (addend === undefined) continue
    const template = binaryTemplate('add', dims, alignedDims(addend.dims, channelsLast), dims)
    if (template === undefined) return undefined
    additions.push({ name, template })
  }
  const layout = { ...channelsOf(dims, channelsLast), groups }
  const template = channelsLast ? channelGroupsTemplate(layout, epsilon, activates) : groupsTemplate(layout, epsilon)
  if (template === undefined) return undefined
  const activation = activates && !channelsLast ? unaryTemplate(count, ['silu'], 6) : undefined
  const kernel: Kernel = function* (given, params, context) {
    const out = context.rawOutput()
    const sum = context.wanted(GROUP_SUM) ? context.rawOutput(GROUP_SUM) : out
    const t = given as TensorOperands
    let data = t.x!
    let done = true
    for (const { name, template: addition } of additions) {
      done &&= yield* isDone(addition, [data, t[name]!], sum, context.threads)
      data = sum
    }
    const inputs = [data, t.scale!, t.shift!, data, data].slice(0, template.inputs.length)
    done &&= yield* isDone(template, inputs, out, context.threads)
    if (activation) done &&= yield* isDone(activation, [out], out, context.threads)
    if (!done) yield* op.run(given, params, withOutput(withOutput(context, out), sum, GROUP_SUM)) as Paced
  }
  return { kernel, looksAt: [] }
})
