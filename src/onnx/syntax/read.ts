import { exceed, type Limits } from '../../graph/limits.ts'
import { FieldWriter } from '../write/fields.ts'
import { gather, type MessageWriter } from '../write/message.ts'
import { Positions } from './positions.ts'
import { readEntries, readTensor, type ReadType, readType } from './read-values.ts'
import { INT64, numberOf, Scanner } from './scanner.ts'
import { ATTRIBUTE_TYPES, isType, NO_TYPE } from './types.ts'

/**
 * Reads a model in the text format of ONNX (docs/Syntax.md there), as its binary form.
 * @param positions gets where nodes and declared values stand, those of functions aside: a call has nodes of its own
 * @throws NodewiseError `invalid-file` with line and column, `limit-exceeded` for graphs nested too deep
 */
export function readModelText(text: string, limits: Limits, positions = new Positions()): Uint8Array {
  return gather(new TextReader(text, limits, positions).model())
}

type AttributeType = (typeof ATTRIBUTE_TYPES)[number]

/** The field that holds the values of an attribute, by its type. */
const FIELD: Partial<Record<AttributeType, string>> = {
  float: 'f',
  int: 'i',
  string: 's',
  tensor: 't',
  graph: 'g',
  type_proto: 'tp',
  floats: 'floats',
  ints: 'ints',
  strings: 'strings',
  tensors: 'tensors',
  graphs: 'graphs',
  type_protos: 'type_protos'
}

class TextReader {
  readonly #scanner: Scanner
  readonly #limits: Limits
  readonly #positions: Positions
  #depth = 0
  /** Path of the graph that is read; undefined in functions. */
  #path: string | undefined = ''
  /** Path of a body that comes next. */
  #bodyPath: string | undefined = ''

  constructor(text: string, limits: Limits, positions: Positions) {
    this.#positions = positions
    this.#scanner = new Scanner(text)
    this.#limits = limits
  }

