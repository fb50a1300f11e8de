import { baseOf } from '../../graph/derive.ts'
import type { Attribute, Constant, Graph, GraphPort, GraphValue, ModelFunction, Node } from '../../graph/graph.ts'
import { bodiesOf } from '../../graph/graph.ts'
import { attributeMessage } from './attributes.ts'
import { FieldWriter, type FileMessage, messageIn, type MessageReader, messagesOf } from './fields.ts'
import type { FileMap } from './file-map.ts'
import type { MessageWriter, Piece } from './message.ts'
import { type ExternalFile, tensorFields } from './tensors.ts'
import { typeMessage } from './types.ts'

/** The name of a domain as a file has it: ONNX's own is left out. */
export const domainText = (domain: string): string => (domain === 'ai.onnx' ? '' : domain)

/** Where the elements of initializers go. */
export interface Placement {
  readonly file: ExternalFile
  /** Least number of bytes of an initializer that lies in the file. */
  readonly least: number
}

/** Writes graphs and functions. What was read and is unchanged is copied; the rest is put together field by field. */
export class GraphWriter {
  readonly reader: MessageReader | undefined
  readonly #map: FileMap | undefined
  readonly #placement: Placement | undefined

  constructor(reader: MessageReader | undefined, map: FileMap | undefined, placement: Placement | undefined) {
    this.reader = reader
    this.#map = map
    this.#placement = placement
  }

  readonly messageOf = (part: Parameters<FileMap['messageOf']>[0]): FileMessage | undefined =>
    this.#map?.messageOf(part)

