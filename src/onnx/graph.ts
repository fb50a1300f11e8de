import type { Place } from '../errors.ts'
import type { Constant, Graph, GraphPort, ValueId } from '../graph/graph.ts'
import { type Building, type BuiltGraph, type GraphParts, isVisible, NamedValue, type Setting } from './building.ts'
import { addFinding, type Located } from './context.ts'
import { type Declarations, declarationsOf } from './declarations.ts'
import { buildNode } from './nodes.ts'
import type { GraphProto } from './schema.js'
import { sparseConstantOf } from './sparse.ts'
import { reportOrder, reportShadowing, setMakers, valuesOf } from './structure.ts'
import { constantOf, type ConstantResult } from './tensors.ts'

/** The parts of a GraphProto. */
export const partsOfGraph = (proto: GraphProto): GraphParts => ({
  name: proto.name,
  doc: proto.doc_string,
  inputs: proto.input,
  outputs: proto.output,
  valueInfo: proto.value_info,
  nodes: proto.node,
  initializers: proto.initializer,
  sparseInitializers: proto.sparse_initializer
})

/** Builds a graph as the file has it. Faults of its structure become findings. */
export function buildGraph(parts: GraphParts, setting: Setting): BuiltGraph {
  const place: Place = {
    file: setting.context.file,
    ...(parts.name && { graph: parts.name }),
    ...(setting.path && { graphPath: setting.path })
  }
  const values = valuesOf(parts, place)
  const scope = { own: values, ...(setting.outer && { outer: setting.outer }) }
  const building: Building = {
    ...setting,
    scope,
    place,
    captured: new Set(),
    body: (proto, segment) => {
      const path = setting.path === '' ? segment : `${setting.path}/${segment}`
      return buildGraph(partsOfGraph(proto), { ...setting, path, outer: scope, findings: [] })
    },
    report({ code, severity = 'error', message }, place, onlyIfNeeded) {
      addFinding(
        setting.findings,
        { code, severity, message, place, ...(onlyIfNeeded && { onlyIfNeeded }) },
        setting.context
      )
    }
  }
  const initializers = initializersOf(parts, building)
  const nodes = parts.nodes.map((proto, index) => buildNode(proto, index, building))
  const hasClashes = setMakers(parts, nodes, building)
  const declarations = declarationsOf(parts, building)
  reportShadowing(building)
  // Every value has one maker where no name is made twice: sorting needs no table of its own then.
  reportOrder(nodes, building, hasClashes ? undefined : id => values.get(id)?.maker?.index)
  const outputs = outputsOf(parts, declarations, building)
  declareValues(values, parts, declarations, building)
  const graph: Graph = {
    dialect: 'onnx',
    name: parts.name,
    ...(parts.doc && { doc: parts.doc }),
    path: setting.path,
    inputs: parts.inputs.map(({ name }) => portOf(name, declarations.inputs, building)),
    outputs,
    nodes,
    values,
    initializers,
    findings: setting.findings
  }
  return { graph, captured: [...building.captured] }
}

function initializersOf(parts: GraphParts, building: Building): Map<ValueId, Constant> {
  const { context, place, report } = building
  const seen = new Set<string>()
  const initializers = new Map<ValueId, Constant>()
  const add = (name: string, read: (at: Located) => ConstantResult): void => {
    if (name === '')
      return report({ code: 'missing-name', severity: 'warning', message: 'an initializer has no name' }, place)
    const at = new PlaceOfValue(place, name)
    if (seen.has(name))
      return report({ code: 'duplicate-name', message: `two initializers are called "${name}"` }, at.place)
    seen.add(name)
    const { constant, problem } = read(at)
    if (problem) report(problem, at.place, { value: name })
    if (constant) initializers.set(name, constant)
  }
  for (const proto of parts.initializers) add(proto.name, at => constantOf(proto, at, context))
  for (const proto of parts.sparseInitializers)
    add(proto.values?.name ?? '', at => sparseConstantOf(proto, at, context))
  return initializers
}

class PlaceOfValue implements Located {
  private readonly graph: Place
  private readonly value: string

  constructor(graph: Place, value: string) {
    this.graph = graph
    this.value = value
  }

  get place(): Place {
    return { ...this.graph, value: this.value }
  }
}

const portOf = (name: string, declared: Declarations['inputs'], { place }: Building): GraphPort => {
  const type = declared.get(name)
  return { name, aliases: [], value: name, ...(type && { declared: type }), place: { ...place, value: name } }
}

function outputsOf(parts: GraphParts, declarations: Declarations, building: Building): GraphPort[] {
  const { scope, captured, place, report } = building
  return parts.outputs.map(({ name }) => {
    const at = { ...place, value: name }
    if (name === '') report({ code: 'missing-name', message: 'a graph output has no name' }, place)
    else if (!scope.own.has(name)) {
      if (isVisible(scope.outer, name)) captured.add(name)
      else
        report({ code: 'missing-producer', message: `nothing makes the graph output "${name}"` }, at, { value: name })
    }
    return portOf(name, declarations.outputs, building)
  })
}

/** Adds the values that are only declared, and what is declared of all. */
function declareValues(
  values: Map<ValueId, NamedValue>,
  parts: GraphParts,
  { inputs, others, outputs }: Declarations,
  { place, captured }: Building
): void {
  const add = (name: string): void => {
    if (name !== '' && !values.has(name)) values.set(name, new NamedValue(name, place))
  }
  for (const { name } of parts.valueInfo) add(name)
  // An output that is captured from a graph around is a value of that graph.
  for (const { name } of parts.outputs) if (!captured.has(name)) add(name)
  // What comes later counts.
  for (const types of [outputs, others, inputs])
    for (const [name, type] of types) {
      const value = values.get(name)
      if (value) value.declared = type
    }
}
