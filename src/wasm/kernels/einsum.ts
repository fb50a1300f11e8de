import { type Equation, labelDims, labelSizes, outputLabels } from '../../op-kit/equation.ts'
import { stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { MAX_LOOPS, MIN_MULTIPLICATIONS, type Product, productTemplate } from './matrix.ts'

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
 * operand alone, are the rows; everything else are loops over products.
 */
export const selectEinsum = selectorFor<{ readonly equation: Equation }>(({ op, operands, parameters }) => {
  const { inputs } = operands as unknown as Terms
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
  const columns = groups.at(-1)
  if (depth.length > 1 || depth[0]?.steps.includes(0) || columns === undefined) return undefined
  if ([...sizes.values()].includes(0) || columns.steps.every(step => step !== 0)) return undefined
  const [first, second] = columns.steps[1] === 0 ? ([1, 0] as const) : ([0, 1] as const)
  const before = groups.at(-2)
  const rows = before !== undefined && before.steps[second] === 0 ? before : undefined
  const loops = groups.slice(0, rows ? -2 : -1).toReversed()
  if (loops.length > MAX_LOOPS) return undefined
  return {
    order: [first, second],
    product: {
      m: rows?.size ?? 1,
      n: columns.size,
      k: depth[0]?.size ?? 1,
      aRow: rows?.steps[first] ?? 0,
      aElement: depth[0]?.steps[first] ?? 4,
      bRow: depth[0]?.steps[second] ?? 4,
      bColumn: columns.steps[second],
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
