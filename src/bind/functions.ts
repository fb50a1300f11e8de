import {
  type Attribute,
  bodiesOf,
  type Finding,
  type Graph,
  type GraphValue,
  type Model,
  type ModelFunction,
  type Node,
  ownValues,
  type ValueId
} from '../graph/graph.ts'
import { requireModel } from '../graph/require-model.ts'
import { type Expandable, functionOf, handedOn, requireExpandable } from './expanded-size.ts'
import { newestOpset } from './schema.ts'

/** What expanding calls needs to know of the model. */
interface Scope {
  readonly functions: Model['functions']
  readonly count: Expandable['count']
}

/**
 * The main graph with every call of a model-local function replaced by the function's nodes, bodies included. Names of
 * a function's values get the path of the call before them, so that two calls do not share values. A model without
 * functions is returned as it is.
 * @throws NodewiseError `bad-usage` for what is no model; `limit-exceeded` when calls nest too deep (a function that
 *   calls itself) or expand to too much
 */
export function expandFunctions(model: Model): Graph {
  requireModel(model)
  const { graph, functions } = model
  if (functions.size === 0) return graph
  const { called, count } = requireExpandable(model)
  return {
    ...expandGraph(graph, { functions, count }),
    findings: [...graph.findings, ...[...called].flatMap(faultsOf)]
  }
}

/**
 * What is wrong with a function stops every run that calls it: its nodes and values have other names and places by
 * then.
 */
const faultsOf = ({ graph }: ModelFunction): Finding[] =>
  graph.findings
    .filter(finding => finding.severity === 'error' && !stopsNothing(finding))
    .map(({ code, severity, message, place }) => ({ code, severity, message, place }))

const stopsNothing = ({ onlyIfNeeded }: Finding): boolean =>
  onlyIfNeeded !== undefined && onlyIfNeeded.node === undefined && onlyIfNeeded.value === undefined

function expandGraph(graph: Graph, scope: Scope): Graph {
  scope.count(0, graph.values.size)
  const nodes: Node[] = []
  const values = new Map(graph.values)
  for (const node of graph.nodes) expandNode(node, scope, nodes, values)
  return { ...graph, nodes, values }
}

function expandNode(node: Node, scope: Scope, nodes: Node[], values: Map<ValueId, GraphValue>): void {
  const fn = functionOf(node, scope.functions)
  if (!fn) {
    scope.count(1, 0)
    nodes.push(withBodies(node, graph => expandGraph(graph, scope)))
    return
  }
  const rename = renamer(node, fn)
  for (const [id, value] of fn.graph.values) {
    const name = rename(id)
    if (!values.has(name))
      values.set(name, { ...value, id: name, name, names: [name], place: { ...value.place, value: name } })
  }
  const path = callPath(node)
  const given: Given = { attributes: new Map([...fn.defaults, ...node.attributes]), captures: node.captures }
  for (const inner of fn.graph.nodes) expandNode(instantiate(inner, rename, given, path), scope, nodes, values)
  for (const i of handedOn(fn)) {
    const output = node.outputs[i]
    const from = rename(fn.graph.outputs[i].value)
    if (output === undefined || from === LEFT_OUT) continue
    scope.count(1, 0)
    nodes.push(identity(node, from, output, path))
  }
}

/** Copies a value of an expanded call to one of its outputs. The newest Identity takes values of every type. */
const identity = (call: Node, from: ValueId, to: ValueId, path: string): Node => ({
  dialect: 'onnx',
  domain: 'ai.onnx',
  type: 'Identity',
  version: String(newestOpset()),
  overload: '',
  name: call.name,
  index: call.index,
  inputs: [from],
  outputs: [to],
  attributes: new Map(),
  captures: [],
  place: { ...call.place, graphPath: path }
})

const callPath = (node: Node): string =>
  `${node.place.graphPath ? `${node.place.graphPath}/` : ''}${node.index}:${node.type}`

/**
 * Inputs and outputs of the function take the call's names; a name for what is left out stays empty. A value that is
 * several of them takes the first name; the call's other names for it are left to {@link identity}.
 */
function renamer(call: Node, fn: ModelFunction): (id: ValueId) => ValueId {
  const names = new Map<ValueId, ValueId>()
  fn.graph.inputs.forEach(({ value }, i) => {
    if (call.inputs[i] !== undefined) names.set(value, call.inputs[i])
  })
  const others = new Set(handedOn(fn))
  fn.graph.outputs.forEach(({ value }, i) => {
    if (call.outputs[i] !== undefined && !others.has(i)) names.set(value, call.outputs[i])
  })
  const absent = new Set(fn.graph.inputs.flatMap(({ value }, i) => (call.inputs[i] === undefined ? [value] : [])))
  const prefix = `${callPath(call)}/`
  return id => (absent.has(id) ? LEFT_OUT : (names.get(id) ?? prefix + id))
}

