import { fail } from '../../errors.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { typedFieldOf } from '../elements.ts'
import { entry, FieldWriter } from '../write/fields.ts'
import type { MessageWriter } from '../write/message.ts'
import { type Bounds, INT64, type Scanner } from './scanner.ts'
import { NO_TYPE, TYPE_WORDS, typeOfName } from './types.ts'

/** A type as it is read: its message, and what a tensor of that type needs. */
export interface ReadType {
  readonly message: MessageWriter
  /** Of tensors: the element type, and the dims where all are sizes. */
  readonly tensor?: { readonly type: DType; readonly dims: readonly bigint[] | undefined }
}

const message = (name: string): FieldWriter => new FieldWriter(name)

/** Types are read recursively, and the stack is finite. A model has fewer: each takes two messages of the file. */
const MAX_TYPES = 400

/**
 * Reads a type: `float[N,128]`, `seq(float[])`, `map(int64, float)`, `opaque(domain, name)`.
 * @param depth of types around it
 * @throws NodewiseError `invalid-file`, `limit-exceeded`
 */
export function readType(scanner: Scanner, depth = 0): ReadType {
  if (depth > MAX_TYPES) fail('limit-exceeded', `types are nested more than ${MAX_TYPES} deep`)
  const word = scanner.identifier()
  const type = typeOfName(word)
  const fields = message('TypeProto')
  if (type !== undefined || word === NO_TYPE) {
    const { shape, dims } = readShape(scanner)
    const tensor = message('TypeProto.Tensor').integer('elem_type', codeOf(type))
    if (shape) tensor.bytes('shape', shape)
    return {
      message: fields.bytes('tensor_type', tensor.alone()).alone(),
      ...(type !== undefined && { tensor: { type, dims } })
    }
  }
  if (!TYPE_WORDS.has(word)) scanner.fail(`"${word}" is no type`)
  scanner.expect('(')
  readCompound(scanner, word, fields, depth + 1)
  scanner.expect(')')
  return { message: fields.alone() }
}

const codeOf = (type: DType | undefined): number => (type && DTYPES[type].onnx) ?? 0

function readCompound(scanner: Scanner, word: string, fields: FieldWriter, depth: number): void {
  if (word === 'seq' || word === 'optional') {
    const [field, name] =
      word === 'seq' ? ['sequence_type', 'TypeProto.Sequence'] : ['optional_type', 'TypeProto.Optional']
    fields.bytes(field, message(name).bytes('elem_type', readType(scanner, depth).message).alone())
  } else if (word === 'map') {
    const key = typeOfName(scanner.identifier()) ?? scanner.fail('the type of the keys is expected')
    scanner.expect(',')
    const map = message('TypeProto.Map').integer('key_type', codeOf(key))
    fields.bytes('map_type', map.bytes('value_type', readType(scanner, depth).message).alone())
  } else if (word === 'sparse_tensor') {
    const type = typeOfName(scanner.identifier()) ?? scanner.fail('an element type is expected')
    const { shape } = readShape(scanner)
    const tensor = message('TypeProto.SparseTensor').integer('elem_type', codeOf(type))
    if (shape) tensor.bytes('shape', shape)
    fields.bytes('sparse_tensor_type', tensor.alone())
  } else {
    const opaque = message('TypeProto.Opaque')
    if (scanner.next !== ')') {
      const first = scanner.qualified()
      if (scanner.takes(',')) opaque.text('domain', first).text('name', scanner.identifier())
      else opaque.text('name', first)
    }
    fields.bytes('opaque_type', opaque.alone())
  }
}

