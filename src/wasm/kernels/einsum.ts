import type { Selection } from '../../op-kit/define.ts'
import { type Equation, labelDims, labelSizes, outputLabels } from '../../op-kit/equation.ts'
import { stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor, type TensorOperands } from '../selector.ts'
import { aroundAxes } from './axes.ts'
import { MAX_LOOPS, MIN_MULTIPLICATIONS, type Product, productTemplate } from './matrix.ts'
import { reduceTemplate } from './reduce.ts'
import { moveSelection } from './transpose.ts'

/** Elements of one operand below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a dot product from which the kernel of products is worth its time. */
const MIN_DOT = 16

interface Terms {
  readonly inputs: readonly Tensor[]
}

/** Neighbouring labels that both operands and the result step through as through one: size, and steps in bytes. */
interface Group {
  readonly size: number
  /** From one to the next in each operand; 0 where the operand does not have the labels. */
  readonly steps: readonly [number, number]
}

/**
 * Einsum of two operands of float32 that is a batch of matrix products: the labels that are summed over make one group
 * in both, and the last group of the result is of one operand alone. What stands before it, where it is of the other
 * operand alone, are the rows; everything else are loops over products. Where the last group is of both, each product
 * is of a row by a column. Of one operand, sums over neighbouring axes and transpositions.
 */
export const selectEinsum = selectorFor<{ readonly equation: Equation }>(call => {
  const { op, operands, parameters } = call
  const { inputs } = operands as unknown as Terms
  if (inputs.length === 1) return ofOneOperand(call, inputs[0])
  if (inputs.length !== 2 || inputs.some(({ type }) => type !== 'float32')) return undefined
  const found = productOfTerms(parameters.equation, inputs)
  if (found === undefined) return undefined
  const { m, n, k, batches } = found.product
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  const template = productTemplate(found.product, { activation: undefined }, false)
  const kernel = jobKernel(op, given => {
    const [a, b] = found.order.map(i => arrayOf((given as unknown as Terms).inputs[i]))
    return { template, inputs: [a, b, a, a] }
  })
  return { kernel }
})

/** The only operand of a call. */
const onlyOne = (given: TensorOperands): Tensor => (given as unknown as Terms).inputs[0]

function ofOneOperand(
  { op, parameters: { equation }, dims }: Candidate<{ readonly equation: Equation }>,
  data: Tensor
): Selection | undefined {
  if (data.type !== 'float32' || data.data.length < MIN_ELEMENTS) return undefined
  const [labels] = labelDims(equation.terms, [data.dims])
  const output = outputLabels(equation, [labels])
  if (new Set(labels).size !== labels.length) return undefined
  if (output.length === labels.length) {
    const [from, to] = [stridesOf(data.dims), stridesOf(dims)]
    const loops = output.map((label, i) => ({ size: dims[i], xStep: from[labels.indexOf(label)], yStep: to[i] }))
    return moveSelection(op, data, loops, onlyOne)
  }
  const kept = labels.filter(label => output.includes(label))
  const summed = labels.flatMap((label, axis) => (output.includes(label) ? [] : [axis]))
  const layout = aroundAxes(data.dims, summed)
  if (layout === undefined || layout.size === 1 || kept.some((label, i) => label !== output[i])) return undefined
  const template = reduceTemplate(layout, 'sum')
  return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(onlyOne(given))] })) }
}

/** @returns the product, and which operand is its first and which its second factor */
function productOfTerms(
  equation: Equation,
  inputs: readonly Tensor[]
): { product: Product; order: readonly [number, number] } | undefined {
  const shapes = inputs.map(({ dims }) => dims)
  const labels = labelDims(equation.terms, shapes)
  const sizes = labelSizes(labels, shapes) as Map<string, number>
  const steps = shapes.map((dims, i) => stepsOf(labels[i], dims))
  const output = outputLabels(equation, labels)
  const groupOf = (label: string): Group => ({
    size: sizes.get(label)!,
    steps: [steps[0].get(label) ?? 0, steps[1].get(label) ?? 0]
  })
  const summed = [...sizes.keys()].filter(label => !output.includes(label)).map(groupOf)
  const depth = merged(summed.filter(({ size }) => size !== 1).toSorted((x, y) => y.steps[0] - x.steps[0]))
  const groups = merged(output.map(groupOf).filter(({ size }) => size !== 1))
  if (depth.length > 1 || depth[0]?.steps.includes(0) || [...sizes.values()].includes(0)) return undefined
  const last = groups.at(-1)
  const columns = last?.steps.includes(0) ? last : undefined
  if (columns === undefined && !(depth[0]?.size >= MIN_DOT)) return undefined
  const [first, second] = columns?.steps[1] === 0 ? ([1, 0] as const) : ([0, 1] as const)
  const before = columns && groups.at(-2)
  const rows = before?.steps[second] === 0 ? before : undefined
  const loops = groups.slice(0, groups.length - (rows ? 2 : columns ? 1 : 0)).toReversed()
  if (loops.length > MAX_LOOPS) return undefined
  return {
    order: [first, second],
    product: {
      m: rows?.size ?? 1,
      n: columns?.size ?? 1,
      k: depth[0]?.size ?? 1,
      aRow: rows?.steps[first] ?? 0,
      aElement: depth[0]?.steps[first] ?? 4,
      bRow: depth[0]?.steps[second] ?? 4,
      bColumn: columns?.steps[second] ?? 4,
      batches: loops.reduce((count, { size }) => count * size, 1),
      loops: loops.map(({ size, steps: own }) => [size, own[first], own[second]] as const)
    }
  }
}

/** Steps in bytes of each label; along a diagonal those of its axes add up. */
function stepsOf(labels: readonly string[], dims: readonly number[]): Map<string, number> {
  const strides = stridesOf(dims)
  const steps = new Map<string, number>()
  labels.forEach((label, axis) => {
    if (dims[axis] !== 1) steps.set(label, (steps.get(label) ?? 0) + strides[axis] * 4)
  })
  return steps
}

/** Groups, of which neighbours are one where both operands step through them as through one. */
function merged(groups: readonly Group[]): Group[] {
  const result: Group[] = []
  for (const group of groups) {
    const last = result.at(-1)
    if (last?.steps.every((step, i) => step === group.steps[i] * group.size))
      result[result.length - 1] = { size: last.size * group.size, steps: group.steps }
    else result.push(group)
  }
  return result
}
