import { fail } from '../../errors.ts'
import type { ByteSource } from '../../files/byte-source.ts'
import { derive } from '../../graph/derive.ts'
import type { Attribute, ByteRange, Constant, DeclaredType, Model, Node, ValueId } from '../../graph/graph.ts'
import { tensorOfBytes } from '../../tensor/bytes.ts'
import { convert } from '../../tensor/convert.ts'
import { elementCount, fileBytes, type Tensor } from '../../tensor/tensor.ts'
import { type Change, nodeName, withNodes } from './nodes.ts'
import { NewParts } from './parts.ts'

/** Smaller tensors stay as they are: a Cast would take more than it saves. */
const MIN_ELEMENTS = 16

/** The largest number of float16. */
const MAX_HALF = 65504

/**
 * A model whose weights (constants of the main graph) are stored in half precision; a Cast or Convert gives each its
 * type back, so that nothing else changes. Weights with numbers that float16 cannot hold stay as they are.
 * @throws NodewiseError `unsupported-op` for an ONNX model that does not import ai.onnx
 */
export function halveWeights(model: Model): { model: Model; changed: Change[] } {
  return model.dialect === 'onnx' ? halveInitializers(model) : halveLayers(model)
}

/** Cast names the type by its number from opset 6 on, by a text before. */
const toFloat = (opset: number): Attribute =>
  opset < 6 ? { kind: 'string', value: 'FLOAT' } : { kind: 'int', value: 1n }

function halveInitializers(model: Model): { model: Model; changed: Change[] } {
  const { graph } = model
  const inputs = new Set(graph.inputs.map(({ value }) => value))
  const outputs = new Set(graph.outputs.map(({ value }) => value))
  const opset = model.opsets.get('ai.onnx')
  const parts = new NewParts(graph)
  const initializers = new Map<ValueId, Constant>()
  const casts: Node[] = []
  const changed: Change[] = []
  for (const [name, constant] of graph.initializers) {
    if (inputs.has(name) || outputs.has(name) || !isWide(constant) || !fitsHalf(constant)) {
      initializers.set(name, constant)
      continue
    }
    if (opset === undefined) fail('unsupported-op', 'the model does not import ai.onnx, whose Cast gives weights back')
    const narrow = parts.value(`${name}_f16`)
    initializers.set(narrow, halved(constant))
    casts.push(
      parts.node({
        type: 'Cast',
        version: String(opset),
        name: `${name}_cast`,
        inputs: [narrow],
        outputs: [name],
        attributes: new Map<string, Attribute>([['to', toFloat(opset)]])
      })
    )
    changed.push({ node: name, how: HOW })
  }
  if (casts.length === 0) return { model, changed }
  const nodes = [...casts, ...graph.nodes]
  const values = new Map([...graph.values, ...parts.values])
  return { model: derive(model, { graph: withNodes(graph, nodes, { initializers, values }) }), changed }
}

const HOW = 'is stored in float16'

/** The mark of a Convert that OpenVINO leaves in the model, so that the weights stay compressed. */
const DECOMPRESSION: readonly [string, Attribute] = ['rt_info.decompression', { kind: 'text', value: '', place: {} }]

/** Names are those of OpenVINO's own compression: the Convert takes the name of the Const, which gets a new one. */
function halveLayers(model: Model): { model: Model; changed: Change[] } {
  const { graph } = model
  const parts = new NewParts(graph)
  const changed: Change[] = []
  const nodes = graph.nodes.flatMap((node): Node[] => {
    const { constant, name, outputs } = node
    if (constant === undefined || !isWide(constant) || !fitsHalf(constant)) return [node]
    const { type, dims } = halved(constant)
    const declared: DeclaredType = { kind: 'tensor', type, dims }
    const narrow = parts.value(`${name}_compressed`, declared)
    changed.push({ node: nodeName(node), how: HOW })
    return [
      parts.layer('Const', `${name}_compressed`, [], [narrow], { constant: halved(constant) }),
      parts.layer('Convert', name, [narrow], [outputs[0]!], {
        attributes: new Map([['destination_type', { kind: 'text', value: 'f32', place: {} }], DECOMPRESSION]),
        inputPorts: [{ id: '0', declared, place: {}, dimPlaces: [] }]
      })
    ]
  })
  if (changed.length === 0) return { model, changed }
  const values = new Map([...graph.values, ...parts.values])
  return { model: derive(model, { graph: withNodes(graph, nodes, { values }) }), changed }
}

const isWide = ({ type, dims }: Constant): boolean => type === 'float32' && elementCount(dims) >= MIN_ELEMENTS

/** Elements that are looked at at a time. */
const STEP = 2 ** 18

/** The elements of a constant, some at a time where its file allows that. */
function* slices(constant: Constant): Generator<Tensor> {
  const { raw, dims } = constant
  if (raw === undefined) return yield constant.read()
  const count = elementCount(dims)
  for (let done = 0; done < count; done += STEP) {
    const size = Math.min(STEP, count - done)
    yield tensorOfBytes('float32', [size], raw.source.read(raw.offset + 4 * done, 4 * size), 'onnx')
  }
}

function fitsHalf(constant: Constant): boolean {
  for (const { data } of slices(constant))
    for (const value of data as Float32Array) if (Math.abs(value) > MAX_HALF && value - value === 0) return false
  return true
}

/** The same elements in half precision, converted each time that they are read. */
function halved(constant: Constant): Constant {
  const { raw, dims, place } = constant
  const byteLength = fileBytes('float16', elementCount(dims))
  return {
    type: 'float16',
    dims,
    byteLength,
    place,
    read: () => convert(constant.read(), 'float16'),
    ...(raw && { raw: { source: halvedSource(raw), offset: 0, length: byteLength } })
  }
}

/** Raw float32 elements as bytes of float16; those that are asked for are converted. */
const halvedSource = ({ source, offset, length }: ByteRange): ByteSource => ({
  name: source.name,
  size: length / 2,
  read(from, bytes, target = new Uint8Array(bytes)) {
    // Whole elements around the bytes that are asked for.
    const first = Math.floor(from / 2)
    const count = Math.ceil((from + bytes) / 2) - first
    const wide = tensorOfBytes('float32', [count], source.read(offset + 4 * first, 4 * count), 'onnx')
    const { buffer, byteOffset } = convert(wide, 'float16').data
    target.set(new Uint8Array(buffer, byteOffset + (from - 2 * first), bytes))
    return target
  }
})
