// Builds ONNX files with onnx-proto, an encoder that shares no code with the reader of this package.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { onnx } = createRequire(import.meta.url)('onnx-proto')

export const TYPES = { float: 1, uint8: 2, int32: 6, int64: 7, string: 8, bool: 9 }

const utf8 = text => new TextEncoder().encode(text)

const dim = size => (typeof size === 'number' ? { dimValue: size } : { dimParam: size })

/** An input or output: `port('ids', 'int64', ['n'])`. */
export const port = (name, type, dims) => ({
  name,
  type: { tensorType: { elemType: TYPES[type], shape: { dim: dims.map(dim) } } }
})

/** An output that is a sequence of maps: `mapsPort('probability', 'string', 'float')`. */
export const mapsPort = (name, key, value) => ({
  name,
  type: {
    sequenceType: {
      elemType: { mapType: { keyType: TYPES[key], valueType: { tensorType: { elemType: TYPES[value] } } } }
    }
  }
})

const FIELDS = { float: 'floatData', int64: 'int64Data', int32: 'int32Data', uint8: 'int32Data' }

/** An initializer. */
export const tensor = (name, type, dims, values) => ({
  name,
  dims,
  dataType: TYPES[type],
  ...(type === 'string' ? { stringData: values.map(utf8) } : { [FIELDS[type]]: values })
})

function attribute(name, value) {
  const { AttributeType } = onnx.AttributeProto
  if (typeof value === 'string') return { name, type: AttributeType.STRING, s: utf8(value) }
  if (value.floats) return { name, type: AttributeType.FLOATS, floats: value.floats }
  if (Array.isArray(value) && typeof value[0] === 'string')
    return { name, type: AttributeType.STRINGS, strings: value.map(utf8) }
  if (Array.isArray(value)) return { name, type: AttributeType.INTS, ints: value }
  return { name, type: AttributeType.INT, i: value }
}

/**
 * A node: `node('Gather', ['data', 'ids'], ['rows'], { axis: 1 })`; its name is its first output's. Attributes are
 * ints, texts, lists of them, or `{ floats }`.
 */
export const node = (opType, input, output, attributes = {}, domain = '') => ({
  opType,
  ...(domain !== '' && { domain }),
  input,
  output,
  name: output[0],
  attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value))
})

/** Writes a model with one graph; `domains` are opsets beside that of ai.onnx. */
export function writeOnnx(path, { name, opset, domains = {}, doc = '', ...graph }) {
  const { inputs, outputs, initializers = [], nodes, values = [] } = graph
  const opsets = { '': opset, ...domains }
  const model = onnx.ModelProto.create({
    irVersion: 9,
    producerName: 'nodewise',
    opsetImport: Object.entries(opsets).map(([domain, version]) => ({ domain, version })),
    docString: doc,
    graph: { name, input: inputs, output: outputs, initializer: initializers, node: nodes, valueInfo: values }
  })
  writeFileSync(path, onnx.ModelProto.encode(model).finish())
}
