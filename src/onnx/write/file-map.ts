import type {
  Attribute,
  Constant,
  Graph,
  GraphPort,
  GraphValue,
  Model,
  ModelFunction,
  Node
} from '../../graph/graph.ts'
import { bodiesOf } from '../../graph/graph.ts'
import { domainName, functionKey } from '../nodes.ts'
import { type FileField, type FileMessage, messageIn, type MessageReader, messagesOf } from './fields.ts'

/** A part of a model that has a message of its own in the file. */
type Part = Model | Graph | Node | GraphPort | GraphValue | Constant | ModelFunction | Attribute

/**
 * Where the parts of a model are in its file: the message of each graph, node, port, declared value, initializer and
 * function. The file is walked in step with the model, which has its parts in the order of the file.
 */
export class FileMap {
  readonly #reader: MessageReader
  readonly #messages = new Map<Part, FileMessage>()

  constructor(model: Model, reader: MessageReader) {
    this.#reader = reader
    const fields = reader.fields(reader.root)
    this.#messages.set(model, reader.root)
    const graph = messageIn(fields, 'graph')
    if (graph) this.#graph(model.graph, graph)
    for (const message of messagesOf(fields, 'functions')) this.#function(model, message)
  }

  /** The message of a part; undefined where the file has none. */
  messageOf(part: Part): FileMessage | undefined {
    return this.#messages.get(part)
  }

  #graph(graph: Graph, message: FileMessage): void {
    this.#messages.set(graph, message)
    const fields = this.#reader.fields(message)
    this.#list(graph.inputs, messagesOf(fields, 'input'))
    this.#list(graph.outputs, messagesOf(fields, 'output'))
    this.#nodes(graph, fields)
    this.#valueInfo(graph, fields)
    for (const tensor of messagesOf(fields, 'initializer')) this.#initializer(graph, tensor, tensor)
    for (const sparse of messagesOf(fields, 'sparse_initializer')) {
      const values = messageIn(this.#reader.fields(sparse), 'values')
      if (values) this.#initializer(graph, values, sparse)
    }
  }

  #nodes(graph: Graph, fields: readonly FileField[]): void {
    const messages = messagesOf(fields, 'node')
    this.#list(graph.nodes, messages)
    graph.nodes.forEach((node, i) => {
      if (i < messages.length && bodiesOf(node).length > 0) this.#bodies(node, messages[i])
    })
  }

  #bodies(node: Node, message: FileMessage): void {
    for (const attribute of messagesOf(this.#reader.fields(message), 'attribute')) {
      const fields = this.#reader.fields(attribute)
      const value = node.attributes.get(this.#reader.text(fields, 'name'))
      if (value === undefined || this.#messages.has(value)) continue
      this.#messages.set(value, attribute)
      const body = messageIn(fields, 'g')
      if (value.kind === 'graph' && body) this.#graph(value.value, body)
      if (value.kind !== 'graphs') continue
      messagesOf(fields, 'graphs').forEach((graph, i) => this.#graph(value.value[i], graph))
    }
  }

  #valueInfo(graph: Graph, fields: readonly FileField[]): void {
    for (const message of messagesOf(fields, 'value_info')) {
      const value = graph.values.get(this.#reader.text(this.#reader.fields(message), 'name'))
      if (value && !this.#messages.has(value)) this.#messages.set(value, message)
    }
  }

  #initializer(graph: Graph, named: FileMessage, message: FileMessage): void {
    const constant = graph.initializers.get(this.#reader.text(this.#reader.fields(named), 'name'))
    if (constant && !this.#messages.has(constant)) this.#messages.set(constant, message)
  }

  #function(model: Model, message: FileMessage): void {
    const fields = this.#reader.fields(message)
    const text = (name: string): string => this.#reader.text(fields, name)
    const fn = model.functions.get(functionKey(domainName(text('domain')), text('name'), text('overload')))
    if (fn === undefined || this.#messages.has(fn)) return
    this.#messages.set(fn, message)
    this.#nodes(fn.graph, fields)
    this.#valueInfo(fn.graph, fields)
  }

  #list(parts: readonly Part[], messages: readonly FileMessage[]): void {
    messages.slice(0, parts.length).forEach((message, i) => this.#messages.set(parts[i], message))
  }
}
