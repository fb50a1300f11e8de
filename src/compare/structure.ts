import { bind } from '../bind/bind.ts'
import { type BoundGraph, type Call, isCall, type Unbound } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import {
  type Attribute,
  declaredOf,
  type DeclaredType,
  type GraphPort,
  type Model,
  type Node,
  type ValueId
} from '../graph/graph.ts'
import { printedDim } from '../runtime/metadata.ts'
import { constantsApart, parametersApart, shortened, text } from './explain.ts'
import { extendPairs } from './extend.ts'
import { constantsOf, type Pair, pairsOf, requireNames } from './pairs.ts'
import { type Side, sideOf } from './side.ts'

/** A node of one side. */
export interface StructureNode {
  readonly node: string
  readonly nodeIndex?: number
  readonly layer?: string
  readonly type: string
  readonly graphPath?: string
  /** Names of the values that it reads and makes; empty where one is left out. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}

/** Something that the two sides say otherwise; absent where a side does not say it. */
export interface StructuralChange {
  /** `operator`, `attribute axis`, `input 1`, `constant B`, `declared y`, `opset ai.onnx`, … */
  readonly what: string
  readonly a?: string
  readonly b?: string
}

/** A node that the two models say otherwise, or that one of them lacks; neither: the models as a whole. */
export interface StructuralDifference {
  readonly a?: StructureNode
  readonly b?: StructureNode
  readonly changes: readonly StructuralChange[]
}

/** How the graphs of two models differ. */
export interface StructureComparison {
  readonly equal: boolean
  /** Nodes of the first in its order, each followed by those that only the second has after it. */
  readonly differences: readonly StructuralDifference[]
  /** Nodes of both sides, bodies included and constants not, and those that have a counterpart. */
  readonly nodes: { readonly a: number; readonly b: number; readonly pairs: number }
}

interface Item {
  readonly item: Call | Unbound
  readonly graph: BoundGraph
}

/**
 * Compares two models without running them: nodes, attributes, weights and what is declared. Nodes belong together
 * whose values have one name or, where names do not tell, are computed in the same way.
 * @param named names of values of `a`, with names of values of `b`
 * @throws NodewiseError `bad-usage` for names that are no Map
 */
export function compareStructure(
  [a, b]: readonly [Model, Model],
  registry: Registry,
  named: ReadonlyMap<string, string> = new Map()
): StructureComparison {
  requireNames('values', named)
  const [left, right] = [a, b].map(model => sideOf(model, bind(model, registry)))
  const known = pairsOf(left, right, named)
  const pairs = [...known, ...extendPairs(left, right, known)]
  const [itemsA, itemsB] = [left, right].map(({ bound }) => [...itemsOf(bound)])
  const twins = twinsOf(itemsA, itemsB, pairs)
  const values = new Map(pairs.map(pair => [keyOf(pair.a.graphPath, outputOf(pair, 'a')), outputOf(pair, 'b')]))
  const rest = onlyIn(itemsB, new Set(twins.values()))
  const differences: StructuralDifference[] = [...modelChanges(a, b)]
  for (const one of itemsA) {
    const twin = twins.get(one)
    if (twin === undefined) differences.push({ a: nodeOf(one), changes: [] })
    else {
      const changes = changesOf(left, one, right, twin, values)
      if (changes.length > 0) differences.push({ a: nodeOf(one), b: nodeOf(twin), changes })
      differences.push(...(rest.after.get(twin) ?? []))
    }
  }
  differences.push(...rest.first)
  return {
    equal: differences.length === 0,
    differences,
    nodes: { a: itemsA.length, b: itemsB.length, pairs: twins.size }
  }
}

function* itemsOf(graph: BoundGraph): Generator<Item> {
  for (const item of graph.items) {
    if (isCall(item)) for (const body of item.bodies.values()) yield* itemsOf(body)
    yield { item, graph }
  }
}

const keyOf = (graphPath: string, id: ValueId | undefined): string => JSON.stringify([graphPath, id])
const outputOf = (pair: Pair, side: 'a' | 'b'): ValueId | undefined => pair[side].node.outputs[pair[side].output]

/** Nodes that belong together; those without an operator by the names of what they make. */
function twinsOf(a: readonly Item[], b: readonly Item[], pairs: readonly Pair[]): Map<Item, Item> {
  const nodes = new Map<Node, Node>()
  for (const pair of pairs) if (!nodes.has(pair.a.node)) nodes.set(pair.a.node, pair.b.node)
  const byNode = new Map(b.map(one => [one.item.node, one]))
  const byName = new Map(b.map(one => [nameKey(one), one]))
  const twins = new Map<Item, Item>()
  const used = new Set<Item>()
  for (const one of a) {
    const node = nodes.get(one.item.node)
    const twin = node ? byNode.get(node) : byName.get(nameKey(one))
    if (twin === undefined || used.has(twin)) continue
    used.add(twin)
    twins.set(one, twin)
  }
  return twins
}

const nameKey = ({ item: { node }, graph }: Item): string =>
  JSON.stringify([graph.graph.path === '', namesOf(graph, node.outputs)])

/** Nodes that only the second has, by the node with a counterpart that comes before them. */
function onlyIn(
  items: readonly Item[],
  used: ReadonlySet<Item>
): { readonly first: StructuralDifference[]; readonly after: Map<Item, StructuralDifference[]> } {
  const first: StructuralDifference[] = []
  const after = new Map<Item, StructuralDifference[]>()
  let list = first
  for (const one of items) {
    if (used.has(one)) after.set(one, (list = []))
    else list.push({ b: nodeOf(one), changes: [] })
  }
  return { first, after }
}

const namesOf = ({ graph }: BoundGraph, ids: readonly (ValueId | undefined)[]): string[] =>
  ids.map(id => (id === undefined ? '' : (graph.values.get(id)?.name ?? id)))

const nodeOf = ({ item: { node }, graph }: Item): StructureNode => ({
  node: node.name,
  ...(node.layer === undefined ? { nodeIndex: node.index } : { layer: node.layer }),
  type: node.type,
  ...(graph.graph.path !== '' && { graphPath: graph.graph.path }),
  inputs: namesOf(graph, node.inputs),
  outputs: namesOf(graph, node.outputs)
})

/** What the models say as a whole: versions of operators, inputs and outputs. */
function modelChanges(a: Model, b: Model): StructuralDifference[] {
  const changes: StructuralChange[] = []
  // Across dialects dims are not compared: only ONNX names them, and converters infer others.
  const isOne = a.dialect === b.dialect
  if (isOne && a.dialect === 'onnx')
    for (const domain of new Set([...a.opsets.keys(), ...b.opsets.keys()]))
      push(changes, `opset ${domain}`, a.opsets.get(domain)?.toString(), b.opsets.get(domain)?.toString())
  for (const side of ['inputs', 'outputs'] as const) {
    const [x, y] = [a.graph[side], b.graph[side]]
    for (let i = 0; i < Math.max(x.length, y.length); i++)
      push(changes, `${side.slice(0, -1)} ${i}`, portText(a, x.at(i), isOne), portText(b, y.at(i), isOne))
  }
  return changes.length > 0 ? [{ changes }] : []
}

function push(changes: StructuralChange[], what: string, a: string | undefined, b: string | undefined): void {
  if (a !== b) changes.push({ what, ...(a !== undefined && { a }), ...(b !== undefined && { b }) })
}

function portText({ graph }: Model, port: GraphPort | undefined, withDims: boolean): string | undefined {
  if (port === undefined) return undefined
  const declared = declaredOf(graph, port)
  const shown = declared?.kind === 'tensor' && !withDims ? declared.type : typeText(declared)
  return shown === undefined ? port.name : `${port.name} ${shown}`
}

function typeText(declared: DeclaredType | undefined): string | undefined {
  if (declared === undefined) return undefined
  if (declared.kind === 'sequence' || declared.kind === 'optional')
    return `${declared.kind} of ${typeText(declared.element)}`
  if (declared.kind !== 'tensor') return declared.kind === 'map' ? `map of ${declared.keyType}` : declared.text
  const dims = declared.dims?.map(printedDim)
  return `${declared.type ?? '?'} ${dims ? `[${dims.join(', ')}]` : '[...]'}`
}

function changesOf(
  left: Side,
  { item: one, graph: graphA }: Item,
  right: Side,
  { item: other, graph: graphB }: Item,
  values: ReadonlyMap<string, ValueId | undefined>
): StructuralChange[] {
  const changes: StructuralChange[] = []
  const isSame = isCall(one) && isCall(other) ? one.op === other.op : one.node.type === other.node.type
  if (!isSame) changes.push({ what: 'operator', a: one.node.type, b: other.node.type })
  else if (isCall(one) && isCall(other)) {
    changes.push(...parameterChanges(one, other))
    const constants = [constantsIn(graphA, left, one), constantsIn(graphB, right, other)] as const
    for (const { name, how } of constantsApart(...constants, one, other))
      changes.push({ what: `constant ${name}`, b: how })
  } else {
    changes.push(...attributeChanges(one.node, other.node))
    // Without an operator, inputs have no names.
    const constants = [givenTo(graphA, one.node), givenTo(graphB, other.node)] as const
    for (const { name, how } of constantsApart(...constants)) changes.push({ what: `constant ${name}`, b: how })
  }
  changes.push(...inputChanges(graphA, one.node, graphB, other.node, values))
  if (one.node.dialect === other.node.dialect) changes.push(...declaredChanges(graphA, one.node, graphB, other.node))
  return changes
}

/** Constants of a node of a body may belong to a graph around it, which `constantsOf` does not know. */
const constantsIn = (graph: BoundGraph, side: Side, call: Call): ReturnType<typeof constantsOf> =>
  constantsOf(side, call).map((constant, i) => graph.constants.get(call.inputs[i] ?? '') ?? constant)

const givenTo = ({ constants }: BoundGraph, { inputs }: Node): ReturnType<typeof constantsOf> =>
  inputs.map(id => (id === undefined ? undefined : constants.get(id)))

/** Attributes as the files write them, where both do; an attribute that repeats its default is no difference. */
function parameterChanges(a: Call, b: Call): StructuralChange[] {
  const parameters = parametersApart(a, b)
  const attributes = a.node.dialect === b.node.dialect ? attributeChanges(a.node, b.node) : []
  if (parameters.length === 0) {
    // Of a function that was made of attributes, such as the table of a LabelEncoder, these alone tell what it does.
    const isTold = !Object.values(a.known).some(parameter => typeof parameter === 'function')
    return isTold ? [] : attributes.filter(change => change.a !== undefined && change.b !== undefined)
  }
  if (attributes.length > 0) return attributes
  return parameters.map(({ name, ...said }) => ({ what: `parameter ${name}`, ...said }))
}

function attributeChanges(a: Node, b: Node): StructuralChange[] {
  const changes: StructuralChange[] = []
  for (const name of new Set([...a.attributes.keys(), ...b.attributes.keys()])) {
    const [x, y] = [a, b].map(({ attributes }) => attributeText(attributes.get(name)))
    if (x === y) continue
    const [shownX, shownY] = shortened(x ?? '', y ?? '')
    push(changes, `attribute ${name}`, x && shownX, y && shownY)
  }
  return changes
}

function attributeText(attribute: Attribute | undefined): string | undefined {
  if (attribute === undefined) return undefined
  if (attribute.kind === 'tensor') return `${attribute.value.type} [${attribute.value.dims.join(', ')}]`
  // Bodies are compared node by node.
  if (attribute.kind === 'graph' || attribute.kind === 'graphs' || attribute.kind === 'tensors') return attribute.kind
  return text(attribute.value)
}

/** Inputs that come from elsewhere. */
function inputChanges(
  graphA: BoundGraph,
  a: Node,
  graphB: BoundGraph,
  b: Node,
  values: ReadonlyMap<string, ValueId | undefined>
): StructuralChange[] {
  const changes: StructuralChange[] = []
  for (let i = 0; i < Math.max(a.inputs.length, b.inputs.length); i++) {
    const [x, y] = [a.inputs[i], b.inputs[i]]
    const [nameX, nameY] = [nameIn(graphA, x), nameIn(graphB, y)]
    const twin = x === undefined ? undefined : values.get(keyOf(graphA.graph.path, x))
    const isConstant = (graph: BoundGraph, id: ValueId | undefined): boolean =>
      id !== undefined && graph.constants.has(id)
    if (twin === y && y !== undefined) continue
    if (isConstant(graphA, x) && isConstant(graphB, y)) continue
    // Inputs of a graph and what bodies capture are known by position or name alone.
    if (twin === undefined && isGiven(graphA, x) && isGiven(graphB, y)) continue
    // Layers have inputs that attributes of ONNX stand for, and the reverse.
    if (
      a.dialect !== b.dialect &&
      (x === undefined || y === undefined || isConstant(graphA, x) || isConstant(graphB, y))
    )
      continue
    push(changes, `input ${i}`, nameX, nameY)
  }
  return changes
}

const nameIn = (graph: BoundGraph, id: ValueId | undefined): string | undefined =>
  id === undefined ? undefined : namesOf(graph, [id])[0]

/** Whether a value comes into the graph from outside. */
const isGiven = ({ graph, captures }: BoundGraph, id: ValueId | undefined): boolean =>
  id !== undefined && (captures.includes(id) || graph.inputs.some(({ value }) => value === id))

function declaredChanges(graphA: BoundGraph, a: Node, graphB: BoundGraph, b: Node): StructuralChange[] {
  const changes: StructuralChange[] = []
  a.outputs.forEach((id, i) => {
    const twin = b.outputs[i]
    if (id === undefined || twin === undefined) return
    const [x, y] = [graphA.graph.values.get(id), graphB.graph.values.get(twin)]
    // A declaration that is left out says nothing else.
    if (x?.declared && y?.declared) push(changes, `declared ${x.name}`, typeText(x.declared), typeText(y.declared))
  })
  return changes
}
