import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from '../core/pace.ts'
import { dot, squaredDistance } from './dot.ts'
import { logistic } from './scores.ts'

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
  for (let row = 0; row < rows; row++) {
    for (let i = 0, at = row * features; i < features; i++, at++) own[i] = x[at]
    for (let k = 0; k < count; k++) {
      values[k] = compare(kernel, own, vectors, k * features, features)
      if (pace.isDue(COST.transcendental + features * COST.multiplyAdd)) yield
    }
    finish(values, row)
    if (pace.isDue(COST.allocation + count * COST.multiplyAdd)) yield
  }
}

function compare(
  { type, gamma, coef0, degree }: SvmKernel,
  row: Float64Array,
  vectors: Float64Array,
  j: number,
  features: number
): number {
  switch (type) {
    case 'LINEAR':
      return dot(row, 0, vectors, j, features)
    case 'POLY':
      return (gamma * dot(row, 0, vectors, j, features) + coef0) ** degree
    case 'RBF':
      return Math.exp(-gamma * squaredDistance(row, vectors, j, features))
    case 'SIGMOID':
      return Math.tanh(gamma * dot(row, 0, vectors, j, features) + coef0)
  }
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

/** The class with the most votes, the first of several. */
export function mostVotes(classes: number, decisions: Float64Array): number {
  const votes = new Int32Array(classes)
  let pair = 0
  for (let i = 0; i < classes; i++) for (let j = i + 1; j < classes; j++) votes[decisions[pair++] > 0 ? i : j]++
  return votes.indexOf(Math.max(...votes))
}

/** Probabilities of the first of two classes are kept this far from 0 and 1, as in libsvm. */
const MARGIN = 1e-7

/**
 * Class probabilities from decision values. Platt's sigmoids give one for each pair; they are coupled by the second
 * method of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling" (2004), as
 * in libsvm.
 * @param a, b Platt's parameters for each pair
 */
export function probabilities(
  classes: number,
  decisions: Float64Array,
  a: readonly number[],
  b: readonly number[],
  out: Float64Array
): void {
  const pairwise = new Float64Array(classes * classes)
  let pair = 0
  for (let i = 0; i < classes; i++) {
    for (let j = i + 1; j < classes; j++, pair++) {
      const first = 1 - logistic(decisions[pair] * a[pair] + b[pair])
      const p = Math.min(Math.max(first, MARGIN), 1 - MARGIN)
      pairwise[i * classes + j] = p
      pairwise[j * classes + i] = 1 - p
    }
  }
  couple(classes, pairwise, out)
}

const MAX_ROUNDS = 100

/** Minimizes `p' Q p` over probabilities `p`, one after the other in rounds. */
function couple(classes: number, pairwise: Float64Array, p: Float64Array): void {
  const q = couplingMatrix(classes, pairwise)
  const qp = new Float64Array(classes)
  p.fill(1 / classes)
  for (let round = 0; round < Math.max(MAX_ROUNDS, classes); round++) {
    let pqp = 0
    for (let i = 0; i < classes; i++) {
      qp[i] = dot(q, i * classes, p, 0, classes)
      pqp += p[i] * qp[i]
    }
    if (qp.every(value => Math.abs(value - pqp) < 0.005 / classes)) return
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

function couplingMatrix(classes: number, pairwise: Float64Array): Float64Array {
  const q = new Float64Array(classes * classes)
  for (let i = 0; i < classes; i++) {
    for (let j = 0; j < classes; j++) {
      if (j === i) continue
      const against = pairwise[j * classes + i]
      q[i * classes + i] += against * against
      q[i * classes + j] = -against * pairwise[i * classes + j]
    }
  }
  return q
}
