import { changeLine, softmaxLine } from '../core/lines.ts'
import { gemm, type Matrix, type Pace, transposed } from '../matrix/gemm.ts'
import { matrix } from '../matrix/matmul.ts'

/** One head of attention: `weights(q kᵀ) v`. */
export interface Head {
  readonly queries: number
  readonly keys: number
  readonly depth: number
  readonly width: number
  readonly q: Matrix
  readonly k: Matrix
  readonly v: Matrix
  readonly out: Matrix
  /** Turns the products of query `row` with all keys into the weights of their values, in place. */
  weigh(row: number, scores: Float64Array): void
}

/** Scores held at once: half a megabyte. */
const MAX_BLOCK = 1 << 16

/** `out += weights(q kᵀ) v`, some queries at a time, so that memory does not grow with their number. */
export function* attend({ queries, keys, depth, width, q, k, v, out, weigh }: Head, pace: Pace): Generator<void> {
  const rows = Math.max(1, Math.min(queries, Math.max(4, Math.floor(MAX_BLOCK / Math.max(1, keys)))))
  const block = new Float64Array(rows * keys)
  for (let first = 0; first < queries; first += rows) {
    const count = Math.min(rows, queries - first)
    block.fill(0)
    yield* gemm(count, keys, depth, rowsFrom(q, first), transposed(k), matrix(block, 0, keys), pace)
    for (let row = 0; row < count; row++) weigh(first + row, block.subarray(row * keys, (row + 1) * keys))
    yield* gemm(count, width, keys, matrix(block, 0, keys), v, rowsFrom(out, first), pace)
  }
}

const rowsFrom = (of: Matrix, first: number): Matrix => ({ ...of, offset: of.offset + first * of.rowStride })

/** Softmax of scores of which those at -Infinity count nothing; where all do, every weight is 0. */
export function maskedSoftmax(scores: Float64Array, allMasked: boolean): void {
  if (allMasked) scores.fill(0)
  else changeLine(softmaxLine, scores)
}