/** Nothing: rank 0; `[]`: no rank is declared; else the dims, `?` where one is not known. */
function readShape(scanner: Scanner): { shape?: MessageWriter; dims: bigint[] | undefined } {
  const shape = message('TensorShapeProto')
  if (!scanner.takes('[')) return { shape: shape.alone(), dims: [] }
  if (scanner.takes(']')) return { dims: undefined }
  const dims: bigint[] = []
  let isKnown = true
  scanner.list(']', () => {
    const dim = message('TensorShapeProto.Dimension')
    if (scanner.takes('?')) isKnown = false
    else if (scanner.next === '"' || scanner.word !== '') {
      isKnown = false
      dim.text('dim_param', scanner.name())
    } else {
      const size = scanner.integer()
      dims.push(size)
      dim.integer('dim_value', size)
    }
    shape.bytes('dim', dim.alone())
  })
  return { shape: shape.alone(), dims: isKnown ? dims : undefined }
}

/** Pairs of texts in brackets, of which the first is taken: `"location": "weights.bin", …]`. */
export function readEntries(scanner: Scanner): MessageWriter[] {
  const entries: MessageWriter[] = []
  scanner.list(']', () => {
    const key = scanner.quoted()
    scanner.expect(':')
    entries.push(entry(key, scanner.quoted()))
  })
  return entries
}

/** Reads the elements of a tensor: `{1, 2}`, `["location": "weights.bin"]`, or `...` where they are left out. */
export function readTensor(scanner: Scanner, name: string, { tensor }: ReadType): MessageWriter {
  if (tensor?.dims === undefined) return scanner.fail('a tensor needs an element type, and dims that are sizes')
  const fields = message('TensorProto').integers('dims', tensor.dims).integer('data_type', codeOf(tensor.type))
  if (name !== '') fields.text('name', name)
  if (scanner.takes('{')) readElements(scanner, fields, tensor.type)
  else if (scanner.takes('[')) fields.messages('external_data', readEntries(scanner)).integer('data_location', 1)
  else scanner.takes('...')
  return fields.alone()
}

function readElements(scanner: Scanner, fields: FieldWriter, type: DType): void {
  const field = typedFieldOf(type)
  if (field === 'string_data') return scanner.list('}', () => fields.text(field, scanner.quoted()))
  const packed = new PackedNumbers()
  if (field === 'float_data') scanner.list('}', () => packed.float(scanner.number()))
  else if (field === 'double_data') scanner.list('}', () => packed.double(scanner.number()))
  else scanner.list('}', () => packed.integer(scanner.integer(boundsOf(type))))
  if (packed.length > 0) fields.bytes(field, packed.bytes())
}

/** What elements may be; those of at most 16 bits are looked at when they are decoded, signed or not. */
const boundsOf = (type: DType): Bounds => (type === 'uint64' ? UINT64 : type === 'int32' ? INT32 : INT64)

const UINT64: Bounds = [0n, 2n ** 64n - 1n]
const INT32: Bounds = [-(2n ** 31n), 2n ** 31n - 1n]

/** A packed list of numbers. */
class PackedNumbers {
  #view = new DataView(new ArrayBuffer(1024))
  length = 0

  float(value: number): void {
    const at = this.#grow(4)
    this.#view.setFloat32(at, value, true)
  }
  double(value: number): void {
    const at = this.#grow(8)
    this.#view.setFloat64(at, value, true)
  }
  integer(value: bigint): void {
    let rest = BigInt.asUintN(64, value)
    for (; rest > 127n; rest >>= 7n) this.#byte(Number(rest & 127n) | 128)
    this.#byte(Number(rest))
  }
  bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer, 0, this.length)
  }

  #byte(value: number): void {
    const at = this.#grow(1)
    this.#view.setUint8(at, value)
  }

  /** Where the next bytes go; the view is another where they did not fit. */
  #grow(bytes: number): number {
    const at = this.length
    this.length += bytes
    if (this.length > this.#view.byteLength) {
      const grown = new Uint8Array(2 * this.#view.byteLength)
      grown.set(new Uint8Array(this.#view.buffer))
      this.#view = new DataView(grown.buffer)
    }
    return at
  }
}
