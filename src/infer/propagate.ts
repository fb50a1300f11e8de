import { placeOf } from '../bind/bind.ts'
import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import { declaredOf, type GraphPort, type Node, type ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import type { Body } from '../op-kit/define.ts'
import { type Fact, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { refuseUnknownOptions } from '../suggest.ts'
import { constantFact, declaredFact } from './declared.ts'
import { inferCall, type InferOptions } from './infer.ts'

/** What propagation found of one graph; bodies have results of their own. */
export interface Propagation {
  readonly bound: BoundGraph
  readonly facts: ReadonlyMap<ValueId, Fact>
  /** Failures of calls, in the order met. Their outputs carry what the file declares. */
  readonly failures: readonly { readonly node: Node; readonly error: NodewiseError }[]
  readonly bodies: ReadonlyMap<BoundGraph, Propagation>
}

/** What was found of a graph and of all bodies below it. */
export function* propagations(found: Propagation): Generator<Propagation> {
  yield found
  for (const body of found.bodies.values()) yield* propagations(body)
}

export interface PropagateOptions {
  /** Facts of inputs, instead of what the file declares. */
  readonly inputs?: ReadonlyMap<ValueId, Fact>
  /** Also check known values (indices in range). */
  readonly validate?: boolean
}

/**
 * Refuses what is no option of {@link propagate}.
 * @throws NodewiseError `bad-usage`
 */
export const checkPropagateOptions = (options: PropagateOptions): void => refuseUnknownOptions(options, KNOWN)

const KNOWN: ReadonlySet<string> = new Set<keyof PropagateOptions>(['inputs', 'validate'])

/** Options of {@link propagate} that sessions and bodies need besides. */
export interface InnerOptions extends PropagateOptions, InferOptions {
  /** Facts of enclosing graphs' values. */
  readonly captured?: ReadonlyMap<ValueId, Fact>
  /** Bodies around the graph and its own: 0 for the main graph. */
  readonly depth?: number
  /** Inputs of the main graph with initializers that are given all the same; undefined: any may be. */
  readonly replaced?: readonly ValueId[] | undefined
}

/**
 * Works out a fact for every value of a graph, in topological order. Never throws for what a model says: failures are
 * collected. Nodes without an operator fall back to their declared types.
 */
export function propagate(bound: BoundGraph, options?: InnerOptions): Propagation {
  return drain(propagating(bound, options))
}

/**
 * Whether an input of the main graph is a constant: it has an initializer, and is not given. In files before IR version
 * 4 all initializers are inputs.
 * @param replaced inputs with initializers that are given all the same; undefined: any may be
 */
export const isDefault = (
  { graph, constants }: BoundGraph,
  id: ValueId,
  replaced: readonly ValueId[] | undefined
): boolean => replaced !== undefined && graph.path === '' && constants.has(id) && !replaced.includes(id)

/** Nodes between two yields: some milliseconds. */
const NODES_PER_YIELD = 256

/** {@link propagate} as a generator that yields now and then: a large graph takes seconds. */
export function* propagating(bound: BoundGraph, options: InnerOptions = {}): Generator<void, Propagation> {
  const facts = new Map<ValueId, Fact>(options.captured)
  const failures: { node: Node; error: NodewiseError }[] = []
  const bodies = new Map<BoundGraph, Propagation>()
  const { graph } = bound
  for (const [id, constant] of bound.constants) facts.set(id, constantFact(constant))
  for (const port of graph.inputs) {
    if (isDefault(bound, port.value, options.replaced)) continue
    facts.set(port.value, options.inputs?.get(port.value) ?? declaredFact(declaredOf(graph, port), graph.path === ''))
  }
  const declared = (id: ValueId): Fact => declaredFact(graph.values.get(id)?.declared, false)
  const depth = options.depth ?? 0
  const makeBody = (body: BoundGraph): Body =>
    factBody(
      body,
      depth,
      id => facts.get(id),
      given => {
        const result = propagate(body, { ...options, ...given, depth: depth + 1 })
        bodies.set(body, result)
        return result.facts
      }
    )
  let done = 0
  for (const item of bound.items) {
    if (++done % NODES_PER_YIELD === 0) yield
    let results: readonly Fact[] | undefined
    if (isCall(item)) {
      try {
        results = inferCall(item, factsOf(item.inputs, facts), makeBody, options)
      } catch (error) {
        failures.push({ node: item.node, error: locate(error, item, bound) })
      }
    } else failures.push(item)
    const { outputs } = item.node
    for (let i = 0; i < outputs.length; i++) {
      const id = outputs[i]
      if (id !== undefined) facts.set(id, results?.[i] ?? declared(id))
    }
  }
  return { bound, facts, failures, bodies }
}

function factsOf(inputs: Call['inputs'], facts: ReadonlyMap<ValueId, Fact>): (Fact | undefined)[] {
  const known: (Fact | undefined)[] = []
  for (const id of inputs) known.push(id === undefined ? undefined : (facts.get(id) ?? UNKNOWN_TENSOR))
  return known
}

/** What a body is given: facts of its inputs and of what it captures. */
export interface GivenFacts {
  readonly inputs: ReadonlyMap<ValueId, Fact>
  readonly captured: ReadonlyMap<ValueId, Fact>
}

/**
 * A body while facts are worked out.
 * @param outer facts of the values around it
 * @param look works out its graph
 */
export function factBody(
  bound: BoundGraph,
  depth: number,
  outer: (id: ValueId) => Fact | undefined,
  look: (given: GivenFacts) => ReadonlyMap<ValueId, Fact>
): Body {
  const { inputs, outputs } = bound.graph
  return {
    inputCount: inputs.length,
    outputCount: outputs.length,
    depth,
    infer(given) {
      const known = new Map<ValueId, Fact>()
      inputs.forEach((input, i) => {
        const fact = given[i]
        if (fact === undefined) return
        const becomesOptional = isOptional(input, bound) && fact.kind !== 'optional'
        known.set(input.value, becomesOptional ? { kind: 'optional', element: fact } : fact)
      })
      const facts = look({
        inputs: known,
        captured: new Map(bound.captures.map(id => [id, outer(id) ?? UNKNOWN_TENSOR]))
      })
      return outputs.map(output => facts.get(output.value) ?? UNKNOWN_TENSOR)
    },
    run: refuseToRun,
    start: refuseToRun,
    release() {}
  }
}

const refuseToRun = (): never => {
  throw new Error('a body does not run while facts are worked out')
}

/** Whether a body declares an input to be an optional: what is none becomes one (ONNX Loop-16 carries both). */
export const isOptional = (input: GraphPort, { graph }: BoundGraph): boolean =>
  declaredOf(graph, input)?.kind === 'optional'

/** A failure of a call with the call's place; one of an index also says where the indices come from. */
export function locate(error: unknown, call: Call, bound: BoundGraph): NodewiseError {
  if (!(error instanceof NodewiseError)) {
    if (error instanceof RangeError)
      return new NodewiseError('limit-exceeded', `not enough memory: ${error.message}`, placeOf(call.node))
    throw error
  }
  if (error.place.node !== undefined || error.place.nodeIndex !== undefined) return error
  const located = error.at(placeOf(call.node))
  if (error.code !== 'index-out-of-range') return located
  const operand = call.operands.find(({ name }) => name === (error.details.operand ?? 'indices'))
  const id = operand && call.inputs[operand.index]
  if (id === undefined) return located
  const { operand: _, ...details } = error.details
  return new NodewiseError(
    error.code,
    `${error.reason}; the index comes from ${originOf(bound, id)}`,
    located.place,
    details
  )
}

/**
 * What a value is called and where it comes from: `"ids" (graph input)`, `"idx" (initializer)`, `"y" (output of TopK
 * "top")`.
 */
function originOf(bound: BoundGraph, id: ValueId): string {
  const name = bound.graph.values.get(id)?.name ?? id
  return `"${name}" (${kindOf(bound, id)})`
}

function kindOf(bound: BoundGraph, id: ValueId): string {
  if (bound.graph.inputs.some(input => input.value === id))
    return bound.graph.path === '' ? 'graph input' : 'input of the body'
  if (bound.graph.initializers.has(id)) return 'initializer'
  if (bound.constants.has(id)) return 'constant'
  for (const item of bound.items) {
    const { node } = item
    if (node.outputs.includes(id)) return `output of ${node.type}${node.name === '' ? '' : ` "${node.name}"`}`
  }
  return 'value of an enclosing graph'
}
