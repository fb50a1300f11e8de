import { statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fail, NodewiseError, placing } from '../errors.ts'
import { systemFailure } from '../files/byte-source.ts'
import type { DeclaredType } from '../graph/graph.ts'
import type { Value } from '../tensor/tensor.ts'
import { namesIn } from './folders.ts'
import { isJsonObject, parseJsonExact } from './json-text.ts'
import { valueFromJson } from './json.ts'
import { safeFileNames } from './names.ts'
import { readNpz } from './npz.ts'
import { asDeclared, declaredElement, fromFile, isTensorFile, readTensorFile, utf8 } from './read.ts'

/** An input of a model. */
export interface DeclaredInput {
  readonly name: string
  readonly declared?: DeclaredType | undefined
}

/**
 * Reads values for the inputs of a model from an `.npz`, from a `.json` of `{name: literal}`, or from a folder with
 * files called `input_0.npy`, `input_1.pb`, … in the order of the inputs, or called as the inputs. Names of files and
 * in archives may be in the safe form that `saveValues` writes. Values for other names are returned too.
 * @returns values by name
 * @throws NodewiseError as `readTensorFile` and `readNpz`
 */
export async function readInputs(path: string, inputs: readonly DeclaredInput[]): Promise<Map<string, Value>> {
  if (isFolder(path)) return readFolder(path, inputs)
  const extension = extname(path).toLowerCase()
  if (extension === '.npz') return fromFile(path, bytes => readArchive(bytes, inputs))
  if (extension === '.json') return fromFile(path, bytes => readLiterals(utf8(bytes), inputs))
  throw new NodewiseError('invalid-file', 'inputs are read from an .npz, a .json or a folder', { file: path })
}

/**
 * The same from bytes without a name, which tell by themselves whether they are an `.npz` or a `.json`.
 * @param name of the source, for messages
 */
export function readInputBytes(bytes: Uint8Array, inputs: readonly DeclaredInput[], name: string): Map<string, Value> {
  // PK begins every ZIP archive.
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b
  return placing({ file: name }, () => (isArchive ? readArchive(bytes, inputs) : readLiterals(utf8(bytes), inputs)))
}

/**
 * The files `prefix_0.npy`, `prefix_1.pb`, … of a folder, by their number.
 * @throws NodewiseError `missing-file`; `invalid-file` where a number occurs twice
 */
export function numberedFiles(folder: string, prefix: string): Map<number, string> {
  const files = new Map<number, string>()
  for (const name of namesIn(folder)) {
    const extension = extname(name)
    const [, before, digits] = /^(.*)_(0|[1-9]\d{0,8})$/.exec(basename(name, extension)) ?? []
    if (before !== prefix || !isTensorFile(name)) continue
    const number = Number(digits)
    if (files.has(number))
      throw new NodewiseError('invalid-file', `${prefix}_${number} is there twice`, { file: folder })
    files.set(number, join(folder, name))
  }
  return new Map([...files].sort(([a], [b]) => a - b))
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    throw systemFailure(error, basename(path)).at({ file: path })
  }
}

async function readFolder(folder: string, inputs: readonly DeclaredInput[]): Promise<Map<string, Value>> {
  const values = new Map<string, Value>()
  const inputOf = namedInputs(inputs)
  const numbered = numberedFiles(folder, 'input')
  for (const [i, file] of numbered) {
    const { name, declared } = inputs[i] ?? { name: `input_${i}`, declared: undefined }
    values.set(name, await readTensorFile(file, declared))
  }
  if (numbered.size > 0) return values
  for (const file of namesIn(folder)) {
    if (!isTensorFile(file)) continue
    const { name, declared } = inputOf(basename(file, extname(file)))
    values.set(name, await readTensorFile(join(folder, file), declared))
  }
  return values
}

function readArchive(bytes: Uint8Array, inputs: readonly DeclaredInput[]): Map<string, Value> {
  const inputOf = namedInputs(inputs)
  const tensors = readNpz(bytes, { typeOf: name => declaredElement(inputOf(name).declared) })
  return new Map(
    [...tensors].map(([found, tensor]) => {
      const { name, declared } = inputOf(found)
      return [name, asDeclared(tensor, declared)]
    })
  )
}

function readLiterals(text: string, inputs: readonly DeclaredInput[]): Map<string, Value> {
  const literals = parseJsonExact(text)
  if (!isJsonObject(literals)) fail('invalid-file', 'the file must hold an object of {name: literal}')
  const declared = new Map(inputs.map(input => [input.name, input.declared]))
  return new Map(
    Object.entries(literals).map(([name, literal]) => [
      name,
      placing({ value: name }, () => valueFromJson(literal, declared.get(name)))
    ])
  )
}

/** Returns a function from a name, as it is or in its safe form, to the input. */
function namedInputs(inputs: readonly DeclaredInput[]): (name: string) => DeclaredInput {
  const safe = safeFileNames(inputs.map(input => input.name))
  const byName = new Map([
    ...inputs.map((input, i) => [safe[i], input] as const),
    ...inputs.map(input => [input.name, input] as const)
  ])
  return name => byName.get(name) ?? { name }
}
