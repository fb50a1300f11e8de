import { readdirSync } from 'node:fs'
import { fail } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { load } from '../load.ts'
import { badUsage, failureOf } from './failure.ts'
import { type NetworkFlags, networkOf, type ReadingBar, readingBar } from './network.ts'
import { namedSize, splitNamed } from './options.ts'
import { statOf } from './stat.ts'
import { isStream, STDIN, streamBytes } from './streams.ts'
import type { Terminal } from './terminal.ts'

/** What the commands that open a model have in common. */
export interface ModelFlags extends NetworkFlags {
  readonly dataRoot?: string
  /** `graphDepth=64`, `structureBytes=4GB` */
  readonly limit?: readonly string[]
  /** Read doc strings too. */
  readonly docs?: boolean
}

/** How a command reads a model. */
export interface Reading {
  /** Read the weights too, wherever they lie: for commands that need them at hand. */
  readonly whole?: boolean
  /** Shows how far reading has come; the command's own, where that goes on after the model has been opened. */
  readonly bar?: ReadingBar
  readonly terminal?: Terminal
}

/** The model that a command is about, `-` being stdin; its failures carry the file's name. */
export async function openModel(path: string, flags: ModelFlags, how: Reading = {}): Promise<Model> {
  const { dataRoot, limit = [], docs = false } = flags
  const limits = Object.fromEntries(
    limit
      .map(text => splitNamed('--limit', text, []))
      .map(({ name, value }) => [name, namedSize('--limit', name, value)])
  )
  const bar = how.bar ?? (how.terminal && readingBar(how.terminal))
  try {
    if (path === '') badUsage(NO_NAME)
    if (statOf(path)?.isDirectory() === true) refuseFolder(path)
    const source = isStream(path) ? await streamBytes(path) : path
    const name = path === '-' ? STDIN : path
    return await load(source, {
      limits,
      name,
      docs,
      network: networkOf(flags),
      whole: how.whole === true,
      ...(bar && { onProgress: bar.onProgress }),
      ...(dataRoot !== undefined && { dataRoot })
    })
  } catch (error) {
    bar?.end()
    throw failureOf(error).at({ file: path === '-' ? STDIN : path })
  }
}

/** What is wrong with an empty name, as a variable of a shell gives that was never set. */
const NO_NAME = 'the name of a model is empty'

/** Models of a folder that are named where one of them is wanted. */
const NAMED_MODELS = 3

function refuseFolder(path: string): never {
  const models = readdirSync(path).filter(name => /\.(?:onnx|onnxtxt|xml)$/i.test(name))
  const named = [...models.sort().slice(0, NAMED_MODELS), ...(models.length > NAMED_MODELS ? ['…'] : [])]
  const how = models.length === 0 ? 'there is none in this one' : `in it are ${named.join(', ')}`
  return fail('invalid-file', `this is a folder; name one model; ${how}`)
}
