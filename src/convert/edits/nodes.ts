import { derive } from '../../graph/derive.ts'
import type { Attribute, Graph, GraphPort, Node, ValueId } from '../../graph/graph.ts'

/** What an edit did to a node. */
export interface Change {
  /** The node's name; where it has none, its index and type. */
  readonly node: string
  readonly how: string
}

/** A node as lists of changes name it. */
export const nodeName = ({ name, index, type }: Node): string => (name === '' ? `node ${index} ${type}` : name)

/**
 * A graph with these nodes, which have their indices of before, new ones others. Initializers that no node reads any
 * more are left out, unless they are outputs or defaults of inputs; so are values that nothing makes.
 */
export function withNodes(graph: Graph, nodes: readonly Node[], changes: Partial<Graph>): Graph {
  const changed = { ...graph, ...changes }
  const read = new Set<ValueId>([...changed.inputs, ...changed.outputs].map(({ value }) => value))
  const made = new Set<ValueId>(read)
  for (const { inputs, captures, outputs } of nodes) {
    for (const id of [...inputs, ...captures]) if (id !== undefined) read.add(id)
    for (const id of outputs) if (id !== undefined) made.add(id)
  }
  const initializers = new Map([...changed.initializers].filter(([name]) => read.has(name)))
  const positions = new Map(nodes.map((node, index) => [node.index, index]))
  return derive(graph, {
    ...changes,
    nodes: nodes.map((node, index) => (node.index === index ? node : derive(node, { index }))),
    inputs: repositioned(changed.inputs, positions),
    outputs: repositioned(changed.outputs, positions),
    initializers: initializers.size === changed.initializers.size ? changed.initializers : initializers,
    values: new Map([...changed.values].filter(([id]) => made.has(id) || initializers.has(id)))
  })
}

/** Inputs or outputs of an IR know the index of their layer. */
function repositioned(ports: readonly GraphPort[], positions: ReadonlyMap<number, number>): readonly GraphPort[] {
  const moved = ports.map(port => {
    const node = port.node === undefined ? undefined : positions.get(port.node)
    return node === undefined || node === port.node ? port : derive(port, { node })
  })
  return moved.every((port, i) => port === ports[i]) ? ports : moved
}

/**
 * The nodes that make some values, in their order, with the layers of IR's inputs and outputs: those that nothing of it
 * needs are left out. What a model writes to a variable (Assign) is needed where it is read (ReadValue).
 */
export function nodesFor(
  { nodes, inputs, outputs }: Pick<Graph, 'nodes' | 'inputs' | 'outputs'>,
  given: ReadonlySet<ValueId> = new Set()
): { nodes: readonly Node[]; read: ReadonlySet<ValueId> } {
  const read = new Set<ValueId>(outputs.map(({ value }) => value))
  const producers = new Map<ValueId, Node>()
  for (const node of nodes) for (const id of node.outputs) if (id !== undefined) producers.set(id, node)
  const assigns = nodes.filter(({ type, dialect }) => type === 'Assign' && dialect === 'openvino')
  const needed = new Set<Node>()
  const need = (node: Node): void => {
    if (needed.has(node)) return
    needed.add(node)
    for (const input of [...node.inputs, ...node.captures]) if (input !== undefined) read.add(input)
    if (node.type === 'ReadValue') for (const one of assigns) if (variableOf(one) === variableOf(node)) need(one)
  }
  // A set visits what is added while it is walked.
  for (const id of read) {
    const node = given.has(id) ? undefined : producers.get(id)
    if (node !== undefined) need(node)
  }
  const ports = new Set([...inputs, ...outputs].map(({ node }) => node))
  return { nodes: nodes.filter(node => needed.has(node) || ports.has(node.index)), read }
}

const variableOf = ({ attributes }: Node): unknown => attributes.get('variable_id')?.value

/** A node whose bodies are edited. */
export function withBodies(node: Node, edit: (graph: Graph) => Graph): Node {
  let isChanged = false
  const attributes = new Map<string, Attribute>()
  for (const [name, attribute] of node.attributes) {
    const edited = editedAttribute(attribute, edit)
    isChanged ||= edited !== attribute
    attributes.set(name, edited)
  }
  return isChanged ? derive(node, { attributes }) : node
}

function editedAttribute(attribute: Attribute, edit: (graph: Graph) => Graph): Attribute {
  if (attribute.kind === 'graph') {
    const value = edit(attribute.value)
    return value === attribute.value ? attribute : derive(attribute, { value })
  }
  if (attribute.kind !== 'graphs') return attribute
  const value = attribute.value.map(edit)
  return value.every((graph, i) => graph === attribute.value[i]) ? attribute : derive(attribute, { value })
}
