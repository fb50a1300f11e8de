import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'

/** `log(exp(a) + exp(b))` without overflow; -Infinity stands for log 0. */
const logAdd = (a: number, b: number): number => {
  const high = Math.max(a, b)
  return high === -Infinity ? high : high + Math.log1p(Math.exp(Math.min(a, b) - high))
}

/** Logarithms of the softmax of each step: `steps` rows of `classes` logits from `start` on. */
export function* logProbabilities(
  logits: Numbers,
  start: number,
  steps: number,
  classes: number
): Generator<void, Float64Array> {
  const result = doubles(steps * classes)
  const pace = new Pace()
  for (let row = 0; row < result.length; row += classes) {
    let highest = -Infinity
    for (let i = row; i < row + classes; i++) highest = Math.max(highest, logits[start + i])
    let sum = 0
    for (let i = row; i < row + classes; i++) sum += Math.exp(logits[start + i] - highest)
    const shift = highest + Math.log(sum)
    for (let i = row; i < row + classes; i++) result[i] = logits[start + i] - shift
    if (pace.isDue(8 * classes * COST.element)) yield
  }
  return result
}

/**
 * Logarithm of the probability of all paths that decode to `target`: the states before and between the labels are
 * blanks, each may stay; where repetitions count once a label may stay too and two equal labels need a blank between
 * them.
 * @param logs rows of `classes` logarithms of probabilities, one for each step
 */
export function* pathLogProbability(
  logs: Float64Array,
  classes: number,
  target: readonly number[],
  blank: number,
  mergesRepeated: boolean
): Generator<void, number> {
  const count = target.length
  // After a step: paths that have given k labels and end with a blank (or have not begun), and paths that end with
  // label k - 1.
  let blanks = new Float64Array(count + 1).fill(-Infinity)
  let labels = new Float64Array(count + 1).fill(-Infinity)
  blanks[0] = 0
  const pace = new Pace()
  for (let row = 0; row < logs.length; row += classes) {
    const nextBlanks = new Float64Array(count + 1)
    const nextLabels = new Float64Array(count + 1).fill(-Infinity)
    for (let k = 0; k <= count; k++) {
      nextBlanks[k] = logAdd(blanks[k], labels[k]) + logs[row + blank]
      if (k === 0) continue
      const isRepeated = mergesRepeated && k > 1 && target[k - 1] === target[k - 2]
      const fresh = isRepeated ? blanks[k - 1] : logAdd(blanks[k - 1], labels[k - 1])
      nextLabels[k] = logAdd(fresh, mergesRepeated ? labels[k] : -Infinity) + logs[row + target[k - 1]]
    }
    blanks = nextBlanks
    labels = nextLabels
    if (pace.isDue(32 * count * COST.element)) yield
  }
  return logAdd(blanks[count], labels[count])
}

/** Scores of one sequence: `classes` for each of its steps, those of a step from `at` on. */
export interface StepScores {
  readonly data: Numbers
  at(step: number): number
  readonly steps: number
  readonly classes: number
}

/**
 * The best class of each step, repetitions (if asked for) and blanks dropped, written into `out` from `to` on.
 * @returns how many there are
 */
export function* decodeGreedily(
  scores: StepScores,
  blank: number,
  mergesRepeated: boolean,
  out: Int32Array,
  to: number
): Generator<void, number> {
  const { data, at, steps, classes } = scores
  let count = 0
  let previous = -1
  const pace = new Pace()
  for (let step = 0; step < steps; step++) {
    const start = at(step)
    let best = 0
    for (let i = 1; i < classes; i++) if (data[start + i] > data[start + best]) best = i
    if (best !== blank && !(mergesRepeated && best === previous)) out[to + count++] = best
    previous = best
    if (pace.isDue(classes * COST.element)) yield
  }
  return count
}
