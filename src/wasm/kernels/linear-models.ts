import { COST, inChunks, type Paced } from '../../kernels/core/pace.ts'
import { type Classified, classifyLinear, type LinearClasses } from '../../kernels/ml/classify.ts'
import type { LinearModel } from '../../kernels/ml/linear.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { largestOf, type PostTransform } from '../../kernels/ml/scores.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { conversionTemplate } from './convert.ts'
import { unaryTemplate } from './elementwise.ts'
import { productTemplate } from './matrix.ts'
import { softmaxTemplate } from './softmax.ts'
import { wideProductTemplate } from './wide-product.ts'

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 10
/** Cost of a sigmoid, in that of Relu. */
const SIGMOID_COST = 6

/** The product of rows of float32 and vectors, to which a number for each vector is added, as a job. */
interface LinearJob {
  readonly rows: number
  readonly vectors: number
  readonly template: JobTemplate
  inputsOf(x: Tensor): readonly NumericArray[]
}

function linearJob(x: Tensor | undefined, { coefficients, intercepts }: LinearModel): LinearJob | undefined {
  if (x?.type !== 'float32') return undefined
  const [rows, features] = rowsAndFeatures(x.dims)
  const vectors = coefficients.length / features
  if (!(rows * coefficients.length >= MIN_MULTIPLICATIONS)) return undefined
  const factors = Float32Array.from(coefficients)
  const added = Float32Array.from({ length: vectors }, (_, k) => intercepts[k] ?? 0)
  const template = productTemplate(
    {
      ...{ m: rows, n: vectors, k: features, batches: 1, loops: [] },
      ...{ aRow: features * 4, aElement: 4, bRow: 4, bColumn: features * 4 }
    },
    { bias: { operand: 'intercepts', kind: 'column' }, activation: undefined },
    false
  )
  return { rows, vectors, template, inputsOf: given => [arrayOf(given), factors, added, arrayOf(given)] }
}

/** The same of rows of other types, in double precision as the reference: by jobs one after the other. */
interface WideJob {
  readonly rows: number
  readonly vectors: number
  /** The products; undefined where the heap is full. */
  run(x: Tensor, work: Work): Generator<void, Float64Array | undefined>
}

function wideJob(x: Tensor | undefined, { coefficients, intercepts }: LinearModel): WideJob | undefined {
  if (x === undefined || !WIDE.includes(x.type)) return undefined
  const [rows, features] = rowsAndFeatures(x.dims)
  const vectors = coefficients.length / features
  if (!(rows * coefficients.length >= MIN_MULTIPLICATIONS) || !Number.isInteger(vectors)) return undefined
  const count = rows * features
  const convert = x.type === 'float64' ? undefined : conversionTemplate(x.type as 'int32' | 'int64', 'float64', count)
  const dims = [
    [rows, features],
    [features, vectors]
  ] as const
  const multiply = wideProductTemplate('float64', ...dims)
  if (multiply === undefined) return undefined
  const factors = Float64Array.from(
    coefficients,
    (_, i) => coefficients[(i % vectors) * features + Math.floor(i / vectors)]
  )
  return {
    rows,
    vectors,
    *run(given, { allocateDoubles, run }) {
      const elements = convert ? allocateDoubles(count) : arrayOf(given)
      const products = allocateDoubles(rows * vectors)
      if (convert && !(yield* run(convert, [arrayOf(given)], elements))) return undefined
      if (!(yield* run(multiply, [elements, factors], products))) return undefined
      if (intercepts.length > 0) for (let i = 0; i < products.length; i++) products[i] += intercepts[i % vectors]
      return products
    }
  }
}

const WIDE: readonly DType[] = ['float64', 'int64', 'int32']

/** LinearRegressor without a post transform, or one that changes nothing. */
export const selectLinearRegressor = selectorFor<{
  readonly model: LinearModel
  readonly targets: number
  readonly post: PostTransform
}>(({ op, operands, parameters: { model, targets, post } }) => {
  if (post !== 'NONE' && (targets > 1 || post === 'PROBIT')) return undefined
  const job = linearJob(operands.x, model)
  const wide = job ? undefined : wideJob(operands.x, model)
  if (job)
    return { kernel: jobKernel(op, ({ x }) => ({ template: job.template, inputs: job.inputsOf(x!) })), looksAt: [] }
  if (wide === undefined) return undefined
  const kernel = attemptKernel(op, function* ({ x }, out, work) {
    const products = yield* wide.run(x!, work)
    if (products) (out().data as Float32Array).set(products)
    return products !== undefined
  })
  return { kernel }
})

/** LinearClassifier: products by a job, then what is chosen from them. */
export const selectLinearClassifier = selectorFor<{
  readonly model: LinearModel & LinearClasses
  readonly post: PostTransform
}>(({ op, operands, parameters: { model, post } }) => {
  const job = linearJob(operands.x, model)
  const wide = job ? undefined : wideJob(operands.x, model)
  const sizes = job ?? wide
  if (sizes === undefined) return undefined
  const { rows, vectors } = sizes
  const transform = vectors < model.columns || vectors === 1 ? undefined : transformOf(post, rows, vectors)
  const kernel = attemptKernel(op, function* ({ x }, out, work) {
    const scores = out(1).data as Float32Array
    const to = { labels: out().data, scores }
    const all = transform === 'none' ? scores : work.allocate(rows * vectors)
    const exact = job ? undefined : yield* wide!.run(x!, work)
    if (exact) all.set(exact)
    const isDone = job ? yield* work.run(job.template, job.inputsOf(x!), all) : exact !== undefined
    if (!isDone) return false
    const chosen = exact ?? all
    yield* transform ? chooseLabels(chosen, rows, model, to) : classifyRows(chosen, rows, model, post, to)
    return !transform || transform === 'none' || (yield* work.run(transform, [all], scores))
  })
  return { kernel }
})

/**
 * The job that makes scores of products, one for each of several classes; `none` where they are the scores, undefined
 * where rows are transformed one by one.
 */
function transformOf(post: PostTransform, rows: number, classes: number): JobTemplate | 'none' | undefined {
  if (post === 'NONE') return 'none'
  if (post === 'LOGISTIC') return unaryTemplate(rows * classes, ['sigmoid'], SIGMOID_COST)
  return post === 'SOFTMAX' ? softmaxTemplate({ outer: rows, size: classes, inner: 1 }, false) : undefined
}

/** Writes the label of the largest product of each row. */
const chooseLabels = (
  products: Float32Array | Float64Array,
  rows: number,
  { labels: { values }, columns }: LinearClasses,
  { labels }: Classified
): Paced =>
  inChunks(
    rows,
    (from, end) => {
      for (let row = from; row < end; row++) labels[row] = values[largestOf(products, row * columns, columns)]
    },
    COST.allocation + columns * COST.element
  )

/** Writes label and scores row by row. */
function classifyRows(
  all: Float32Array | Float64Array,
  rows: number,
  model: LinearClasses,
  post: PostTransform,
  to: Classified
): Paced {
  const vectors = all.length / rows
  const products = new Float64Array(vectors)
  const classify = (from: number, end: number): void => {
    for (let row = from; row < end; row++) {
      for (let k = 0; k < vectors; k++) products[k] = all[row * vectors + k]
      classifyLinear(products, row, model, post, to)
    }
  }
  return inChunks(rows, classify, COST.allocation + vectors * COST.transcendental)
}
