import type { Attribute } from '../graph/graph.ts'
import { onnxSchemas } from './schemas/onnx.ts'
import { onnxruntimeSchemas } from './schemas/onnxruntime.ts'
import { openvinoSchemas } from './schemas/openvino.ts'
import type { OnnxPort, OnnxTables, OnnxVersion } from './schemas/types.ts'

/** What the reference tables say of an attribute. */
export interface AttributeSchema {
  readonly name: string
  /** Without it the node is an error. */
  readonly required: boolean
  /** IR: the specification requires it. Where OpenVINO takes a value all the same, `check` notes the absence. */
  readonly expected?: boolean
  /** The value to take when it is absent. */
  readonly absent?: Attribute
  /** ONNX: the kind it must have. */
  readonly kind?: string
}

/** An input or output as ONNX declares it. */
export interface PortSchema {
  readonly name: string
  readonly variable: string
  /** Names as in `Fact`s: `float32`, `seq(int64)`. */
  readonly types: ReadonlySet<string>
  readonly kind: 'single' | 'optional' | 'variadic'
}

/** One version of an operator. IR has no table of inputs. */
export interface OpSchema {
  readonly version: number
  readonly attributes: ReadonlyMap<string, AttributeSchema>
  readonly inputs?: readonly PortSchema[]
  readonly arity?: readonly [number, number, number, number]
  /** ONNX: the standard advises against the operator from this version on. */
  readonly deprecated?: true
  /** ONNX: ONNX Runtime has this version in a domain of the standard, which does not have it. */
  readonly isExtra?: true
}

/** A version and the table that its type sets are in. */
interface TabledVersion {
  readonly version: OnnxVersion
  readonly table: OnnxTables
}

const schemas = new Map<string, OpSchema>()

/** Newest ONNX opset that the table knows. */
export const newestOpset = (): number => onnxSchemas.opset

/** Whether the standard defines a domain's operators: one that it does not name does not exist. */
export const isStandardDomain = (domain: string): boolean =>
  !/\s/.test(domain) && onnxSchemas.operators.includes(`\n${domain}::`)

/** What the tables say of an operator, in ascending order of versions; nothing of some names that no table has. */
const tabledVersions = new Map<string, readonly TabledVersion[]>()
/** Names that no table has: a file may have any number of them, and of any length, but most repeat a few. */
let unknownNames = 0
const MAX_UNKNOWN = 256
const MAX_UNKNOWN_LENGTH = 256

function versionsOf(key: string): readonly TabledVersion[] {
  const known = tabledVersions.get(key)
  if (known) return known
  const versions = [onnxSchemas, onnxruntimeSchemas]
    .flatMap(table => lineOf(table, key).map(version => ({ version, table })))
    .sort((a, b) => a.version[0] - b.version[0])
  const isKept = versions.length > 0 || (key.length <= MAX_UNKNOWN_LENGTH && unknownNames++ < MAX_UNKNOWN)
  if (isKept) tabledVersions.set(key, versions)
  return versions
}

/** The versions of an operator in one table. */
function lineOf({ operators }: OnnxTables, key: string): readonly OnnxVersion[] {
  const start = /\s/.test(key) ? -1 : operators.indexOf(`\n${key} `)
  if (start < 0) return []
  const text = operators.slice(start + key.length + 2, operators.indexOf('\n', start + 1))
  return JSON.parse(text) as readonly OnnxVersion[]
}

const setsOfTables = new Map<OnnxTables, readonly (() => ReadonlySet<string>)[]>()

