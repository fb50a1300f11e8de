import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { NodewiseError } from '../errors.ts'
import type { DeclaredType, GraphPort, Model } from '../graph/graph.ts'
import { parseJsonExact } from '../io/json-text.ts'
import { valueFromJson } from '../io/json.ts'
import { readTensorFile } from '../io/read.ts'
import { declaredOf, portType } from '../runtime/graph-ports.ts'
import type { Value } from '../tensor/tensor.ts'
import { badUsage } from './failure.ts'
import { splitNamed } from './options.ts'

const FILES = new Set(['.npy', '.pb', '.json'])

/** What a caller gives or gets at a port: the file's declaration with the element type that `portType` gives. */
export function callerType(model: Model, side: 'input' | 'output', port: GraphPort): DeclaredType | undefined {
  const declared = declaredOf(model, port)
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
    `the model has no input "${name}"; it has ${inputs.map(input => `"${input.name}"`).join(', ') || 'none'}`
  )
}

/**
 * The values of `--inputs` and `--input`; a single input wins over the same one among many.
 * @throws NodewiseError `bad-usage`, `unexpected-input`, and what reading a file throws
 */
export async function givenInputs(
  model: Model,
  { input = [], inputs }: { input?: readonly string[]; inputs?: string }
): Promise<Map<string, Value>> {
  const given = inputs === undefined ? new Map<string, Value>() : await readMany(model, inputs)
  const single = new Set<string>()
  for (const text of input) {
    const { name, value } = splitNamed('--input', text, inputNames(model))
    const port = inputNamed(model, name)
    if (single.has(port.name)) badUsage(`--input gives "${port.name}" twice`)
    single.add(port.name)
    given.set(port.name, await readOne(name, value, callerType(model, 'input', port)))
  }
  return given
}

/** A JSON literal, or a file by its extension. */
async function readOne(name: string, text: string, declared: DeclaredType | undefined): Promise<Value> {
  if (FILES.has(extname(text).toLowerCase())) return readTensorFile(text, { declared })
  try {
    return valueFromJson(parseJsonExact(text), declared)
  } catch (error) {
    // A literal has no file to point at: the message says which option it stands in.
    if (error instanceof NodewiseError)
      throw new NodewiseError(error.code, `--input ${name}: ${error.reason}`, error.place, error.details)
    throw error
  }
}

async function readMany(model: Model, path: string): Promise<Map<string, Value>> {
  const { numberedFiles, readInputs } = await import('../io/inputs.ts')
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  const numbered = isFolder ? numberedFiles(path, 'input') : new Map<number, string>()
  if (numbered.size > 0) return readByPosition(model, numbered)
  const ports = model.graph.inputs.flatMap(port =>
    [port.name, ...port.aliases].map(name => ({ name, declared: callerType(model, 'input', port) }))
  )
  const values = new Map<string, Value>()
  for (const [name, value] of await readInputs(path, ports)) {
    const port = inputNamed(model, name)
    if (values.has(port.name))
      throw new NodewiseError('unexpected-input', `input "${port.name}" is given twice`, { file: path })
    values.set(port.name, value)
  }
  if (isFolder && values.size === 0)
    throw new NodewiseError('missing-file', 'the folder has no input_0.npy, input_0.pb or input_0.json', { file: path })
  return values
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
      await readTensorFile(path, { declared: typeOf?.(index) ?? callerType(model, 'input', ports[index]) })
    )
  }
  return values
}
