import type { DeclaredDim, DeclaredType } from '../../graph/graph.ts'
import { FieldWriter, type FileMessage, type MessageReader, messagesOf } from './fields.ts'
import type { MessageWriter } from './message.ts'
import { onnxType } from './tensors.ts'

/** What a TypeProto of the file says beside the type: denotations, which stay where the rank stays. */
export interface Denoted {
  readonly reader: MessageReader
  readonly message: FileMessage
}

/** A TypeProto; undefined for a type that the graph has as text only. */
export function typeMessage(type: DeclaredType, denoted?: Denoted): MessageWriter | undefined {
  const fields = new FieldWriter('TypeProto').none(...KINDS)
  switch (type.kind) {
    case 'tensor':
      fields.bytes('tensor_type', tensorType(type, denoted))
      break
    case 'sequence':
      fields.bytes('sequence_type', elementType('TypeProto.Sequence', type.element))
      break
    case 'optional':
      fields.bytes('optional_type', elementType('TypeProto.Optional', type.element))
      break
    case 'map': {
      const map = new FieldWriter('TypeProto.Map').integer('key_type', onnxType(type.keyType))
      const value = typeMessage({ kind: 'tensor', ...(type.valueType && { type: type.valueType }), dims: [] })
      if (value) map.bytes('value_type', value)
      fields.bytes('map_type', map.alone())
      break
    }
    case 'other':
      return undefined
  }
  return fields.onto(denoted?.reader, denoted?.message)
}

const KINDS = ['tensor_type', 'sequence_type', 'map_type', 'opaque_type', 'sparse_tensor_type', 'optional_type']

function elementType(message: string, element: DeclaredType): MessageWriter {
  const type = typeMessage(element)
  const fields = new FieldWriter(message)
  return (type ? fields.bytes('elem_type', type) : fields).alone()
}

function tensorType({ type, dims }: DeclaredType & { kind: 'tensor' }, denoted: Denoted | undefined): MessageWriter {
  const fields = new FieldWriter('TypeProto.Tensor').integer('elem_type', type === undefined ? 0 : onnxType(type))
  if (dims === undefined) return fields.alone()
  const earlier = denoted ? dimMessages(denoted) : []
  const shape = new FieldWriter('TensorShapeProto').messages(
    'dim',
    dims.map((dim, i) => {
      const fieldsOfDim = dimFields(dim)
      return earlier.length === dims.length ? fieldsOfDim.onto(denoted?.reader, earlier[i]) : fieldsOfDim.alone()
    })
  )
  return fields.bytes('shape', shape.alone()).alone()
}

/** A dim; intervals, which ONNX cannot say, are unknown. */
function dimFields(dim: DeclaredDim): FieldWriter {
  const fields = new FieldWriter('TensorShapeProto.Dimension').none('dim_value', 'dim_param')
  if (typeof dim === 'number') return fields.integer('dim_value', dim)
  return typeof dim === 'string' ? fields.text('dim_param', dim) : fields
}

function dimMessages({ reader, message }: Denoted): FileMessage[] {
  let found = [message]
  for (const name of ['tensor_type', 'shape', 'dim'])
    found = found.flatMap(part => messagesOf(reader.fields(part), name))
  return found
}
