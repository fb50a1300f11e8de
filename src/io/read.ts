import { basename, extname } from 'node:path'
import { fail, NodewiseError } from '../errors.ts'
import { fileSource } from '../files/byte-source.ts'
import type { DeclaredType } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Tensor, Value } from '../tensor/tensor.ts'
import { parseJsonExact } from './json-text.ts'
import { valueFromJson } from './json.ts'
import { readNpyLike } from './npy.ts'

const MAX_FILE = 2 ** 33

/**
 * Reads a value from a file. The extension tells the format: `.npy`, `.json` (a literal, `{type, dims, data}`, or
 * `{type, value}` of maps), or `.pb` (a TensorProto; a SequenceProto, OptionalProto or MapProto where `declared` is
 * such a type).
 * @param declared the type that a model declares. It decides how to read a file that can be read in several ways
 * @throws NodewiseError `missing-file`, `invalid-file`, `limit-exceeded`, `type-mismatch`, each with the file's name
 */
export async function readTensorFile(path: string, declared?: DeclaredType): Promise<Value> {
  const read = READERS[extname(path).toLowerCase()]
  if (read === undefined)
    throw new NodewiseError('invalid-file', 'a tensor is read from a .npy, .pb or .json file', { file: path })
  return fromFile(path, bytes => read(bytes, declared))
}

/**
 * What is read of all bytes of a file. Where it holds something else than its name says, the failure tells that.
 * @throws NodewiseError as {@link readWhole} and `read`, each with the file's name
 */
export function fromFile<T>(path: string, read: (bytes: Uint8Array) => T | Promise<T>): Promise<T> {
  return placed(path, async () => {
    const bytes = readWhole(path)
    try {
      return await read(bytes)
    } catch (error) {
      throw (await import('../files/kinds.ts')).withTensorKind(error, bytes, path)
    }
  })
}

/**
 * {@link readTensorFile} of bytes without a name, which tell by themselves what they are.
 * @param name of the source, for messages
 */
export async function readTensorBytes(
  bytes: Uint8Array,
  declared: DeclaredType | undefined,
  name: string
): Promise<Value> {
  return placed(name, () => {
    // An optional without a value is no bytes in protobuf; of anything else no bytes are left by what failed before.
    if (bytes.length === 0 && declared?.kind !== 'optional')
      fail('invalid-file', 'nothing came; a tensor is a .npy, a .pb or JSON')
    return READERS[formatOf(bytes)]!(bytes, declared)
  })
}

/**
 * An .npy begins with its name, JSON with a sign that no message of protobuf begins with; a byte order mark is none
 * either. A line feed begins messages.
 */
function formatOf(bytes: Uint8Array): '.npy' | '.json' | '.pb' {
  const head = String.fromCharCode(...bytes.subarray(0, 64))
  if (head.startsWith('\x93NUMPY')) return '.npy'
  return /^(?:\xef\xbb\xbf\s*|[ \t\r]\s*)?[[{"\-\dtfn]/.test(head) ? '.json' : '.pb'
}

async function placed<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NodewiseError) throw error.at({ file })
    if (error instanceof RangeError)
      throw new NodewiseError('limit-exceeded', `no memory for it (${error.message})`, { file })
    throw error
  }
}

/**
 * All bytes of a regular file.
 * @throws NodewiseError `missing-file`, `invalid-file`, `limit-exceeded` above 8 GiB
 */
export function readWhole(path: string): Uint8Array {
  const source = fileSource(path, basename(path))
  try {
    const { size } = source
    if (size > MAX_FILE) fail('limit-exceeded', `${size} bytes are more than can be read at once`)
    return source.read(0, size)
  } finally {
    source.close()
  }
}

type Reader = (bytes: Uint8Array, declared: DeclaredType | undefined) => Value | Promise<Value>

const READERS: Readonly<Record<string, Reader | undefined>> = {
  '.npy': (bytes, declared) => asDeclared(readNpyLike(bytes, declaredElement(declared)), declared),
  '.json': (bytes, declared) => valueFromJson(parseJsonExact(utf8(bytes)), declared),
  '.pb': readProto
}

/** Whether {@link readTensorFile} reads a file, going by its name. */
export const isTensorFile = (path: string): boolean => extname(path).toLowerCase() in READERS

/** The element type of a declared tensor, of an optional one too. */
export function declaredElement(declared?: DeclaredType): DType | undefined {
  if (declared?.kind === 'optional') return declaredElement(declared.element)
  return declared?.kind === 'tensor' ? declared.type : undefined
}

/** A tensor as a value of the declared type: where an optional is declared, as the optional that has it. */
export const asDeclared = (tensor: Tensor, declared?: DeclaredType): Value =>
  declared?.kind === 'optional' ? { type: 'optional', value: asDeclared(tensor, declared.element) } : tensor

/** The protobuf reader is loaded only for a file that needs it. */
async function readProto(bytes: Uint8Array, declared: DeclaredType | undefined): Promise<Value> {
  const protos = await import('../onnx/values.ts')
  if (declared?.kind === 'sequence') return protos.decodeSequenceProto(bytes, declared)
  if (declared?.kind === 'optional') return protos.decodeOptionalProto(bytes, declared)
  if (declared?.kind === 'map') return protos.decodeMapProto(bytes, declared)
  return protos.decodeTensorProto(bytes).tensor
}

/** @throws NodewiseError `invalid-file` when the bytes are not UTF-8 */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    fail('invalid-file', 'the file is not UTF-8 text')
  }
}
