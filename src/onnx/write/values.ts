import { dtypeFromOnnx, DTYPES } from '../../tensor/dtype.ts'
import { type Key, valuesOf } from '../../tensor/map.ts'
import { isTensor, type MapValue, type Tensor, type Value } from '../../tensor/tensor.ts'
import { FieldWriter } from './fields.ts'
import { gather, type MessageWriter } from './message.ts'
import { onnxType, tensorFields } from './tensors.ts'

/** `elem_type` of SequenceProto and OptionalProto (onnx-data.proto). */
const KINDS = { none: 0, tensor: 1, sequence: 3, map: 4, optional: 5 } as const
type Kind = keyof typeof KINDS

/**
 * A value as a data file has it: a TensorProto, SequenceProto, OptionalProto or MapProto.
 * @throws NodewiseError `type-not-allowed` for element types that ONNX does not have
 */
export const encodeValue = (name: string, value: Value): Uint8Array => gather(message(value, name))

/** Whether ONNX has the element types of a value. */
export function isOnnxValue(value: Value): boolean {
  if (isTensor(value))
    return DTYPES[value.type].onnx !== undefined && dtypeFromOnnx(DTYPES[value.type].onnx!) === value.type
  if (value.type === 'sequence') return value.values.every(isOnnxValue)
  return value.type === 'map' || value.value === undefined || isOnnxValue(value.value)
}

const named = (root: string, name: string): FieldWriter => new FieldWriter(root).textIf('name', name)
const kindOf = (value: Value): Kind => (isTensor(value) ? 'tensor' : value.type)

function message(value: Value, name = ''): MessageWriter {
  if (isTensor(value)) return tensorMessage(value, name)
  if (value.type === 'map') return mapMessage(value, name)
  if (value.type === 'sequence') return listMessage(value.values, name)
  const fields = named('OptionalProto', name).integer(
    'elem_type',
    value.value ? KINDS[kindOf(value.value)] : KINDS.none
  )
  return (value.value ? fields.messages(`${kindOf(value.value)}_value`, [message(value.value)]) : fields).alone()
}

function listMessage(values: readonly Value[], name = ''): MessageWriter {
  const kind = values.length > 0 ? kindOf(values[0]) : 'none'
  const fields = named('SequenceProto', name).integer('elem_type', KINDS[kind])
  const items = values.map(item => message(item))
  return (kind === 'none' ? fields : fields.messages(`${kind}_values`, items)).alone()
}

function tensorMessage(tensor: Tensor, name: string): MessageWriter {
  const { type, dims } = tensor
  const constant = { type, dims, byteLength: 0, place: {}, read: () => tensor }
  return tensorFields(constant).textIf('name', name).alone()
}

/** Keys, and a sequence of single elements: the standard has no other form for plain values. */
function mapMessage(map: MapValue, name: string): MessageWriter {
  const keys = [...(map.entries.keys() as Iterable<Key>)]
  const fields = named('MapProto', name).integer('key_type', onnxType(map.keyType))
  if (map.keyType === 'int64') fields.integers('keys', keys as bigint[])
  else fields.texts('string_keys', keys as string[])
  const singles = keys.map(key => ({ ...valuesOf(map, [key]), dims: [] }) as unknown as Tensor)
  return fields.messages('values', [listMessage(singles)]).alone()
}
