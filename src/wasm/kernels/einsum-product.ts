import { labelSizes } from '../../op-kit/equation.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product, stridesOf } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { binaryTemplate } from './elementwise.ts'
import { MAX_LOOPS, MIN_MULTIPLICATIONS, type Product, productTemplate } from './matrix.ts'
import { moveTemplate } from './transpose.ts'
import { wideTemplateOf } from './wide-product.ts'

/** An operand of Einsum, or what a job makes. */
export interface Labelled {
  readonly labels: readonly string[]
  readonly dims: readonly number[]
}

type Dims = readonly number[]

/** The kernels of one type of elements. */
export interface Elements {
  /** Bytes of an element. */
  readonly width: number
  /** Whether matrices of a product may lie any way. */
  readonly readsAll: boolean
  /** The jobs that multiply matrices and elements; undefined where no kernel does. */
  productOf(found: Product): JobTemplate | undefined
  multiply(a: Dims, b: Dims, dims: Dims): JobTemplate | undefined
}

const wideElements = (type: 'float64' | 'int32' | 'int64', width: number): Elements => ({
  width,
  readsAll: false,
  productOf: found => wideTemplateOf(type, found),
  multiply: (a, b, dims) => arithmeticTemplate('multiply', type, a, b, dims)
})

/** The kernels of each type that has some: sums of integers wrap as those of the reference do. */
export const ELEMENTS = {
  float32: {
    width: 4,
    readsAll: true,
    productOf: found => productTemplate(found, { activation: undefined }, false),
    multiply: (a, b, dims) => binaryTemplate('multiply', a, b, dims)
  },
  float64: wideElements('float64', 8),
  int32: wideElements('int32', 4),
  int64: wideElements('int64', 8)
} as const satisfies Partial<Record<DType, Elements>>
export type ElementType = keyof typeof ELEMENTS

/** A job of Einsum: the values that it reads, by number, first the operands and then what earlier jobs make. */
export interface EinsumJob {
  readonly template: JobTemplate
  readonly inputs: readonly number[]
  /** Numbers of four bytes that it makes. */
  readonly count: number
}

/** Neighbouring labels that both operands and the result step through as through one: size, and steps in bytes. */
interface Group {
  readonly size: number
  /** From one to the next in each operand; 0 where the operand does not have the labels. */
  readonly steps: readonly [number, number]
}

/** A batch of products of matrices, and which operand is the first and which the second factor. */
interface OrderedProduct {
  readonly product: Product
  readonly order: readonly [number, number]
}

/**
 * The jobs that multiply two operands: one where both can be read as they lie, and else one after the transposition of
 * operands and before that of the result. Undefined where no kernel does, and where it would not pay.
 */
export function pairJobs(
  operands: readonly Labelled[],
  output: readonly string[],
  elements: Elements
): EinsumJob[] | undefined {
  const direct = productOfTerms(operands, output, elements)
  const jobs = direct && jobsOf(direct, operands, output, elements)
  const { m, n } = direct?.product ?? { m: 1, n: 1 }
  if (m > 1 && (jobs || elements.readsAll)) return jobs
  // A row by a matrix takes the time in which the matrix is read, as its transposition would.
  const leastRows = m === 1 && n > 1 ? 2 : 1
  return elementJobs(operands, output, elements) ?? arrangedJobs(operands, output, leastRows, elements) ?? jobs
}

/** The jobs that multiply elements where nothing is summed; operands get their labels in the result's order first. */
function elementJobs(
  operands: readonly Labelled[],
  output: readonly string[],
  elements: Elements
): EinsumJob[] | undefined {
  const dims = dimsOf(operands, output)
  const steps = operands.map(operand => stepsOf(operand, elements))
  const isSummed = steps.some(own => [...own.keys()].some(label => !output.includes(label)))
  if (isSummed || product(dims) === 0) return undefined
  const orders = steps.map(own => output.filter(label => own.has(label)))
  const { jobs, values } = moves(operands, orders, elements)
  const [a, b] = steps.map(own => output.map((label, i) => (own.has(label) ? dims[i] : 1)))
  const template = elements.multiply(a, b, dims)
  jobs.push(template && { template, inputs: values, count: countOf(dims, elements) })
  return allOf(jobs)
}

function jobsOf(
  { product: found, order: [a, b] }: OrderedProduct,
  operands: readonly Labelled[],
  output: readonly string[],
  elements: Elements
): EinsumJob[] | undefined {
  const { m, n, k, batches } = found
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  const template = elements.productOf(found)
  if (template === undefined) return undefined
  const inputs = [a, b, a, a].slice(0, template.inputs.length)
  return [{ template, inputs, count: countOf(dimsOf(operands, output), elements) }]
}

export const countOf = (dims: Dims, { width }: Elements): number => (product(dims) * width) / 4

/**
 * Jobs that transpose what cannot be read as it lies: operands get the labels of the batch first and those that are
 * summed over last, the result first those of the batch and last those of the second operand alone. Matrices are read
 * as they lie where their rows or their columns are contiguous: else each product would read a line of the cache for an
 * element.
 * @param leastRows of each product; undefined is given where it would have less
 */