  /** The part as it is in the file, where it is unchanged. */
  #unchanged(part: Parameters<FileMap['messageOf']>[0]): Piece | undefined {
    const message = this.messageOf(part)
    return message && this.reader?.whole(message)
  }

  readonly graph = (graph: Graph): Piece => {
    const message = this.messageOf(baseOf(graph))
    const unchanged = this.#unchanged(graph)
    if (unchanged !== undefined && (this.#placement === undefined || !mayBePlaced(graph))) return unchanged
    const base = message === undefined ? undefined : baseOf(graph)
    const fields = new FieldWriter('GraphProto')
    if (graph.name !== base?.name) fields.text('name', graph.name)
    this.#nodes(fields, graph, base)
    if (base === undefined || graph.initializers !== base.initializers || this.#placement !== undefined)
      this.#initializers(fields, graph, message)
    if (graph.inputs !== base?.inputs) fields.messages('input', graph.inputs.map(this.#port))
    if (graph.outputs !== base?.outputs) fields.messages('output', graph.outputs.map(this.#port))
    if (graph.values !== base?.values) this.#valueInfo(fields, graph, message)
    return fields.onto(this.reader, message)
  }

  /** A model-local function. */
  function(fn: ModelFunction): Piece {
    const unchanged = this.#unchanged(fn)
    if (unchanged !== undefined && (this.#placement === undefined || !mayBePlaced(fn.graph))) return unchanged
    const message = this.messageOf(baseOf(fn))
    const base = message === undefined ? undefined : baseOf(fn)
    const fields = new FieldWriter('FunctionProto')
    if (fn.name !== base?.name) fields.text('name', fn.name)
    if (fn.domain !== base?.domain) fields.text('domain', domainText(fn.domain))
    if (fn.overload !== base?.overload) fields.textIf('overload', fn.overload)
    if (fn.graph.inputs !== base?.graph.inputs)
      fields.texts(
        'input',
        fn.graph.inputs.map(({ name }) => name)
      )
    if (fn.graph.outputs !== base?.graph.outputs)
      fields.texts(
        'output',
        fn.graph.outputs.map(({ name }) => name)
      )
    if (fn.attributes !== base?.attributes || fn.defaults !== base.defaults) this.#attributesOf(fields, fn)
    if (fn.opsets !== base?.opsets) opsetFields(fields, fn.opsets)
    this.#nodes(fields, fn.graph, base?.graph)
    if (fn.graph.values !== base?.graph.values) this.#valueInfo(fields, fn.graph, message)
    return fields.onto(this.reader, message)
  }

  #attributesOf(fields: FieldWriter, { attributes, defaults }: ModelFunction): void {
    fields.texts(
      'attribute',
      attributes.filter(name => !defaults.has(name))
    )
    fields.messages(
      'attribute_proto',
      [...defaults].map(([name, attribute]) => attributeMessage(name, attribute, this))
    )
  }

  #nodes(fields: FieldWriter, graph: Graph, base: Graph | undefined): void {
    if (graph.nodes === base?.nodes && (this.#placement === undefined || !graph.nodes.some(hasInitializers))) return
    fields.messages('node', graph.nodes.map(this.#node))
  }

  readonly #node = (node: Node): Piece => {
    const unchanged = this.#unchanged(node)
    if (unchanged !== undefined && (this.#placement === undefined || !hasInitializers(node))) return unchanged
    const message = this.messageOf(baseOf(node))
    const base = message === undefined ? undefined : baseOf(node)
    const fields = new FieldWriter('NodeProto')
    const names = (ids: Node['inputs']): string[] => ids.map(id => id ?? '')
    if (node.inputs !== base?.inputs) fields.texts('input', names(node.inputs))
    if (node.outputs !== base?.outputs) fields.texts('output', names(node.outputs))
    if (node.name !== base?.name) fields.textIf('name', node.name)
    if (node.type !== base?.type) fields.text('op_type', node.type)
    if (node.attributes !== base?.attributes || hasInitializers(node)) this.#attributes(fields, node, message)
    if (node.domain !== base?.domain) fields.textIf('domain', domainText(node.domain))
    if (node.overload !== base?.overload) fields.textIf('overload', node.overload)
    return fields.onto(this.reader, message)
  }

  #attributes(fields: FieldWriter, node: Node, message: FileMessage | undefined): void {
    const { reader } = this
    const base = baseOf(node)
    const inFile = new Map<Attribute, FileMessage>()
    if (reader !== undefined && message !== undefined)
      for (const attribute of messagesOf(reader.fields(message), 'attribute')) {
        const value = base.attributes.get(reader.text(reader.fields(attribute), 'name'))
        if (value !== undefined && !inFile.has(value)) inFile.set(value, attribute)
      }
    const context = {
      reader,
      graph: this.graph,
      messageOf: (attribute: Attribute) => inFile.get(attribute) ?? this.messageOf(attribute)
    }
    const write = ([name, attribute]: [string, Attribute]): Piece => {
      const same = base.attributes.get(name) === attribute ? context.messageOf(attribute) : undefined
      const mustDescend = this.#placement !== undefined && (attribute.kind === 'graph' || attribute.kind === 'graphs')
      return same !== undefined && reader !== undefined && !mustDescend
        ? reader.whole(same)
        : attributeMessage(name, attribute, context)
    }
    fields.messages('attribute', [...node.attributes].map(write))
  }

  /** Initializers in the order of the graph; sparse ones are in a list of their own. */
  #initializers(fields: FieldWriter, graph: Graph, message: FileMessage | undefined): void {
    fields.none('initializer')
    if (message !== undefined) fields.none('sparse_initializer')
    for (const [name, constant] of graph.initializers) {
      const inFile = this.messageOf(baseOf(constant))
      if (inFile?.kind.name === 'SparseTensorProto' && baseOf(constant) === constant && this.reader)
        fields.bytes('sparse_initializer', this.reader.whole(inFile))
      else fields.bytes('initializer', this.#initializer(name, constant, inFile))
    }
    if (message !== undefined) this.#unread(fields, graph, message)
  }

  /** Initializers of the file that could not be read, such as those of an unknown type, stay where they are needed. */
  #unread(fields: FieldWriter, graph: Graph, message: FileMessage): void {
    const { reader } = this
    if (reader === undefined) return
    const known = baseOf(graph).initializers
    const needed = new Set(graph.outputs.map(({ value }) => value))
    for (const { inputs, captures } of graph.nodes)
      for (const id of [...inputs, ...captures]) if (id !== undefined) needed.add(id)
    const stays = (named: FileMessage | undefined): boolean => {
      const name = named === undefined ? '' : reader.text(reader.fields(named), 'name')
      return needed.has(name) && !known.has(name)
    }
    const parts = reader.fields(message)
    for (const tensor of messagesOf(parts, 'initializer'))
      if (stays(tensor)) fields.bytes('initializer', reader.whole(tensor))
    for (const sparse of messagesOf(parts, 'sparse_initializer'))
      if (stays(messageIn(reader.fields(sparse), 'values'))) fields.bytes('sparse_initializer', reader.whole(sparse))
  }

  #initializer(name: string, constant: Constant, inFile: FileMessage | undefined): Piece {
    const { reader } = this
    const message = inFile?.kind.name === 'TensorProto' ? inFile : undefined
    const external = this.#placement && placed(constant, this.#placement) ? this.#placement.file : undefined
    const isSame = message !== undefined && baseOf(constant) === constant && external === undefined
    const isNamed = isSame && reader?.text(reader.fields(message), 'name') === name
    if (isNamed) return reader.whole(message)
    const fields = isSame ? new FieldWriter('TensorProto') : tensorFields(constant, external)
    return fields.text('name', name).onto(reader, message)
  }

  readonly #port = (port: GraphPort): Piece => {
    const base = baseOf(port)
    const message = this.messageOf(base)
    return this.#unchanged(port) ?? this.#valueMessage(port.name, port.declared, base.declared, message)
  }

  #valueMessage(
    name: string,
    declared: GraphPort['declared'],
    earlier: GraphPort['declared'],
    message: FileMessage | undefined
  ): MessageWriter {
    const { reader } = this
    const fields = new FieldWriter('ValueInfoProto')
    if (message === undefined) fields.text('name', name)
    else if (reader?.text(reader.fields(message), 'name') !== name) fields.text('name', name)
    if (message === undefined || declared !== earlier) {
      const old = message && reader && messageIn(reader.fields(message), 'type')
      const type = declared && typeMessage(declared, old && reader && { reader, message: old })
      fields.none('type')
      if (type) fields.bytes('type', type)
    }
    return fields.onto(reader, message)
  }

  /** `value_info`: the entries of the file whose values are still there, then values that have become declared. */
  #valueInfo(fields: FieldWriter, graph: Graph, message: FileMessage | undefined): void {
    const { reader } = this
    const base = baseOf(graph)
    const written = new Set<string>([...graph.inputs, ...graph.outputs].map(({ name }) => name))
    for (const name of graph.initializers.keys()) written.add(name)
    const entries: Piece[] = []
    const inFile = reader && message ? messagesOf(reader.fields(message), 'value_info') : []
    for (const entry of inFile) {
      const name = reader?.text(reader.fields(entry), 'name') ?? ''
      const value = graph.values.get(name)
      if (value === undefined) continue
      written.add(name)
      const earlier = base.values.get(name)
      entries.push(
        value === earlier && reader
          ? reader.whole(entry)
          : this.#valueMessage(name, value.declared, earlier?.declared, entry)
      )
    }
    for (const value of graph.values.values())
      if (isDeclared(value) && !written.has(value.id))
        entries.push(this.#valueMessage(value.id, value.declared, undefined, undefined))
    fields.messages('value_info', entries)
  }
}

const isDeclared = ({ declared }: GraphValue): boolean => declared !== undefined && declared.kind !== 'other'

const placed = ({ type, byteLength }: Constant, { least }: Placement): boolean =>
  type !== 'string' && byteLength >= least

const mayBePlaced = (graph: Graph): boolean => graph.initializers.size > 0 || graph.nodes.some(hasInitializers)

/** Whether a body of a node, at any depth, has initializers. */
const hasInitializers = (node: Node): boolean => bodiesOf(node).some(({ graph }) => mayBePlaced(graph))

/** The operator sets that a model or function imports. */
export function opsetFields(fields: FieldWriter, opsets: ReadonlyMap<string, number>): FieldWriter {
  return fields.messages(
    'opset_import',
    [...opsets].map(([domain, version]) =>
      new FieldWriter('OperatorSetIdProto').text('domain', domainText(domain)).integer('version', version).alone()
    )
  )
}
