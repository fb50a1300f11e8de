import { fail } from '../../errors.ts'
import { baseOf } from '../../graph/derive.ts'
import type { Attribute, Constant, Graph } from '../../graph/graph.ts'
import { onnx } from '../schema.js'
import { FieldWriter, type FileMessage, type MessageReader } from './fields.ts'
import type { MessageWriter, Piece } from './message.ts'
import { tensorFields } from './tensors.ts'
import { typeMessage } from './types.ts'

/** What writing an attribute needs of its graph. */
export interface AttributeContext {
  /** Reader of the file that the model was read from. */
  readonly reader: MessageReader | undefined
  /** The message of a part of the file. */
  messageOf(part: Attribute): FileMessage | undefined
  graph(graph: Graph): Piece
}

/** The fields that hold values. */
const VALUES = [
  'f',
  'i',
  's',
  't',
  'g',
  'tp',
  'sparse_tensor',
  'floats',
  'ints',
  'strings',
  'tensors',
  'graphs',
  'type_protos',
  'sparse_tensors',
  'ref_attr_name'
] as const

/** An attribute with a value of its own; what its file says of it beside stays. */
export function attributeMessage(name: string, attribute: Attribute, context: AttributeContext): MessageWriter {
  const { reader } = context
  const message = context.messageOf(baseOf(attribute))
  const fields = new FieldWriter('AttributeProto')
  if (message === undefined) fields.text('name', name)
  fields.none(...VALUES)
  writeValue(fields, attribute, context)
  return fields.onto(reader, message)
}

function writeValue(fields: FieldWriter, attribute: Attribute, context: AttributeContext): FieldWriter {
  const typed = (type: string): FieldWriter =>
    fields.none('type').integer('type', onnx.AttributeProto.AttributeType[type])
  const tensor = (constant: Constant): MessageWriter => tensorFields(constant).alone()
  switch (attribute.kind) {
    case 'float':
      return typed('FLOAT').float('f', attribute.value)
    case 'int':
      return typed('INT').integer('i', attribute.value)
    case 'string':
      return typed('STRING').text('s', attribute.value)
    case 'tensor':
      return typed('TENSOR').bytes('t', tensor(attribute.value))
    case 'graph':
      return typed('GRAPH').bytes('g', context.graph(attribute.value))
    case 'type':
      return typed('TYPE_PROTO').messages('tp', listed(typeMessage(attribute.value)))
    case 'floats':
      for (const value of attribute.value) fields.float('floats', value)
      return typed('FLOATS')
    case 'ints':
      return typed('INTS').integers('ints', attribute.value)
    case 'strings':
      return typed('STRINGS').texts('strings', attribute.value)
    case 'tensors':
      return typed('TENSORS').messages('tensors', attribute.value.map(tensor))
    case 'graphs':
      return typed('GRAPHS').messages('graphs', attribute.value.map(context.graph))
    case 'types':
      return typed('TYPE_PROTOS').messages(
        'type_protos',
        attribute.value.flatMap(type => listed(typeMessage(type)))
      )
    case 'reference':
      return (attribute.of === undefined ? fields : typed(attribute.of.toUpperCase())).text(
        'ref_attr_name',
        attribute.value
      )
    case 'text':
      return fail('internal', 'an attribute of an IR is no attribute of ONNX')
  }
}

const listed = (message: MessageWriter | undefined): MessageWriter[] => (message === undefined ? [] : [message])
