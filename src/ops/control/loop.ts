import { fail } from '../../errors.ts'
import { declaredOf, type Graph, type PortMapEntry } from '../../graph/graph.ts'
import { inferLoop } from '../../kernels/control/loop-facts.ts'
import type { LoopInput, LoopOutput, LoopPorts } from '../../kernels/control/loop-ports.ts'
import { runLoop } from '../../kernels/control/loop.ts'
import { bodyOf, irInputs, irOutputs, portMapOf } from '../../op-kit/bodies.ts'
import { type Body, type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { body, derive, inputFlag, inputInt, is, type NodeFacts, optionalInput } from '../../op-kit/sources.ts'
import { type Dim, isConcrete, maxDim, minDim, unknownDim } from '../../shapes/dim.ts'
import { type Fact, tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { allocate } from '../../tensor/tensor.ts'

interface Params {
  /** Maximum number of iterations; undefined: no limit. */
  trip: DataDependent<number | undefined>
  condition: DataDependent<boolean | undefined>
  body: Body
  ports: LoopPorts
  /** Meaning of a negative trip count. */
  negativeTrip: 'none' | 'unlimited'
  /** Whether a condition that is known to be false at the start makes the outputs empty. */
  emptyIfNever: boolean
}

/**
 * Runs a body a number of times, or while its condition holds. ONNX Loop-1 to -25: as the table in its specification
 * says, a condition that is left out is true, and the body's condition is ignored then (ONNX Runtime stops on it
 * nevertheless). OpenVINO Loop-5: without an iteration carried values stay as they are; only where the first condition
 * is a known false are outputs empty, as OpenVINO infers it.
 */
export const loop = defineOp({
  name: 'Loop',
  operands: { operands: 'any-variadic' },
  params: params<Params>(),
  onnx: [
    {
      since: 1,
      in: { operands: 2 },
      bind: {
        trip: optionalInput(inputInt(0)),
        condition: optionalInput(inputFlag(1)),
        body: body('body'),
        ports: derive(onnxPorts),
        negativeTrip: is('none'),
        emptyIfNever: is(false)
      }
    }
  ],
  openvino: [
    {
      since: 5,
      types: { trip: ['int32', 'int64'], condition: ['bool'] },
      bind: {
        trip: inputInt(0),
        condition: inputFlag(1),
        body: body('body'),
        ports: derive(irPorts),
        negativeTrip: is('unlimited'),
        emptyIfNever: is(true)
      }
    }
  ],
  dynamic: true,

  shape({ operands }, p) {
    const facts = inferLoop(p.ports, p.body, operands, { trip: tripBound(p), condition: p.condition ?? true })
    return p.emptyIfNever && p.condition === false ? facts.map((fact, i) => neverRun(fact, p.ports.outputs[i])) : facts
  },

  *run({ operands }, p, call) {
    const trip = p.trip === undefined || (p.trip < 0 && p.negativeTrip === 'unlimited') ? Infinity : p.trip
    yield* runLoop(p.ports, p.body, operands, { trip, condition: p.condition ?? true }, call)
  }
})

/** Maximum number of iterations as far as it is known; undefined: no limit. */
function tripBound({ trip, negativeTrip }: Pick<ShapeParams<Params>, 'trip' | 'negativeTrip'>): Dim | undefined {
  if (trip === undefined || negativeTrip === 'none' || minDim(trip) >= 0) return trip
  return maxDim(trip) < 0 ? undefined : unknownDim()
}

/**
 * The output of a loop that never runs, as OpenVINO infers it: concatenated outputs have shape [0]; of others dim 0
 * becomes 0 where all dims are known.
 */
function neverRun(fact: Fact, port: LoopOutput): Fact {
  if (fact.kind !== 'tensor' || fact.type === undefined) return fact
  const dims = port.kind === 'concatenated' ? [0] : fact.shape
  if (dims === undefined || dims.length === 0 || !isConcrete(dims)) return fact
  const empty = dims.with(0, 0)
  return tensorFact(fact.type, empty, allocate(fact.type, empty))
}

/**
 * Body inputs: iteration, condition, carried values. Body outputs: condition, carried values, then the stacked outputs.
 */
function onnxPorts(facts: NodeFacts): LoopPorts {
  const graph = bodyOf(facts.node, 'body')
  const carried = Math.max(0, facts.inputCount - 2)
  const stacked = facts.outputCount - carried
  if (graph.inputs.length !== carried + 2) {
    fail(
      'invalid-graph',
      `the body has ${graph.inputs.length} inputs; ` +
        `iteration, condition and ${carried} carried values make ${carried + 2}`
    )
  }
  if (stacked < 0)
    fail('invalid-graph', `the node lists ${facts.outputCount} outputs; there are ${carried} carried values`)
  if (graph.outputs.length < 1 + facts.outputCount) {
    fail(
      'invalid-graph',
      `the body has ${graph.outputs.length} outputs; the condition and those of the node make ${1 + facts.outputCount}`
    )
  }
  return {
    inputs: [
      { kind: 'iteration', type: 'int64', dims: scalarDims(graph, 0) },
      { kind: 'condition', from: 0, dims: scalarDims(graph, 1) },
      ...Array.from({ length: carried }, (_, i): LoopInput => ({ kind: 'carried', operand: i, from: 1 + i }))
    ],
    outputs: Array.from({ length: facts.outputCount }, (_, i): LoopOutput =>
      i < carried
        ? { kind: 'last', from: 1 + i, initial: i }
        : { kind: 'concatenated', from: 1 + i, axis: 0, stacks: true, reversed: false }
    ),
    ...(facts.hasInput(1) && { condition: 0 })
  }
}

/** Dims of a scalar that a loop passes to its body: [1] where the body declares rank 1. */
function scalarDims(graph: Graph, input: number): readonly number[] {
  const declared = declaredTensor(graph, input)
  return declared?.dims?.length === 1 ? [1] : []
}

const declaredTensor = (graph: Graph, input: number): { type?: DType; dims?: readonly unknown[] } | undefined => {
  const declared = declaredOf(graph, graph.inputs[input])
  return declared?.kind === 'tensor' ? declared : undefined
}

/** IR: the port map connects the body; inputs 0 and 1 of the layer are the trip count and the condition. */
function irPorts({ node, outputCount }: NodeFacts): LoopPorts {
  const graph = bodyOf(node, 'body')
  const map = portMapOf(node)
  const iteration = map.entries.find(entry => entry.side === 'input' && entry.purpose === 'current_iteration')
  const condition = map.entries.find(entry => entry.side === 'output' && entry.purpose === 'execution_condition')
  if (!condition) fail('invalid-graph', 'no output of the port map has the purpose execution_condition')
  const inputs = irInputs(map, graph)
  if (iteration) inputs[iteration.bodyIndex] = iterationInput(graph, iteration)
  return { inputs, outputs: irOutputs(map, outputCount), condition: condition.bodyIndex }
}

function iterationInput(graph: Graph, { bodyIndex }: PortMapEntry): LoopInput {
  const type = declaredTensor(graph, bodyIndex)?.type ?? 'int64'
  if (type !== 'int64' && type !== 'int32') {
    fail('type-not-allowed', `the body's iteration number has type ${type}; allowed are int32, int64`)
  }
  return { kind: 'iteration', type, dims: scalarDims(graph, bodyIndex) }
}
