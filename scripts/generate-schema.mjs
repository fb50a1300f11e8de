// Generates src/onnx/schema.js from proto/: decoders of the ONNX messages (static code of protobufjs, without eval),
// and a table of the fields on the wire for the skim (src/onnx/skim.ts). Its types are in src/onnx/schema.d.ts.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import protobuf from 'protobufjs'
import pbjs from 'protobufjs-cli/pbjs.js'

const path = relative => fileURLToPath(new URL(relative, import.meta.url))
const folder = path('../proto/')
const source = path('../proto/onnx-data.proto')

const decoders = await promisify(pbjs.main)([
  '--target',
  'static-module',
  '--wrap',
  'esm',
  '--dependency',
  'protobufjs/minimal.js',
  '--root',
  'nodewise',
  '--path',
  folder,
  '--keep-case',
  '--lint',
  '',
  '--no-create',
  '--no-encode',
  '--no-verify',
  '--no-convert',
  '--no-delimited',
  '--no-typeurl',
  '--no-service',
  '--no-comments',
  source
])

/**
 * A file of 100,000 nodes has a million lists, most of them empty or of one or two entries. The generator gives each
 * message an array a field at once, and a list that grows by `push` has room for seventeen; so messages share the empty
 * list of their prototype, and short lists are made at their length. Loading takes a third less memory and time.
 */
const slim = code =>
  code
    .replace(/^ +this\.\w+ = \[\];\n/gm, '')
    .replace(
      /if \(!\(message\.(\w+) && message\.\1\.length\)\)\s+message\.\1 = \[\];\s+message\.\1\.push\((.+)\);/g,
      (_, field, item) => `message.${field} = $append(message.${field}, ${item});`
    )

const APPEND = `const $append = (list, item) => {
    if (list.length === 0) return [item];
    if (list.length === 1) return [list[0], item];
    list.push(item);
    return list;
};
`

/** Wire types of protobuf's encoding by scalar type; enums are varints, messages are length-delimited. */
const WIRE = { int32: 0, int64: 0, uint32: 0, uint64: 0, double: 1, string: 2, bytes: 2, float: 5 }
/** Fields that Nodewise adds to the skeleton. They are not in the table, so a file that has them does not set them. */
const PRIVATE = new Set(['TensorProto.payload', 'AttributeProto.payload'])

const root = new protobuf.Root()
root.resolvePath = (_, target) => (target === source ? target : folder + target)
root.loadSync(source, { keepCase: true }).resolveAll()

function* messages(namespace) {
  for (const item of namespace.nestedArray) {
    if (item instanceof protobuf.Type) yield item
    if (item instanceof protobuf.Namespace) yield* messages(item)
  }
}

const nameOf = type => type.fullName.replace('.onnx.', '')

function fieldRow(field) {
  const { resolvedType } = field
  if (resolvedType instanceof protobuf.Type) return { name: field.name, wire: 2, message: nameOf(resolvedType) }
  const wire = resolvedType instanceof protobuf.Enum ? 0 : WIRE[field.type]
  if (wire === undefined) throw new Error(`no wire type for ${field.fullName}`)
  return { name: field.name, wire, ...(field.repeated && wire !== 2 && { list: true }) }
}

function tableOf(type) {
  const fields = type.fieldsArray.filter(field => !PRIVATE.has(`${nameOf(type)}.${field.name}`))
  return Object.fromEntries(fields.map(field => [field.id, fieldRow(field)]))
}

const table = Object.fromEntries([...messages(root)].map(type => [nameOf(type), tableOf(type)]))

writeFileSync(
  path('../src/onnx/schema.js'),
  `// Made by scripts/generate-schema.mjs; do not edit.
${slim(decoders)}
${APPEND}
export const FIELDS = ${JSON.stringify(table)}
`
)