function arrangedJobs(
  operands: readonly Labelled[],
  output: readonly string[],
  leastRows: number,
  elements: Elements
): EinsumJob[] | undefined {
  const sizes = sizesOf(operands)
  const [x, y] = operands.map(operand => stepsOf(operand, elements))
  const kept = output.filter(label => sizes.get(label)! > 1)
  const isOfBoth = (label: string): boolean => x.has(label) && y.has(label)
  const own = kept.filter(label => !isOfBoth(label))
  const isSummedAlone = [...x.keys(), ...y.keys()].some(label => !output.includes(label) && !isOfBoth(label))
  if (own.length === 0 || isSummedAlone) return undefined
  // The columns are of the operand whose labels the result has last.
  const second = y.has(own.at(-1)!) ? y : x
  const made = [
    ...kept.filter(isOfBoth),
    ...own.filter(label => !second.has(label)),
    ...own.filter(label => second.has(label))
  ]
  const summed = (steps: ReadonlyMap<string, number>): string[] =>
    [...steps.keys()].filter(label => !output.includes(label))
  const [larger, smaller] = product(operands[0].dims) >= product(operands[1].dims) ? [0, 1] : [1, 0]
  for (const moved of [[], [smaller], [larger], [0, 1]]) {
    const depth = summed(moved.includes(1) ? x : y)
    const placed = operands.map((operand, i) => {
      if (!moved.includes(i)) return operand
      const labels = [...made.filter(label => [x, y][i].has(label)), ...depth]
      return { labels, dims: labels.map(label => sizes.get(label)!) }
    })
    const found = productOfTerms(placed, made, elements)
    if (found === undefined || found.product.m < leastRows || !isContiguous(found.product, elements)) continue
    const jobs = withMoves(operands, placed, found, made, output, elements)
    if (jobs || elements.readsAll) return jobs
  }
  return undefined
}

const isContiguous = ({ aRow, aElement, bRow, bColumn }: Product, { width }: Elements): boolean =>
  (aRow === width || aElement === width) && (bRow === width || bColumn === width)

/** The product, after the transposition of operands that are placed otherwise, and before that of the result. */
function withMoves(
  operands: readonly Labelled[],
  placed: readonly Labelled[],
  found: OrderedProduct,
  made: readonly string[],
  output: readonly string[],
  elements: Elements
): EinsumJob[] | undefined {
  const { jobs, values } = moves(
    operands,
    placed.map(({ labels }) => labels),
    elements
  )
  const [job] = jobsOf(found, placed, made, elements) ?? []
  jobs.push(job && { ...job, inputs: job.inputs.map(i => values[i]) })
  const result = { labels: made, dims: dimsOf(operands, made) }
  const ordered = output.filter(label => made.includes(label))
  if (ordered.some((label, i) => label !== made[i]))
    jobs.push(moveJob(result, ordered, operands.length + jobs.length - 1, elements))
  return allOf(jobs)
}

const allOf = (jobs: readonly (EinsumJob | undefined)[]): EinsumJob[] | undefined =>
  jobs.includes(undefined) ? undefined : (jobs as EinsumJob[])

/** The jobs that bring the labels of operands into other orders, and the numbers of the values in these orders. */
function moves(
  operands: readonly Labelled[],
  orders: readonly (readonly string[])[],
  elements: Elements
): { jobs: (EinsumJob | undefined)[]; values: number[] } {
  const jobs: (EinsumJob | undefined)[] = []
  const values = operands.map((operand, i) => {
    if (isInOrder(operand, orders[i])) return i
    jobs.push(moveJob(operand, orders[i], i, elements))
    return operands.length + jobs.length - 1
  })
  return { jobs, values }
}

/** Whether the labels of an operand, but for those of one element, stand in an order already, none of them twice. */
function isInOrder({ labels, dims }: Labelled, order: readonly string[]): boolean {
  const own = labels.filter((_, axis) => dims[axis] !== 1)
  const wanted = order.filter(label => own.includes(label))
  return own.length === wanted.length && own.every((label, i) => label === wanted[i])
}

/** The job that brings labels into another order; undefined where no kernel does. */
export function moveJob(
  from: Labelled,
  order: readonly string[],
  value: number,
  elements: Elements
): EinsumJob | undefined {
  const { width } = elements
  const steps = stepsOf(from, elements)
  const dims = order.map(label => from.dims[from.labels.indexOf(label)])
  const to = stridesOf(dims)
  const loops = order.map((label, i) => ({ size: dims[i], xStep: steps.get(label)!, yStep: to[i] * width }))
  const template = moveTemplate(loops, product(dims) * width, width)
  return template && { template, inputs: [value], count: countOf(dims, elements) }
}

/** Sizes of labels of two operands. */
export const sizesOf = (operands: readonly Labelled[]): Map<string, number> =>
  labelSizes(
    operands.map(({ labels }) => labels),
    operands.map(({ dims }) => dims)
  ) as Map<string, number>

export function dimsOf(operands: readonly Labelled[], labels: readonly string[]): number[] {
  const sizes = sizesOf(operands)
  return labels.map(label => sizes.get(label)!)
}

/** The product that reads both operands as they lie. */
function productOfTerms(
  operands: readonly Labelled[],
  output: readonly string[],
  elements: Elements
): OrderedProduct | undefined {
  const { width } = elements
  const sizes = sizesOf(operands)
  const steps = operands.map(operand => stepsOf(operand, elements))
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
  if (columns === undefined && depth.length === 0) return undefined
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
      aElement: depth[0]?.steps[first] ?? width,
      bRow: depth[0]?.steps[second] ?? width,
      bColumn: columns?.steps[second] ?? width,
      batches: loops.reduce((count, { size }) => count * size, 1),
      loops: loops.map(({ size, steps: own }) => [size, own[first], own[second]] as const)
    }
  }
}

/** Steps in bytes of each label; along a diagonal those of its axes add up. */
function stepsOf({ labels, dims }: Labelled, { width }: Elements): Map<string, number> {
  const strides = stridesOf(dims)
  const steps = new Map<string, number>()
  labels.forEach((label, axis) => {
    if (dims[axis] !== 1) steps.set(label, (steps.get(label) ?? 0) + strides[axis] * width)
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
