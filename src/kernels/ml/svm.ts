import type { Numbers } from '../../tensor/elements.ts'
import { doubles, ints } from '../core/numbers.ts'
import { chunkSize, COST, Pace } from '../core/pace.ts'
import { dot } from './dot.ts'
import { largestOf, logistic } from './scores.ts'

/** How a row and a support vector are compared. */
export interface SvmKernel {
  readonly type: 'LINEAR' | 'POLY' | 'RBF' | 'SIGMOID'
  readonly gamma: number
  readonly coef0: number
  readonly degree: number
}

/** What rows are compared with: `count` vectors of as many numbers as rows have features. */
export interface SupportVectors {
  readonly count: number
  readonly vectors: Float64Array
  readonly kernel: SvmKernel
}

/**
 * Compares rows with support vectors.
 * @param finish is called with the kernel values of each row, one for each vector; the array is used again
 */
export function* eachKernelRow(
  x: Numbers,
  rows: number,
  features: number,
  { count, vectors, kernel }: SupportVectors,
  finish: (values: Float64Array, row: number) => void
): Generator<void> {
  const values = new Float64Array(count)
  // Loops that meet one type of array are several times faster.
  const own = new Float64Array(features)
  const pace = new Pace()
  const each = COST.transcendental + features * COST.multiplyAdd
  const batch = chunkSize(each)
  for (let row = 0; row < rows; row++) {
    for (let i = 0, at = row * features; i < features; i++, at++) own[i] = x[at]
    for (let k = 0; k < count; k += batch) {
      const end = Math.min(count, k + batch)
      if (kernel.type === 'RBF') squaredDistances(own, vectors, k, end, values)
      else products(own, vectors, k, end, values)
      finishKernel(kernel, values, k, end)
      if (pace.isDue((end - k) * each)) yield
    }
    finish(values, row)
    if (pace.isDue(COST.allocation + count * COST.multiplyAdd)) yield
  }
}

/** The products of a row and the vectors `from … to - 1`, four at a time, as an addition waits for the one before. */
function products(row: Float64Array, vectors: Float64Array, from: number, to: number, values: Float64Array): void {
  const size = row.length
  let k = from
  for (; k + 4 <= to; k += 4) {
    const [p, q, r, s] = [k * size, (k + 1) * size, (k + 2) * size, (k + 3) * size]
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let i = 0; i < size; i++) {
      const x = row[i]
      a += x * vectors[p + i]
      b += x * vectors[q + i]
      c += x * vectors[r + i]
      d += x * vectors[s + i]
    }
    values[k] = a
    values[k + 1] = b
    values[k + 2] = c
    values[k + 3] = d
  }
  for (; k < to; k++) values[k] = dot(row, 0, vectors, k * size, size)
}

/** As {@link products}: the squares of the distances. */
function squaredDistances(
  row: Float64Array,
  vectors: Float64Array,
  from: number,
  to: number,
  values: Float64Array
): void {
  const size = row.length
  let k = from
  for (; k + 4 <= to; k += 4) {
    const [p, q, r, s] = [k * size, (k + 1) * size, (k + 2) * size, (k + 3) * size]
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let i = 0; i < size; i++) {
      const x = row[i]
      const e = x - vectors[p + i]
      const f = x - vectors[q + i]
      const g = x - vectors[r + i]
      const h = x - vectors[s + i]
      a += e * e
      b += f * f
      c += g * g
      d += h * h
    }
    values[k] = a
    values[k + 1] = b
    values[k + 2] = c
    values[k + 3] = d
  }
  for (; k < to; k++) {
    let sum = 0
    for (let i = 0, at = k * size; i < size; i++, at++) sum += (row[i] - vectors[at]) * (row[i] - vectors[at])
    values[k] = sum
  }
}

/** Makes kernel values of products or of squares of distances. */
function finishKernel({ type, gamma, coef0, degree }: SvmKernel, values: Float64Array, from: number, to: number): void {
  switch (type) {
    case 'LINEAR':
      return
    case 'POLY':
      for (let k = from; k < to; k++) values[k] = gamma * values[k] + coef0
      return raise(values, from, to, degree)
    case 'RBF':
      for (let k = from; k < to; k++) values[k] = Math.exp(-gamma * values[k])
      return
    case 'SIGMOID':
      for (let k = from; k < to; k++) values[k] = Math.tanh(gamma * values[k] + coef0)
  }
}

/** Squares and cubes, which most models have, take a tenth of the time of powers. */
function raise(values: Float64Array, from: number, to: number, degree: number): void {
  if (degree === 2) for (let k = from; k < to; k++) values[k] *= values[k]
  else if (degree === 3) for (let k = from; k < to; k++) values[k] *= values[k] * values[k]
  else for (let k = from; k < to; k++) values[k] **= degree
}

