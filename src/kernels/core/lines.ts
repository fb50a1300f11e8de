import type { Numbers } from '../../tensor/elements.ts'
import type { AxisLayout } from './axis-layout.ts'
import { chunkSize, COST, inChunks, Pace, QUANTUM } from './pace.ts'

/** Reads or replaces the elements `from <= i < to` of a line; called on consecutive ranges from 0 on. */
type Pass = (from: number, to: number) => void

/**
 * A function along an axis, such as softmax. Given the array that will hold each line in turn, it returns passes, which
 * are run over the line one after the other; later passes use what earlier ones found out about the line.
 */
export type ChangeLine = (line: Float64Array) => readonly Pass[]

/** Nanoseconds of one element in one pass. */
const PASS_COST = COST.element + COST.transcendental

/** Elements of a line that {@link hardmax} reads between two chances to yield. */
const CHUNK = chunkSize(COST.element)

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
 * The sum is rounded at its end only, as ReduceSum rounds it: a bfloat16 that grows by 1 each time stays at 256.
 * @param round rounds to the float type
 */
export const softmaxLineRounded =
  (round: (x: number) => number): ChangeLine =>
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
          sum += line[i]
        }
        total = sum
      },
      (from, to) => divideBy(line, from, to, round(total))
    ]
  }

/**
 * `x - log Σ exp(x)`. The highest element is subtracted first, so that nothing overflows; the logarithm is subtracted
 * after it, since a sum of both would round it away where elements are large.
 */
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
      const [center, shift] = [highest, Math.log(total)]
      for (let i = from; i < to; i++) line[i] = line[i] - center - shift
    }
  ]
}

/** Writes 1 for the first of the highest elements of each line along an axis into `out`, which is zero. Yields. */
export function* hardmax(x: Numbers, out: Numbers, { outer, size, inner }: AxisLayout): Generator<void> {
  if (size === 0) return
  const pace = new Pace()
  for (let block = 0; block < outer; block++) {
    for (let column = 0; column < inner; column++) {
      const start = block * size * inner + column
      let first = 0
      for (let from = 1; from < size; from += CHUNK) {
        first = firstHighest(x, start, inner, first, from, Math.min(size, from + CHUNK))
        if (pace.isDue(Math.min(CHUNK, size) * COST.element)) yield
      }
      out[start + first * inner] = 1
    }
  }
}

/** The first position of the highest of element `first` of a line and the elements `from <= i < to`. */
function firstHighest(x: Numbers, start: number, step: number, first: number, from: number, to: number): number {
  let highest = x[start + first * step]
  for (let i = from, at = start + from * step; i < to; i++, at += step) {
    if (x[at] > highest) {
      highest = x[at]
      first = i
    }
  }
  return first
}
