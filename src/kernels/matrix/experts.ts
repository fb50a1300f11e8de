import type { Numbers } from '../../tensor/elements.ts'
import type { UnaryLoop } from '../core/elementwise.ts'
import { doubles } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import { type CodedRows, multiplyCoded, panelFor } from '../quantized/packed.ts'
import { gemm, matrix, type Matrix, transposed } from './gemm.ts'

/** A dense layer of every expert. */
export interface ExpertLayer {
  /** Outputs and inputs of an expert's layer. */
  readonly rows: number
  readonly columns: number
  /** A list of an expert's after the other. */
  readonly bias: Numbers | undefined
  /** `out += a W^T` with the weights of an expert, for `m` rows of `a`. */
  multiply(expert: number, a: Matrix, m: number, out: Matrix, pace: Pace): Generator<void>
}

/** A layer whose weights `[experts, rows, columns]` are numbers. */
export const denseLayer = (
  weights: Numbers,
  rows: number,
  columns: number,
  bias: Numbers | undefined
): ExpertLayer => ({
  rows,
  columns,
  bias,
  multiply: (expert, a, m, out, pace) =>
    gemm(m, rows, columns, a, transposed(matrix(weights, expert * rows * columns, columns)), out, pace)
})

/** A layer whose weights are decoded when they are needed. */
export function codedLayer(
  weightsOf: (expert: number) => CodedRows,
  rows: number,
  columns: number,
  bias: Numbers | undefined
): ExpertLayer {
  let panel: Float64Array | undefined
  return {
    rows,
    columns,
    bias,
    multiply(expert, a, m, out, pace) {
      const weights = weightsOf(expert)
      panel ??= panelFor(weights)
      return multiplyCoded(a, m, weights, true, out, pace, panel)
    }
  }
}

/** How the first layer's outputs become the second one's inputs. */
export type Gating =
  /** Each output becomes an input, by `loop`. */
  | { readonly kind: 'plain'; readonly loop: UnaryLoop }
  /** Two outputs make an input: `gate` of the one times what `value` makes of the other. */
  | {
      readonly kind: 'gated'
      /** Where both are: one after the other, in two halves, or the value in a layer of its own. */
      readonly layout: 'interleaved' | 'halves' | 'apart'
      readonly gate: UnaryLoop
      readonly value: UnaryLoop
    }

/** A mixture of experts: two layers each, and a third one where the values of gates have their own. */
export interface Experts {
  readonly first: ExpertLayer
  readonly second: ExpertLayer
  readonly third: ExpertLayer | undefined
  readonly gating: Gating
}

/** How much a token's experts count. */
export interface Routing {
  /** The score of each expert for each token. */
  readonly scores: Numbers
  readonly experts: number
  /** Experts that serve a token: those of the highest scores; of equal ones the last counts more. */
  readonly chosen: number
  /**
   * Weights of the chosen ones: their softmax; the softmax of all; or numbers that are given for each expert and token,
   * as they are or divided by their sum.
   */
  readonly weighing: 'chosen' | 'all' | { readonly given: Numbers; readonly normalizes: boolean }
}

/** Numbers that a part of the tokens takes in memory, so that it stays in the cache. */
const PART = 1 << 18

/**
 * The weighted sum of what the chosen experts make of each token: `out[t] = Σ w[t, e] expert_e(x[t])`.
 * @param x tokens, each a row of as many numbers as the first layer has inputs
 * @param out zeros
 */
export function* mixExperts(x: Numbers, experts: Experts, routing: Routing, out: Float64Array): Generator<void> {
  const { first, second } = experts
  const tokens = first.columns === 0 ? 0 : x.length / first.columns
  if (tokens === 0) return
  const pace = new Pace()
  const served = yield* route(routing, tokens, pace)
  const most = Math.max(4, Math.floor(PART / Math.max(1, first.columns, first.rows, second.columns)))
  for (let expert = 0; expert < routing.experts; expert++) {
    const { rows, weights } = served[expert]
    for (let from = 0; from < rows.length; from += most) {
      const part = rows.slice(from, from + most)
      const made = yield* applyExpert(x, experts, expert, part, pace)
      for (const [i, row] of part.entries()) {
        addScaled(made, i * second.rows, weights[from + i], out, row * second.rows, second.rows)
        if (pace.isDue(second.rows * COST.multiplyAdd)) yield
      }
    }
  }
}

/** Tokens that an expert serves, and how much it counts for each. */
export interface Served {
  readonly rows: number[]
  readonly weights: number[]
}

