import type { Numbers } from '../../tensor/elements.ts'
import { chunkSize, COST, Pace } from '../core/pace.ts'
import { dot } from './dot.ts'

/** Vectors that rows are multiplied by: as many numbers for each as rows have features. */
export interface LinearModel {
  readonly coefficients: Float64Array
  /** Added to each product; 0 where there is none. */
  readonly intercepts: readonly number[]
}

/**
 * The products of rows and vectors.
 * @param finish is called with the products of each row, which it may write over
 */
export function* eachProduct(
  x: Numbers,
  rows: number,
  features: number,
  vectors: number,
  { coefficients, intercepts }: LinearModel,
  finish: (products: Float64Array, row: number) => void
): Generator<void> {
  const products = new Float64Array(vectors)
  const added = Float64Array.from({ length: vectors }, (_, k) => intercepts[k] ?? 0)
  const pace = new Pace()
  const each = (features + 1) * COST.multiplyAdd
  const batch = chunkSize(each)
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < vectors; k += batch) {
      const end = Math.min(vectors, k + batch)
      multiply(x, row * features, coefficients, features, added, products, k, end)
      if (pace.isDue((end - k) * each)) yield
    }
    finish(products, row)
    if (pace.isDue(COST.allocation + vectors * COST.transcendental)) yield
  }
}

/** The products of a row, which begins at `at`, and the vectors `from … to - 1`. */
function multiply(
  x: Numbers,
  at: number,
  coefficients: Float64Array,
  features: number,
  added: Float64Array,
  products: Float64Array,
  from: number,
  to: number
): void {
  for (let k = from; k < to; k++) products[k] = dot(x, at, coefficients, k * features, features) + added[k]
}
