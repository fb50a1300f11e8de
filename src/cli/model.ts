import { readdirSync } from 'node:fs'
import { fail } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { load } from '../load.ts'
import { failureOf } from './failure.ts'
import { byteSize, splitNamed } from './options.ts'
import { statOf } from './stat.ts'
import { isStream, STDIN, streamBytes } from './streams.ts'

/** What the commands that open a model have in common. */
export interface ModelFlags {
  readonly dataRoot?: string
  /** `graphDepth=64`, `structureBytes=4GB` */
  readonly limit?: readonly string[]
  /** Read doc strings too. */
  readonly docs?: boolean
}

/** The model that a command is about, `-` being stdin; its failures carry the file's name. */
export async function openModel(path: string, { dataRoot, limit = [], docs = false }: ModelFlags): Promise<Model> {
  const limits = Object.fromEntries(
    limit.map(text => splitNamed('--limit', text, [])).map(({ name, value }) => [name, byteSize(value)])
  )
  try {
    if (statOf(path)?.isDirectory() === true) refuseFolder(path)
    const source = isStream(path) ? await streamBytes(path) : path
    const name = path === '-' ? STDIN : path
    return await load(source, { limits, name, docs, ...(dataRoot !== undefined && { dataRoot }) })
  } catch (error) {
    throw failureOf(error).at({ file: path === '-' ? STDIN : path })
  }
}

/** Models of a folder that are named where one of them is wanted. */
const NAMED_MODELS = 3

function refuseFolder(path: string): never {
  const models = readdirSync(path).filter(name => /\.(?:onnx|onnxtxt|xml)$/i.test(name))
  const named = [...models.sort().slice(0, NAMED_MODELS), ...(models.length > NAMED_MODELS ? ['…'] : [])]
  const how = models.length === 0 ? 'there is none in this one' : `in it are ${named.join(', ')}`
  return fail('invalid-file', `this is a folder; name one model; ${how}`)
}
