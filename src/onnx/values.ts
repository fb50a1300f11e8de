import { fail, NodewiseError } from '../errors.ts'
import { bytesSource } from '../files/byte-source.ts'
import type { DeclaredType } from '../graph/graph.ts'
import { defaultLimits } from '../graph/limits.ts'
import { dtypeFromOnnx } from '../tensor/dtype.ts'
import { elementAt } from '../tensor/elements.ts'
import { requireBytes } from '../tensor/given.ts'
import { isKeyType, type Key, mapOf } from '../tensor/map.ts'
import {
  elementCount,
  isTensor,
  type MapValue,
  type Optional,
  type Sequence,
  type Tensor,
  type Value
} from '../tensor/tensor.ts'
import type { FileContext } from './context.ts'
import { decode } from './decode.ts'
import { bigintOf } from './numbers.ts'
import type { MapProto, OptionalProto, RootMessages, SequenceProto, SparseTensorProto, TensorProto } from './schema.js'
import { sparseConstantOf } from './sparse.ts'
import { constantOf, type ConstantResult } from './tensors.ts'
import { decodeText } from './text.ts'

/**
 * Decodes a data file that holds a TensorProto.
 * @throws NodewiseError `invalid-file`; `missing-file` when the elements are in another file; `bad-usage` for what are
 *   no bytes
 */
export function decodeTensorProto(bytes: Uint8Array): { name: string; tensor: Tensor } {
  const { message, context } = open(bytes, 'TensorProto')
  return { name: message.name, tensor: tensorOf(message, context) }
}

/**
 * Decodes a data file that holds a SequenceProto.
 * @param declared the type that is expected; it gives empty maps their types
 * @throws NodewiseError `invalid-file`; `type-not-allowed` for maps of other keys than int64 and strings
 */
export function decodeSequenceProto(bytes: Uint8Array, declared?: DeclaredType): Sequence {
  const { message, context } = open(bytes, 'SequenceProto')
  return sequenceOf(message, context, declared)
}

/**
 * Decodes a data file that holds an OptionalProto.
 * @param declared as for {@link decodeSequenceProto}
 * @throws NodewiseError as {@link decodeSequenceProto}
 */
export function decodeOptionalProto(bytes: Uint8Array, declared?: DeclaredType): Optional {
  const { message, context } = open(bytes, 'OptionalProto')
  return optionalOf(message, context, declared)
}

/**
 * Decodes a data file that holds a MapProto.
 * @param declared as for {@link decodeSequenceProto}
 * @throws NodewiseError as {@link decodeSequenceProto}
 */
export function decodeMapProto(bytes: Uint8Array, declared?: DeclaredType): MapValue {
  const { message, context } = open(bytes, 'MapProto')
  return mapIn(message, context, declared)
}

function open<K extends keyof RootMessages>(
  bytes: Uint8Array,
  root: K
): { message: RootMessages[K]; context: FileContext } {
  requireBytes(bytes)
  const source = bytesSource('the data', bytes)
  const limits = defaultLimits()
  const { message, payloads } = decode(source, root, limits)
  const external = (location: string): never => fail('missing-file', `the elements are in another file, "${location}"`)
  return {
    message,
    context: { file: source.name, source, payloads, external, limits, signatures: new Map(), counts: { findings: 0 } }
  }
}

/** `elem_type` of SequenceProto and OptionalProto (onnx-data.proto). */
const ELEMENT = { none: 0, tensor: 1, sparse: 2, sequence: 3, map: 4, optional: 5 } as const

function sequenceOf(proto: SequenceProto, context: FileContext, declared?: DeclaredType): Sequence {
  return { type: 'sequence', values: valuesOf(proto, context, elementOf(declared)) }
}

const elementOf = (declared: DeclaredType | undefined): DeclaredType | undefined =>
  declared !== undefined && 'element' in declared ? declared.element : undefined

function valuesOf(proto: SequenceProto, context: FileContext, declared: DeclaredType | undefined): Value[] {
  switch (proto.elem_type) {
    // Without a type there can be no elements, and no type is needed.
    case ELEMENT.none:
    case ELEMENT.tensor:
      return proto.tensor_values.map(item => tensorOf(item, context))
    case ELEMENT.sparse:
      return proto.sparse_tensor_values.map(item => sparseTensorOf(item, context))
    case ELEMENT.sequence:
      return proto.sequence_values.map(item => sequenceOf(item, context, declared))
    case ELEMENT.optional:
      return proto.optional_values.map(item => optionalOf(item, context, declared))
    case ELEMENT.map:
      return proto.map_values.map(item => mapIn(item, context, declared))
    default:
      return fail('invalid-file', `a sequence of kind ${proto.elem_type} is not known`)
  }
}

function optionalOf(proto: OptionalProto, context: FileContext, declared?: DeclaredType): Optional {
  return { type: 'optional', value: valueOf(proto, context, elementOf(declared)) }
}

function valueOf(proto: OptionalProto, context: FileContext, declared: DeclaredType | undefined): Value | undefined {
  switch (proto.elem_type) {
    case ELEMENT.none:
      return undefined
    case ELEMENT.tensor:
      return proto.tensor_value ? tensorOf(proto.tensor_value, context) : undefined
    case ELEMENT.sparse:
      return proto.sparse_tensor_value ? sparseTensorOf(proto.sparse_tensor_value, context) : undefined
    case ELEMENT.sequence:
      return proto.sequence_value ? sequenceOf(proto.sequence_value, context, declared) : undefined
    case ELEMENT.optional:
      return proto.optional_value ? optionalOf(proto.optional_value, context, declared) : undefined
    case ELEMENT.map:
      return proto.map_value ? mapIn(proto.map_value, context, declared) : undefined
    default:
      return fail('invalid-file', `an optional of kind ${proto.elem_type} is not known`)
  }
}

/** A map whose values are tensors of one element each; the standard has no other form for plain values. */
function mapIn(proto: MapProto, context: FileContext, declared: DeclaredType | undefined): MapValue {
  const keyType = dtypeFromOnnx(proto.key_type)
  if (!isKeyType(keyType))
    return fail('type-not-allowed', `a map has keys of type ${keyType ?? proto.key_type}; int64 or string is expected`)
  const keys: Key[] = keyType === 'int64' ? proto.keys.map(bigintOf) : proto.string_keys.map(decodeText)
  const values = proto.values ? valuesOf(proto.values, context, undefined) : []
  if (values.length !== keys.length)
    return fail('invalid-file', `a map has ${keys.length} keys and ${values.length} values`)
  const single = values.filter(value => isTensor(value) && elementCount(value.dims) === 1) as Tensor[]
  const valueType = single.length > 0 ? single[0].type : declared?.kind === 'map' ? declared.valueType : undefined
  if (single.length < values.length || single.some(({ type }) => type !== valueType))
    return fail('invalid-file', 'a map has values that are no single elements of one type')
  return mapOf(
    keyType,
    valueType ?? 'float32',
    keys.map((key, i) => [key, elementAt(single[i], 0)])
  )
}

/** Errors of data files have no place within the file. */
const NOWHERE = { place: {} }

const tensorOf = (proto: TensorProto, context: FileContext): Tensor => read(constantOf(proto, NOWHERE, context))
const sparseTensorOf = (proto: SparseTensorProto, context: FileContext): Tensor =>
  read(sparseConstantOf(proto, NOWHERE, context))

function read({ constant, problem }: ConstantResult): Tensor {
  if (problem) throw new NodewiseError('invalid-file', problem.message)
  return constant?.read() ?? fail('internal', 'a tensor without elements has no problem')
}
