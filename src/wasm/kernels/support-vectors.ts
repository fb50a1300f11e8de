import { readReals } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { classifyPairs, type PairClasses } from '../../kernels/ml/classify.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import type { PostTransform } from '../../kernels/ml/scores.ts'
import { type PairDecisions, pairWork, type SupportVectors } from '../../kernels/ml/svm.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, selectorFor } from '../selector.ts'
import type { Temporaries } from '../temporary.ts'
import { columnsFor, distanceTemplate, putInColumns } from './distances.ts'
import { binaryTemplate, unaryTemplate } from './elementwise.ts'
import { type Product, productTemplate } from './matrix.ts'

/** Products of rows and vectors below which setting jobs up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 12
/** Kernel values that are computed before they are weighted, so that they stay in the cache. */
const MAX_VALUES = 1 << 17
/** Work of a radial function, in floating-point operations. */
const RADIAL_FLOPS = 20
/** Costs of tanh and of a power, in that of Relu and of a sum. */
const TANH = 8
const POWER = 16

/** A job, and its inputs after the rows or what the job before has left. */
interface ChainedJob {
  readonly template: JobTemplate
  readonly tables: readonly NumericArray[]
  /** Whether the last input is the first one once more. */
  readonly repeatsFirst?: boolean
}

/** What is made of rows: kernel values, and then sums of these by weights. */
interface Weighted {
  readonly support: SupportVectors
  readonly features: number
  /** A column of weights for each sum, and what is added to it. */
  readonly weights: Float32Array
  readonly added: Float32Array
  /** The jobs for some numbers of rows, of which a call has one or two. */
  readonly jobs: Map<number, readonly ChainedJob[]>
}

const productOfRows = (m: number, k: number, n: number, isTransposed: boolean): Product => ({
  ...{ m, n, k, batches: 1, loops: [], aRow: k * 4, aElement: 4 },
  ...(isTransposed ? { bRow: 4, bColumn: k * 4 } : { bRow: n * 4, bColumn: 4 })
})

const WITH_COLUMN = { bias: { operand: 'added', kind: 'column' }, activation: undefined } as const

/** The jobs that turn `rows` rows into kernel values. */
function kernelJobs(rows: number, features: number, { count, vectors, kernel }: SupportVectors): ChainedJob[] {
  const { type, gamma, coef0, degree } = kernel
  const values = rows * count
  if (type === 'RBF') return [radialJob(rows, features, count, vectors, gamma)]
  const alpha = type === 'LINEAR' ? 1 : gamma
  const added = new Float32Array(count).fill(type === 'LINEAR' ? 0 : coef0)
  const products: ChainedJob = {
    template: productTemplate(productOfRows(rows, features, count, true), { ...WITH_COLUMN, alpha }, false),
    tables: [Float32Array.from(vectors), added],
    repeatsFirst: true
  }
  if (type === 'SIGMOID') return [products, { template: unaryTemplate(values, ['tanh'], TANH), tables: [] }]
  if (type === 'LINEAR' || degree === 1) return [products]
  if (degree === 2 || degree === 3)
    return [products, { template: unaryTemplate(values, [degree === 2 ? 'square' : 'cube'], 2), tables: [] }]
  const powers = binaryTemplate('power', [values], [], [values], POWER)!
  return [products, { template: powers, tables: [Float32Array.of(degree)] }]
}

function radialJob(rows: number, features: number, count: number, vectors: Float64Array, gamma: number): ChainedJob {
  const columns = new Float32Array(features * columnsFor(count))
  putInColumns(vectors, count, features, columns)
  const flops = rows * count * (3 * features + RADIAL_FLOPS)
  return {
    template: distanceTemplate({ rows, features, count, power: 2, end: 'radial', gamma, flops }),
    tables: [columns]
  }
}

/**
 * Computes sums for all rows, some rows at a time.
 * @returns false where the heap is full
 */
function* weightedSums(
  x: Float32Array,
  out: Float32Array,
  weighted: Weighted,
  { allocate, run }: Work
): Generator<void, boolean> {
  const { support, features, added } = weighted
  const rows = x.length / features
  const sums = added.length
  const most = Math.max(1, Math.min(rows, Math.floor(MAX_VALUES / support.count)))
  const values = allocate(most * support.count)
  for (let from = 0; from < rows; from += most) {
    const own = Math.min(most, rows - from)
    const jobs = jobsFor(own, weighted)
    let input: NumericArray = x.subarray(from * features, (from + own) * features)
    for (const [i, { template, tables, repeatsFirst = false }] of jobs.entries()) {
      const isLast = i === jobs.length - 1
      const target = isLast ? out.subarray(from * sums, (from + own) * sums) : values.subarray(0, own * support.count)
      const inputs = [input, ...tables, ...(repeatsFirst ? [input] : [])]
      if (!(yield* run(template, inputs, target))) return false
      input = target
    }
  }
  return true
}

