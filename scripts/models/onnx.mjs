// Builds ONNX files with onnx-proto, an encoder that shares no code with the reader of this package.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { onnx } = createRequire(import.meta.url)('onnx-proto')

export const TYPES = {
  float: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  double: 11,
  uint32: 12,
  uint64: 13,
  uint4: 21,
  int4: 22
}

const utf8 = text => new TextEncoder().encode(text)

const dim = size => (typeof size === 'number' ? { dimValue: size } : { dimParam: size })

/** An input or output: `port('ids', 'int64', ['n'])`; without dims its rank is unknown. */
export const port = (name, type, dims) => ({
  name,
  type: { tensorType: { elemType: TYPES[type], ...(dims && { shape: { dim: dims.map(dim) } }) } }
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

const FIELDS = { float: 'floatData', int64: 'int64Data', int32: 'int32Data', uint8: 'int32Data', bool: 'int32Data' }

/** An initializer. */
export const tensor = (name, type, dims, values) => ({
  name,
  dims,
  dataType: TYPES[type],
  ...(type === 'string' ? { stringData: values.map(utf8) } : { [FIELDS[type]]: values })
})

/** What says the kind of an attribute, and the field that holds it. */
const KINDS = {
  float: value => ({ f: value }),
  int: value => ({ i: value }),
  string: value => ({ s: utf8(value) }),
  floats: value => ({ floats: value }),
  ints: value => ({ ints: value }),
  strings: value => ({ strings: value.map(utf8) }),
  tensor: value => ({ t: value }),
  graph: value => ({ g: graphOf(value) })
}

function attribute(name, value) {
  if (typeof value === 'number') return attribute(name, { int: value })
  if (typeof value === 'string') return attribute(name, { string: value })
  if (Array.isArray(value)) return attribute(name, { [typeof value[0] === 'string' ? 'strings' : 'ints']: value })
  const [kind] = Object.keys(value)
  return { name, type: onnx.AttributeProto.AttributeType[kind.toUpperCase()], ...KINDS[kind](value[kind]) }
}

/**
 * A node: `node('Gather', ['data', 'ids'], ['rows'], { axis: 1 })`; its name is its first output's. Attributes are
 * ints, texts, lists of them, or say their kind: `{ float: 0.5 }`, `{ floats }`, `{ graph }`.
 */
export const node = (opType, input, output, attributes = {}, domain = '') => ({
  opType,
  ...(domain !== '' && { domain }),
  input,
  output,
  name: output[0],
  attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value))
})

const graphOf = ({ name, inputs = [], outputs, initializers = [], nodes, values = [] }) => ({
  name,
  input: inputs,
  output: outputs,
  initializer: initializers,
  node: nodes,
  valueInfo: values
})

/** The bytes of a model with one graph; `domains` are opsets beside that of ai.onnx. */
export function onnxBytes({ opset, domains = {}, doc = '', ...graph }) {
  const opsets = { '': opset, ...domains }
  const model = onnx.ModelProto.create({
    irVersion: 9,
    producerName: 'nodewise',
    opsetImport: Object.entries(opsets).map(([domain, version]) => ({ domain, version })),
    docString: doc,
    graph: graphOf(graph)
  })
  return onnx.ModelProto.encode(model).finish()
}

/** Writes a model with one graph. */
export const writeOnnx = (path, model) => writeFileSync(path, onnxBytes(model))
