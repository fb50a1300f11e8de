import { fail } from '../errors.ts'
import { FIELDS, type WireField } from './schema.js'

/** What the skim needs to know of a message type. */
export interface MessageKind {
  readonly name: string
  /** Whether it is a graph or the body of a function, whose nesting is limited. */
  readonly isGraph: boolean
  /** By field number. */
  readonly fields: ReadonlyMap<number, FieldKind>
  /** Memory that a message of this type takes, in units of {@link BYTES_PER_UNIT}. */
  readonly cost: number
  /** Whether values of its fields may be left in the file. */
  readonly hasPayloads: boolean
}

/** What the skim needs to know of a field. */
export interface FieldKind extends WireField {
  /** `NodeProto.input`, for messages. */
  readonly title: string
  /** Whether the loader has no use for the field. */
  readonly isUnused: boolean
  /** Whether it holds elements of a tensor. */
  readonly isElements: boolean
  /** Whether it holds entries of an attribute's list. */
  readonly isEntries: boolean
  /** Memory that a value of the field takes, in units of {@link BYTES_PER_UNIT}; of packed lists, per byte. */
  readonly cost: number
  /** The same of a list that is left in the file and decoded where somebody reads it. */
  readonly costInFile: number
}

const ELEMENT_FIELDS = new Set([
  'raw_data',
  'float_data',
  'int32_data',
  'string_data',
  'int64_data',
  'double_data',
  'uint64_data'
])

const ENTRY_FIELDS = new Set(['AttributeProto.floats', 'AttributeProto.ints', 'AttributeProto.strings'])

/** Fields that do not change what a graph means, or that are not supported. */
const UNUSED = new Set([
  'doc_string',
  'denotation',
  'ModelProto.training_info',
  'ModelProto.configuration',
  'GraphProto.quantization_annotation',
  'NodeProto.device_configurations',
  'GraphProto.metadata_props',
  'NodeProto.metadata_props',
  'ValueInfoProto.metadata_props',
  'TensorProto.metadata_props',
  'FunctionProto.metadata_props'
])

/** Costs are counted in units of about 64 bytes of memory. */
export const BYTES_PER_UNIT = 64

/**
 * Measured costs of the parts of a loaded model. Others: {@link COST_OF_MESSAGE} for messages, 1 for numbers and texts.
 */
const COST: Readonly<Record<string, number>> = {
  NodeProto: 24,
  AttributeProto: 10,
  GraphProto: 32,
  FunctionProto: 32,
  TensorProto: 32,
  SparseTensorProto: 16,
  ValueInfoProto: 16,
  'NodeProto.output': 12,
  'AttributeProto.ints': 2,
  'AttributeProto.strings': 3,
  'TensorProto.dims': 2
}
const COST_OF_MESSAGE = 4
/** A decoded integer is a bigint, and a pointer to it. */
const COST_IN_FILE: Readonly<Record<string, number>> = {
  'AttributeProto.floats': 1 / 8,
  'AttributeProto.ints': 1 / 2
}

function fieldsOf(message: string): Map<number, FieldKind> {
  return new Map(
    Object.entries(FIELDS[message]).map(([number, field]) => {
      const title = `${message}.${field.name}`
      const kind: FieldKind = {
        ...field,
        title,
        isUnused: UNUSED.has(field.name) || UNUSED.has(title),
        isElements: message === 'TensorProto' && ELEMENT_FIELDS.has(field.name),
        isEntries: ENTRY_FIELDS.has(title),
        cost: COST[title] ?? 1,
        costInFile: COST_IN_FILE[title] ?? 1
      }
      return [Number(number), kind]
    })
  )
}

/** Made when they are first asked for: most files have messages of a few types. */
const kinds = new Map<string, MessageKind>()

/** The kind of a message type by its name in proto/. */
export function messageKind(name: string): MessageKind {
  const known = kinds.get(name)
  if (known) return known
  if (!Object.hasOwn(FIELDS, name)) fail('internal', `the schema has no message ${name}`)
  const kind: MessageKind = {
    name,
    isGraph: name === 'GraphProto' || name === 'FunctionProto',
    fields: fieldsOf(name),
    cost: COST[name] ?? COST_OF_MESSAGE,
    hasPayloads: name === 'TensorProto' || name === 'AttributeProto'
  }
  kinds.set(name, kind)
  return kind
}
