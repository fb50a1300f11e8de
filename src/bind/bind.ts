import { fail, NodewiseError, type Place } from '../errors.ts'
import {
  bodiesOf,
  type Constant,
  type Graph,
  isPortLayer,
  type Model,
  type Node,
  ownValues,
  type ValueId
} from '../graph/graph.ts'
import { defaultLimits, type Limits } from '../graph/limits.ts'
import { sortNodes } from '../graph/sort.ts'
import { bodyOf } from '../op-kit/bodies.ts'
import type { AttributeSource, NodeFacts } from '../op-kit/sources.ts'
import { limitRank } from '../shapes/lists.ts'
import { checkArity, templateOf } from './call-template.ts'
import type { BoundGraph, Call, Unbound } from './call.ts'
import { constantOf } from './constants.ts'
import { type Allowance, allowanceOf, expandNodes } from './expand.ts'
import { expandFunctions } from './functions.ts'
import type { Registry } from './registry.ts'
import type { OpSchema } from './schema.ts'

/**
 * Gives every node of a model its operator. Nodes that have none, or whose attributes are wrong, stay in the
 * result as `Unbound` with their error; nothing is thrown for them.
 * @throws NodewiseError `limit-exceeded` when function calls nest or expand beyond the limits, or a rank that is given
 *   is above its own
 */
export const bind = (model: Model, registry: Registry): BoundGraph =>
  bindExpanded(expandFunctions(model), registry, model.limits)

const bindExpanded = (graph: Graph, registry: Registry, limits: Limits): BoundGraph =>
  bindGraph(graph, registry, allowanceOf(limits, graph.nodes.length))

function bindGraph(given: Graph, registry: Registry, allowance: Allowance): BoundGraph {
  const maxRank = allowance.limits.rank
  limitGiven(given, maxRank)
  const { graph, errors } = expandNodes(given, registry, allowance)
  const constants = new Map<ValueId, Constant>(graph.initializers)
  const items: (Call | Unbound)[] = []
  const { order, cycle } = sortNodes(graph)
  const inCycle = new Set(cycle)
  for (const index of order) {
    const node = graph.nodes[index]
    if (inCycle.has(index) || isPortLayer(node)) continue
    try {
      const error = errors.get(node)
      if (error) throw error
      const constant = constantOf(node)
      if (constant) {
        limitRank(constant.dims.length, maxRank)
        if (node.outputs[0] !== undefined) constants.set(node.outputs[0], constant)
      } else items.push(bindNode(node, registry, allowance))
    } catch (error) {
      items.push({ node, error: located(error, node) })
    }
  }
  return { graph, items, constants, captures: capturesOf(graph), registry }
}

/** Initializers, and inputs whose rank is declared; what a caller gives for others is looked at when it is given. */
function limitGiven({ inputs, initializers, values }: Graph, maxRank: number): void {
  for (const [name, { dims, place }] of initializers) limitAt(dims, maxRank, `initializer "${name}"`, place)
  for (const { name, value, declared = values.get(value)?.declared, place } of inputs) {
    if (declared?.kind === 'tensor') limitAt(declared.dims ?? [], maxRank, `input "${name}"`, place)
  }
}

function limitAt({ length: rank }: readonly unknown[], most: number, what: string, place: Place): void {
  if (rank > most)
    throw new NodewiseError(
      'limit-exceeded',
      `${what} has rank ${rank}, above the limit of ${most} (limit rank)`,
      place,
      { limit: 'rank', most }
    )
}

/** Values that nodes of a body read and that the body does not have; the main graph and IR have none. */
function capturesOf(graph: Graph): ValueId[] {
  if (graph.dialect === 'openvino' || graph.path === '') return []
  const own = ownValues(graph)
  const captured = new Set<ValueId>()
  const read = (id: ValueId | undefined): void => {
    if (id !== undefined && !own.has(id)) captured.add(id)
  }
  for (const { inputs, captures } of graph.nodes) {
    inputs.forEach(read)
    captures.forEach(read)
  }
  for (const output of graph.outputs) read(output.value)
  return [...captured]
}

