import type { Registry } from '../../bind/registry.ts'
import { check } from '../../check/check.ts'
import type { CheckedValue } from '../../check/result.ts'
import {
  allGraphs,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type Node,
  type ValueId
} from '../../graph/graph.ts'
import { formatElement, printable } from '../../io/print.ts'
import { dtypeName } from '../../tensor/dtype.ts'
import { elementAt } from '../../tensor/elements.ts'
import { elementCount } from '../../tensor/tensor.ts'
import { boxText } from '../check/text.ts'
import { namePattern } from '../name-pattern.ts'
import { counted, dimsText, type Style } from '../terminal.ts'
import { operatorName, typeName } from './describe.ts'

/** What of a model is listed. */
export interface Listing {
  /** Patterns of names and operators; none lists all. */
  readonly filter: readonly string[]
  readonly withAttributes: boolean
}

interface ListedValue {
  readonly name: string
  readonly type: string | null
  readonly dims: readonly (number | string)[] | null
}

/** A node as a listing has it. */
export interface ListedNode {
  /** Index in its graph, below the path to a body. */
  readonly index: string
  readonly name: string
  readonly op: string
  readonly version: string
  /** An input or output that is left out is null. */
  readonly inputs: readonly (ListedValue | null)[]
  readonly outputs: readonly (ListedValue | null)[]
  readonly attributes?: Readonly<Record<string, string>>
  readonly doc?: string
}

/** A test of names and operators by patterns, of which one is enough; without patterns it takes all. */
export function filterBy(patterns: readonly string[]): (...names: readonly string[]) => boolean {
  const tests = patterns.map(namePattern)
  return (...names) => tests.length === 0 || tests.some(test => names.some(test))
}

/** Nodes in the order of the file, those of bodies and functions too, with the types and dims that are inferred. */
export function listNodes(model: Model, registry: Registry, { filter, withAttributes }: Listing): ListedNode[] {
  const isWanted = filterBy(filter)
  const found = [...allGraphs(model)].flatMap(graph =>
    graph.nodes.filter(node => isWanted(node.name, operatorName(node))).map(node => ({ graph, node }))
  )
  return describeNodes(model, registry, found, withAttributes)
}

/** A node and the graph that it is in. */
export interface NodeInGraph {
  readonly graph: Graph
  readonly node: Node
}

/** Nodes with what is inferred of their values. */
export function describeNodes(
  model: Model,
  registry: Registry,
  found: readonly NodeInGraph[],
  withAttributes: boolean
): ListedNode[] {
  const values = new Map(check(model, registry).values.map(value => [keyOf(value.graphPath, value.id), value]))
  return found.map(({ graph, node }) => listedNode(node, graph, values, withAttributes))
}

const keyOf = (path: string, id: ValueId): string => `${path}\0${id}`

function listedNode(
  node: Node,
  graph: Graph,
  values: ReadonlyMap<string, CheckedValue>,
  withAttributes: boolean
): ListedNode {
  const valueOf = (id: ValueId | undefined): ListedValue | null =>
    id === undefined ? null : listedValue(id, graph, values)
  return {
    index: `${graph.path === '' ? '' : `${graph.path}/`}${node.index}`,
    name: node.name,
    op: operatorName(node),
    version: node.place.version ?? node.version,
    inputs: node.inputs.map(valueOf),
    outputs: node.outputs.map(valueOf),
    ...(withAttributes && { attributes: attributesOf(node) }),
    ...(node.doc !== undefined && { doc: node.doc })
  }
}

/** What is known of a value; a body reads values of the graphs around it. */
function listedValue(id: ValueId, graph: Graph, values: ReadonlyMap<string, CheckedValue>): ListedValue {
  let value: CheckedValue | undefined
  for (let path = graph.path; value === undefined; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) {
    value = values.get(keyOf(path, id))
    if (path === '') break
  }
  return { name: graph.values.get(id)?.name ?? value?.name ?? id, type: value?.type ?? null, dims: value?.dims ?? null }
}

/** Attributes as texts, by name. */
export const attributesOf = (node: Node): Record<string, string> =>
  Object.fromEntries([...node.attributes].map(([name, value]) => [name, attributeText(value, node)]))

/** Elements of an attribute that are listed. */
const MAX_ELEMENTS = 16

function attributeText(attribute: Attribute, node: Node): string {
  const { dialect } = node
  switch (attribute.kind) {
    case 'float':
    case 'int':
      return String(attribute.value)
    case 'text':
      return attribute.value
    case 'string':
      return JSON.stringify(attribute.value)
    case 'reference':
      return `that of the call, "${attribute.value}"`
    case 'floats':
    case 'ints':
      return listText(attribute.value.map(String))
    case 'strings':
      return listText(attribute.value.map(text => JSON.stringify(text)))
    case 'type':
      return typeName(attribute.value, dialect) ?? '?'
    case 'types':
      return listText(attribute.value.map(type => typeName(type, dialect) ?? '?'))
    case 'tensor':
      return tensorText(attribute.value, dialect)
    case 'tensors':
      return listText(attribute.value.map(tensor => tensorText(tensor, dialect)))
    case 'graph':
      return graphText(attribute.value)
    case 'graphs':
      return listText(attribute.value.map(graphText))
  }
}

const listText = (items: readonly string[]): string =>
  `[${items.slice(0, MAX_ELEMENTS).join(', ')}${items.length > MAX_ELEMENTS ? `, … ${items.length} in all` : ''}]`

const graphText = ({ name, nodes }: Graph): string => `graph "${name}" of ${counted(nodes.length, 'node')}`

function tensorText(constant: Constant, dialect: Model['dialect']): string {
  const type = `${dtypeName(constant.type, dialect)} ${dimsText(constant.dims)}`
  const count = elementCount(constant.dims)
  if (count === 0 || count > MAX_ELEMENTS) return type
  try {
    const tensor = constant.read()
    return `${type} ${listText(Array.from({ length: count }, (_, i) => formatElement(elementAt(tensor, i))))}`
  } catch {
    // `check` says what is wrong with it.
    return type
  }
}

/** A listing for people. */
export function nodesText(nodes: readonly ListedNode[], style: Style): string {
  const { bold, dim } = style
  const valueText = (value: ListedValue | null): string =>
    value === null
      ? dim('(none)')
      : printable(`${value.name}: ${value.type ?? '?'} ${dimsText(value.dims, value.type)}`.trimEnd())
  const blocks = nodes.map(({ index, name, op, version, inputs, outputs, attributes = {}, doc }) =>
    [
      `node ${index}  ${bold(boxText({ type: op, name }))}${versionText(version, style)}`,
      ...inputs.map(value => `  <- ${valueText(value)}`),
      ...outputs.map(value => `  -> ${valueText(value)}`),
      ...restLines(attributes, doc, style)
    ].join('\n')
  )
  return [...blocks, bold(counted(nodes.length, 'node'))].join('\n\n')
}

/** `  (ai.onnx 17)` */
export const versionText = (version: string, { dim }: Style): string =>
  version === '' ? '' : dim(printable(`  (${version})`))

/** Attributes and the doc string of a node, a line each. */
export const restLines = (
  attributes: Readonly<Record<string, string>>,
  doc: string | undefined,
  { dim }: Style
): string[] => [
  ...Object.entries(attributes).map(([key, text]) => `     ${printable(`${key} = ${text}`)}`),
  ...(doc ?? '')
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => `     ${dim(printable(line))}`)
]
