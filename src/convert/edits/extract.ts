import { fail } from '../../errors.ts'
import { derive } from '../../graph/derive.ts'
import type { DeclaredType, Graph, GraphPort, GraphValue, Model, Node, ValueId } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { nodesFor, withNodes } from './nodes.ts'
import { NewParts } from './parts.ts'

/**
 * The part of a model between some values: those of `from` become inputs, those of `to` outputs. Inputs of the model
 * that the part still reads stay inputs.
 * @param typeOf the type of a value that the file does not declare
 * @throws NodewiseError `bad-usage` for a name that is no value of the main graph, and for a start that leads to no
 *   output
 */
export function extract(
  model: Model,
  from: readonly string[],
  to: readonly string[],
  typeOf: (id: ValueId) => DeclaredType | undefined
): Model {
  const { graph } = model
  const starts = valuesNamed(graph, from)
  const given = new Set(starts.map(({ id }) => id))
  const known = new Map([...graph.inputs, ...graph.outputs].map(port => [port.value, port]))
  const parts = new NewParts(graph)
  const layers: Node[] = []
  const portOf = (value: GraphValue, side: 'Parameter' | 'Result', ports: readonly GraphPort[]): GraphPort => {
    const same = graph.dialect === 'onnx' ? known.get(value.id) : ports.find(port => port.value === value.id)
    if (same) return same
    const declared = value.declared ?? typeOf(value.id)
    if (graph.dialect === 'onnx')
      return { name: value.id, aliases: [], value: value.id, place: value.place, ...(declared && { declared }) }
    const [port, layer] = parts.port(side, value, declared)
    layers.push(layer)
    return port
  }
  const entries = starts.map(value => portOf(value, 'Parameter', graph.inputs))
  const outputs =
    to.length === 0 ? graph.outputs : valuesNamed(graph, to).map(value => portOf(value, 'Result', graph.outputs))
  const { read } = nodesFor({ nodes: graph.nodes, inputs: [], outputs }, given)
  const idle = starts.find(({ id }) => !read.has(id))
  if (idle !== undefined) {
    const ends = outputs.map(({ name }) => `"${name}"`).join(', ')
    fail('bad-usage', `"${idle.name}" does not lead to ${ends || 'an output'}`)
  }
  const inputs = [...graph.inputs.filter(({ value }) => read.has(value) && !given.has(value)), ...entries]
  const { nodes } = nodesFor({ nodes: [...layers, ...graph.nodes], inputs, outputs }, given)
  const cut = nodes.map(node => withoutOutputs(node, given, inputs, parts))
  const values = new Map([...graph.values, ...parts.values])
  return derive(model, { graph: withNodes(graph, inOrder(cut), { inputs, outputs, values }) })
}

/** Layers of outputs come last, as files have them. */
const inOrder = (nodes: readonly Node[]): readonly Node[] => {
  const isResult = ({ type, dialect }: Node): boolean => type === 'Result' && dialect === 'openvino'
  return [...nodes.filter(node => !isResult(node)), ...nodes.filter(isResult)]
}

/** A node one of whose outputs is given, though others of it are needed: that output gets another name. */
function withoutOutputs(node: Node, given: ReadonlySet<ValueId>, inputs: readonly GraphPort[], parts: NewParts): Node {
  const isInput = inputs.some(port => port.node === node.index)
  if (isInput || !node.outputs.some(id => id !== undefined && given.has(id))) return node
  return derive(node, {
    outputs: node.outputs.map(id => (id !== undefined && given.has(id) ? parts.value(`${id}_unused`) : id))
  })
}

/** Values by their names; each once, also where several names are its. */
const valuesNamed = (graph: Graph, names: readonly string[]): GraphValue[] => [
  ...new Set(names.map(name => valueNamed(graph, name)))
]

/** A value by its id or by one of its names. */
function valueNamed(graph: Graph, name: string): GraphValue {
  const isIr = graph.dialect === 'openvino'
  const known = isIr ? [...graph.values.values()].find(({ names }) => names.includes(name)) : graph.values.get(name)
  const port = [...graph.outputs, ...graph.inputs].find(one => one.name === name || one.aliases.includes(name))
  const found = known ?? (port && graph.values.get(port.value))
  if (found) return found
  const names = [...graph.values.values()].map(value => value.name)
  return fail('bad-usage', `the model has no value "${name}"${didYouMean(name, names)}`)
}
