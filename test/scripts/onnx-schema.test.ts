import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { expect, test } from 'vitest'
import { fieldsOf, messageTypes } from '../../scripts/fuzz/onnx-schema.mjs'

/** Field number, name, type, message and whether it is repeated, in the order of the schema. */
type Row = readonly [number, string, string, string | undefined, boolean]

const source = readFileSync(join(import.meta.dirname, '../../proto/onnx.proto'), 'utf8')

/** The same as protobufjs reads it. */
function* messagesIn(namespace: protobuf.NamespaceBase): Generator<readonly [string, Row[]]> {
  for (const item of namespace.nestedArray) {
    if (item instanceof protobuf.Type)
      yield [
        item.fullName.slice(1),
        item.fieldsArray
          // The others are Nodewise's own.
          .filter(({ id }) => id < 1000)
          .map(({ id, name, type, resolvedType, repeated }) => {
            const message = resolvedType instanceof protobuf.Type ? resolvedType.fullName.slice(1) : undefined
            return [id, name, message ? 'message' : resolvedType ? 'enum' : type, message, repeated]
          })
      ]
    if (item instanceof protobuf.Namespace) yield* messagesIn(item)
  }
}

test('the fuzzer reads the schema of ONNX as protobufjs does', () => {
  const { root } = protobuf.parse(source, { keepCase: true })
  const read = messageTypes.map(type => [
    type,
    [...fieldsOf(type)].map(([number, { name, type: kind, message, repeated }]) => [
      number,
      name,
      kind,
      message,
      repeated
    ])
  ])
  expect(read).toEqual([...messagesIn(root.resolveAll())])
  expect(messageTypes).toContain('onnx.TensorShapeProto.Dimension')
})
