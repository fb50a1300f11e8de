// Writes src/bind/schemas/onnx.ts, onnxruntime.ts and openvino.ts, the facts of the published operator schemas.
//
//   node scripts/make-schemas.mjs          from the tables that are there: puts them in order after an edit by hand
//   node scripts/make-schemas.mjs FOLDER   from onnx_ops.json, contrib_ops.json and openvino_opsets.json, to take in a
//                                          new release
//
// The tables hold all facts that the program uses and are under version control, so a clone needs no other source. The
// JSON files list, for each operator and version, what `onnx.defs`, ONNX Runtime's schemas of its own operators, and
// the opset headers and pages of OpenVINO say.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2]
const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'))

const ELEMENT_TYPES = { float: 'float32', double: 'float64' }
const elementType = name => ELEMENT_TYPES[name] ?? name
const shortType = text =>
  text
    .replace(/tensor\((\w+)\)/g, (_, name) => elementType(name))
    .replace(/map\((\w+), (\w+)\)/g, (_, key, value) => `map(${key},${elementType(value)})`)

const KINDS = { single: 0, optional: 1, variadic: 2 }

/** A version of an operator of the standard. `setOf` numbers type sets. */
function onnxVersion(since, op, setOf) {
  const variable = text => (text in op.types ? setOf(op.types[text]) : setOf([text]))
  const port = ([portName, type, kind]) => [portName, type, variable(type), KINDS[kind]]
  const attributes = Object.entries(op.attributes).map(([attribute, { type, required, ...rest }]) => [
    attribute,
    type,
    required ? 1 : 0,
    ...('default' in rest ? [rest.default] : [])
  ])
  const arity = op.arity.map(n => (n === 'inf' ? -1 : n))
  return [since, op.inputs.map(port), op.outputs.map(port), arity, attributes, op.deprecated ? 1 : 0]
}

function onnxSchemas() {
  const { ops, opset } = read('onnx_ops.json')
  const sets = new Map()
  const setOf = list => {
    const key = list.map(shortType).sort().join(' ')
    if (!sets.has(key)) sets.set(key, sets.size)
    return sets.get(key)
  }
  const operators = Object.entries(ops).map(([name, versions]) => [
    name,
    Object.entries(versions).map(([since, op]) => onnxVersion(Number(since), op, setOf))
  ])
  return { opset, operators, sets: [...sets.keys()] }
}

/** Operators that ONNX Runtime adds: com.microsoft, and those of ai.onnx that only ONNX Runtime knows. */
function onnxruntimeSchemas() {
  const sets = new Map()
  const setOf = list => {
    const key = list.map(shortType).sort().join(' ')
    if (!sets.has(key)) sets.set(key, sets.size)
    return sets.get(key)
  }
  const operators = read('contrib_ops.json').map(op => {
    const port = ({ name, type, option }) => [name, type, setOf(op.types[type] ?? [type]), KINDS[option]]
    const attributes = Object.entries(op.attributes).map(([attribute, { type, required, ...rest }]) => {
      const value = rest.default ?? rest.kernel_default
      // Some defaults are formulas (1/sqrt(head_size)), which the operators compute.
      const isPlain = value !== undefined && (type === 'string' || typeof value !== 'string')
      return [attribute, type, required ? 1 : 0, ...(isPlain ? [value] : [])]
    })
    const open = count => count ?? -1
    const arity = [op.min_inputs, open(op.max_inputs), op.min_outputs, open(op.max_outputs)]
    const version = [op.since, op.inputs.map(port), op.outputs.map(port), arity, attributes, op.deprecated ? 1 : 0]
    return [`${op.domain}::${op.name}`, [version]]
  })
  // Files name these in opsets before their own, too, as they do LayerNormalization. The last is another one there.
  const { ops } = read('onnx_ops.json')
  const early = (name, since, changes) => {
    const key = `ai.onnx::${name}`
    operators.push([key, [onnxVersion(1, { ...ops[key][since], ...changes }, setOf)]])
  }
  early('Gelu', 20)
  early('ThresholdedRelu', 10)
  const flags = { across_channels: { type: 'int', default: 0 }, normalize_variance: { type: 'int', default: 1 } }
  early('MeanVarianceNormalization', 9, { attributes: flags })
  return { operators, sets: [...sets.keys()] }
}

