import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import { inSteps, WORK_PER_YIELD } from './steps.ts'

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

/** Goes over the elements `from <= i < to` of a line; what an earlier pass found out about it is at hand. */
type Pass = (from: number, to: number) => void

/**
 * How the elements of a line are replaced: passes over the array that holds it, one after the other, for each line that
 * is put into it.
 */
export type ChangeLine = (line: Float64Array) => readonly Pass[]

/** Changes the one line there is. */
export function changeLine(change: ChangeLine, line: Float64Array): void {
  for (const pass of change(line)) pass(0, line.length)
}

/**
 * Takes each line of elements along an axis out, lets `change` replace them, and puts them into `out`. Yields about
 * every 10 ms.
 */
export function* eachLine(
  x: Numbers,
  out: Numbers,
  { outer, size, inner }: AxisLayout,
  change: ChangeLine
): Generator<void> {
  if (outer === 0 || size === 0 || inner === 0) return
  const line = new Float64Array(size)
  let start = 0
  const passes: Pass[] = [
    (from, to) => {
      for (let i = from, at = start + from * inner; i < to; i++, at += inner) line[i] = x[at]
    },
    ...change(line),
    (from, to) => {
      for (let i = from, at = start + from * inner; i < to; i++, at += inner) out[at] = line[i]
    }
  ]
  let work = 0
  for (let block = 0; block < outer; block++) {
    for (let column = 0; column < inner; column++) {
      start = block * size * inner + column
      for (const pass of passes) {
        if (size > WORK_PER_YIELD) yield* inSteps(size, pass)
        else pass(0, size)
      }
      work += size
      if (work >= WORK_PER_YIELD) {
        work = 0
        yield
      }
    }
  }
}

function highestIn(line: Float64Array, from: number, to: number, start: number): number {
  let highest = start
  for (let i = from; i < to; i++) if (line[i] > highest) highest = line[i]
  return highest
}

function divideBy(line: Float64Array, from: number, to: number, divisor: number): void {
  for (let i = from; i < to; i++) line[i] /= divisor
}

/** `exp(x) / Σ exp(x)`, the highest element taken out so that nothing overflows. */
export const softmaxLine: ChangeLine = line => {
  let highest = 0
  let total = 0
  return [
    (from, to) => {
      highest = highestIn(line, from, to, from === 0 ? -Infinity : highest)
    },
    (from, to) => {
      const center = highest
      let sum = from === 0 ? 0 : total
      for (let i = from; i < to; i++) {
        line[i] = Math.exp(line[i] - center)
        sum += line[i]
      }
      total = sum
    },
    (from, to) => divideBy(line, from, to, total)
  ]
}

/**
 * The same with every step rounded, as operators of a narrow float type do it one after the other.
 * @param roundsSums the sum is rounded at each addition, not only at its end
 */
export const softmaxLineRounded =
  (round: (x: number) => number, roundsSums: boolean): ChangeLine =>
  line => {
    let highest = 0
    let total = 0
    return [
      (from, to) => {
        highest = highestIn(line, from, to, from === 0 ? -Infinity : highest)
      },
      (from, to) => {
        let sum = from === 0 ? 0 : total
        for (let i = from; i < to; i++) {
          line[i] = round(Math.exp(round(line[i] - highest)))
          sum = roundsSums ? round(sum + line[i]) : sum + line[i]
        }
        total = sum
      },
      (from, to) => divideBy(line, from, to, round(total))
    ]
  }

export const logSoftmaxLine: ChangeLine = line => {
  let highest = 0
  let total = 0
  return [
    (from, to) => {
      highest = highestIn(line, from, to, from === 0 ? -Infinity : highest)
    },
    (from, to) => {
      const center = highest
      let sum = from === 0 ? 0 : total
      for (let i = from; i < to; i++) sum += Math.exp(line[i] - center)
      total = sum
    },
    (from, to) => {
      const shift = highest + Math.log(total)
      for (let i = from; i < to; i++) line[i] -= shift
    }
  ]
}

/** 1 for the first of the highest elements, 0 for the others. */
export const hardmaxLine: ChangeLine = line => {
  let first = 0
  return [
    (from, to) => {
      if (from === 0) first = 0
      for (let i = from; i < to; i++) if (line[i] > line[first]) first = i
    },
    (from, to) => {
      for (let i = from; i < to; i++) line[i] = i === first ? 1 : 0
    }
  ]
}
