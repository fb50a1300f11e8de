import type { Attribute, Constant, Graph } from '../graph/graph.ts'
import type { FileContext, Located, Problem } from './context.ts'
import { listInFile } from './lists.ts'
import { bigintOf } from './numbers.ts'
import { type AttributeProto, type GraphProto, onnx } from './schema.js'
import type { Payload } from './skim.ts'
import { sparseConstantOf } from './sparse.ts'
import { constantOf, type ConstantResult } from './tensors.ts'
import { decodeText } from './text.ts'
import { declaredType } from './types.ts'

/** What reading an attribute needs to know of its node. */
export interface AttributeContext {
  readonly context: FileContext
  /** The node or function that has the attribute. */
  readonly at: Located
  /** Whether the node is in a function: its attributes may refer to attributes of the function's call. */
  readonly inFunction: boolean
  report(problem: Problem): void
  /** Builds the graph that an attribute holds. `segment` is the attribute's name, with an index in a list of graphs. */
  body(proto: GraphProto, segment: string): Graph
}

/** The field of AttributeProto that holds the value, by the number of AttributeProto.AttributeType. */
const FIELD_OF_TYPE = [
  undefined,
  'f',
  'i',
  's',
  't',
  'g',
  'floats',
  'ints',
  'strings',
  'tensors',
  'graphs',
  'sparse_tensor',
  'sparse_tensors',
  'tp',
  'type_protos'
] as const
type ValueField = NonNullable<(typeof FIELD_OF_TYPE)[number]>

const ORDER: ReadonlyMap<string | undefined, number> = new Map(FIELD_OF_TYPE.map((field, i) => [field, i]))
const isValueField = (name: string): name is ValueField => ORDER.has(name)

/**
 * Attributes by name, in the order of the file. Reports duplicates, of which the first one is kept, and attributes
 * without a value, which are left out.
 */
export function readAttributes(protos: readonly AttributeProto[], reading: AttributeContext): Map<string, Attribute> {
  const attributes = new Map<string, Attribute>()
  for (const proto of protos) {
    if (attributes.has(proto.name)) {
      reading.report({ code: 'duplicate-attribute', message: `attribute "${proto.name}" is given twice` })
      continue
    }
    const attribute = readAttribute(proto, reading)
    if (attribute !== undefined) attributes.set(proto.name, attribute)
  }
  return attributes
}

function readAttribute(proto: AttributeProto, reading: AttributeContext): Attribute | undefined {
  const { name, ref_attr_name: reference } = proto
  if (reference !== '') {
    if (!reading.inFunction)
      reading.report(invalid(`attribute "${name}" refers to "${reference}", but this is no function`))
    const type = onnx.AttributeProto.AttributeType[proto.type]
    return { kind: 'reference', value: reference, ...(proto.type > 0 && type && { of: type.toLowerCase() }) }
  }
  const field = valueField(proto, reading)
  return field === undefined ? undefined : valueOf(field, proto, reading)
}

/** The field to read: the one that the type names, or the one that has a value where the type is absent or wrong. */
function valueField(proto: AttributeProto, { context, report }: AttributeContext): ValueField | undefined {
  const named: ValueField | undefined = FIELD_OF_TYPE[proto.type]
  const present = fieldsWithValue(proto, context)
  const [first] = present
  if (present.length === 1 && first === named) return named
  if (named === undefined) {
    if (present.length > 1)
      report(invalid(`attribute "${proto.name}" has no type and values of several: ${present.join(', ')}`))
    else if (first === undefined) report(invalid(`attribute "${proto.name}" has neither type nor value`))
    return first
  }
  const others = present.filter(field => field !== named)
  const typeName = onnx.AttributeProto.AttributeType[proto.type]
  if (others.length > 0 && others.length === present.length) {
    report(invalid(`attribute "${proto.name}" is of type ${typeName} but its value is in field "${first}"`))
    return first
  }
  if (others.length > 0) {
    const message = `attribute "${proto.name}" of type ${typeName} has other values too: ${others.join(', ')}`
    report({ ...invalid(message), severity: 'warning' })
  }
  // Writers of protobuf 3 leave out numbers that are 0 and texts that are empty, and no writer writes an empty list.
  if (present.length > 0 || Array.isArray(proto[named]) || named === 'f' || named === 'i' || named === 's') return named
  report(invalid(`attribute "${proto.name}" of type ${typeName} has no value`))
  return undefined
}

