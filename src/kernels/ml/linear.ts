import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from '../core/pace.ts'
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
  const pace = new Pace()
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < vectors; k++) {
      products[k] = dot(x, row * features, coefficients, k * features, features) + (intercepts[k] ?? 0)
      if (pace.isDue((features + 1) * COST.multiplyAdd)) yield
    }
    finish(products, row)
    if (pace.isDue(COST.allocation + vectors * COST.transcendental)) yield
  }
}
