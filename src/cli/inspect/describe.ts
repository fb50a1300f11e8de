import { bindNode } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import { printDeclared } from '../../check/compare.ts'
import { NodewiseError } from '../../errors.ts'
import { allGraphs, declaredOf, type DeclaredType, type GraphPort, type Model, type Node } from '../../graph/graph.ts'
import { dtypeName } from '../../tensor/dtype.ts'
import { mapType } from '../../tensor/map.ts'
import type { DescribedPort, Inspection } from './inspection.ts'

/** Everything that a file says of itself; weights are not read. */
export function describeModel(model: Model, registry: Registry, fileBytes?: number): Inspection {
  const graphs = [...allGraphs(model)]
  const counts = new Map<string, number>()
  for (const { nodes } of graphs)
    for (const node of nodes) counts.set(operatorName(node), (counts.get(operatorName(node)) ?? 0) + 1)
  const { graph } = model
  const doc = model.doc ?? graph.doc
  const isReplaceable = ({ value }: GraphPort): boolean => graph.initializers.has(value)
  const describe = (port: GraphPort): DescribedPort =>
    describePort(port.name, declaredOf(model.graph, port), model.dialect)
  return {
    file: model.file,
    format: model.dialect,
    irVersion: model.irVersion,
    opsets: Object.fromEntries(model.opsets),
    producer: model.producer,
    ...(model.modelVersion !== undefined && model.modelVersion !== 0 && { modelVersion: model.modelVersion }),
    ...(model.domain !== undefined && model.domain !== '' && { domain: model.domain }),
    ...(doc !== undefined && { doc }),
    graph: graph.name,
    inputs: graph.inputs.filter(port => !isReplaceable(port)).map(describe),
    outputs: graph.outputs.map(describe),
    overridable: graph.inputs.filter(isReplaceable).map(describe),
    nodes: graphs.reduce((sum, { nodes }) => sum + nodes.length, 0),
    ops: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
    unsupported: unsupportedOps(model, registry),
    functions: [...model.functions.values()].map(
      ({ domain, name, overload }) => `${domain}::${name}${overload === '' ? '' : `:${overload}`}`
    ),
    bodies: graphs.length - 1 - model.functions.size,
    parameters: model.parameters,
    weightBytes: model.weightBytes,
    ...(fileBytes !== undefined && { fileBytes }),
    metadata: Object.fromEntries(model.metadata),
    notes: model.notes
  }
}

/** The operator of a node by its type; `domain::Op` outside ai.onnx. */
export const operatorName = ({ dialect, domain, type }: Node): string =>
  dialect === 'openvino' || domain === 'ai.onnx' ? type : `${domain}::${type}`

function describePort(name: string, declared: DeclaredType | undefined, dialect: Model['dialect']): DescribedPort {
  const dims = declared?.kind === 'tensor' ? declared.dims : undefined
  return {
    name,
    type: declared === undefined ? null : typeName(declared, dialect),
    dims: dims?.map(dim => (typeof dim === 'number' ? dim : printDeclared(dim))) ?? null
  }
}

/** A declared type in the words of its format; null where the file does not say. */
export function typeName(declared: DeclaredType, dialect: Model['dialect']): string | null {
  switch (declared.kind) {
    case 'tensor':
      return declared.type === undefined ? null : dtypeName(declared.type, dialect)
    case 'sequence':
      return `seq(${typeName(declared.element, dialect) ?? '?'})`
    case 'optional':
      return `optional(${typeName(declared.element, dialect) ?? '?'})`
    case 'map':
      return mapType(declared.keyType, declared.valueType)
    case 'other':
      return declared.text
  }
}

/** Nodes that stand for themselves: no operator computes them. */
const STRUCTURAL = new Set(['Const', 'Parameter', 'Result'])

/**
 * Operators of the file that have no operator here, wherever they stand: a body below an unknown operator counts too.
 */
function unsupportedOps(model: Model, registry: Registry): string[] {
  const missing = new Set<string>()
  for (const { nodes } of allGraphs(model)) {
    for (const node of nodes)
      if (!isStructural(node) && !isFunctionCall(model, node) && !isSupported(node, registry))
        missing.add(operatorName(node))
  }
  return [...missing].sort()
}

const isStructural = ({ dialect, domain, type }: Node): boolean =>
  dialect === 'openvino' ? STRUCTURAL.has(type) : domain === 'ai.onnx' && type === 'Constant'

const isFunctionCall = ({ functions }: Model, { domain, type, overload }: Node): boolean =>
  functions.has(`${domain}::${type}::${overload}`)

function isSupported(node: Node, registry: Registry): boolean {
  try {
    bindNode(node, registry)
    return true
  } catch (error) {
    // Other failures are faults of the node, which `check` reports; the operator itself is known.
    if (error instanceof NodewiseError) return error.code !== 'unsupported-op'
    throw error
  }
}
