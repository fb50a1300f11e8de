import type { Place } from '../errors.ts'
import type { Constant, Graph, GraphPort, Node, ValueId } from '../graph/graph.ts'
import {
  type Building,
  type BuiltGraph,
  type GraphParts,
  isVisible,
  type NamedValue,
  type Setting
} from './building.ts'
import { addFinding, type Located } from './context.ts'
import { type Declarations, declarationsOf } from './declarations.ts'
import { buildNode } from './nodes.ts'
import type { GraphProto } from './schema.js'
import { sparseConstantOf } from './sparse.ts'
import { addValue, reportOrder, reportShadowing, setMakers, valuesOf } from './structure.ts'
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
    body: (proto, segment, { outputs: results }) => {
      const path = setting.path === '' ? segment : `${setting.path}/${segment}`
      return buildGraph(partsOfGraph(proto), { ...setting, path, outer: scope, results, findings: [] })
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
  const nodes = nodesOf(parts, building)
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

/*
 * What goes over all nodes or values of a file is a loop and makes no function for it: see "How passes are written"
 * in docs/plans.md.
 */

function nodesOf({ nodes }: GraphParts, building: Building): Node[] {
  const built: Node[] = []
  for (let i = 0; i < nodes.length; i++) built.push(buildNode(nodes[i], i, building))
  return built
}

function initializersOf(parts: GraphParts, building: Building): Map<ValueId, Constant> {
  const { context, place } = building
  const seen = new Set<ValueId>()
  const initializers = new Map<ValueId, Constant>()
  for (const proto of parts.initializers) {
    const { name } = proto
    if (isNew(name, seen, building))
      add(name, constantOf(proto, new PlaceOfValue(place, name), context), initializers, building)
  }
  for (const proto of parts.sparseInitializers) {
    const name = proto.values?.name ?? ''
    if (isNew(name, seen, building))
      add(name, sparseConstantOf(proto, new PlaceOfValue(place, name), context), initializers, building)
  }
  return initializers
}

/** Whether an initializer has a name, and one that none of those `seen` has. */
function isNew(name: string, seen: Set<ValueId>, { place, report }: Building): boolean {
  if (name === '') report({ code: 'missing-name', severity: 'warning', message: 'an initializer has no name' }, place)
  else if (seen.has(name))
    report({ code: 'duplicate-name', message: `two initializers are called "${name}"` }, { ...place, value: name })
  else {
    seen.add(name)
    return true
  }
  return false
}

function add(
  name: ValueId,
  { constant, problem }: ConstantResult,
  initializers: Map<ValueId, Constant>,
  { place, report }: Building
): void {
  if (problem) report(problem, { ...place, value: name }, { value: name })
  if (constant) initializers.set(name, constant)
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
  for (const { name } of parts.valueInfo) addValue(values, name, place)
  // An output that is captured from a graph around is a value of that graph.
  for (const { name } of parts.outputs) if (!captured.has(name)) addValue(values, name, place)
  // What comes later counts.
  for (const types of [outputs, others, inputs])
    for (const [name, type] of types) {
      const value = values.get(name)
      if (value) value.declared = type
    }
}