/** The type sets of a table, by place; sparse tensors are dense ones here. */
function setsOf(table: OnnxTables): readonly (() => ReadonlySet<string>)[] {
  const known = setsOfTables.get(table)
  if (known) return known
  const sets = table.sets
    .trim()
    .split('\n')
    .map(line => once(() => new Set(line.split(' ').map(type => type.replace(/^sparse_/, '')))))
  setsOfTables.set(table, sets)
  return sets
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** The schema in force for `domain::type` under an opset import, or undefined when the opset has no such operator. */
export function onnxSchema(domain: string, type: string, opset: number): OpSchema | undefined {
  const found = versionsOf(`${domain}::${type}`)
    .filter(({ version }) => version[0] <= opset)
    .at(-1)
  if (!found) return undefined
  const { table } = found
  const [version, inputs, , arity, attributes, deprecated] = found.version
  const key = `onnx ${domain} ${type} ${version}`
  const cached = schemas.get(key)
  if (cached) return cached
  const KINDS = ['single', 'optional', 'variadic'] as const
  const port = ([name, variable, set, kind]: OnnxPort): PortSchema => ({
    name,
    variable,
    types: setsOf(table)[set](),
    kind: KINDS[kind]
  })
  const open = (count: number): number => (count < 0 ? Infinity : count)
  const schema: OpSchema = {
    version,
    ...(deprecated === 1 && { deprecated: true }),
    ...(table === onnxruntimeSchemas && isStandardDomain(domain) && { isExtra: true }),
    inputs: inputs.map(port),
    arity: [arity[0], open(arity[1]), arity[2], open(arity[3])],
    attributes: new Map(
      attributes.map(([name, kind, required, absent]) => [
        name,
        { name, kind, required: required === 1, ...(absent !== undefined && { absent: onnxDefault(kind, absent) }) }
      ])
    )
  }
  schemas.set(key, schema)
  return schema
}

function onnxDefault(kind: string, value: unknown): Attribute {
  switch (kind) {
    case 'int':
      return { kind, value: BigInt(value as number) }
    case 'float':
      // Attributes are float32. The tables of ONNX say so; those of ONNX Runtime say what was written there, 1e-5.
      return { kind, value: Math.fround(value as number) }
    case 'string':
      return { kind, value: value as string }
    case 'ints':
      return { kind, value: (value as number[]).map(BigInt) }
    case 'floats':
      return { kind, value: value as number[] }
    default:
      return { kind: 'strings', value: value as string[] }
  }
}

let openvino: Map<string, { version: number; schema: OpSchema; name: string }> | undefined

/** Type names that differ between files and operator classes. */
const ALIASES: Readonly<Record<string, string>> = { constant: 'const' }
/** Versions that are read as another opset's table for some types. */
const OPSET6_EXTENSIONS = new Set([
  'experimentaldetectrondetectionoutput',
  'experimentaldetectrongenerateproposalssingleimage',
  'experimentaldetectronpriorgridgenerator',
  'experimentaldetectronroifeatureextractor',
  'experimentaldetectrontopkrois',
  'grucell',
  'rnncell',
  'proposal'
])
const OPSET2_FALLBACK = new Set(['mvn', 'roipooling', 'reorgyolo'])

/**
 * The schema that a layer's `type` and `version` name, and the operator's name; undefined when that opset has no such
 * operator.
 */
export function openvinoSchema(type: string, version: string): { name: string; schema: OpSchema } | undefined {
  openvino ??= buildOpenvino()
  const lower = type.toLowerCase()
  const name = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower
  const direct = openvino.get(`${version}:${name}`)
  if (direct) return direct
  if (version === 'opset1' && OPSET2_FALLBACK.has(name)) return openvino.get(`opset2:${name}`)
  if ((version === 'experimental' || version === 'extension') && OPSET6_EXTENSIONS.has(name))
    return openvino.get(`opset6:${name}`)
  return undefined
}

/**
 * Whether a layer names an operator of IR in an opset that is newer than all that are known: what it means there is not
 * known.
 */
export function isTooNew(type: string, version: string): boolean {
  newest ??= newestOpsets()
  const known = newest.get(type.toLowerCase())
  return known !== undefined && Number(/^opset(\d+)$/.exec(version)?.[1] ?? 0) > known
}

/** The newest opset of all, for each type of IR. */
let newest: ReadonlyMap<string, number> | undefined

function newestOpsets(): ReadonlyMap<string, number> {
  const schemas = openvinoSchemas()
  const opset = Math.max(...schemas.flatMap(([, , opsets]) => opsets))
  return new Map(schemas.map(([name]) => [name.toLowerCase(), opset]))
}

function buildOpenvino(): NonNullable<typeof openvino> {
  const index: NonNullable<typeof openvino> = new Map()
  for (const [name, version, opsets, attributes] of openvinoSchemas()) {
    const schema: OpSchema = {
      version,
      attributes: new Map(
        attributes.map(([attribute, type, required, documented, absent, absentIsError]) => {
          // A file means what OpenVINO makes of it, also where its specification gives another default.
          const value = absent ?? documented
          return [
            attribute,
            {
              name: attribute,
              required: absentIsError === 1,
              expected: required === 1,
              ...(value !== null && { absent: openvinoDefault(value, type) })
            }
          ]
        })
      )
    }
    for (const opset of opsets) index.set(`opset${opset}:${name.toLowerCase()}`, { name, version, schema })
  }
  return index
}

/** Documented defaults write lists in brackets, files do not. */
const openvinoDefault = (value: string, type: string): Attribute => ({
  kind: 'text',
  value: type.startsWith('list') || type === 'i64[]' ? value.replace(/^\[(.*)\]$/, '$1') : value,
  place: {}
})

/** Operators of the tables by dialect, for `ops` and for the test that lists what is missing. */
export function allTypes(
  dialect: 'onnx' | 'openvino'
): { domain: string; type: string; versions: readonly number[] }[] {
  if (dialect === 'onnx') {
    const keys = [onnxSchemas, onnxruntimeSchemas].flatMap(({ operators }) => operators.match(/^\S+(?= )/gm) ?? [])
    return [...new Set(keys)].map(key => {
      const [domain, type] = key.split('::')
      return { domain, type, versions: versionsOf(key).map(({ version }) => version[0]) }
    })
  }
  const byName = new Map<string, number[]>()
  for (const [name, version] of openvinoSchemas()) byName.set(name, [...(byName.get(name) ?? []), version])
  return [...byName].map(([type, versions]) => ({ domain: 'openvino', type, versions }))
}
