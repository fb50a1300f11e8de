import { fail, NodewiseError } from '../errors.ts'
import { bytesSource } from '../files/byte-source.ts'
import { defaultLimits } from '../graph/limits.ts'
import type { Optional, Sequence, Tensor, Value } from '../tensor/tensor.ts'
import type { FileContext } from './context.ts'
import { decode } from './decode.ts'
import type { OptionalProto, RootMessages, SequenceProto, SparseTensorProto, TensorProto } from './schema.js'
import { sparseConstantOf } from './sparse.ts'
import { constantOf, type ConstantResult } from './tensors.ts'

/**
 * Decodes a data file that holds a TensorProto.
 * @throws NodewiseError `invalid-file`; `missing-file` when the elements are in another file
 */
export function decodeTensorProto(bytes: Uint8Array): { name: string; tensor: Tensor } {
  const { message, context } = open(bytes, 'TensorProto')
  return { name: message.name, tensor: tensorOf(message, context) }
}

/**
 * Decodes a data file that holds a SequenceProto.
 * @throws NodewiseError `invalid-file`; `type-not-allowed` for maps
 */
export function decodeSequenceProto(bytes: Uint8Array): Sequence {
  const { message, context } = open(bytes, 'SequenceProto')
  return sequenceOf(message, context)
}

/**
 * Decodes a data file that holds an OptionalProto.
 * @throws NodewiseError `invalid-file`; `type-not-allowed` for maps
 */
export function decodeOptionalProto(bytes: Uint8Array): Optional {
  const { message, context } = open(bytes, 'OptionalProto')
  return optionalOf(message, context)
}

function open<K extends keyof RootMessages>(
  bytes: Uint8Array,
  root: K
): { message: RootMessages[K]; context: FileContext } {
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

function sequenceOf(proto: SequenceProto, context: FileContext): Sequence {
  return { type: 'sequence', values: valuesOf(proto, context) }
}

function valuesOf(proto: SequenceProto, context: FileContext): Value[] {
  switch (proto.elem_type) {
    // Without a type there can be no elements, and no type is needed.
    case ELEMENT.none:
    case ELEMENT.tensor:
      return proto.tensor_values.map(item => tensorOf(item, context))
    case ELEMENT.sparse:
      return proto.sparse_tensor_values.map(item => sparseTensorOf(item, context))
    case ELEMENT.sequence:
      return proto.sequence_values.map(item => sequenceOf(item, context))
    case ELEMENT.optional:
      return proto.optional_values.map(item => optionalOf(item, context))
    case ELEMENT.map:
      return fail('type-not-allowed', 'maps are not supported')
    default:
      return fail('invalid-file', `a sequence of kind ${proto.elem_type} is not known`)
  }
}

function optionalOf(proto: OptionalProto, context: FileContext): Optional {
  return { type: 'optional', value: valueOf(proto, context) }
}

function valueOf(proto: OptionalProto, context: FileContext): Value | undefined {
  switch (proto.elem_type) {
    case ELEMENT.none:
      return undefined
    case ELEMENT.tensor:
      return proto.tensor_value ? tensorOf(proto.tensor_value, context) : undefined
    case ELEMENT.sparse:
      return proto.sparse_tensor_value ? sparseTensorOf(proto.sparse_tensor_value, context) : undefined
    case ELEMENT.sequence:
      return proto.sequence_value ? sequenceOf(proto.sequence_value, context) : undefined
    case ELEMENT.optional:
      return proto.optional_value ? optionalOf(proto.optional_value, context) : undefined
    case ELEMENT.map:
      return fail('type-not-allowed', 'maps are not supported')
    default:
      return fail('invalid-file', `an optional of kind ${proto.elem_type} is not known`)
  }
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
