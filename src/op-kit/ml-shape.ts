import { fail } from '../errors.ts'
import { type Dim, maxDim, mayMatch, printDim, printShape, unknownDim } from '../shapes/dim.ts'
import { type Fact, type TensorFact, tensorFact } from '../shapes/fact.ts'
import type { Labels } from './ml-labels.ts'

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
export function rowsOf({ shape }: TensorFact): Rows {
  if (shape === undefined) return { rows: unknownDim(), features: undefined }
  if (shape.length === 1) return { rows: 1, features: shape[0] }
  if (shape.length === 2) return { rows: shape[0], features: shape[1] }
  return fail('rank-mismatch', `the input has shape ${printShape(shape)}; rank 1 or 2 is expected`)
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