function jobsFor(rows: number, { support, features, weights, added, jobs }: Weighted): readonly ChainedJob[] {
  const known = jobs.get(rows)
  if (known) return known
  const made = [...kernelJobs(rows, features, support), sumJob(rows, support.count, weights, added)]
  jobs.set(rows, made)
  return made
}

const sumJob = (rows: number, count: number, weights: Float32Array, added: Float32Array): ChainedJob => ({
  template: productTemplate(productOfRows(rows, count, added.length, false), WITH_COLUMN, false),
  tables: [weights, added],
  repeatsFirst: true
})

/** Features of rows that are worth jobs. */
function featuresOf(x: Tensor | undefined, { count, kernel }: SupportVectors): number | undefined {
  if (x === undefined || (kernel.type === 'POLY' && kernel.degree < 1)) return undefined
  const [rows, features] = rowsAndFeatures(x.dims)
  return rows * features * count >= MIN_MULTIPLICATIONS ? features : undefined
}

/** Rows in single precision, as the vectors are: ONNX Runtime rounds rows of other types, too. */
function* singlesOf(x: Tensor, allocate: Temporaries['allocate']): Generator<void, Float32Array> {
  if (x.type === 'float32') return arrayOf(x) as Float32Array
  const rounded = allocate(x.data.length)
  rounded.set(yield* readReals(x))
  return rounded
}

interface RegressorParams {
  readonly model: { readonly support: SupportVectors; readonly weights: Float64Array; readonly rho: number }
  readonly oneClass: boolean
}

/** SVMRegressor. */
export const selectSvmRegressor = selectorFor<RegressorParams>(({ op, operands, parameters: { model, oneClass } }) => {
  const { support, weights, rho } = model
  const features = featuresOf(operands.x, support)
  if (features === undefined) return undefined
  const weighted = {
    support,
    features,
    weights: Float32Array.from(weights),
    added: Float32Array.of(rho),
    jobs: new Map()
  }
  const kernel = attemptKernel(op, function* (given, out, work) {
    const sums = arrayOf(out()) as Float32Array
    const x = yield* singlesOf(given.x!, work.allocate)
    if (!(yield* weightedSums(x, sums, weighted, work))) return false
    if (oneClass) for (let row = 0; row < sums.length; row++) sums[row] = sums[row] > 0 ? 1 : -1
    return true
  })
  return { kernel }
})

interface ClassifierParams {
  readonly model: { readonly kind: string } & Partial<PairClasses & { readonly support: SupportVectors }>
  readonly post: PostTransform
}

/** SVMClassifier by support vectors. */
export const selectSvmClassifier = selectorFor<ClassifierParams>(({ op, operands, parameters: { model, post } }) => {
  const { support, pairs } = model
  const features = support && featuresOf(operands.x, support)
  if (support === undefined || pairs === undefined || features === undefined) return undefined
  const weighted = {
    support,
    features,
    weights: weightsOf(pairs, support.count),
    added: Float32Array.from(pairs.rho),
    jobs: new Map()
  }
  const columns = pairs.rho.length
  const kernel = attemptKernel(op, function* (given, out, work, context) {
    const x = yield* singlesOf(given.x!, work.allocate)
    const rows = x.length / features
    const all = work.allocate(rows * columns)
    if (!(yield* weightedSums(x, all, weighted, work))) return false
    const to = { labels: out().data, scores: context.rawOutput(1).data as Float32Array }
    const pair = pairWork(pairs.classes)
    const classify = (from: number, end: number): void => {
      for (let row = from; row < end; row++) {
        for (let k = 0; k < columns; k++) pair.decisions[k] = all[row * columns + k]
        classifyPairs(pair, row, model as PairClasses, post, to)
      }
    }
    yield* inChunks(rows, classify, COST.allocation + columns * COST.transcendental)
    return true
  })
  return { kernel }
})

/** Coefficients of decisions as columns: those of vectors of other classes than the two are 0. */
function weightsOf({ classes, starts, coefficients, rho }: PairDecisions, count: number): Float32Array {
  const pairs = rho.length
  const weights = new Float32Array(count * pairs)
  let pair = 0
  for (let i = 0; i < classes; i++) {
    for (let j = i + 1; j < classes; j++, pair++) {
      for (let t = starts[i]; t < starts[i + 1]; t++) weights[t * pairs + pair] = coefficients[(j - 1) * count + t]
      for (let t = starts[j]; t < starts[j + 1]; t++) weights[t * pairs + pair] = coefficients[i * count + t]
    }
  }
  return weights
}
