import { type Call, isCall } from '../../bind/call.ts'
import { constantAtHand } from '../../graph/constant.ts'
import { derive } from '../../graph/derive.ts'
import type { Constant, Model, Node, ValueId } from '../../graph/graph.ts'
import type { Propagation } from '../../infer/propagate.ts'
import { type Dim, sameDim } from '../../shapes/dim.ts'
import { type Fact, knownValue, type TensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type Change, nodeName, nodesFor, withNodes } from './nodes.ts'
import { NewParts } from './parts.ts'

/**
 * A model with the main graph simplified: values that are known without running become constants, nodes that do nothing
 * are left out, and so is what no output needs. Values keep their names.
 */
export function simplify(model: Model, { bound, facts }: Propagation): { model: Model; changed: Change[] } {
  const { graph } = model
  const calls = new Map<Node, Call>()
  for (const item of bound.items) if (isCall(item)) calls.set(item.node, item)
  const changed: Change[] = []
  const initializers = new Map<ValueId, Constant>(graph.initializers)
  const renamed = new Map<ValueId, ValueId>()
  const outputs = new Set(graph.outputs.map(({ value }) => value))
  const captured = new Set(graph.nodes.flatMap(({ captures }) => captures))
  const parts = new NewParts(graph)
  const kept: Node[] = []
  for (const node of graph.nodes) {
    const call = calls.get(node)
    const values = call === undefined || isKept(call) ? undefined : knownOutputs(node, facts)
    const [made] = node.outputs
    if (values !== undefined) {
      if (graph.dialect === 'onnx')
        for (const [id, value] of values) initializers.set(id, constantAtHand(value, node.place))
      else kept.push(...[...values].map(([id, value], i) => layerOf(parts, node, id, value, i)))
      changed.push({ node: nodeName(node), how: 'is computed already' })
    } else if (call && made !== undefined && !outputs.has(made) && !captured.has(made) && doesNothing(call, facts)) {
      renamed.set(made, renamed.get(node.inputs[0]!) ?? node.inputs[0]!)
      changed.push({ node: nodeName(node), how: 'does nothing and is left out' })
    } else kept.push(reading(node, renamed))
  }
  const { nodes } = nodesFor({ ...graph, nodes: kept })
  const needed = new Set(nodes)
  for (const node of kept)
    if (!needed.has(node) && node.constant === undefined)
      changed.push({ node: nodeName(node), how: 'makes nothing that is needed' })
  if (nodes.length === graph.nodes.length && changed.length === 0) return { model, changed }
  return { model: derive(model, { graph: withNodes(graph, nodes, { initializers }) }), changed }
}

/** Nodes that are more than their values; those that widen compressed weights keep these small. */
const isKept = ({ op, node: { attributes } }: Call): boolean =>
  op.impure !== undefined || attributes.has('rt_info.decompression')

/** The Const of a known value, in place of the layer that made it. */
function layerOf(parts: NewParts, node: Node, id: ValueId, value: Tensor, output: number): Node {
  const name = output === 0 ? node.name : `${node.name}.${output}`
  return parts.layer('Const', name, [], [id], { constant: constantAtHand(value, node.place) })
}

/** The values of all outputs of a node, where they are known. */
function knownOutputs(node: Node, facts: Propagation['facts']): Map<ValueId, Tensor> | undefined {
  const values = new Map<ValueId, Tensor>()
  for (const id of node.outputs) {
    if (id === undefined) continue
    const fact = facts.get(id)
    const value = fact?.kind === 'tensor' ? knownValue(fact) : undefined
    if (value === undefined) return undefined
    values.set(id, value)
  }
  return values.size > 0 ? values : undefined
}

function reading(node: Node, renamed: ReadonlyMap<ValueId, ValueId>): Node {
  if (!node.inputs.some(id => id !== undefined && renamed.has(id))) return node
  return derive(node, { inputs: node.inputs.map(id => (id === undefined ? undefined : (renamed.get(id) ?? id))) })
}

/** Whether the only output of a call is its first input. */
function doesNothing({ op, node, inputs, known }: Call, facts: Propagation['facts']): boolean {
  const [input] = inputs
  const [output, ...others] = node.outputs
  if (input === undefined || output === undefined || others.some(id => id !== undefined)) return false
  const [before, after] = [facts.get(input), facts.get(output)]
  switch (op.name) {
    case 'Identity':
      return true
    case 'Dropout':
      return Number(node.version) >= 12 ? isInference(node, facts) : Number(node.version) >= 7
    case 'Cast':
    case 'CastLike':
      return isTensor(before) && isTensor(after) && before.type !== undefined && before.type === after.type
    case 'Reshape':
    case 'Expand':
      return isTensor(before) && isTensor(after) && sameShape(before.shape, after.shape)
    case 'Transpose':
      return isInOrder(known.order ?? listOf(facts.get(inputs[1] ?? '')))
    default:
      return false
  }
}

const isTensor = (fact: Fact | undefined): fact is TensorFact => fact?.kind === 'tensor'

/** Dropout-12 trains only where its third input says so. */
function isInference({ inputs }: Node, facts: Propagation['facts']): boolean {
  if (inputs[2] === undefined) return true
  const fact = facts.get(inputs[2])
  return isTensor(fact) && Number(knownValue(fact)?.data[0] ?? 1) === 0
}

const sameShape = (a: readonly Dim[] | undefined, b: readonly Dim[] | undefined): boolean =>
  a !== undefined && a.length === b?.length && a.every((dim, i) => sameDim(dim, b[i]))

const isInOrder = (order: unknown): boolean =>
  Array.isArray(order) && order.length > 0 && order.every((axis, i) => Number(axis) === i)

/** The elements of a list that is known. */
function listOf(fact: Fact | undefined): readonly unknown[] | undefined {
  const value = isTensor(fact) ? knownValue(fact) : undefined
  return value && [...value.data]
}
