import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'

/**
 * Gaussian elimination with partial pivoting, in place, of a row-major `n x columns` matrix.
 * @param reduced brings the left `n x n` part to the identity (Gauss-Jordan) instead of to upper triangular form
 * @returns the determinant of the left `n x n` part, which may be too small for a double; undefined where there is no
 *   pivot, so that the part has no inverse
 */
function* eliminate(
  matrix: Float64Array,
  n: number,
  columns: number,
  reduced: boolean,
  pace: Pace
): Generator<void, number | undefined> {
  let determinant = 1
  for (let k = 0; k < n; k++) {
    let pivot = k
    for (let i = k + 1; i < n; i++)
      if (Math.abs(matrix[i * columns + k]) > Math.abs(matrix[pivot * columns + k])) pivot = i
    const value = matrix[pivot * columns + k]
    if (value === 0) return undefined
    determinant *= pivot === k ? value : -value
    for (let j = k; j < columns; j++) {
      const held = matrix[pivot * columns + j]
      matrix[pivot * columns + j] = matrix[k * columns + j]
      matrix[k * columns + j] = reduced ? held / value : held
    }
    for (let i = reduced ? 0 : k + 1; i < n; i++) {
      if (i === k) continue
      const factor = reduced ? matrix[i * columns + k] : matrix[i * columns + k] / value
      if (factor === 0) continue
      for (let j = k; j < columns; j++) matrix[i * columns + j] -= factor * matrix[k * columns + j]
      if (pace.isDue((columns - k) * COST.multiplyAdd)) yield
    }
  }
  return determinant
}

/** The determinant of the `n x n` matrix at `start`. */
export function* determinantOf(x: Numbers, start: number, n: number, pace: Pace): Generator<void, number> {
  return (yield* eliminate(Float64Array.from(x.subarray(start, start + n * n)), n, n, false, pace)) ?? 0
}

/**
 * Writes the inverse of the `n x n` matrix at `start` to the same position of `out`.
 * @param transposes writes the transpose of the inverse
 * @returns false, with nothing written, where the matrix has no inverse
 */
export function* invert(
  x: Numbers,
  start: number,
  n: number,
  transposes: boolean,
  out: Numbers,
  pace: Pace
): Generator<void, boolean> {
  const columns = 2 * n
  const matrix = doubles(n * columns)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) matrix[i * columns + j] = x[start + i * n + j]
    matrix[i * columns + n + i] = 1
  }
  if ((yield* eliminate(matrix, n, columns, true, pace)) === undefined) return false
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) out[start + (transposes ? j * n + i : i * n + j)] = matrix[i * columns + n + j]
  }
  return true
}
