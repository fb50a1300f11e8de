import { fail, NodewiseError, type Place } from '../errors.ts'
import { bodiesOf, type Constant, type Graph, type Model, type Node, type ValueId } from '../graph/graph.ts'
import { sortNodes } from '../graph/sort.ts'
import type { AttributeSource, NodeFacts } from '../ops/sources.ts'
import type { DType } from '../tensor/dtype.ts'
import type { BoundGraph, Call, LateParameter, Operand, Unbound } from './call.ts'
import { constantOf } from './constants.ts'
import { expandFunctions } from './functions.ts'
import type { Binding, Registry } from './registry.ts'
import { isStandardDomain, newestOpset, onnxRule, openvinoRule, type OpRule } from './schema.ts'

/** Nodes of IR that only mark the border of a graph. */
const BORDER = new Set(['Parameter', 'Result'])

/**
 * Gives every node of a model its operator. Nodes that have none, or whose attributes are wrong, stay in the
 * result as `Unbound` with their error; nothing is thrown for them.
 * @throws NodewiseError `limit-exceeded` when function calls nest or expand beyond the limits
 */
export const bind = (model: Model, registry: Registry): BoundGraph => bindGraph(expandFunctions(model), registry)

function bindGraph(graph: Graph, registry: Registry): BoundGraph {
  const constants = new Map<ValueId, Constant>(graph.initializers)
  const items: (Call | Unbound)[] = []
  const { order, cycle } = sortNodes(graph)
  const inCycle = new Set(cycle)
  for (const index of order) {
    const node = graph.nodes[index]
    if (inCycle.has(index) || (node.dialect === 'openvino' && BORDER.has(node.type))) continue
    try {
      const constant = constantOf(node)
      if (constant) {
        if (node.outputs[0] !== undefined) constants.set(node.outputs[0], constant)
      } else items.push(bindNode(node, registry))
    } catch (error) {
      items.push({ node, error: located(error, node) })
    }
  }
  return { graph, items, constants, captures: capturesOf(graph) }
}

/** Values that nodes of a body read and that the body does not have. */
function capturesOf(graph: Graph): ValueId[] {
  if (graph.dialect === 'openvino') return []
  // A file may declare the type of a value from outside too, so that `graph.values` says nothing.
  const own = new Set([...graph.inputs.map(input => input.value), ...graph.initializers.keys(), ...graph.nodes.flatMap(node => node.outputs)])
  const captured = new Set<ValueId>()
  const read = (id: ValueId | undefined): void => {
    if (id !== undefined && !own.has(id)) captured.add(id)
  }
  for (const node of graph.nodes) for (const id of [...node.inputs, ...node.captures]) read(id)
  for (const output of graph.outputs) read(output.value)
  return [...captured]
}

/** Place of a node, for messages: its version as a person cites it. */
export const placeOf = (node: Node): Place =>
  ({ ...node.place, version: node.dialect === 'onnx' ? `${node.domain} ${node.version}` : node.version })

function located(error: unknown, node: Node): NodewiseError {
  if (error instanceof NodewiseError) return error.at(placeOf(node))
  throw error
}

/** Finds the operator of one node and reads its attributes. */
export function bindNode(node: Node, registry: Registry): Call {
  const { binding, rule, version } = findBinding(node, registry)
  const { op, row } = binding
  if (node.dialect === 'onnx' && rule) checkAttributeNames(node, rule)
  const operands = operandsOf(op.operands, row.in)
  const late: LateParameter[] = []
  const known: Record<string, unknown> = {}
  const bodies = new Map<string, BoundGraph>()
  const inputTypes = new Map<number, { name: string; types: readonly DType[] }>()
  for (const [name, types] of Object.entries(row.types ?? {})) {
    const index = operands.find(operand => operand.name === name)?.index ?? inputOf(row.bind[name])
    if (index !== undefined) inputTypes.set(index, { name, types })
  }
  for (const [name, source] of Object.entries(row.bind)) {
    switch (source.kind) {
      case 'constant': known[name] = source.value; break
      case 'attribute': known[name] = readAttribute(node, rule, source); break
      case 'derive': known[name] = source.read(nodeFacts(node, rule, version)); break
      case 'input': late.push({ name, source }); break
      case 'body': bodies.set(name, bindGraph(bodyGraph(node, source.attribute), registry)); break
    }
  }
  const call: Call = { node, op, row, version, inputs: node.inputs, outputs: node.outputs, operands, known, late, bodies, inputTypes, ...(rule && { rule }) }
  checkArity(call)
  return call
}

const inputOf = (source: Binding['row']['bind'][string] | undefined): number | undefined => source?.kind === 'input' ? source.index : undefined

/** Versions of layers that no opset defines: what they mean is their author's affair. */
const CUSTOM_VERSION = /^(extension|experimental|custom|\w+_opset)$/

