import type { Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { levelOf } from '../kernels/quantized/levels.ts'
import { toNumbers } from '../tensor/elements.ts'
import { product, Tensor } from '../tensor/tensor.ts'
import { type Codes, type Grid, gridOfRange } from './code-ops.ts'
import { derivedConstant, keyOfMade, tensorOf } from './derive.ts'
import { isFloat32, knownTensor, operandOf, type PlanGraph } from './graph.ts'

/** Levels that bytes can count. */
const MAX_LEVELS = 256
/** Operands between which numbers are rounded, and the numbers that the first and the last level become. */
const LIMITS = ['inputLow', 'inputHigh', 'outputLow', 'outputHigh']

/** Constant codes, and what makes numbers of them. */
export interface WeightsInCodes {
  readonly codes: Codes
  /** Axis along which scales and zero points lie; undefined: there is one for all. */
  readonly axis: number | undefined
}

/**
 * The codes of constant weights that FakeQuantize rounds to as many levels as bytes can count, or to fewer: zero is one
 * of them, and bounds are those of all weights or of each index of the first axis. The codes are made when they are
 * first read.
 */
export function roundedWeights(graph: PlanGraph, call: Call): WeightsInCodes | undefined {
  const [to, x] = [call.outputs[0], operandOf(call, 'x')]
  const weights = x === undefined ? undefined : graph.constantOf(x)
  const levels = call.known.levels as number
  if (to === undefined || weights === undefined || levels > MAX_LEVELS || !isFloat32(graph, x)) return undefined
  const limits = LIMITS.map(name => {
    const limit = knownTensor(graph, operandOf(call, name))
    return limit && (product(limit.dims) === 1 || isOfRows(limit.dims, weights.dims)) ? limit : undefined
  })
  if (!limits.every(limit => limit !== undefined)) return undefined
  const bounds = limits.map(toNumbers)
  const rows = Math.max(...bounds.map(bound => bound.length))
  const at = (bound: ArrayLike<number>, row: number): number => bound[bound.length === 1 ? 0 : row]
  const grids: Grid[] = []
  for (let row = 0; row < rows; row++) {
    const [low, high, outLow, outHigh] = bounds.map(bound => at(bound, row))
    const grid = low === outLow && high === outHigh ? gridOfRange(low, high, levels) : undefined
    if (grid === undefined) return undefined
    grids.push(grid)
  }
  const [low, high] = bounds
  const codes = `${to}\0codes`
  const made = codesOnce(weights, keyOfMade(to, [call.node]), row => [at(low, row), at(high, row)], levels, limits)
  graph.addConstant(codes, made)
  const scales = Float32Array.from(grids, ({ scale }) => scale)
  const scale = graph.addConstant(`${to}\0scale`, new Tensor('float32', scales, rows === 1 ? [] : [rows]))
  const zeros = Uint8Array.from(grids, grid => grid.zero)
  const zero = graph.addConstant(`${to}\0zero`, new Tensor('uint8', zeros, rows === 1 ? [] : [rows]))
  return { codes: { codes, scale, zero }, axis: rows === 1 ? undefined : 0 }
}

/** Whether there is a bound for each index of the first axis, and for nothing else. */
const isOfRows = (dims: readonly number[], weights: readonly number[]): boolean =>
  dims.length === weights.length && dims.every((dim, i) => dim === (i === 0 ? weights[0] : 1))

function codesOnce(
  weights: Constant | Tensor,
  key: string,
  rangeOf: (row: number) => readonly [number, number],
  levels: number,
  beside: readonly Tensor[]
): Constant {
  const { dims } = weights
  const read = (): Tensor => {
    const numbers = tensorOf(weights).data as Float32Array
    const codes = new Uint8Array(numbers.length)
    const width = product(dims, 1)
    for (let row = 0, i = 0; row < dims[0]; row++) {
      const [low, high] = rangeOf(row)
      for (const end = i + width; i < end; i++) codes[i] = levelOf(numbers[i], low, high, levels)
    }
    return new Tensor('uint8', codes, dims)
  }
  return derivedConstant(weights, key, 'uint8', dims, read, { beside })
}
