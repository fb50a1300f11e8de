// Writes ONNX files field by field (https://protobuf.dev/programming-guides/encoding, field numbers of onnx.proto),
// because a table may
// be larger than what an encoder holds at once. A message is a list of pieces: bytes, or `{ size, write(file) }` for
// what is made while
// writing.
import { closeSync, openSync, writeSync } from 'node:fs'

const TYPES = { float32: 1, uint8: 2, int32: 6, int64: 7, string: 8, float16: 10 }

function varint(value) {
  const bytes = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128)
  return Buffer.from([...bytes, value])
}

/** Bytes of some pieces. */
export const sizeOf = pieces => pieces.reduce((sum, piece) => sum + (piece.size ?? piece.length), 0)
const number = (field, value) => [varint(field * 8), varint(value)]
const block = (field, pieces) => [varint(field * 8 + 2), varint(sizeOf(pieces)), ...pieces]
const text = (field, value) => block(field, [Buffer.from(value)])

/** An input or output of fixed dims. */
const port = (field, { name, type, dims }) =>
  block(field, [
    ...text(1, name),
    ...block(
      2,
      block(1, [
        ...number(1, TYPES[type]),
        ...block(
          2,
          dims.flatMap(dim => block(1, typeof dim === 'number' ? number(1, dim) : text(2, dim)))
        )
      ])
    )
  ])

/** A property of external data. */
const entry = (key, value) => block(13, [...text(1, key), ...text(2, value)])

/**
 * A constant: `strings`, or `bytes` (a buffer or a piece made while writing), or `external` (`{ file, length }`: the
 * first bytes of a
 * file beside the model).
 */
function initializer({ name, type, dims, strings, bytes, external }) {
  const head = [...dims.flatMap(dim => number(1, dim)), ...number(2, TYPES[type])]
  if (strings) return block(5, [...head, ...strings.flatMap(value => text(6, value)), ...text(8, name)])
  if (external) {
    const place = [...entry('location', external.file), ...entry('length', `${external.length}`)]
    return block(5, [...head, ...text(8, name), ...place, ...number(14, 1)])
  }
  return block(5, [...head, ...text(8, name), ...block(9, [bytes])])
}

const node = ({ op, domain = '', inputs, outputs, attributes = {} }) =>
  block(1, [
    ...inputs.flatMap(name => text(1, name)),
    ...outputs.flatMap(name => text(2, name)),
    ...text(3, outputs[0]),
    ...text(4, op),
    ...Object.entries(attributes).flatMap(([name, value]) => block(5, [...text(1, name), ...attribute(value)])),
    ...text(7, domain)
  ])

/**
 * The value of an attribute and its kind: an integer, a string, or a list of integers, of floats (Float32Array) or of
 * strings. Lists become one piece each, since they may be long.
 */
function attribute(value) {
  if (typeof value === 'string') return [...text(4, value), ...number(20, 3)]
  if (value instanceof Float32Array) return [...block(7, [Buffer.from(value.buffer)]), ...number(20, 6)]
  if (typeof value[0] === 'string') return [Buffer.concat(value.flatMap(item => text(9, item))), ...number(20, 8)]
  if (Array.isArray(value)) return [Buffer.concat(value.flatMap(item => number(8, item))), ...number(20, 7)]
  return [...number(3, value), ...number(20, 2)]
}

/** Writes pieces one after the other. */
export function writePieces(path, pieces) {
  const file = openSync(path, 'w')
  try {
    for (const piece of pieces) {
      if (!(piece instanceof Uint8Array)) piece.write(file)
      else for (let at = 0; at < piece.length;) at += writeSync(file, piece, at)
    }
  } finally {
    closeSync(file)
  }
}

/** Writes a model of opset 17, 3 of ai.onnx.ml and 1 of com.microsoft; see `attribute` for what attributes may be. */
export function writeOnnx(path, { inputs, outputs, nodes, initializers = [] }) {
  const graph = [
    ...nodes.flatMap(node),
    ...text(2, 'bench'),
    ...initializers.flatMap(initializer),
    ...inputs.flatMap(input => port(11, input)),
    ...outputs.flatMap(output => port(12, output))
  ]
  writePieces(path, [
    ...number(1, 8),
    ...text(2, 'nodewise-bench'),
    ...block(7, graph),
    ...block(8, number(2, 17)),
    ...block(8, [...text(1, 'ai.onnx.ml'), ...number(2, 3)]),
    ...block(8, [...text(1, 'com.microsoft'), ...number(2, 1)])
  ])
}
