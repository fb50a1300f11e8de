import type { Numbers } from '../tensor/elements.ts'
import { WORK_PER_YIELD } from './elementwise.ts'
import { product } from '../tensor/tensor.ts'

/** Dims around an axis: `outer` blocks of `size` rows of `inner` elements. */
export interface AxisLayout {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

export const axisLayout = (dims: readonly number[], axis: number): AxisLayout => ({
  outer: product(dims.slice(0, axis)),
  size: dims[axis],
  inner: product(dims.slice(axis + 1))
})

/** Replaces the elements of a line. */
export type ChangeLine = (line: Float64Array) => void

/** Takes each line of elements along an axis out, lets `change` replace them, and puts them into `out`. Yields about every 10 ms. */
export function* eachLine(x: Numbers, out: Numbers, { outer, size, inner }: AxisLayout, change: ChangeLine): Generator<void> {
  if (outer === 0 || size === 0 || inner === 0) return
  const line = new Float64Array(size)
  let work = 0
  for (let block = 0; block < outer; block++) {
    for (let column = 0; column < inner; column++) {
      const start = block * size * inner + column
      for (let i = 0, at = start; i < size; i++, at += inner) line[i] = x[at]
      change(line)
      for (let i = 0, at = start; i < size; i++, at += inner) out[at] = line[i]
      work += size
      if (work >= WORK_PER_YIELD) {
        work = 0
        yield
      }
    }
  }
}

function highestOf(line: Float64Array): number {
  let highest = -Infinity
  for (let i = 0; i < line.length; i++) if (line[i] > highest) highest = line[i]
  return highest
}

/** `exp(x) / Σ exp(x)`, the highest element taken out so that nothing overflows. */
export function softmaxLine(line: Float64Array): void {
  const highest = highestOf(line)
  let sum = 0
  for (let i = 0; i < line.length; i++) {
    line[i] = Math.exp(line[i] - highest)
    sum += line[i]
  }
  for (let i = 0; i < line.length; i++) line[i] /= sum
}

/**
 * The same with every step rounded, as operators of a narrow float type do it one after the other.
 * @param roundsSums the sum is rounded at each addition, not only at its end
 */
export const softmaxLineRounded = (round: (x: number) => number, roundsSums: boolean): ChangeLine => line => {
  const highest = highestOf(line)
  let sum = 0
  for (let i = 0; i < line.length; i++) {
    line[i] = round(Math.exp(round(line[i] - highest)))
    sum = roundsSums ? round(sum + line[i]) : sum + line[i]
  }
  const total = round(sum)
  for (let i = 0; i < line.length; i++) line[i] /= total
}

export function logSoftmaxLine(line: Float64Array): void {
  const highest = highestOf(line)
  let sum = 0
  for (let i = 0; i < line.length; i++) sum += Math.exp(line[i] - highest)
  const shift = highest + Math.log(sum)
  for (let i = 0; i < line.length; i++) line[i] -= shift
}

/** 1 for the first of the highest elements, 0 for the others. */
export function hardmaxLine(line: Float64Array): void {
  let first = 0
  for (let i = 1; i < line.length; i++) if (line[i] > line[first]) first = i
  line.fill(0)
  line[first] = 1
}
