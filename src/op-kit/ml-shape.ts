import { fail } from '../errors.ts'
import { type Dim, maxDim, mayMatch, printDim, unknownDim } from '../shapes/dim.ts'
import { type Fact, type TensorFact, tensorFact } from '../shapes/fact.ts'
import type { Labels } from './ml-labels.ts'
import { checkRank } from './ranks.ts'

/** The input of a model of ai.onnx.ml: as many rows, of as many features. */
export interface Rows {
  readonly rows: Dim
  /** Undefined where the rank is not known. */
  readonly features: Dim | undefined
}

/**
 * Rows and features of an input; a vector is one row, as in ONNX Runtime.
 * @throws NodewiseError `rank-mismatch` for other ranks than 1 and 2
 */
export function rowsOf(x: TensorFact): Rows {
  checkRank('the input', x, 1, 2)
  if (x.shape === undefined) return { rows: unknownDim(), features: undefined }
  const [rows, features] = x.shape.length === 1 ? [1, ...x.shape] : x.shape
  return { rows, features }
}

/**
 * Rows of an input that must have `count` features.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function rowsOfFeatures(x: TensorFact, count: number): Dim {
  const { rows, features } = rowsOf(x)
  if (features !== undefined && !mayMatch(features, count))
    fail('dims-mismatch', `the input has ${printDim(features)} features; the model has ${count}`)
  return rows
}

/**
 * Rows of an input that must have `count` features or more.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkFeatures(x: TensorFact, count: number): Dim {
  const { rows, features } = rowsOf(x)
  if (features !== undefined && maxDim(features) < count)
    fail('dims-mismatch', `the input has ${printDim(features)} features; the model reads ${count}`)
  return rows
}

/** The outputs of a classifier: a label a row, and the scores. */
export const classifierOutputs = (labels: Labels, rows: Dim, columns: number): Fact[] => [
  tensorFact(labels.type, [rows]),
  tensorFact('float32', [rows, columns])
]
