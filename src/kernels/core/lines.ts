import type { Numbers } from '../../tensor/elements.ts'
import type { AxisLayout } from './axis-layout.ts'
import { COST, inChunks, Pace, QUANTUM } from './pace.ts'

/** Reads or replaces the elements `from <= i < to` of a line; called on consecutive ranges from 0 on. */
type Pass = (from: number, to: number) => void

/**
 * A function along an axis, such as softmax. Given the array that will hold each line in turn, it returns passes, which
 * are run over the line one after the other; later passes use what earlier ones found out about the line.
 */
export type ChangeLine = (line: Float64Array) => readonly Pass[]

/** Nanoseconds of one element in one pass. */
const PASS_COST = COST.element + COST.transcendental

/** Changes a single line in place, without yielding. */
export function changeLine(change: ChangeLine, line: Float64Array): void {
  for (const pass of change(line)) pass(0, line.length)
}

/** Copies each line along an axis out of `x`, changes it by `change`, and copies it into `out`. Yields. */
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
  const isLong = size * PASS_COST > QUANTUM
  const pace = new Pace()
  for (let block = 0; block < outer; block++) {
    for (let column = 0; column < inner; column++) {
      start = block * size * inner + column
      for (const pass of passes) {
        if (isLong) yield* inChunks(size, pass, PASS_COST)
        else pass(0, size)
        if (pace.isDue(size * PASS_COST)) yield
      }
    }
  }
}

/** The highest of `start` and the elements; NaN is passed over. */
function highestIn(line: Float64Array, from: number, to: number, start: number): number {
  let highest = start
  for (let i = from; i < to; i++) if (line[i] > highest) highest = line[i]
  return highest
}

function divideBy(line: Float64Array, from: number, to: number, divisor: number): void {
  for (let i = from; i < to; i++) line[i] /= divisor
}

/**
 * `exp(x) / (exp(hidden) + Σ exp(x))`: the softmax of a line with one more element, which takes its share and is not
 * shown. The highest element is subtracted first so that nothing overflows.
 */
export const softmaxLineWith =
  (hidden: number): ChangeLine =>
  line => {
    let highest = 0
    let total = 0
    return [
      (from, to) => {
        highest = highestIn(line, from, to, from === 0 ? hidden : highest)
      },
      (from, to) => {
        const center = highest
        let sum = from === 0 ? Math.exp(hidden - center) : total
        for (let i = from; i < to; i++) {
          line[i] = Math.exp(line[i] - center)
          sum += line[i]
        }
        total = sum
      },
      (from, to) => divideBy(line, from, to, total)
    ]
  }

/** `exp(x) / Σ exp(x)`. */
export const softmaxLine = softmaxLineWith(-Infinity)

/**
 * {@link softmaxLine} with every intermediate result rounded, as a chain of operators of a narrow float type gives it.
 * @param round rounds to the float type
 * @param roundsSums the sum is rounded after each addition, not only at its end
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

/** `x - log Σ exp(x)`; the highest element is subtracted first so that nothing overflows. */
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