/** The tokens of each expert. */
export function* route(routing: Routing, tokens: number, pace: Pace): Generator<void, Served[]> {
  const { experts, chosen } = routing
  const served = Array.from({ length: experts }, (): Served => ({ rows: [], weights: [] }))
  for (let token = 0; token < tokens; token++) {
    const best = highest(routing, token * experts)
    const weights = weigh(routing, token * experts, best)
    best.forEach((expert, i) => {
      served[expert].rows.push(token)
      served[expert].weights.push(weights[i])
    })
    if (pace.isDue(experts * (chosen + 1) * COST.element)) yield
  }
  return served
}

/** The experts of the highest scores, which begin at `start`; NaN is the lowest of all. */
function highest({ scores, experts, chosen }: Routing, start: number): number[] {
  const best: number[] = []
  const isTaken = new Uint8Array(experts)
  for (let i = 0; i < chosen; i++) {
    let found = -1
    let score = -Infinity
    for (let expert = 0; expert < experts; expert++) {
      const own = scores[start + expert]
      if (isTaken[expert] === 0 && (found < 0 || own >= score)) {
        found = expert
        score = Number.isNaN(own) ? -Infinity : own
      }
    }
    isTaken[found] = 1
    best.push(found)
  }
  return best
}

function weigh({ scores, experts, weighing }: Routing, start: number, best: readonly number[]): number[] {
  if (typeof weighing === 'object') {
    const given = best.map(expert => weighing.given[start + expert])
    const sum = weighing.normalizes ? given.reduce((a, b) => a + b, 0) : 1
    return given.map(weight => weight / sum)
  }
  const highestScore = scores[start + best[0]]
  const powers = best.map(expert => Math.exp(scores[start + expert] - highestScore))
  let sum = 0
  if (weighing === 'chosen') for (const power of powers) sum += power
  else for (let expert = 0; expert < experts; expert++) sum += Math.exp(scores[start + expert] - highestScore)
  return powers.map(power => power / sum)
}

/** What an expert makes of some tokens, row by row. */
function* applyExpert(
  x: Numbers,
  { first, second, third, gating }: Experts,
  expert: number,
  rows: readonly number[],
  pace: Pace
): Generator<void, Float64Array> {
  const tokens = doubles(rows.length * first.columns)
  rows.forEach((row, i) => {
    for (let j = 0, at = row * first.columns; j < first.columns; j++) tokens[i * first.columns + j] = x[at + j]
  })
  const outputs = yield* applyLayer(first, expert, tokens, rows.length, pace)
  const values = third && (yield* applyLayer(third, expert, tokens, rows.length, pace))
  const hidden = doubles(rows.length * second.columns)
  const cost = 2 * (COST.transcendental + COST.element)
  yield* inChunks(
    hidden.length,
    (from, to) => applyGating(gating, outputs, values, hidden, second.columns, from, to),
    cost
  )
  return yield* applyLayer(second, expert, hidden, rows.length, pace)
}

function* applyLayer(
  { rows, columns, bias, multiply }: ExpertLayer,
  expert: number,
  inputs: Float64Array,
  m: number,
  pace: Pace
): Generator<void, Float64Array> {
  const outputs = doubles(m * rows)
  if (bias) for (let i = 0; i < m; i++) outputs.set(bias.subarray(expert * rows, (expert + 1) * rows), i * rows)
  yield* multiply(expert, matrix(inputs, 0, columns), m, matrix(outputs, 0, rows), pace)
  return outputs
}

/**
 * Makes inputs `[from, to)` of the second layer.
 * @param width inputs of a token
 */
function applyGating(
  gating: Gating,
  outputs: Float64Array,
  values: Float64Array | undefined,
  hidden: Float64Array,
  width: number,
  from: number,
  to: number
): void {
  if (gating.kind === 'plain') return gating.loop(outputs, hidden, from, to)
  const { layout, gate, value } = gating
  const linear = new Float64Array(to - from)
  for (let i = from; i < to; i++) {
    const within = i % width
    const at = layout === 'interleaved' ? 2 * i : layout === 'halves' ? 2 * i - within : i
    hidden[i] = outputs[at]
    linear[i - from] = layout === 'apart' ? values![i] : outputs[layout === 'interleaved' ? at + 1 : at + width]
  }
  gate(hidden, hidden, from, to)
  value(linear, linear, 0, linear.length)
  for (let i = from; i < to; i++) hidden[i] *= linear[i - from]
}

/** Adds `count` numbers, scaled, to others. */
export function addScaled<A extends Float32Array | Float64Array>(
  x: A,
  from: number,
  scale: number,
  out: A,
  to: number,
  count: number
): void {
  for (let i = 0; i < count; i++) out[to + i] += scale * x[from + i]
}
