// Writes OpenVINO IR: one layer with its parameters, constants and result.
import { writeFileSync } from 'node:fs'
import { sizeOf, writePieces } from './onnx.mjs'

const ELEMENT = { float32: 'f32', float16: 'f16', uint8: 'u8', int32: 'i32', int64: 'i64' }
const PRECISION = { float32: 'FP32', float16: 'FP16', uint8: 'U8', int32: 'I32', int64: 'I64' }

const port = (id, { name, type, dims }, names = false) =>
  `<port id="${id}" precision="${PRECISION[type]}"${names ? ` names="${name}"` : ''}>` +
  `${dims.map(dim => `<dim>${dim}</dim>`).join('')}</port>`

/**
 * Writes `path.xml` and `path.bin`.
 * @param path without ending
 * @param of `{ type, version, data, operands, output }`; an operand with `bytes` (a buffer or a piece) is a constant,
 *   any other a parameter
 */
export function writeIr(path, { type, version, data = {}, operands, output }) {
  let offset = 0
  const sources = operands.map((operand, id) => {
    const shape = operand.dims.join(',')
    const size = operand.bytes && sizeOf([operand.bytes])
    const attributes = size === undefined ? `shape="${shape}"` : `shape="${shape}" offset="${offset}" size="${size}"`
    offset += size ?? 0
    return (
      `<layer id="${id}" name="${operand.name}" ` +
      `type="${size === undefined ? 'Parameter' : 'Const'}" version="opset1">` +
      `<data element_type="${ELEMENT[operand.type]}" ${attributes}/><output>${port(0, operand, true)}</output></layer>`
    )
  })
  const id = operands.length
  const attributes = Object.entries(data)
    .map(([key, value]) => ` ${key}="${value}"`)
    .join('')
  const layer =
    `<layer id="${id}" name="${output.name}" type="${type}" version="${version}">` +
    `${attributes && `<data${attributes}/>`}` +
    `<input>${operands.map((operand, at) => port(at, operand)).join('')}</input>` +
    `<output>${port(id, output, true)}</output></layer>`
  const result =
    `<layer id="${id + 1}" name="result" type="Result" version="opset1">` + `<input>${port(0, output)}</input></layer>`
  const edges = [
    ...operands.map((_, at) => `<edge from-layer="${at}" from-port="0" to-layer="${id}" to-port="${at}"/>`),
    `<edge from-layer="${id}" from-port="${id}" to-layer="${id + 1}" to-port="0"/>`
  ]
  const lines = [
    '<?xml version="1.0"?>',
    '<net name="bench" version="11">',
    '<layers>',
    ...sources,
    layer,
    result,
    '</layers>',
    '<edges>',
    ...edges,
    '</edges>',
    '</net>'
  ]
  writeFileSync(`${path}.xml`, lines.join('\n') + '\n')
  writePieces(
    `${path}.bin`,
    operands.flatMap(operand => operand.bytes ?? [])
  )
}
