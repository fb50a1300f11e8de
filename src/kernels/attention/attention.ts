import { changeLine, softmaxLine } from '../core/lines.ts'
import { COST, type Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix, rowsFrom, transposed } from '../matrix/gemm.ts'

/** One head of attention, `weights(q kᵀ) v`. */
export interface Head {
  /** Number of queries, the rows of `q` and `out`. */
  readonly queries: number
  /** Number of keys, the rows of `k` and `v`. */
  readonly keys: number
  /** Columns of `q` and `k`. */
  readonly depth: number
  /** Columns of `v` and `out`. */
  readonly width: number
  readonly q: Matrix
  readonly k: Matrix
  readonly v: Matrix
  readonly out: Matrix
  /** Replaces the products of query `row` with all keys by the weights of the values, in place. */
  weigh(row: number, scores: Float64Array): void
}

/** Scores that are held at once: half a megabyte. */
const MAX_SCORES = 1 << 16
/** Nanoseconds that weighing one score takes. */
const WEIGH_COST = COST.element + COST.transcendental

/** `out += weights(q kᵀ) v`, for a block of queries at a time, so that memory does not grow with their number. */
export function* attend({ queries, keys, depth, width, q, k, v, out, weigh }: Head, pace: Pace): Generator<void> {
  const rows = Math.max(1, Math.min(queries, Math.max(4, Math.floor(MAX_SCORES / Math.max(1, keys)))))
  const block = new Float64Array(rows * keys)
  for (let first = 0; first < queries; first += rows) {
    const count = Math.min(rows, queries - first)
    block.fill(0)
    yield* gemm(count, keys, depth, rowsFrom(q, first), transposed(k), matrix(block, 0, keys), pace)
    for (let row = 0; row < count; row++) {
      weigh(first + row, block.subarray(row * keys, (row + 1) * keys))
      if (pace.isDue(keys * WEIGH_COST + COST.allocation)) yield
    }
    yield* gemm(count, width, keys, matrix(block, 0, keys), v, rowsFrom(out, first), pace)
  }
}

/**
 * Softmax of the scores in place; those at -Infinity get the weight 0.
 * @param allMasked every score is -Infinity: all weights are 0 instead of NaN
 */
export function maskedSoftmax(scores: Float64Array, allMasked: boolean): void {
  if (allMasked) scores.fill(0)
  else changeLine(softmaxLine, scores)
}
