import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import { systemFailure } from '../../files/byte-source.ts'
import { statOf } from '../stat.ts'
import { readJsonFile } from '../text-file.ts'

/** A folder with a model and something to hold it against. */
export interface Case {
  /** Its path: the folder that was named, and the way from there. */
  readonly name: string
  readonly folder: string
  /** Path of the model. */
  readonly model: string
}

/** What an `index.json` beside the cases says of one. */
export interface CaseSettings {
  readonly rtol?: number
  readonly atol?: number
  readonly atol_scale?: number
  /** Types whose bit patterns an `.npy` holds, by `input_K` or `output_K`. */
  readonly raw_bits?: Readonly<Record<string, string>>
  readonly compare?: string
}

const MODELS = ['model.onnx', 'model.xml', 'model.onnxtxt']

/** The models among the files of a case: those with the usual names, else whatever is a model by its suffix. */
function modelsAmong(names: ReadonlySet<string>): string[] {
  const usual = MODELS.filter(name => names.has(name))
  return usual.length > 0 ? usual : [...names].filter(name => /\.(?:onnx|onnxtxt|xml)$/i.test(name)).sort()
}

export const DATA_SET = /^test_data_set_(\d+)$/

/**
 * Every case under a folder, the folder itself included, sorted by path. Links inside are not followed.
 * @throws NodewiseError `missing-file` when it is no folder
 */
export function findCases(folder: string): Case[] {
  const root = folder.replace(/(?<=.)[\\/]+$/, '')
  if (!statOf(root)?.isDirectory()) throw new NodewiseError('missing-file', 'there is no such folder', { file: folder })
  return [...casesIn(root)]
}

function* casesIn(folder: string): Generator<Case> {
  const entries = entriesOf(folder)
  const names = new Set(entries.filter(entry => entry.isFile()).map(({ name }) => name))
  const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
  const hasData = names.has('expect.json') || folders.some(name => DATA_SET.test(name))
  const models = hasData ? modelsAmong(names) : []
  for (const model of models) {
    const name = models.length > 1 ? `${folder}/${model}` : folder
    yield { name: name.replaceAll('\\', '/'), folder, model: join(folder, model) }
  }
  for (const name of folders.sort()) if (!DATA_SET.test(name)) yield* casesIn(`${folder}/${name}`)
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw systemFailure(error, 'the folder').at({ file: folder })
  }
}

const indexes = new Map<string, ReadonlyMap<string, CaseSettings>>()

/**
 * What the `index.json` beside a case says of it; nothing where there is none.
 * @throws NodewiseError `invalid-file` when it is no JSON
 */
export function settingsOf({ folder }: Case): CaseSettings {
  const parent = dirname(resolve(folder))
  let index = indexes.get(parent)
  if (!index) indexes.set(parent, (index = readIndex(join(parent, 'index.json'))))
  return index.get(basename(resolve(folder))) ?? {}
}

function readIndex(path: string): Map<string, CaseSettings> {
  const rows = readJson(path)
  if (!Array.isArray(rows)) return new Map()
  return new Map(
    (rows as { name?: unknown }[]).flatMap(row =>
      typeof row?.name === 'string' ? [[row.name, row as CaseSettings]] : []
    )
  )
}

/** A small JSON file of a case, or undefined when it is not there. */
export function readJson(path: string): unknown {
  try {
    return readJsonFile(path)
  } catch (error) {
    if (error instanceof NodewiseError && error.code === 'missing-file') return undefined
    throw error
  }
}
