import { derive } from '../../graph/derive.ts'
import type { Attribute, DeclaredType, Graph, GraphPort, GraphValue, Node, ValueId } from '../../graph/graph.ts'
import type { Propagation } from '../../infer/propagate.ts'
import { partialShape, typeName } from '../../openvino/write/attributes.ts'
import type { Fact } from '../../shapes/fact.ts'
import { declarationOf, declaredIn } from '../declare.ts'
import type { Change } from './nodes.ts'

/** Whether a declaration is to be replaced by what a fact says. */
export type Wanted = (fact: Fact, earlier: DeclaredType | undefined) => boolean

/**
 * The parts of an IR graph whose declarations are what is inferred: ports of layers, which state numbers alone, and the
 * `<data>` of Parameters, which may state intervals.
 */
export function declaredLayers(
  graph: Graph,
  facts: Propagation['facts'],
  changed: Change[],
  isWanted: Wanted
): Partial<Graph> {
  const values = new Map<ValueId, GraphValue>(graph.values)
  for (const [id, value] of graph.values) {
    const declared = portType(id, facts, value.declared, isWanted)
    if (declared !== undefined) values.set(id, derive(value, { declared }))
  }
  const isReplaced = (id: ValueId): boolean => values.get(id) !== graph.values.get(id)
  for (const node of graph.nodes)
    for (const id of node.outputs)
      if (id !== undefined && isReplaced(id))
        changed.push(changeOf(node, `"${values.get(id)!.name}"`, values.get(id), graph.values.get(id)))
  const inputs = graph.inputs.map(port => {
    const declared = parameterType(port, facts, isWanted)
    return declared === undefined ? port : derive(port, { declared })
  })
  const restated = new Map(inputs.filter((port, i) => port !== graph.inputs[i]).map(port => [port.node, port]))
  const nodes = graph.nodes.map((node, index) => {
    const port = restated.get(index)
    const stated = port ? withData(node, port, changed) : node
    return withPorts(stated, facts, { isWanted, isSaid: id => !isReplaced(id) }, changed)
  })
  return {
    ...([...values.keys()].some(isReplaced) && { values }),
    ...(restated.size > 0 && { inputs }),
    ...(nodes.some((node, i) => node !== graph.nodes[i]) && { nodes })
  }
}

/** What a port declares for a value; undefined where it says that already, or where nothing is known. */
function portType(
  id: ValueId | undefined,
  facts: Propagation['facts'],
  earlier: DeclaredType | undefined,
  isWanted: Wanted
): DeclaredType | undefined {
  const fact = id === undefined ? undefined : facts.get(id)
  if (fact === undefined || !isWanted(fact, earlier)) return undefined
  const found = declarationOf(fact)
  if (found?.kind !== 'tensor') return undefined
  const before = earlier?.kind === 'tensor' ? earlier : undefined
  const type = found.type ?? before?.type
  const dims = found.dims?.map(dim => (typeof dim === 'number' ? dim : null)) ?? before?.dims
  const declared: DeclaredType = { kind: 'tensor', ...(type && { type }), ...(dims && { dims }) }
  return textOf(declared) === textOf(before) ? undefined : declared
}

/** What a Parameter states, where the fact of its value is another one: dims were given for it. */
function parameterType(port: GraphPort, facts: Propagation['facts'], isWanted: Wanted): DeclaredType | undefined {
  const fact = facts.get(port.value)
  if (fact === undefined || !isWanted(fact, port.declared)) return undefined
  const found = declaredIn('openvino', declarationOf(fact))
  if (found?.kind !== 'tensor' || found.dims === undefined) return undefined
  const before = port.declared?.kind === 'tensor' ? port.declared : undefined
  const type = before?.type ?? found.type
  const declared: DeclaredType = { kind: 'tensor', ...(type && { type }), dims: found.dims }
  return textOf(declared) === textOf(before) ? undefined : declared
}

const textOf = (declared: DeclaredType | undefined): string =>
  declared?.kind === 'tensor' ? `${typeName(declared.type)}[${partialShape(declared.dims)}]` : ''

function withData(node: Node, { declared }: GraphPort, changed: Change[]): Node {
  if (declared?.kind !== 'tensor') return node
  const attributes = new Map<string, Attribute>(node.attributes)
  const shape = partialShape(declared.dims)
  attributes.set('shape', { kind: 'text', value: shape, place: node.place })
  changed.push({ node: node.name, how: `its shape is "${shape}"` })
  return derive(node, { attributes })
}

/** A layer whose input ports declare what they get. Ports of values whose own declaration is replaced go unsaid. */
function withPorts(
  node: Node,
  facts: Propagation['facts'],
  { isWanted, isSaid }: { isWanted: Wanted; isSaid: (id: ValueId) => boolean },
  changed: Change[]
): Node {
  const ports = node.inputPorts?.map((port, i) => {
    const id = node.inputs[i]
    const declared = portType(id, facts, port.declared, isWanted)
    if (declared === undefined) return port
    if (id !== undefined && isSaid(id)) changed.push(changeOf(node, `input port ${port.id}`, { declared }, port))
    return derive(port, { declared })
  })
  if (ports === undefined || ports.every((port, i) => port === node.inputPorts?.[i])) return node
  return derive(node, { inputPorts: ports })
}

function changeOf(
  node: Node,
  what: string,
  now: { declared?: DeclaredType } | undefined,
  before: { declared?: DeclaredType } | undefined
): Change {
  const [is, was] = [now?.declared, before?.declared].map(textOf)
  return { node: node.name, how: `${what} is declared ${is}${was === '' ? '' : `, not ${was}`}` }
}
