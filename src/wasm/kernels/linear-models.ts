import { COST, inChunks, type Paced } from '../../kernels/core/pace.ts'
import { type Classified, classifyLinear, type LinearClasses } from '../../kernels/ml/classify.ts'
import type { LinearModel } from '../../kernels/ml/linear.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { largestOf, type PostTransform } from '../../kernels/ml/scores.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, runHere, selectorFor } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { unaryTemplate } from './elementwise.ts'
import { productTemplate } from './matrix.ts'
import { softmaxTemplate } from './softmax.ts'

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

/** LinearRegressor of float32 without a post transform, or one that changes nothing. */
export const selectLinearRegressor = selectorFor<{
  readonly model: LinearModel
  readonly targets: number
  readonly post: PostTransform
}>(({ op, operands, parameters: { model, targets, post } }) => {
  if (post !== 'NONE' && (targets > 1 || post === 'PROBIT')) return undefined
  const job = linearJob(operands.x, model)
  return job && { kernel: jobKernel(op, ({ x }) => ({ template: job.template, inputs: job.inputsOf(x!) })) }
})

/** LinearClassifier of float32: products by a job, then what is chosen from them. */
export const selectLinearClassifier = selectorFor<{
  readonly model: LinearModel & LinearClasses
  readonly post: PostTransform
}>(({ op, operands, parameters: { model, post } }) => {
  const job = linearJob(operands.x, model)
  if (job === undefined) return undefined
  const { rows, vectors, template } = job
  const transform = vectors < model.columns || vectors === 1 ? undefined : transformOf(post, rows, vectors)
  return {
    *kernel(given, parameters, context) {
      const { allocate, free } = temporaries()
      const { threads } = context
      try {
        const inputs = job.inputsOf((given as { readonly x: Tensor }).x)
        const scores = context.rawOutput(1).data as Float32Array
        const to = { labels: context.rawOutput(0).data, scores }
        const all = transform === 'none' ? scores : allocate(rows * vectors)
        let isDone = yield* runHere(template, inputs, all, threads)
        if (isDone) yield* transform ? chooseLabels(all, rows, model, to) : classifyRows(all, rows, model, post, to)
        if (transform && transform !== 'none') isDone &&= yield* runHere(transform, [all], scores, threads)
        if (isDone) return
      } finally {
        free()
      }
      const rest = op.run(given, parameters, context)
      if (rest) yield* rest
    }
  }
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
  products: Float32Array,
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
  all: Float32Array,
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
