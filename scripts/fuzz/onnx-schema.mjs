// What proto/onnx.proto says of the fields of its messages. Every process of the fuzzer reads it, so it is read here,
// as far as that file goes: protobufjs takes longer to load than a small mutant to run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './corpus.mjs'

const BLOCK = /^\s*(message|enum|oneof) (\w+) \{$/
const FIELD = /^\s*(?:(repeated|optional) )?(\w+) (\w+) = (\d+)(?: \[[^\]]*\])?;$/
const SCALAR = /^[a-z]/
/** Fields that Nodewise adds to the format have higher numbers. */
const FIRST_OWN = 1000

/** The messages and enums by full name: the fields of a message as they are written, `undefined` for an enum. */
function declarationsIn(source) {
  const found = new Map()
  const open = ['onnx']
  for (const line of source.split('\n')) {
    const [, kind, name] = BLOCK.exec(line) ?? []
    if (kind !== undefined) {
      // A oneof adds no name.
      open.push(kind === 'oneof' ? open.at(-1) : `${open.at(-1)}.${name}`)
      if (kind !== 'oneof') found.set(open.at(-1), kind === 'message' ? [] : undefined)
    } else if (/^\s*\}$/.test(line)) open.pop()
    else {
      const [, label, type, field, number] = FIELD.exec(line) ?? []
      if (type !== undefined) found.get(open.at(-1)).push([Number(number), field, type, label === 'repeated'])
    }
  }
  return found
}

const declarations = declarationsIn(readFileSync(join(ROOT, 'proto/onnx.proto'), 'utf8'))

/** The full name of a type that a message names: one within it or within what it is in. */
function fullName(type, within) {
  for (let scope = within; scope !== ''; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.'))))
    if (declarations.has(`${scope}.${type}`)) return `${scope}.${type}`
  throw new Error(`${within} names ${type}, which there is not`)
}

function fieldOf(within, [number, name, type, repeated]) {
  if (SCALAR.test(type)) return [number, { name, type, message: undefined, repeated }]
  const full = fullName(type, within)
  const isMessage = declarations.get(full) !== undefined
  return [number, { name, type: isMessage ? 'message' : 'enum', message: isMessage ? full : undefined, repeated }]
}

/** The full names of all messages. */
export const messageTypes = [...declarations].flatMap(([name, fields]) => (fields === undefined ? [] : [name]))

/** Field number → `{ name, type, message?, repeated }`, by full name of the message. */
const tables = new Map()

/** What the schema says of the fields of a message, by their numbers; `type` is `enum` for enums. */
export function fieldsOf(type) {
  let table = tables.get(type)
  if (table === undefined) {
    const fields = declarations.get(type).map(field => fieldOf(type, field))
    tables.set(type, (table = new Map(fields.filter(([number]) => number < FIRST_OWN))))
  }
  return table
}
