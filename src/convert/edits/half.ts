import { derive } from '../../graph/derive.ts'
import type { Attribute, Constant, Model, Node, ValueId } from '../../graph/graph.ts'
import { convert } from '../../tensor/convert.ts'
import { elementCount, fileBytes, type Tensor } from '../../tensor/tensor.ts'
import { type Change, withNodes } from './nodes.ts'

/** Smaller tensors stay as they are: a Cast would take more than it saves. */
const LEAST_ELEMENTS = 16

/** The largest number of float16. */
const MAX_HALF = 65504

/**
 * A model whose weights (initializers of the main graph) are stored in half precision; a Cast gives each its type back,
 * so that nothing else changes. Weights with numbers that float16 cannot hold stay as they are.
 */
export function halveWeights(model: Model): { model: Model; changed: Change[] } {
  const { graph } = model
  const inputs = new Set(graph.inputs.map(({ value }) => value))
  const outputs = new Set(graph.outputs.map(({ value }) => value))
  const taken = new Set(graph.values.keys())
  const initializers = new Map<ValueId, Constant>()
  const casts: Node[] = []
  const changed: Change[] = []
  for (const [name, constant] of graph.initializers) {
    if (inputs.has(name) || outputs.has(name) || !isWide(constant) || !fitsHalf(constant.read())) {
      initializers.set(name, constant)
      continue
    }
    const narrow = freeName(`${name}_f16`, taken)
    initializers.set(narrow, halved(constant))
    casts.push(castOf(narrow, name, model))
    changed.push({ node: name, how: 'is stored in float16' })
  }
  if (casts.length === 0) return { model, changed }
  const nodes = [...casts, ...graph.nodes]
  return { model: derive(model, { graph: withNodes(graph, nodes, { initializers }) }), changed }
}

const isWide = ({ type, dims }: Constant): boolean => type === 'float32' && elementCount(dims) >= LEAST_ELEMENTS

function fitsHalf({ data }: Tensor): boolean {
  for (const value of data as Float32Array) if (Math.abs(value) > MAX_HALF && value - value === 0) return false
  return true
}

/** The same elements in half precision, converted each time that they are read. */
const halved = (constant: Constant): Constant => ({
  type: 'float16',
  dims: constant.dims,
  byteLength: fileBytes('float16', elementCount(constant.dims)),
  place: constant.place,
  read: () => convert(constant.read(), 'float16')
})

function castOf(from: ValueId, to: ValueId, { opsets, graph }: Model): Node {
  const attributes = new Map<string, Attribute>([['to', { kind: 'int', value: 1n }]])
  return {
    dialect: 'onnx',
    domain: 'ai.onnx',
    type: 'Cast',
    version: String(opsets.get('ai.onnx') ?? ''),
    overload: '',
    name: `${to}_cast`,
    index: -1,
    inputs: [from],
    outputs: [to],
    attributes,
    captures: [],
    place: graph.values.get(to)?.place ?? {}
  }
}

function freeName(wanted: string, taken: Set<ValueId>): ValueId {
  let name = wanted
  for (let i = 1; taken.has(name); i++) name = `${wanted}_${i}`
  taken.add(name)
  return name
}
