import { NodewiseError, placing } from '../../errors.ts'
import { fileSource } from '../../files/byte-source.ts'
import { type DeclaredDim, declaredOf, type DeclaredType, type GraphPort, type Model } from '../../graph/graph.ts'
import type { DeclaredInput } from '../../io/inputs.ts'
import { parseJsonExact } from '../../io/json-text.ts'
import { valueFromJson } from '../../io/json.ts'
import { asDeclared, declaredElement, isTensorFile, readTensorBytes, readTensorFile, readWhole } from '../../io/read.ts'
import { portType } from '../../runtime/graph-ports.ts'
import { didYouMean } from '../../suggest.ts'
import { Tensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { splitNamed } from '../options.ts'
import { statOf } from '../stat.ts'
import { isStream, STDIN, streamBytes } from '../streams.ts'

/** Whether an input is a file of elements alone. */
export const isRaw = (text: string): boolean => /\.(?:bin|raw)$/i.test(text)

/** Options that give values of inputs. */
export interface InputFlags {
  readonly input?: readonly string[]
  readonly inputs?: string
  readonly image?: readonly string[]
  readonly audio?: readonly string[]
}

/** What an option of shapes says. */
export interface GivenShapes {
  /** Dims by input; names among them stand for one size in the whole model. */
  readonly inputs: ReadonlyMap<string, readonly DeclaredDim[]>
  /** Sizes and intervals of dims that the model names. */
  readonly dims: ReadonlyMap<string, DeclaredDim>
}

/** What a caller gives or gets at a port: the file's declaration with the element type that `portType` gives. */
export function callerType(model: Model, side: 'input' | 'output', port: GraphPort): DeclaredType | undefined {
  const declared = declaredOf(model.graph, port)
  if (declared?.kind !== 'tensor' || declared.type === undefined) return declared
  return { ...declared, type: portType(model, side, declared.type) }
}

/** Inputs that a caller has to give, in order: those that are initializers too have a value already. */
export const neededInputs = ({ graph }: Model): GraphPort[] =>
  graph.inputs.filter(({ value }) => !graph.initializers.has(value))

/** Every name by which an input can be given. */
export const inputNames = ({ graph }: Model): string[] =>
  graph.inputs.flatMap(({ name, aliases }) => [name, ...aliases])

/** @throws NodewiseError `unexpected-input` when the model has no such input */
export function inputNamed({ graph: { inputs } }: Model, name: string): GraphPort {
  const port =
    inputs.find(candidate => candidate.name === name) ?? inputs.find(candidate => candidate.aliases.includes(name))
  if (port) return port
  throw new NodewiseError(
    'unexpected-input',
    `the model has no input "${name}"; it has ${inputs.map(input => `"${input.name}"`).join(', ') || 'none'}` +
      didYouMean(
        name,
        inputs.map(input => input.name)
      )
  )
}

/**
 * The values of `--inputs`, `--input`, `--image` and `--audio`; a single input wins over the same one among many.
 * @throws NodewiseError `bad-usage`, `unexpected-input`, and what reading a file throws
 */
export async function givenInputs(
  model: Model,
  { input = [], inputs, image = [], audio = [] }: InputFlags,
  shapes?: GivenShapes
): Promise<Map<string, Value>> {
  const given = inputs === undefined ? new Map<string, Value>() : await readMany(model, inputs)
  const single = new Set<string>()
  const add = async (option: string, texts: readonly string[], read: typeof readOne): Promise<void> => {
    for (const text of texts) {
      if (!text.includes('=')) refuseUnnamed(option, text, model)
      const { name, value } = splitNamed(option, text, inputNames(model))
      const port = inputNamed(model, name)
      if (single.has(port.name)) badUsage(`${option} gives "${port.name}" twice`)
      single.add(port.name)
      given.set(port.name, await read(name, value, shaped(callerType(model, 'input', port), port, shapes)))
    }
  }
  await add('--input', input, readOne)
  if (image.length > 0) await add('--image', image, (await import('./image-input.ts')).readImage)
  if (audio.length > 0) await add('--audio', audio, (await import('./audio-input.ts')).readAudio)
  return given
}

/** A path or value without the name of its input: tells what to write. */
function refuseUnnamed(option: string, text: string, model: Model): never {
  const isMany = statOf(text)?.isDirectory() === true || /\.(npz|json)$/i.test(text)
  if (isMany) badUsage(`${option} ${text}: name=value is needed; --inputs ${text} reads the inputs that are in it`)
  const names = inputNames(model)
  if (names.includes(text)) badUsage(`${option} ${text}: a value is needed, as in ${text}=… or ${text}=file.npy`)
  const [name = 'name'] = names
  return badUsage(`${option} ${text}: name=value is needed, such as ${name}=${text}`)
}

/** The declaration with the dims that `--shape` gives: files of elements alone have none. */
function shaped(
  declared: DeclaredType | undefined,
  { name }: GraphPort,
  shapes: GivenShapes | undefined
): DeclaredType | undefined {
  if (declared?.kind !== 'tensor' || shapes === undefined) return declared
  const dims = (shapes.inputs.get(name) ?? declared.dims)?.map(dim =>
    typeof dim === 'string' ? (shapes.dims.get(dim) ?? dim) : dim
  )
  return dims ? { ...declared, dims } : declared
}

/** A file by its extension, stdin or a pipe, a JSON literal, or for an input of strings the text as it is. */
async function readOne(name: string, text: string, declared: DeclaredType | undefined): Promise<Value> {
  if (isStream(text)) return readStream(text, declared)
  const isText = declaredElement(declared) === 'string'
  if (text.startsWith('@') && !isText)
    throw new NodewiseError('bad-usage', `--input ${name}: files are named without "@": ${name}=${text.slice(1)}`)
  if (isTensorFile(text)) return readTensorFile(text, declared)
  if (isRaw(text) && !isText) return readRawFile(text, declared)
  if (statOf(text)?.isFile()) return refuseFile(name, text)
  try {
    return isText ? texts(text, declared) : valueFromJson(parseJsonExact(text), declared)
  } catch (error) {
    if (!isText && statOf(text)?.isDirectory())
      badUsage(`--input ${name}: ${text} is a folder; --inputs ${text} reads the inputs that are in it`)
    if (!isText && /^[^[{"]*\.[a-z][a-z0-9]{1,5}$/i.test(text))
      throw new NodewiseError('missing-file', `--input ${name}: there is no file ${text}`)
    // A literal has no file to point at: the message says which option it stands in.
    if (error instanceof NodewiseError)
      throw new NodewiseError(error.code, `--input ${name}: ${error.reason}`, error.place, error.details)
    throw error
  }
}

/** JSON of strings, or a text that is no such JSON: one element, of as many dims as are declared. */
function texts(text: string, declared: DeclaredType | undefined): Value {
  if (/^\s*[[{"]/.test(text)) return valueFromJson(parseJsonExact(text), declared)
  const type = declared?.kind === 'optional' ? declared.element : declared
  const rank = type?.kind === 'tensor' ? (type.dims?.length ?? 0) : 0
  const tensor = new Tensor('string', [text], new Array<number>(rank).fill(1))
  return asDeclared(tensor, declared)
}

async function readStream(path: string, declared: DeclaredType | undefined): Promise<Value> {
  return readTensorBytes(await streamBytes(path), declared, path === '-' ? STDIN : path)
}

async function readRawFile(path: string, declared: DeclaredType | undefined): Promise<Value> {
  const { readRaw } = await import('../../io/raw.ts')
  const type = declared?.kind === 'tensor' ? declared : undefined
  return placing({ file: path }, () => readRaw(readWhole(path), type?.type, type?.dims))
}

/** Says what a file is that holds no tensor, and what to do with it. */
async function refuseFile(name: string, path: string): Promise<never> {
  const { kindOf, KIND_BYTES } = await import('../../files/kinds.ts')
  const source = fileSource(path)
  try {
    const kind = kindOf(source.read(0, Math.min(KIND_BYTES, source.size)), path)
    const what = kind
      ? `this is ${kind.what}; ${(await import('./media.ts')).adviceOn(kind, name, path)}`
      : 'a tensor is read from a .npy, .pb, .json or .bin file'
    throw new NodewiseError('invalid-file', what, { file: path })
  } finally {
    source.close()
  }
}

async function readMany(model: Model, path: string): Promise<Map<string, Value>> {
  const { numberedFiles, readInputs } = await import('../../io/inputs.ts')
  const isFolder = statOf(path)?.isDirectory() ?? false
  const numbered = isFolder ? numberedFiles(path, 'input') : new Map<number, string>()
  if (numbered.size > 0) return readByPosition(model, numbered)
  const ports = model.graph.inputs.flatMap(port =>
    [port.name, ...port.aliases].map(name => ({ name, declared: callerType(model, 'input', port) }))
  )
  const values = new Map<string, Value>()
  for (const [name, value] of await (isStream(path) ? readManyStream(path, ports) : readInputs(path, ports))) {
    const port = inputNamed(model, name)
    if (values.has(port.name))
      throw new NodewiseError('unexpected-input', `input "${port.name}" is given twice`, { file: path })
    values.set(port.name, value)
  }
  if (isFolder && values.size === 0)
    throw new NodewiseError('missing-file', 'the folder has no input_0.npy, input_0.pb or input_0.json', { file: path })
  return values
}

/** All inputs from stdin or a pipe: an .npz, or JSON of {name: literal}. */
async function readManyStream(path: string, ports: readonly DeclaredInput[]): Promise<Map<string, Value>> {
  const { readInputBytes } = await import('../../io/inputs.ts')
  return readInputBytes(await streamBytes(path), ports, path === '-' ? STDIN : path)
}

/**
 * File K belongs to input K; initializers that are inputs too are only counted when there are files for them.
 * @param typeOf a declaration to read file K by, in place of the input's
 */
export async function readByPosition(
  model: Model,
  files: ReadonlyMap<number, string>,
  typeOf?: (index: number) => DeclaredType | undefined
): Promise<Map<string, Value>> {
  const needed = neededInputs(model)
  const ports = Math.max(...files.keys()) >= needed.length ? model.graph.inputs : needed
  const values = new Map<string, Value>()
  for (const [index, path] of files) {
    if (index >= ports.length)
      throw new NodewiseError('unexpected-input', `the model has ${ports.length} inputs; none belongs to this file`, {
        file: path
      })
    values.set(
      ports[index].name,
      await readTensorFile(path, typeOf?.(index) ?? callerType(model, 'input', ports[index]))
    )
  }
  return values
}