/** Decisions between each two classes, as libsvm has them: 0 and 1, 0 and 2 … 1 and 2 … */
export interface PairDecisions {
  readonly classes: number
  /** Support vectors of class `i` are `starts[i] … starts[i + 1]`. */
  readonly starts: Int32Array
  /** A row for each other class: for vectors of class `i`, row `j` is that of class `j` below `i`, else of `j + 1`. */
  readonly coefficients: Float64Array
  readonly rho: readonly number[]
}

/** The decision values of all pairs, from the kernel values of a row; above 0 is a vote for the first of the two. */
export function decide(pairs: PairDecisions, kernels: Float64Array, decisions: Float64Array): void {
  const { classes, starts, coefficients, rho } = pairs
  const count = kernels.length
  let pair = 0
  for (let i = 0; i < classes; i++) {
    for (let j = i + 1; j < classes; j++, pair++) {
      const ofFirst = dot(kernels, starts[i], coefficients, (j - 1) * count + starts[i], starts[i + 1] - starts[i])
      const ofSecond = dot(kernels, starts[j], coefficients, i * count + starts[j], starts[j + 1] - starts[j])
      decisions[pair] = ofFirst + ofSecond + rho[pair]
    }
  }
}

/** What rows are computed in, one after the other. */
export interface PairWork {
  /** A number for each pair. */
  readonly decisions: Float64Array
  /** A number for each class, and those of votes. */
  readonly ofClasses: Float64Array
  readonly votes: Int32Array
  /** The probabilities of the first of each two classes, the matrix that these are coupled by, and its products. */
  readonly pairwise: Float64Array
  readonly matrix: Float64Array
  readonly products: Float64Array
}

/** Room for decisions between `classes` classes. */
export const pairWork = (classes: number): PairWork => ({
  decisions: doubles((classes * (classes - 1)) / 2),
  ofClasses: doubles(classes),
  votes: ints(classes),
  pairwise: doubles(classes * classes),
  matrix: doubles(classes * classes),
  products: doubles(classes)
})

/** The class with the most votes, the first of several. */
export function mostVotes(classes: number, { decisions, votes }: PairWork): number {
  for (let i = 0; i < classes; i++) votes[i] = 0
  let pair = 0
  for (let i = 0; i < classes; i++) for (let j = i + 1; j < classes; j++) votes[decisions[pair++] > 0 ? i : j]++
  return largestOf(votes, 0, classes)
}

/** Probabilities of the first of two classes are kept this far from 0 and 1, as in libsvm. */
const MARGIN = 1e-7

/**
 * Class probabilities from decision values. Platt's sigmoids give one for each pair; they are coupled by the second
 * method of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling" (2004), as
 * in libsvm.
 * @param a, b Platt's parameters for each pair
 */
export function probabilities(classes: number, work: PairWork, a: readonly number[], b: readonly number[]): void {
  const { decisions, pairwise } = work
  let pair = 0
  for (let i = 0; i < classes; i++) {
    for (let j = i + 1; j < classes; j++, pair++) {
      const first = 1 - logistic(decisions[pair] * a[pair] + b[pair])
      const p = Math.min(Math.max(first, MARGIN), 1 - MARGIN)
      pairwise[i * classes + j] = p
      pairwise[j * classes + i] = 1 - p
    }
  }
  couple(classes, work)
}

const MAX_ROUNDS = 100

/** Minimizes `p' Q p` over probabilities `p`, one after the other in rounds. */
function couple(classes: number, work: PairWork): void {
  const { ofClasses: p, matrix: q, products: qp } = work
  fillMatrix(classes, work)
  p.fill(1 / classes)
  for (let round = 0; round < Math.max(MAX_ROUNDS, classes); round++) {
    let pqp = 0
    for (let i = 0; i < classes; i++) {
      qp[i] = dot(q, i * classes, p, 0, classes)
      pqp += p[i] * qp[i]
    }
    if (areNear(qp, pqp, 0.005 / classes)) return
    for (let i = 0; i < classes; i++) {
      const own = q[i * classes + i]
      const step = (pqp - qp[i]) / own
      const scale = 1 + step
      p[i] += step
      pqp = (pqp + step * (step * own + 2 * qp[i])) / scale / scale
      for (let j = 0; j < classes; j++) {
        qp[j] = (qp[j] + step * q[i * classes + j]) / scale
        p[j] /= scale
      }
    }
  }
}

function areNear(values: Float64Array, value: number, distance: number): boolean {
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i] - value) < distance)) return false
  return true
}

function fillMatrix(classes: number, { pairwise, matrix }: PairWork): void {
  matrix.fill(0)
  for (let i = 0; i < classes; i++) {
    for (let j = 0; j < classes; j++) {
      if (j === i) continue
      const against = pairwise[j * classes + i]
      matrix[i * classes + i] += against * against
      matrix[i * classes + j] = -against * pairwise[i * classes + j]
    }
  }
}
