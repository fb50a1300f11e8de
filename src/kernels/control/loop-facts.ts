import { fail, NodewiseError } from '../../errors.ts'
import { type Dim, maxDim, maxDims, minDim, unknownDim } from '../../shapes/dim.ts'
import { type Fact, knownValue, type TensorFact, tensorFact, typeOnly } from '../../shapes/fact.ts'
import { hullFacts, Widening } from '../../shapes/merge.ts'
import { fresh } from '../../shapes/sym.ts'
import type { DType } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { joinedDims, type LoopInput, type LoopOutput, type LoopPorts, partDims } from './loop-ports.ts'

/** The body of a loop during inference. */
export interface FactBody {
  /** Number of enclosing bodies. */
  readonly depth: number
  infer(inputs: readonly (Fact | undefined)[]): readonly Fact[]
}

/** When a loop ends, as far as it is known. */
export interface LoopBounds {
  /** Maximum number of iterations; undefined: no limit. */
  readonly trip: Dim | undefined
  /** Whether the first iteration runs. */
  readonly condition: boolean | 'unknown'
}

/**
 * Limit on the inferences of a body until carried values are reduced to their types, by the number of enclosing bodies:
 * nested loops multiply.
 */
const MAX_PASSES = [5, 3, 1, 1, 1]

/**
 * Facts of a loop's outputs. Facts of carried values start from the initial values and are widened until they hold in
 * every iteration.
 * @throws NodewiseError `type-mismatch` when a carried value changes its type or when what has parts is no tensor,
 *   `axis-out-of-range` for the axis of parts, errors of the body
 */
export function inferLoop(ports: LoopPorts, body: FactBody, operands: readonly Fact[], bounds: LoopBounds): Fact[] {
  const trip = bounds.trip === undefined ? undefined : maxDims(bounds.trip, 0)
  const most = trip === undefined ? Infinity : maxDim(trip)
  const results = settle(ports, body, operands, bounds.condition, most)
  const goesOn = ports.condition === undefined ? true : knownFlag(results[ports.condition])
  const count = countOf(trip, bounds.condition, goesOn)
  return ports.outputs.map(port =>
    port.kind === 'last'
      ? lastFact(port, results[port.from], operands, count)
      : joinedFact(port, results[port.from], count)
  )
}

/** Facts of the body's outputs that hold in every iteration. */
function settle(
  ports: LoopPorts,
  body: FactBody,
  operands: readonly Fact[],
  condition: boolean | 'unknown',
  most: number
): readonly Fact[] {
  const look = (states: readonly (Fact | undefined)[]): readonly Fact[] =>
    body.infer(ports.inputs.map((port, i) => states[i] ?? steadyFact(port, operands, most)))
  const widening = new Widening()
  const passes = MAX_PASSES[body.depth] ?? 0
  let states = ports.inputs.map(port => firstState(port, operands, condition))
  if (passes === 0 && most > 1) return look(states.map(state => state && typeOnly(state)))
  for (let pass = 1; ; pass++) {
    const results = look(states)
    if (most <= 1 || (ports.condition !== undefined && knownFlag(results[ports.condition]) === false)) return results
    const grown = growStates(ports, states, results, widening)
    if (grown === undefined) return results
    if (pass === passes) return look(grown.map(state => state && typeOnly(state)))
    states = grown
  }
}

/** Initial facts of the state: carried values and the condition; undefined for other inputs. */
function firstState(port: LoopInput, operands: readonly Fact[], condition: boolean | 'unknown'): Fact | undefined {
  if (port.kind === 'carried') return operands[port.operand]
  if (port.kind !== 'condition') return undefined
  return tensorFact('bool', port.dims, condition === 'unknown' ? undefined : new Tensor('bool', [condition], port.dims))
}

/** Facts of inputs that are the same in every iteration; undefined: as the body declares. */
function steadyFact(port: LoopInput, operands: readonly Fact[], most: number): Fact | undefined {
  switch (port.kind) {
    case 'invariant':
      return operands[port.operand]
    case 'sliced': {
      const fact = operands[port.operand]
      if (fact.kind !== 'tensor')
        return fail('type-mismatch', `operand ${port.operand} is a ${fact.kind}; only tensors have parts`)
      return tensorFact(fact.type, fact.shape && partDims(fact.shape, port.slice))
    }
    case 'iteration':
      return numberFact(port.type, port.dims, most)
    default:
      return undefined
  }
}

/** The iteration number: any number below the trip count. */
const numberFact = (type: DType, dims: readonly number[], most: number): TensorFact =>
  tensorFact(type, dims, most <= 1 ? new Tensor(type, [0], dims) : { type, dims, data: [fresh(0, most - 1)] })

/** States widened to include what the body gives; undefined where they do already. */
function growStates(
  ports: LoopPorts,
  states: readonly (Fact | undefined)[],
  results: readonly Fact[],
  widening: Widening
): (Fact | undefined)[] | undefined {
  let grew = false
  const grown = ports.inputs.map((port, i) => {
    const state = states[i]
    if (state === undefined || (port.kind !== 'carried' && port.kind !== 'condition')) return state
    try {
      const next = widening.grow(state, results[port.from])
      grew ||= next !== undefined
      return next ?? state
    } catch (error) {
      if (error instanceof NodewiseError)
        fail(error.code, `what goes round as input ${i} of the body changes: ${error.reason}`)
      throw error
    }
  })
  return grew ? grown : undefined
}

/** The value of a condition where it is known. */
function knownFlag(fact: Fact): boolean | undefined {
  const value = fact.kind === 'tensor' ? knownValue(fact) : undefined
  return value?.data.length === 1 ? Boolean(value.data[0]) : undefined
}

function countOf(trip: Dim | undefined, starts: boolean | 'unknown', goesOn: boolean | undefined): Dim {
  if (starts === false) return 0
  if (starts === true && goesOn === true && trip !== undefined) return trip
  const fewest = trip === undefined ? 1 : Math.min(1, minDim(trip))
  const most = trip === undefined ? Infinity : maxDim(trip)
  return unknownDim(starts === true ? fewest : 0, goesOn === false ? Math.min(1, most) : most)
}

function lastFact(port: LoopOutput & { kind: 'last' }, result: Fact, operands: readonly Fact[], count: Dim): Fact {
  if (minDim(count) > 0) return result
  const initial = port.initial === undefined ? emptied(result) : operands[port.initial]
  // An optional may become its element (ONNX Loop-16).
  const without = initial.kind === 'optional' && result.kind !== 'optional' ? initial.element : initial
  return maxDim(count) === 0 ? without : hullFacts(without, result)
}

/** The fact of a last value where there is no iteration. */
function emptied(fact: Fact): Fact {
  if (fact.kind !== 'tensor') return fact
  return tensorFact(fact.type, fact.shape && (fact.shape.length === 0 ? [0] : fact.shape.with(0, 0)))
}

function joinedFact(port: LoopOutput & { kind: 'concatenated' }, result: Fact, count: Dim): Fact {
  if (result.kind !== 'tensor') {
    return fail(
      'type-not-allowed',
      `output ${port.from} of the body is a ${result.kind}; only tensors are put together`
    )
  }
  return tensorFact(result.type, result.shape && joinedDims(result.shape, port, count))
}