function findBinding(node: Node, registry: Registry): { binding: Binding; rule?: OpRule; version: number } {
  if (node.dialect === 'openvino') {
    const found = openvinoRule(node.type, node.version)
    const version = found?.rule.version ?? Number(/^opset(\d+)$/.exec(node.version)?.[1] ?? 0)
    const binding = registry.find('openvino', 'openvino', found?.name ?? node.type, version)
    if (!binding && found) fail('unsupported-op', `operator ${found.name}-${version} is not supported`)
    if (!binding) fail('unsupported-op', `${node.version || 'its version'} has no operator "${node.type}"`, { unknown: !CUSTOM_VERSION.test(node.version) })
    return { binding, version, ...(found && { rule: found.rule }) }
  }
  const opset = Number(node.version || 0)
  if (node.domain === 'ai.onnx' && opset > newestOpset()) fail('unsupported-op', `opset ${opset} is newer than ${newestOpset()}, the newest that is known`)
  const rule = onnxRule(node.domain, node.type, opset)
  const version = rule?.version ?? opset
  const binding = registry.find('onnx', node.domain, node.type, version)
  if (!binding || (!rule && binding.row.domain === undefined)) {
    if (rule) fail('unsupported-op', `operator ${node.domain}::${node.type}-${version} is not supported`)
    fail('unsupported-op', `${node.domain} ${opset} has no operator "${node.type}"`, { unknown: isStandardDomain(node.domain) })
  }
  return { binding, version, ...(rule && { rule }) }
}

function checkAttributeNames(node: Node, rule: OpRule): void {
  for (const [name, attribute] of node.attributes) {
    const known = rule.attributes.get(name)
    if (!known) fail('unknown-attribute-value', `${node.type}-${rule.version} has no attribute "${name}"`)
    const kind = KIND_OF[attribute.kind] ?? attribute.kind
    if (known.kind !== kind && attribute.kind !== 'reference') {
      fail('unknown-attribute-value', `attribute "${name}" holds ${attribute.kind}; ${known.kind} is expected`)
    }
  }
}

/** Attribute kinds that the tables call by another name. */
const KIND_OF: Readonly<Record<string, string>> = { type: 'type_proto', types: 'type_protos' }

function readAttribute(node: Node, rule: OpRule | undefined, source: AttributeSource<unknown>): unknown {
  const written = node.attributes.get(source.name)
  if (written) return source.read(written)
  const attribute = rule?.attributes.get(source.name)
  if (attribute?.required) fail('missing-attribute', `attribute "${source.name}" is missing`)
  if (attribute?.absent) return source.read(attribute.absent)
  if (source.fallback) return source.fallback.value
  return fail('missing-attribute', `attribute "${source.name}" is missing`)
}

function nodeFacts(node: Node, rule: OpRule | undefined, version: number): NodeFacts {
  return {
    node,
    version,
    inputCount: node.inputs.length,
    outputCount: node.outputs.length,
    hasInput: index => node.inputs[index] !== undefined,
    get<T>(source: AttributeSource<T>): T | undefined {
      const present = node.attributes.has(source.name) || rule?.attributes.get(source.name)?.absent || source.fallback
      return present ? readAttribute(node, rule, source) as T : undefined
    }
  }
}

function bodyGraph(node: Node, attribute: string): Graph {
  const found = bodiesOf(node).find(body => body.attribute === attribute)
  return found?.graph ?? fail('missing-attribute', `the graph "${attribute}" is missing`)
}

function operandsOf(kinds: Call['op']['operands'], positions: Readonly<Record<string, number | undefined>> | undefined): Operand[] {
  return Object.entries(kinds).flatMap(([name, kind], i) => {
    const index = positions ? positions[name] : i
    return index === undefined ? [] : [{ name, kind, index }]
  })
}

/** ONNX says how many inputs a version takes; for IR the operands and late parameters do. */
function checkArity(call: Call): void {
  const { node, rule, operands, late } = call
  const given = node.inputs.length
  const needed = [
    ...operands.filter(({ kind }) => kind === 'tensor' || kind === 'any').map(({ index }) => index),
    ...late.filter(({ source }) => !source.fallback).map(({ source }) => source.index)
  ]
  const [fewest, most] = rule?.arity ?? [
    Math.max(0, ...needed.map(index => index + 1)),
    operands.some(({ kind }) => kind.endsWith('variadic')) ? Infinity
      : Math.max(0, ...operands.map(({ index }) => index + 1), ...late.map(({ source }) => source.index + 1))
  ]
  const expected = fewest === most ? `${fewest}` : most === Infinity ? `at least ${fewest}` : `${fewest} to ${most}`
  if (given < fewest || given > most) fail('wrong-input-count', `${given} inputs are given; ${expected} expected`)
  const variadic = operands.find(({ kind }) => kind.endsWith('variadic'))
  if (variadic) for (let index = variadic.index; index < given; index++) needed.push(index)
  const [, , , mostOutputs] = rule?.arity ?? [0, 0, 0, Infinity]
  if (node.outputs.length > mostOutputs) fail('wrong-output-count', `${node.outputs.length} outputs are listed; at most ${mostOutputs} expected`)
  const missing = needed.find(index => node.inputs[index] === undefined)
  if (missing !== undefined) fail('wrong-input-count', `input ${missing} is left out; it is required`)
}