function openvinoSchemas() {
  const { ops, meta } = read('openvino_opsets.json')
  const split = key => key.split('@opset')
  const draft = new Set(meta.opset17_draft)
  const listed = Object.entries(ops).map(([key, op]) => [
    op.ir_type,
    Number(split(key)[1]),
    draft.delete(key) ? [...op.in_opsets, 17] : op.in_opsets,
    op.attributes.map(a => [
      a.name,
      a.type,
      a.required ? 1 : 0,
      a.default ?? null,
      a.absent ?? null,
      a.absent_is_error ? 1 : 0
    ])
  ])
  // Of what opset 17 brings, the list names a part, without attributes.
  const onePlane = ['single_plane', 'bool', 0, 'true', 'true', 0]
  const attributesOf = { RGBtoNV12: [onePlane], BGRtoNV12: [onePlane] }
  const added = new Set([...draft, 'GroupedMatMul@opset17'])
  return [...listed, ...[...added].map(key => [split(key)[0], 17, [17], attributesOf[split(key)[0]] ?? []])]
}

/** JSON.stringify writes -0 as 0. */
const NEGATIVE_ZERO = 'negative zero'
const json = entry =>
  JSON.stringify(entry, (_, value) => (Object.is(value, -0) ? NEGATIVE_ZERO : value)).replaceAll(
    `"${NEGATIVE_ZERO}"`,
    '-0'
  )
const lines = list => list.map(json).join(',\n')
const literal = text => text.replace(/[\\`]|\$\{/g, '\\$&')
const HEAD = '// Written by scripts/make-schemas.mjs; facts, not code. Types of the entries: types.ts.\n'
const ONNX_LEGEND = `// sets: type sets, one a line, which ports name by position.
// operators: one a line, domain::Type [version …] (JSON); a line is parsed when its operator is asked for.
// version: [since, inputs, outputs, arity, attributes, deprecated]
// arity: [min inputs, max inputs, min outputs, max outputs], -1: open
// port: [name, type variable, type set, 0 single | 1 optional | 2 variadic]
// attribute: [name, type, 1 required | 0, default where there is one]
`
const OPENVINO_LEGEND = `// entry: [type in a file, version, opsets that hold it, attributes]
// attribute: [name, type, 1 required | 0, default of the specification, what OpenVINO takes where it is absent,
//   1 absence is an error | 0]
// A node without the attribute gets what OpenVINO takes, else the default of the specification. "required" is what the
// specification says: where OpenVINO takes a value all the same, the node is valid and \`check\` notes it.
`

/** The text of a table that is there. */
const textOf = name => readFileSync(`src/bind/schemas/${name}.ts`, 'utf8')
const unescaped = text => text.replace(/\\([\\`$])/g, '$1')

/** What a table of ONNX that is there holds. */
function existingOnnx(name) {
  const text = textOf(name)
  const linesOf = part => unescaped(new RegExp(`${part}: \`\n([^]*?)\n\``).exec(text)[1]).split('\n')
  const operators = linesOf('operators').map(line => {
    const end = line.indexOf(' ')
    return [line.slice(0, end), JSON.parse(line.slice(end + 1))]
  })
  return { opset: Number(/opset: (\d+)/.exec(text)?.[1]), sets: linesOf('sets'), operators }
}

const existingOpenvino = () => JSON.parse(unescaped(/JSON\.parse\(`([^]*)`\)/.exec(textOf('openvino'))[1]))

const onnx = folder ? onnxSchemas() : existingOnnx('onnx')
const onnxruntime = folder ? onnxruntimeSchemas() : existingOnnx('onnxruntime')
const openvino = folder ? openvinoSchemas() : existingOpenvino()

/** The file of a table of ONNX. */
function writeOnnx(name, type, { opset, sets, operators }) {
  const versions = operators.map(([key, list]) => `${key} ${json(list)}`)
  writeFileSync(
    `src/bind/schemas/${name}.ts`,
    `${HEAD}${ONNX_LEGEND}import type { ${type} } from './types.ts'

export const ${name}Schemas: ${type} = {
${opset ? `  opset: ${opset},\n` : ''}  sets: \`
${literal(sets.join('\n'))}
\`,
  operators: \`
${literal(versions.join('\n'))}
\`
}
`
  )
}

writeOnnx('onnx', 'OnnxSchemas', onnx)
writeOnnx('onnxruntime', 'OnnxTables', onnxruntime)
writeFileSync(
  'src/bind/schemas/openvino.ts',
  `${HEAD}${OPENVINO_LEGEND}import type { OpenvinoSchemas } from './types.ts'

export const openvinoSchemas = (): OpenvinoSchemas => JSON.parse(\`[
${literal(lines(openvino))}]\`) as OpenvinoSchemas
`
)
