// Builds OpenVINO IR files: XML with the builder of fast-xml-parser, and a .bin of the constants.
import { writeFileSync } from 'node:fs'
import { XMLBuilder } from 'fast-xml-parser'

const PRECISION = { boolean: 'BOOL', f32: 'FP32', f16: 'FP16' }
const precision = type => PRECISION[type] ?? type.toUpperCase()

const BYTES = {
  i32: values => new Uint8Array(Int32Array.from(values).buffer),
  i64: values => new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
  u8: values => Uint8Array.from(values),
  f32: values => new Uint8Array(Float32Array.from(values).buffer),
  string: packStrings
}

/** Packed strings: little-endian int32 numbers (count, begin of the first string, end of each), then UTF-8 bytes. */
function packStrings(values) {
  const texts = values.map(text => new TextEncoder().encode(text))
  const header = new Int32Array(2 + texts.length)
  header[0] = texts.length
  texts.forEach((text, i) => {
    header[i + 2] = header[i + 1] + text.length
  })
  return Uint8Array.from([...new Uint8Array(header.buffer), ...texts.flatMap(text => [...text])])
}

/** A net that is built layer by layer; `save` writes `path.xml` and `path.bin`. */
export class Net {
  constructor(name) {
    this.name = name
    this.layers = []
    this.edges = []
    this.bin = []
    this.offset = 0
  }

  /** Adds a layer. Inputs are results of earlier calls; the result can be an input of later layers. */
  layer(type, version, name, { data, inputs = [], output }) {
    const id = this.layers.length
    const port = (portId, { type: element, dims }) => ({
      '@_id': portId,
      '@_precision': precision(element),
      ...(dims.length > 0 && { dim: dims.map(dim => (typeof dim === 'number' ? dim : -1)) })
    })
    this.layers.push({
      '@_id': id,
      '@_name': name,
      '@_type': type,
      '@_version': version,
      ...(data && { data: Object.fromEntries(Object.entries(data).map(([key, value]) => [`@_${key}`, value])) }),
      ...(inputs.length > 0 && { input: { port: inputs.map((input, i) => port(i, input)) } }),
      ...(output && { output: { port: { ...port(inputs.length, output), '@_names': name } } })
    })
    inputs.forEach((input, i) =>
      this.edges.push({
        '@_from-layer': input.layer,
        '@_from-port': input.port,
        '@_to-layer': id,
        '@_to-port': i
      })
    )
    return { layer: id, port: inputs.length, ...output }
  }

  parameter(name, type, dims) {
    return this.layer('Parameter', 'opset1', name, {
      data: { shape: dims.join(','), element_type: type },
      output: { type, dims }
    })
  }

  constant(name, type, dims, values) {
    const bytes = BYTES[type](values)
    const data = { element_type: type, shape: dims.join(', '), offset: this.offset, size: bytes.length }
    this.bin.push(bytes)
    this.offset += bytes.length
    return this.layer('Const', 'opset1', name, { data, output: { type, dims } })
  }

  result(name, input) {
    this.layer('Result', 'opset1', name, { inputs: [input] })
  }

  xml() {
    const builder = new XMLBuilder({
      ignoreAttributes: false,
      format: true,
      indentBy: '\t',
      suppressEmptyNode: true,
      suppressBooleanAttributes: false
    })
    return builder.build({
      '?xml': { '@_version': '1.0' },
      net: { '@_name': this.name, '@_version': '11', layers: { layer: this.layers }, edges: { edge: this.edges } }
    })
  }

  save(path) {
    writeFileSync(`${path}.xml`, this.xml())
    writeFileSync(`${path}.bin`, Buffer.concat(this.bin))
  }
}