const invalid = (message: string): Problem => ({ code: 'invalid-attribute', message })

/** The fields that have a value, in the order of their types. */
function fieldsWithValue(proto: AttributeProto, { payloads }: FileContext): readonly ValueField[] {
  const present: ValueField[] = []
  // A message has as its own those fields that the file gives it.
  for (const field of Object.keys(proto)) if (isValueField(field) && !isEmptyList(proto[field])) present.push(field)
  for (const number of proto.payload) {
    const { field } = payloads[number]
    if (isValueField(field) && !present.includes(field)) present.push(field)
  }
  return present.length > 1 ? present.sort((a, b) => ORDER.get(a)! - ORDER.get(b)!) : present
}

const isEmptyList = (value: AttributeProto[ValueField]): boolean => Array.isArray(value) && value.length === 0

/** Where entries of a list are that have been left in the file. */
const inFile = ({ payload }: AttributeProto, field: ValueField, { payloads }: FileContext): Payload[] =>
  payload.map(number => payloads[number]).filter(found => found.field === field)

/** The constants, or undefined where one of them could not be made. Problems are reported. */
function constantsIn(
  results: readonly ConstantResult[],
  name: string,
  report: AttributeContext['report']
): Constant[] | undefined {
  for (const { problem } of results)
    if (problem) report({ ...problem, message: `attribute "${name}": ${problem.message}` })
  const found = results.flatMap(({ constant }) => (constant ? [constant] : []))
  return found.length === results.length ? found : undefined
}

function tensor(result: ConstantResult, name: string, report: AttributeContext['report']): Attribute | undefined {
  const found = constantsIn([result], name, report)
  return found && { kind: 'tensor', value: found[0] }
}

function tensors(
  results: readonly ConstantResult[],
  name: string,
  report: AttributeContext['report']
): Attribute | undefined {
  const value = constantsIn(results, name, report)
  return value && { kind: 'tensors', value }
}

function valueOf(field: ValueField, proto: AttributeProto, reading: AttributeContext): Attribute | undefined {
  const { context, report } = reading
  const { name } = proto
  if (proto.payload.length > 0 && (field === 'floats' || field === 'ints' || field === 'strings')) {
    const payloads = inFile(proto, field, context)
    if (payloads.length > 0) return listInFile(field, payloads, context.source)
  }
  switch (field) {
    case 'f':
      return { kind: 'float', value: proto.f }
    case 'i':
      return { kind: 'int', value: bigintOf(proto.i) }
    case 's':
      return { kind: 'string', value: decodeText(proto.s) }
    case 't':
      return proto.t ? tensor(constantOf(proto.t, reading.at, context), name, report) : undefined
    case 'sparse_tensor':
      return proto.sparse_tensor
        ? tensor(sparseConstantOf(proto.sparse_tensor, reading.at, context), name, report)
        : undefined
    case 'g':
      return proto.g ? { kind: 'graph', value: reading.body(proto.g, name) } : undefined
    case 'tp':
      return { kind: 'type', value: declaredType(proto.tp, report) ?? { kind: 'tensor' } }
    case 'floats':
      return { kind: 'floats', value: proto.floats }
    case 'ints':
      return { kind: 'ints', value: proto.ints.map(bigintOf) }
    case 'strings':
      return { kind: 'strings', value: proto.strings.map(decodeText) }
    case 'tensors':
      return tensors(
        proto.tensors.map(item => constantOf(item, reading.at, context)),
        name,
        report
      )
    case 'sparse_tensors':
      return tensors(
        proto.sparse_tensors.map(item => sparseConstantOf(item, reading.at, context)),
        name,
        report
      )
    case 'graphs':
      return { kind: 'graphs', value: proto.graphs.map((graph, i) => reading.body(graph, `${name}[${i}]`)) }
    case 'type_protos':
      return { kind: 'types', value: proto.type_protos.map(type => declaredType(type, report) ?? { kind: 'tensor' }) }
  }
}
