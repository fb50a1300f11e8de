import type { Paced } from '../../kernels/core/pace.ts'
import { nextContraction } from '../../kernels/matrix/contraction-order.ts'
import type { Kernel, Op, Selection } from '../../op-kit/define.ts'
import { type Equation, labelDims, labelSizes, outputLabels } from '../../op-kit/equation.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { MAX_INT32, type NumericArray } from '../../tensor/dtype.ts'
import { product, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { type JobTemplate, runAtOnce } from '../jobs.ts'
import { arrayOf, type Candidate, jobKernel, runHere, selectorFor, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { aroundAxes } from './axes.ts'
import { binaryTemplate } from './elementwise.ts'
import { MAX_LOOPS, MIN_MULTIPLICATIONS, type Product, productTemplate } from './matrix.ts'
import { reduceTemplate } from './reduce.ts'
import { moveSelection } from './transpose.ts'

/** Elements of one operand below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Most ones by which an operand is multiplied to sum it up. */
const MAX_ONES = 1 << 20
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

/** A job and the operands that it reads, by their places. */
interface Step {
  readonly template: JobTemplate
  readonly order: readonly number[]
}

/**
 * Einsum of float32. Of two operands it is a batch of matrix products: the labels that are summed over make one group
 * in both, and the last group of the result is of one operand alone. What stands before it, where it is of the other
 * operand alone, are the rows; everything else are loops over products. Where the last group is of both, each product
 * is of a row by a column. Products without sums are those of elements. More operands are contracted pair by pair. Of
 * one operand, sums and transpositions.
 */
export const selectEinsum = selectorFor<{ readonly equation: Equation }>(call => {
  const { op, operands, parameters } = call
  const { inputs } = operands as unknown as Terms
  if (inputs.some(({ type }) => type !== 'float32')) return undefined
  if (inputs.length === 1) return ofOneOperand(call, inputs[0])
  const shapes = inputs.map(({ dims }) => dims)
  const labels = labelDims(parameters.equation.terms, shapes)
  const output = outputLabels(parameters.equation, labels)
  if (inputs.length > 2) return ofManyOperands(op, labels, shapes, output)
  const step = stepOf(labels, shapes, output)
  if (step === undefined) return undefined
  const kernel = jobKernel(op, given => {
    const arrays = step.order.map(i => arrayOf((given as unknown as Terms).inputs[i]))
    return { template: step.template, inputs: arrays }
  })
  return { kernel }
})

/** The job that multiplies two operands; undefined where no kernel does, and where it would not pay. */
function stepOf(
  labels: readonly (readonly string[])[],
  shapes: readonly (readonly number[])[],
  output: readonly string[]
): Step | undefined {
  const found = productOfTerms(labels, shapes, output)
  if (found === undefined) return elementsOf(labels, shapes, output)
  const { m, n, k, batches } = found.product
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  const [a, b] = found.order
  return { template: productTemplate(found.product, { activation: undefined }, false), order: [a, b, a, a] }
}

/** The job that multiplies elements, where nothing is summed and operands have their labels in the result's order. */
function elementsOf(
  labels: readonly (readonly string[])[],
  shapes: readonly (readonly number[])[],
  output: readonly string[]
): Step | undefined {
  const sizes = labelSizes(labels, shapes) as Map<string, number>
  const isInOrder = (own: readonly string[]): boolean =>
    own.every((label, i) => output.includes(label) && (i === 0 || output.indexOf(label) > output.indexOf(own[i - 1])))
  const dims = output.map(label => sizes.get(label)!)
  if (!labels.every(isInOrder) || product(dims) === 0) return undefined
  const [a, b] = labels.map((own, i) => output.map(label => (own.includes(label) ? shapes[i][own.indexOf(label)] : 1)))
  const template = binaryTemplate('multiply', a, b, dims)
  return template && { template, order: [0, 1] }
}

/** A product of two of what is left, which comes after it. */
interface Multiplication extends Step {
  readonly pair: readonly [number, number]
  readonly count: number
}

function ofManyOperands(
  op: Op,
  given: readonly (readonly string[])[],
  shapes: readonly (readonly number[])[],
  output: readonly string[]
): Selection | undefined {
  const steps: Multiplication[] = []
  let left = given.map((labels, i) => ({ labels, dims: shapes[i] }))
  while (left.length > 1) {
    const terms = left.map(({ labels }) => labels)
    const sizes = labelSizes(
      terms,
      left.map(({ dims }) => dims)
    ) as Map<string, number>
    const { pair, kept } = nextContraction(terms, output, label => sizes.get(label)!)
    const both = pair.map(i => left[i])
    const made = productOfPair(both, left.length === 2 ? [output] : [[...kept], [...kept].toReversed()])
    const count = made && product(made.dims)
    if (made === undefined || count === undefined || count > MAX_INT32) return undefined
    steps.push({ ...made.step, pair, count })
    left = [...left.filter((_, i) => !pair.includes(i)), made]
  }
  return { kernel: stepsKernel(op, steps) }
}

interface Labelled {
  readonly labels: readonly string[]
  readonly dims: readonly number[]
}

/** The product of two operands with its labels in one of some orders. */
function productOfPair(
  both: readonly Labelled[],
  orders: readonly (readonly string[])[]
): (Labelled & { readonly step: Step }) | undefined {
  const [terms, shapes] = [both.map(({ labels }) => labels), both.map(({ dims }) => dims)]
  const sizes = labelSizes(terms, shapes) as Map<string, number>
  for (const labels of orders) {
    const step = stepOf(terms, shapes, labels)
    if (step) return { labels, dims: labels.map(label => sizes.get(label)!), step }
  }
  return undefined
}

const stepsKernel = (op: Op, steps: readonly Multiplication[]): Kernel =>
  function* (operands, parameters, context): Paced {
    const out = context.rawOutput()
    const { allocate, free } = temporaries()
    try {
      let left: NumericArray[] = (operands as unknown as Terms).inputs.map(arrayOf)
      let isDone = true
      for (const [i, { template, order, pair, count }] of steps.entries()) {
        const to = i === steps.length - 1 ? arrayOf(out) : allocate(count)
        const inputs = order.map(at => left[pair[at]])
        isDone &&=
          runAtOnce(template, inputs, to, context.threads) || (yield* runHere(template, inputs, to, context.threads))
        left = [...left.filter((_, at) => !pair.includes(at)), to]
      }
      if (isDone) return
    } finally {
      free()
    }
    const rest = op.run(operands, parameters, withOutput(context, out))
    if (rest) yield* rest
  }

/** The only operand of a call. */
const onlyOne = (given: TensorOperands): Tensor => (given as unknown as Terms).inputs[0]

function ofOneOperand(
  { op, parameters: { equation }, dims }: Candidate<{ readonly equation: Equation }>,
  data: Tensor
): Selection | undefined {
  if (data.type !== 'float32' || data.data.length < MIN_ELEMENTS) return undefined
  const [labels] = labelDims(equation.terms, [data.dims])
  const output = outputLabels(equation, [labels])
  const areUnique = new Set(labels).size === labels.length
  if (areUnique && output.length === labels.length) {
    const [from, to] = [stridesOf(data.dims), stridesOf(dims)]
    const loops = output.map((label, i) => ({ size: dims[i], xStep: from[labels.indexOf(label)], yStep: to[i] }))
    return moveSelection(op, data, loops, onlyOne)
  }
  const kept = labels.filter(label => output.includes(label))
  const summed = labels.flatMap((label, axis) => (output.includes(label) ? [] : [axis]))
  const layout = areUnique ? aroundAxes(data.dims, summed) : undefined
  if (layout === undefined || layout.size === 1 || kept.some((label, i) => label !== output[i]))
    return ofOnes(op, labels, data.dims, output)
  const template = reduceTemplate(layout, 'sum')
  return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(onlyOne(given))] })) }
}

/** Sums of one operand, also along diagonals: products by ones. */
function ofOnes(
  op: Op,
  labels: readonly string[],
  dims: readonly number[],
  output: readonly string[]
): Selection | undefined {
  const summed = [...new Set(labels.filter(label => !output.includes(label)))]
  const sizes = summed.map(label => dims[labels.indexOf(label)])
  const count = product(sizes)
  if (summed.length === 0 || count > MAX_ONES) return undefined
  const step = stepOf([labels, summed], [dims, sizes], output)
  if (step === undefined) return undefined
  const ones = new Float32Array(count).fill(1)
  const kernel = jobKernel(op, given => {
    const inputs = [arrayOf(onlyOne(given)), ones]
    return { template: step.template, inputs: step.order.map(i => inputs[i]) }
  })
  return { kernel }
}

/** @returns the product, and which operand is its first and which its second factor */
function productOfTerms(
  labels: readonly (readonly string[])[],
  shapes: readonly (readonly number[])[],
  output: readonly string[]
): { product: Product; order: readonly [number, number] } | undefined {
  const sizes = labelSizes(labels, shapes) as Map<string, number>
  const steps = shapes.map((dims, i) => stepsOf(labels[i], dims))
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
