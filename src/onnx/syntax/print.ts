import type { Attribute, Graph, GraphPort, Model, ModelFunction, Node } from '../../graph/graph.ts'
import { bodiesOf } from '../../graph/graph.ts'
import { originOf } from '../origin.ts'
import { MessageReader } from '../write/fields.ts'
import { domainText } from '../write/graphs.ts'
import { printFloat, printName, type PrintOptions, printTensor, printType, quote } from './print-values.ts'
import { isType } from './types.ts'

const INDENT = '   '

/**
 * Prints an ONNX model in the text format of ONNX, line by line, as its own printer does. The format has no place for
 * doc strings and metadata below the model, for quantization annotations and for what Nodewise does not know; sparse
 * tensors are printed with their zeros.
 * @throws NodewiseError (while lines are asked for) what reading the constants throws
 */
export function* printModel(model: Model, options: PrintOptions = {}): Generator<string> {
  yield '<'
  yield `${header(model)
    .map(([key, value]) => `${INDENT}${key}: ${value}`)
    .join(',\n')}`
  yield '>'
  const printer = new Printer(options)
  yield* printer.graph(model.graph, 1)
  for (const fn of model.functions.values()) yield* printer.function(fn)
}

function header(model: Model): [key: string, value: string][] {
  const [, name, version] = /^(.*?)(?: (\S+))?$/s.exec(model.producer) ?? []
  const pairs = [...model.metadata].map(([key, value]) => `${quote(key)}: ${quote(value)}`)
  const origin = originOf(model)
  const reader = origin && new MessageReader(origin.source)
  const fields = reader?.fields(reader.root) ?? []
  const textOf = (key: string): string => reader?.text(fields, key) ?? ''
  const modelVersion = reader?.integer(fields, 'model_version') ?? 0n
  const texts: Record<string, string> = {
    producer_name: origin ? textOf('producer_name') : (name ?? ''),
    producer_version: origin ? textOf('producer_version') : (version ?? ''),
    domain: textOf('domain')
  }
  const lines: [string, string][] = [
    ['ir_version', String(model.irVersion)],
    ['opset_import', printOpsets(model.opsets)]
  ]
  for (const [key, text] of Object.entries(texts)) if (text !== '') lines.push([key, quote(text)])
  if (modelVersion !== 0n) lines.push(['model_version', String(modelVersion)])
  if (textOf('doc_string') !== '') lines.push(['doc_string', quote(textOf('doc_string'))])
  if (pairs.length > 0) lines.push(['metadata_props', `[${pairs.join(', ')}]`])
  return lines
}

const printOpsets = (opsets: ReadonlyMap<string, number>): string =>
  `[${[...opsets].map(([domain, version]) => `${quote(domainText(domain))} : ${version}`).join(', ')}]`

class Printer {
  readonly #options: PrintOptions

  constructor(options: PrintOptions) {
    this.#options = options
  }

  *graph(graph: Graph, level: number): Generator<string> {
    const ports = (list: readonly GraphPort[]): string => list.map(printPort).join(', ')
    yield `${printName(graph.name)} (${ports(graph.inputs)}) => (${ports(graph.outputs)})`
    const parts = [...this.#initializers(graph), ...valueInfo(graph)]
    if (parts.length > 0) yield `${INDENT.repeat(level)}<${parts.join(`,\n${INDENT.repeat(level)} `)}>`
    yield* this.#nodes(graph.nodes, level)
  }

  *#initializers({ initializers }: Graph): Generator<string> {
    for (const [name, constant] of initializers) yield printTensor(constant, name, this.#options)
  }

  *#nodes(nodes: readonly Node[], level: number): Generator<string> {
    yield `${INDENT.repeat(level - 1)}{`
    for (const node of nodes) yield INDENT.repeat(level) + this.#node(node, level)
    yield `${INDENT.repeat(level - 1)}}`
  }

