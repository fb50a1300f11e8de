import { nextContraction } from '../../kernels/matrix/contraction-order.ts'
import type { Kernel, Op, Selection } from '../../op-kit/define.ts'
import { type Equation, labelDims, outputLabels } from '../../op-kit/equation.ts'
import { type DType, MAX_INT32 } from '../../tensor/dtype.ts'
import { product, stridesOf, Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { arrayOf, type Candidate, jobKernel, listOf, selectorFor, type TensorOperands } from '../selector.ts'
import { aroundAxes } from './axes.ts'
import {
  countOf,
  dimsOf,
  type EinsumJob,
  ELEMENTS,
  type Elements,
  type ElementType,
  type Labelled,
  moveJob,
  pairJobs,
  sizesOf
} from './einsum-product.ts'
import { sumTemplate } from './reduce.ts'
import { moveSelection } from './transpose.ts'

/** Elements of one operand below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Most ones by which an operand is multiplied to sum it up. */
const MAX_ONES = 1 << 20

/**
 * Einsum of floats of 32 and 64 bits, and integers of these. Of two operands it is a batch of matrix products: the
 * labels that are summed over make one group in both, and the last group of the result is of one operand alone. What
 * stands before it, where it is of the other operand alone, are the rows; everything else are loops over products.
 * Where labels lie otherwise, operands or the result are transposed. Where all labels of the result are of both, each
 * product is of a row by a column. Products without sums are those of elements. More operands are contracted pair by
 * pair. Of one operand, sums and transpositions.
 */
export const selectEinsum = selectorFor<{ readonly equation: Equation }>(call => {
  const { op, operands, parameters } = call
  const inputs = listOf(operands)
  const [{ type }] = inputs
  if (!isServed(type) || inputs.some(other => other.type !== type)) return undefined
  if (inputs.length === 1) return ofOneOperand(call, inputs[0])
  const shapes = inputs.map(({ dims }) => dims)
  const labels = labelDims(parameters.equation.terms, shapes)
  const output = outputLabels(parameters.equation, labels)
  const given = labels.map((own, i) => ({ labels: own, dims: shapes[i] }))
  const elements = ELEMENTS[type]
  const jobs = given.length === 2 ? pairJobs(given, output, elements) : jobsOfMany(given, output, elements)
  if (jobs === undefined) return undefined
  const [{ template, inputs: order }] = jobs
  if (jobs.length > 1) return { kernel: jobsKernel(op, jobs), looksAt: [] }
  const kernel = jobKernel(op, given => ({
    template,
    inputs: order.map(i => arrayOf(listOf(given)[i]))
  }))
  return { kernel, looksAt: [] }
})

const isServed = (type: DType): type is ElementType => Object.hasOwn(ELEMENTS, type)

/** An operand, or what jobs have made of some, and its number among the values of the jobs. */
interface Value extends Labelled {
  readonly value: number
}

function jobsOfMany(
  given: readonly Labelled[],
  output: readonly string[],
  elements: Elements
): EinsumJob[] | undefined {
  const jobs: EinsumJob[] = []
  let left: Value[] = given.map((operand, value) => ({ ...operand, value }))
  while (left.length > 1) {
    const sizes = sizesOf(left)
    const labels = left.map(own => own.labels)
    const { pair, kept } = nextContraction(labels, output, label => sizes.get(label)!)
    const both = pair.map(i => left[i])
    const orders = left.length === 2 ? [output] : [[...kept], [...kept].toReversed()]
    const made = contractionOf(both, orders, elements)
    if (made === undefined || made.jobs.some(({ count }) => count > MAX_INT32)) return undefined
    const before = given.length + jobs.length
    const numberOf = (value: number): number => (value < 2 ? both[value].value : value - 2 + before)
    jobs.push(...made.jobs.map(job => ({ ...job, inputs: job.inputs.map(numberOf) })))
    const value = given.length + jobs.length - 1
    left = [
      ...left.filter((_, i) => !pair.includes(i)),
      { labels: made.labels, dims: dimsOf(both, made.labels), value }
    ]
  }
  return jobs
}

interface Contraction {
  readonly labels: readonly string[]
  readonly jobs: readonly EinsumJob[]
}

/** The product of two operands with its labels in that of some orders which takes the fewest jobs. */
function contractionOf(
  both: readonly Labelled[],
  orders: readonly (readonly string[])[],
  elements: Elements
): Contraction | undefined {
  const found = orders.flatMap((labels): Contraction[] => {
    const jobs = pairJobs(both, labels, elements)
    return jobs ? [{ labels, jobs }] : []
  })
  return found.toSorted((a, b) => a.jobs.length - b.jobs.length).at(0)
}

const jobsKernel = (op: Op, jobs: readonly EinsumJob[]): Kernel =>
  attemptKernel(op, function* (given, out, { allocateBetween, run }) {
    const y = arrayOf(out())
    const values = listOf(given).map(arrayOf)
    for (const [i, { template, inputs, count }] of jobs.entries()) {
      const to = i === jobs.length - 1 ? y : allocateBetween(count)
      const read = inputs.map(value => values[value])
      if (!(yield* run(template, read, to))) return false
      values.push(to)
    }
    return true
  })

/** The only operand of a call. */
const onlyOne = (given: TensorOperands): Tensor => listOf(given)[0]

function ofOneOperand(
  { op, parameters: { equation }, dims }: Candidate<{ readonly equation: Equation }>,
  data: Tensor
): Selection | undefined {
  const { type } = data
  if (!isServed(type) || data.data.length < MIN_ELEMENTS) return undefined
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
  if (layout === undefined || layout.size === 1) return ofOnes(op, type, { labels, dims: data.dims }, output)
  const template = sumTemplate(type, layout)
  if (kept.some((label, i) => label !== output[i])) {
    const sums = { labels: kept, dims: kept.map(label => data.dims[labels.indexOf(label)]) }
    const move = moveJob(sums, output, 1, ELEMENTS[type])
    if (move === undefined) return ofOnes(op, type, { labels, dims: data.dims }, output)
    const sum = { template, inputs: [0], count: countOf(sums.dims, ELEMENTS[type]) }
    return { kernel: jobsKernel(op, [sum, move]), looksAt: [] }
  }
  return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(onlyOne(given))] })), looksAt: [] }
}

/** Sums of one operand, also along diagonals: products by ones. */
function ofOnes(
  op: Op,
  type: ElementType,
  { labels, dims }: Labelled,
  output: readonly string[]
): Selection | undefined {
  const summed = [...new Set(labels.filter(label => !output.includes(label)))]
  const sizes = summed.map(label => dims[labels.indexOf(label)])
  const count = product(sizes)
  if (summed.length === 0 || count > MAX_ONES) return undefined
  const operands = [
    { labels, dims },
    { labels: summed, dims: sizes }
  ]
  const [job, ...rest] = pairJobs(operands, output, ELEMENTS[type]) ?? []
  if (job === undefined || rest.length > 0) return undefined
  const ones = arrayOf(new Tensor(type, Array<number | bigint>(count).fill(type === 'int64' ? 1n : 1), [count]))
  const kernel = jobKernel(op, given => {
    const inputs = [arrayOf(onlyOne(given)), ones]
    return { template: job.template, inputs: job.inputs.map(i => inputs[i]) }
  })
  return { kernel, looksAt: [] }
}
