// ONNX files as trees of wire fields, which can be cut, copied and written wrongly in every way that the wire format
// allows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { ROOT } from './corpus.mjs'

const schema = protobuf
  .parse(readFileSync(join(ROOT, 'proto/onnx.proto'), 'utf8'), { keepCase: true })
  .root.resolveAll()

/** Field number → what the schema says of it, by full name of the message. */
const messages = new Map()

/** What the schema says of a field: `{ name, type, message?, repeated }`; `type` is `enum` for enums. */
function fieldsOf(type) {
  let table = messages.get(type)
  if (table === undefined) {
    const found = schema.lookupType(type)
    table = new Map(
      found.fieldsArray
        .filter(field => field.id < 1000)
        .map(field => {
          const resolved = field.resolvedType
          const message = resolved instanceof protobuf.Type ? resolved.fullName.slice(1) : undefined
          return [
            field.id,
            {
              name: field.name,
              type: message ? 'message' : resolved ? 'enum' : field.type,
              message,
              repeated: field.repeated
            }
          ]
        })
    )
    messages.set(type, table)
  }
  return table
}

/** All fields that a message may have, as `[number, schema]`. */
export const knownFields = type => [...fieldsOf(type)]

/** The number of a field by its name. */
export const numberOf = (type, name) => knownFields(type).find(([, known]) => known.name === name)[0]

const NUMERIC = new Set(['int64', 'int32', 'uint64', 'uint32', 'enum', 'bool'])

/**
 * The tree of a well-formed file: `{ type, fields }`, each field `{ number, wire, known?, … }` with `value` (BigInt)
 * for a varint,
 * `bytes` for what is
 * fixed or delimited, `message` for a message within, `numbers` for packed varints.
 */
export function parseWire(bytes, type = 'onnx.ModelProto') {
  const message = { type, fields: [] }
  const table = fieldsOf(type)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      if (at >= bytes.length) throw new Error(`no ${type}`)
      const byte = bytes[at++]
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const field = { number: tag >>> 3, wire: tag & 7, known: table.get(tag >>> 3) }
    if (field.wire === 0) field.value = varint()
    else {
      const length = field.wire === 2 ? Number(varint()) : field.wire === 1 ? 8 : 4
      const content = bytes.subarray(at, (at += length))
      if (field.wire === 2 && field.known?.message) field.message = parseWire(content, field.known.message)
      else if (field.wire === 2 && NUMERIC.has(field.known?.type)) field.numbers = varints(content)
      else field.bytes = Buffer.from(content)
    }
    message.fields.push(field)
  }
  return message
}

function varints(bytes) {
  const numbers = []
  let value = 0n
  let shift = 0n
  for (const byte of bytes) {
    value |= BigInt(byte & 127) << shift
    shift += 7n
    if (byte < 128) {
      numbers.push(value)
      value = shift = 0n
    }
  }
  return numbers
}

const SMALL = Array.from({ length: 2 ** 14 }, (_, value) =>
  Buffer.from(value < 128 ? [value] : [(value & 127) | 128, value >> 7])
)

/** A varint of 64 bits; `pad` empty groups make it longer than it need be. */
export function varintBytes(value, pad = 0) {
  if (value >= 0 && value < SMALL.length && pad === 0) return SMALL[Number(value)]
  const bytes = []
  let left = BigInt.asUintN(64, BigInt(value))
  while (left > 127n) {
    bytes.push(Number(left & 127n) | 128)
    left >>= 7n
  }
  bytes.push(Number(left))
  for (let i = 0; i < pad; i++) {
    bytes[bytes.length - 1] |= 128
    bytes.push(0)
  }
  return Buffer.from(bytes)
}

/**
 * The bytes of a tree. Besides what `parseWire` makes, a field may carry `pad` (an overlong number), `lie` (added to
 * its length), `group`
 * (written as a
 * group; `'open'` leaves out its end) and `raw` (written as it is, tag and all).
 */
export function writeWire(message) {
  const parts = []
  for (const field of message.fields) writeField(field, parts)
  return Buffer.concat(parts)
}

function writeField(field, parts) {
  if (field.raw) {
    parts.push(field.raw)
    return
  }
  const tag = wire => varintBytes(field.number * 8 + wire)
  parts.push(tag(field.group ? 3 : field.wire))
  if (field.wire === 0) parts.push(varintBytes(field.value, field.pad))
  else {
    const content = contentOf(field)
    if (field.wire === 2 && !field.group) parts.push(varintBytes(content.length + (field.lie ?? 0), field.pad))
    parts.push(content)
    if (field.group === 'closed') parts.push(tag(4))
  }
}

export const contentOf = ({ message, numbers, bytes }) =>
  message ? writeWire(message) : numbers ? Buffer.concat(numbers.map(number => varintBytes(number))) : bytes

/** A deep copy of a field or message. */
export function copyOf(node) {
  if (node.fields) return { type: node.type, fields: node.fields.map(copyOf) }
  return {
    ...node,
    ...(node.message && { message: copyOf(node.message) }),
    ...(node.numbers && { numbers: [...node.numbers] }),
    ...(node.bytes && { bytes: Buffer.from(node.bytes) })
  }
}

/** Every message of a tree, the root first. */
export function messagesIn(message, found = []) {
  found.push(message)
  for (const { message: inner } of message.fields) if (inner) messagesIn(inner, found)
  return found
}

/** The messages of one type, by its short name. */
export const messagesOf = (root, name) => messagesIn(root).filter(({ type }) => type === `onnx.${name}`)

export const fieldsNamed = (message, name) => message.fields.filter(({ known }) => known?.name === name)
export const fieldOf = (message, name) => fieldsNamed(message, name)[0]
export const textOf = (message, name) => fieldOf(message, name)?.bytes?.toString() ?? ''

/** A field of a message by name, ready to be added. */
export function makeField(type, name, what) {
  const [number, known] = knownFields(type).find(([, row]) => row.name === name)
  if (typeof what === 'bigint') return { number, wire: 0, known, value: what }
  if (typeof what === 'string') return { number, wire: 2, known, bytes: Buffer.from(what) }
  if (Buffer.isBuffer(what))
    return { number, wire: known.type === 'float' && what.length === 4 ? 5 : 2, known, bytes: what }
  if (Array.isArray(what)) return { number, wire: 2, known, numbers: what }
  return { number, wire: 2, known, message: { type: known.message, fields: what.fields } }
}

/** Replaces all fields of a name by one (or none). */
export function setField(message, name, what) {
  message.fields = message.fields.filter(({ known }) => known?.name !== name)
  if (what !== undefined) message.fields.push(makeField(message.type, name, what))
}

/**
 * A message of a short type name from `{ field: what | [what] }`; lists add a field each, packed numbers come as `{
 * packed: […] }`.
 */
export function make(shortType, parts) {
  const type = `onnx.${shortType}`
  const fields = Object.entries(parts).flatMap(([name, what]) =>
    (Array.isArray(what) ? what : [what])
      .filter(item => item !== undefined)
      .map(item => makeField(type, name, item.packed ?? item))
  )
  return { type, fields }
}