  #node(node: Node, level: number): string {
    const names = (ids: Node['inputs']): string => ids.map(id => printName(id ?? '')).join(', ')
    const domain = domainText(node.domain)
    const called = `${domain === '' ? '' : `${domain}.`}${node.type}${node.overload === '' ? '' : `:${node.overload}`}`
    const label = node.name === '' ? '' : `[${printName(node.name)}] `
    const attributes = [...node.attributes].map(([name, attribute]) => this.#attribute(name, attribute, level))
    const list = attributes.length === 0 ? '' : ` <${attributes.join(', ')}>`
    const inputs = ` (${names(node.inputs)})`
    // As the printer of ONNX does: bodies come last.
    const rest = bodiesOf(node).length > 0 ? inputs + list : list + inputs
    return `${label}${names(node.outputs)} = ${called}${rest}`
  }

  #attribute(name: string, attribute: Attribute, level: number): string {
    // The format has no sparse tensors; Constant gives the same for a dense one.
    const [key, { kind, value }] = [name === 'sparse_value' && attribute.kind === 'tensor' ? 'value' : name, attribute]
    const lines = (graph: Graph): string => [...this.graph(graph, level + 1)].join('\n')
    const listed = (items: readonly string[]): string => `[${items.join(', ')}]`
    switch (kind) {
      case 'float':
        return `${key}: float = ${printFloat(value)}`
      case 'int':
        return `${key}: int = ${value}`
      case 'string':
        return `${key}: string = ${quote(value)}`
      case 'tensor':
        return `${key}: tensor = ${printTensor(value, '', this.#options)}`
      case 'graph':
        return `${key}: graph = ${lines(value)}`
      case 'type':
        return `${key}: type_proto = ${printType(value)}`
      case 'floats':
        return `${key}: floats = ${listed(value.map(printFloat))}`
      case 'ints':
        return `${key}: ints = ${listed(value.map(String))}`
      case 'strings':
        return `${key}: strings = ${listed(value.map(quote))}`
      case 'tensors':
        return `${key}: tensors = ${listed(value.map(item => printTensor(item, '', this.#options)))}`
      case 'graphs':
        return `${key}: graphs = ${listed(value.map(lines))}`
      case 'types':
        return `${key}: type_protos = ${listed(value.map(printType))}`
      case 'reference':
        return `${key}${typeOf(attribute)} = @${printName(value)}`
      case 'text':
        return `${key}: string = ${quote(value)}`
    }
  }

  *function(fn: ModelFunction): Generator<string> {
    const head = [`domain: ${quote(domainText(fn.domain))}`]
    if (fn.overload !== '') head.push(`overload: ${quote(fn.overload)}`)
    head.push(`opset_import: ${printOpsets(fn.opsets)}`)
    yield `<\n${head.map(line => INDENT + line).join(',\n')}\n>`
    const attributes = fn.attributes.map(name => {
      const attribute = fn.defaults.get(name)
      return attribute === undefined ? name : this.#attribute(name, attribute, 1)
    })
    const names = (ports: readonly GraphPort[]): string => ports.map(({ name }) => printPort({ name })).join(', ')
    const list = attributes.length === 0 ? '' : `<${attributes.join(', ')}> `
    yield `${printName(fn.name)} ${list}(${names(fn.graph.inputs)}) => (${names(fn.graph.outputs)})`
    const values = [...valueInfo(fn.graph, true)]
    if (values.length > 0) yield `${INDENT}<${values.join(', ')}>`
    yield* this.#nodes(fn.graph.nodes, 1)
  }
}

const typeOf = (attribute: Attribute): string =>
  attribute.kind === 'reference' && attribute.of !== undefined ? `: ${attribute.of}` : ''

/** A declared value. Without a type its name is in quotes where it would be read as one. */
function printPort({ name, declared }: Pick<GraphPort, 'name' | 'declared'>): string {
  if (declared !== undefined) return `${printType(declared)} ${printName(name)}`
  return isType(name) ? quote(name) : printName(name)
}

/** The declared values of a graph that are none of its inputs, outputs and initializers. */
function* valueInfo({ inputs, outputs, initializers, values }: Graph, isFunction = false): Generator<string> {
  const shown = new Set(isFunction ? [] : [...inputs, ...outputs].map(({ name }) => name))
  for (const { id, declared } of values.values())
    if (declared !== undefined && !shown.has(id) && !initializers.has(id)) yield printPort({ name: id, declared })
}