/** Place of a node, for messages: its version as a person cites it. */
export const placeOf = (node: Node): Place => ({
  ...node.place,
  version: node.dialect === 'onnx' ? `${node.domain} ${node.version}` : node.version
})

function located(error: unknown, node: Node): NodewiseError {
  if (error instanceof NodewiseError) return error.at(placeOf(node))
  throw error
}

/** Finds the operator of one node and reads its attributes. */
export function bindNode(node: Node, registry: Registry, allowance = allowanceOf(defaultLimits(), 1)): Call {
  const {
    binding: { op, opVersion },
    schema,
    version,
    operands,
    dataDependent,
    inputTypes,
    constants,
    sources,
    arity
  } = templateOf(node, registry)
  if (schema && node.dialect === 'onnx' && node.attributes.size > 0) checkAttributeNames(node, schema)
  const known: Record<string, unknown> = sources.length === 0 ? constants : { ...constants }
  let bodies: Map<string, BoundGraph> | undefined
  for (const [name, source] of sources) {
    switch (source.kind) {
      case 'attribute':
        known[name] = readAttribute(node, schema, source)
        break
      case 'derive':
        known[name] = source.read(nodeFacts(node, schema, version))
        break
      case 'body':
        if (source.optional && !bodiesOf(node).some(({ attribute }) => attribute === source.attribute)) break
        ;(bodies ??= new Map()).set(name, bindGraph(bodyOf(node, source.attribute), registry, allowance))
        break
    }
  }
  checkArity(node, arity)
  return {
    node,
    op,
    opVersion,
    dialect: node.dialect,
    version,
    inputs: node.inputs,
    outputs: node.outputs,
    outputCount: node.outputs.length,
    operands,
    known,
    dataDependent,
    bodies: bodies ?? NO_BODIES,
    inputTypes,
    schema,
    maxRank: allowance.limits.rank
  }
}

/** Shared by all calls that have none. */
const NO_BODIES: ReadonlyMap<string, BoundGraph> = new Map()

function checkAttributeNames(node: Node, schema: OpSchema): void {
  node.attributes.forEach((attribute, name) => {
    const known = schema.attributes.get(name)
    if (!known) fail('unknown-attribute-value', `${node.type}-${schema.version} has no attribute "${name}"`)
    const kind = KIND_OF[attribute.kind] ?? attribute.kind
    if (known.kind !== kind && attribute.kind !== 'reference') {
      fail('unknown-attribute-value', `attribute "${name}" holds ${attribute.kind}; ${known.kind} is expected`)
    }
  })
}

/** Attribute kinds that the tables call by another name. */
const KIND_OF: Readonly<Record<string, string>> = { type: 'type_proto', types: 'type_protos' }

function readAttribute(node: Node, schema: OpSchema | undefined, source: AttributeSource<unknown>): unknown {
  const written = node.attributes.get(source.name)
  if (written) return source.read(written)
  const attribute = schema?.attributes.get(source.name)
  if (attribute?.required) fail('missing-attribute', `attribute "${source.name}" is missing`)
  if (attribute?.absent) return source.read(attribute.absent)
  if (source.fallback) return source.fallback.value
  return fail('missing-attribute', `attribute "${source.name}" is missing`)
}

function nodeFacts(node: Node, schema: OpSchema | undefined, version: number): NodeFacts {
  return {
    node,
    version,
    inputCount: node.inputs.length,
    outputCount: node.outputs.length,
    hasInput: index => node.inputs[index] !== undefined,
    get<T>(source: AttributeSource<T>): T | undefined {
      const present = node.attributes.has(source.name) || schema?.attributes.get(source.name)?.absent || source.fallback
      return present ? (readAttribute(node, schema, source) as T) : undefined
    }
  }
}