/** An input of the function that the call does not give: nodes that read it have that input left out. */
const LEFT_OUT = ''

type Rename = (id: ValueId) => ValueId

/** What a call gives its function beside inputs. Bodies among the attributes read values of the caller. */
interface Given {
  readonly attributes: ReadonlyMap<string, Attribute>
  /** What those bodies read. */
  readonly captures: readonly ValueId[]
}

function instantiate(node: Node, rename: Rename, given: Given, path: string): Node {
  const renamed = (ids: readonly (ValueId | undefined)[]): (ValueId | undefined)[] =>
    ids.map(id => (id === undefined ? undefined : rename(id) || undefined))
  return {
    ...node,
    inputs: trimmed(renamed(node.inputs)),
    outputs: renamed(node.outputs),
    captures: [...renamed(node.captures).filter(id => id !== undefined), ...capturesGiven(node, given)],
    attributes: withValuesNamed(
      node,
      substitute(node.attributes, given.attributes, graph => instantiateBody(graph, rename, given, path)),
      rename
    ),
    place: { ...node.place, graphPath: path }
  }
}

/** What the bodies read that a node takes from the call: directly, or in a body of its own. */
const capturesGiven = (node: Node, { captures }: Given): readonly ValueId[] =>
  captures.length > 0 && refers(node) ? captures : []

const refers = (node: Node): boolean =>
  [...node.attributes.values()].some(({ kind }) => kind === 'reference') ||
  bodiesOf(node).some(({ graph }) => graph.nodes.some(refers))

/** The attributes of Gradient name values, whose names change with them. */
function withValuesNamed(
  { domain, type }: Node,
  attributes: Map<string, Attribute>,
  rename: Rename
): typeof attributes {
  if (type !== 'Gradient' || domain !== 'ai.onnx.preview.training') return attributes
  for (const name of ['xs', 'zs', 'y']) {
    const given = attributes.get(name)
    if (given?.kind === 'string') attributes.set(name, { kind: 'string', value: rename(given.value) })
    if (given?.kind === 'strings') attributes.set(name, { kind: 'strings', value: given.value.map(rename) })
  }
  return attributes
}

/** Left-out inputs at the end are as good as not there. */
export function trimmed<T>(inputs: readonly (T | undefined)[]): (T | undefined)[] {
  return inputs.slice(0, inputs.findLastIndex(input => input !== undefined) + 1)
}

/**
 * A body of a function's node. Names that it reads from the function change as the function's do; its own names change
 * too, so that they cannot hide those.
 */
function instantiateBody(graph: Graph, rename: Rename, given: Given, path: string): Graph {
  const bodyPath = `${path}/${graph.name}`
  const own = ownValues(graph)
  const inner: Rename = id => (own.has(id) ? `${bodyPath}/${id}` : rename(id))
  return {
    ...graph,
    inputs: graph.inputs.map(port => ({ ...port, value: inner(port.value) })),
    outputs: graph.outputs.map(port => ({ ...port, value: inner(port.value) })),
    values: new Map(
      [...graph.values].map(([id, value]) => [
        inner(id),
        { ...value, id: inner(id), name: value.name, names: value.names, place: value.place }
      ])
    ),
    initializers: new Map([...graph.initializers].map(([id, constant]) => [inner(id), constant])),
    nodes: graph.nodes.map(node => instantiate(node, inner, given, bodyPath))
  }
}

/**
 * References to attributes of the call are replaced by what it gives, as it is: bodies among it are in the caller's
 * names. Without one the attribute is absent.
 */
function substitute(
  own: ReadonlyMap<string, Attribute>,
  given: ReadonlyMap<string, Attribute>,
  onBody: (graph: Graph) => Graph
): Map<string, Attribute> {
  const result = new Map<string, Attribute>()
  for (const [name, attribute] of own) {
    const value = attribute.kind === 'reference' ? given.get(attribute.value) : mapBodies(attribute, onBody)
    if (value) result.set(name, value)
  }
  return result
}

function mapBodies(attribute: Attribute, change: (graph: Graph) => Graph): Attribute {
  if (attribute.kind === 'graph') return { kind: 'graph', value: change(attribute.value) }
  if (attribute.kind === 'graphs') return { kind: 'graphs', value: attribute.value.map(change) }
  return attribute
}

function withBodies(node: Node, change: (graph: Graph) => Graph): Node {
  if (![...node.attributes.values()].some(({ kind }) => kind === 'graph' || kind === 'graphs')) return node
  return {
    ...node,
    place: node.place,
    attributes: new Map([...node.attributes].map(([name, attribute]) => [name, mapBodies(attribute, change)]))
  }
}