  model(): MessageWriter {
    const fields = new FieldWriter('ModelProto')
    this.#header(fields, MODEL_KEYS)
    fields.bytes('graph', this.#graph())
    while (!this.#scanner.isAtEnd) fields.bytes('functions', this.#function())
    return fields.alone()
  }

  /** `<key: value, …>` before a model or a function. */
  #header(fields: FieldWriter, keys: Readonly<Record<string, 'integer' | 'text' | 'opsets' | 'entries'>>): void {
    const scanner = this.#scanner
    if (!scanner.takes('<')) return
    scanner.list('>', () => {
      const key = scanner.identifier()
      const kind = Object.hasOwn(keys, key) ? keys[key] : scanner.fail(`"${key}" is not known here`)
      scanner.expect(':')
      if (kind === 'integer') fields.integer(key, scanner.integer())
      else if (kind === 'text') fields.text(key, scanner.quoted())
      else {
        scanner.expect('[')
        fields.messages(key, kind === 'entries' ? readEntries(scanner) : this.#opsets())
      }
    })
  }

  #opsets(): MessageWriter[] {
    const scanner = this.#scanner
    const opsets: MessageWriter[] = []
    scanner.list(']', () => {
      const fields = new FieldWriter('OperatorSetIdProto').text('domain', scanner.quoted())
      scanner.expect(':')
      opsets.push(fields.integer('version', scanner.integer()).alone())
    })
    return opsets
  }

  #graph(name = this.#scanner.name()): MessageWriter {
    if (++this.#depth > this.#limits.graphDepth + 1)
      exceed('graphDepth', this.#limits, `graphs are nested more than ${this.#limits.graphDepth} deep`)
    const scanner = this.#scanner
    const outer = this.#path
    this.#path = this.#bodyPath
    const fields = new FieldWriter('GraphProto').text('name', name)
    fields.none('node')
    scanner.expect('(')
    scanner.list(')', () => this.#valueOrInitializer(fields, 'input', true))
    scanner.expect('=>')
    scanner.expect('(')
    scanner.list(')', () => fields.bytes('output', this.#value().message))
    if (scanner.takes('<')) scanner.list('>', () => this.#valueOrInitializer(fields, 'value_info', false))
    fields.messages('node', this.#nodes())
    this.#path = outer
    this.#depth--
    return fields.alone()
  }

  /** A declared value, with its elements after `=`. Inputs with elements are both, others are initializers alone. */
  #valueOrInitializer(fields: FieldWriter, field: string, isInput: boolean): void {
    const { message, name, type } = this.#value()
    const hasElements = this.#scanner.takes('=')
    if (isInput || !hasElements) fields.bytes(field, message)
    if (!hasElements) return
    if (type === undefined) this.#scanner.fail(`"${name}" has elements and no type`)
    else fields.bytes('initializer', readTensor(this.#scanner, name, type))
  }

  #value(): { message: MessageWriter; name: string; type: ReadType | undefined } {
    const type = this.#startsType() ? readType(this.#scanner) : undefined
    const { position } = this.#scanner
    const name = this.#scanner.name()
    if (this.#path !== undefined) this.#positions.addValue(this.#path, name, position)
    const fields = new FieldWriter('ValueInfoProto').text('name', name)
    if (type) fields.bytes('type', type.message)
    return { message: fields.alone(), name, type }
  }

  /** Whether a type is next; a value may be called as a type is only in quotes, but for the name of no type. */
  #startsType(): boolean {
    const { word } = this.#scanner
    return isType(word) || (word === NO_TYPE && this.#scanner.follows(word, /^\s*["[A-Za-z_]/))
  }

  #nodes(): MessageWriter[] {
    const scanner = this.#scanner
    const nodes: MessageWriter[] = []
    scanner.expect('{')
    while (!scanner.takes('}')) nodes.push(this.#node(nodes.length))
    return nodes
  }

  #node(index: number): MessageWriter {
    const scanner = this.#scanner
    if (this.#path !== undefined) this.#positions.addNode(this.#path, scanner.position)
    const fields = new FieldWriter('NodeProto').none('input', 'output')
    if (scanner.takes('[')) {
      if (scanner.next !== ']') fields.text('name', scanner.name())
      scanner.expect(']')
    }
    fields.texts('output', this.#names('='))
    const path = scanner.qualified().split('.')
    fields.text('op_type', path.pop() ?? '')
    if (path.length > 0) fields.text('domain', path.join('.'))
    if (scanner.takes(':')) fields.text('overload', scanner.identifier())
    const attributes = this.#attributes(index)
    scanner.expect('(')
    fields.texts('input', this.#names(')'))
    fields.messages('attribute', attributes.length > 0 ? attributes : this.#attributes(index))
    return fields.alone()
  }

  /** Names between commas, of which any may be left out, up to `close`. */
  #names(close: string): string[] {
    const scanner = this.#scanner
    const names: string[] = []
    while (!scanner.takes(close)) {
      names.push(scanner.next === ',' ? '' : scanner.name())
      if (scanner.takes(',')) continue
      scanner.expect(close)
      break
    }
    return names
  }

  #attributes(nodeIndex: number): MessageWriter[] {
    const attributes: MessageWriter[] = []
    const before = this.#path === undefined ? undefined : `${this.#path}${this.#path && '/'}${nodeIndex}:`
    if (this.#scanner.takes('<'))
      this.#scanner.list('>', () => {
        const name = this.#scanner.identifier()
        attributes.push(this.#attribute(name, before === undefined ? undefined : before + name))
      })
    return attributes
  }

  /** @param path of a body that the attribute holds */
  #attribute(name: string, path?: string): MessageWriter {
    const scanner = this.#scanner
    const fields = new FieldWriter('AttributeProto').text('name', name)
    const declared = scanner.takes(':') ? (scanner.identifier() as AttributeType) : undefined
    if (declared !== undefined && !ATTRIBUTE_TYPES.includes(declared))
      scanner.fail(`"${declared as string}" is no type of attributes`)
    scanner.expect('=')
    let type = declared
    let count = 0
    if (scanner.takes('[')) {
      scanner.list(']', () => {
        // Without a type, the first item says it for all.
        this.#bodyPath = path === undefined ? undefined : `${path}[${count++}]`
        const found = this.#attributeValue(fields, type && singular(type), true)
        type ??= `${found}s` as AttributeType
      })
      if (type === undefined) scanner.fail('an empty list needs the type of its items')
    } else if (scanner.takes('@')) fields.text('ref_attr_name', scanner.name())
    else {
      this.#bodyPath = path
      type = this.#attributeValue(fields, declared, false)
    }
    return fields.integer('type', type === undefined ? 0 : ATTRIBUTE_TYPES.indexOf(type)).alone()
  }

  /** Reads one value into the field of its type; returns the type. */
  #attributeValue(fields: FieldWriter, expected: AttributeType | undefined, inList: boolean): AttributeType {
    const scanner = this.#scanner
    const fieldOf = (type: AttributeType): string => {
      if (expected !== undefined && expected !== type) scanner.fail(`a value of type ${expected} is expected`)
      return (
        FIELD[inList ? (`${type}s` as AttributeType) : type] ?? scanner.fail(`${type} has no values in this format`)
      )
    }
    const isNamed = scanner.word !== '' && !scanner.isSpecialFloat
    // A graph may have any name, also that of a type, and none.
    if (expected === 'graph' ? isNamed || scanner.next === '"' : isNamed && !isType(scanner.word)) {
      fields.bytes(fieldOf('graph'), this.#graph())
      return 'graph'
    }
    if (isNamed) return this.#typedValue(fields, fieldOf)
    const { kind, text } = scanner.literal()
    const type = kind === 'int' && expected === 'float' ? 'float' : kind
    if (type === 'float') fields.float(fieldOf(type), numberOf(text))
    else if (type === 'int') fields.integer(fieldOf(type), scanner.within(INT64, text))
    else fields.text(fieldOf(type), text)
    return type
  }

  /** A tensor or a type. */
  #typedValue(fields: FieldWriter, fieldOf: (type: AttributeType) => string): AttributeType {
    const scanner = this.#scanner
    const type = readType(scanner)
    const isTensor = /[{="[.]/.test(scanner.next) || scanner.word !== ''
    if (!isTensor) {
      fields.bytes(fieldOf('type_proto'), type.message)
      return 'type_proto'
    }
    const name = scanner.next === '"' || scanner.word !== '' ? scanner.name() : ''
    scanner.takes('=')
    fields.bytes(fieldOf('tensor'), readTensor(scanner, name, type))
    return 'tensor'
  }

  #function(): MessageWriter {
    const scanner = this.#scanner
    this.#path = undefined
    const fields = new FieldWriter('FunctionProto').none('input', 'output')
    this.#header(fields, FUNCTION_KEYS)
    fields.text('name', scanner.name())
    if (scanner.takes('<'))
      scanner.list('>', () => {
        const name = scanner.name()
        if (scanner.next === ':' || scanner.next === '=') fields.bytes('attribute_proto', this.#attribute(name))
        else fields.text('attribute', name)
      })
    const port = (field: string): void => {
      const { message, name, type } = this.#value()
      fields.text(field, name)
      if (type) fields.bytes('value_info', message)
    }
    scanner.expect('(')
    scanner.list(')', () => port('input'))
    scanner.expect('=>')
    scanner.expect('(')
    scanner.list(')', () => port('output'))
    if (scanner.takes('<')) scanner.list('>', () => fields.bytes('value_info', this.#value().message))
    fields.messages('node', this.#nodes())
    return fields.alone()
  }
}

const MODEL_KEYS = {
  ir_version: 'integer',
  opset_import: 'opsets',
  producer_name: 'text',
  producer_version: 'text',
  domain: 'text',
  model_version: 'integer',
  doc_string: 'text',
  metadata_props: 'entries'
} as const

const FUNCTION_KEYS = { domain: 'text', overload: 'text', opset_import: 'opsets', doc_string: 'text' } as const

const singular = (type: AttributeType): AttributeType =>
  (type.endsWith('s') ? type.slice(0, -1) : type) as AttributeType
