import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import { didYouMean } from '../../suggest.ts'
import { readJsonFile } from '../text-file.ts'
import { CONFIG_SCHEMA, type Schema } from './config-schema.ts'

/** Dims by the name of an input. */
export type InputShapes = Readonly<Record<string, readonly (number | string)[]>>

/** Settings of a project, see {@link CONFIG_SCHEMA}. */
export interface Config {
  readonly files?: readonly string[]
  readonly exclude?: readonly string[]
  readonly dataRoot?: string
  readonly limits?: Readonly<Record<string, number | string>>
  readonly check?: {
    readonly strict?: boolean
    readonly ignore?: readonly string[]
    readonly baseline?: string
    readonly inputShapes?: InputShapes
    readonly overrides?: readonly {
      readonly files: readonly string[]
      readonly ignore?: readonly string[]
      readonly inputShapes?: InputShapes
    }[]
  }
}

/** A configuration and the folder that its paths start from. */
export interface FoundConfig {
  readonly config: Config
  readonly folder: string
}

const NAME = 'nodewise.config.json'

/**
 * The configuration that a command is given, or else the nearest one in its folder and those above.
 * @param given its path; `false` for none at all
 * @param start the folder of the command
 * @throws NodewiseError `missing-file`, `invalid-file`
 */
export function findConfig(given: string | false | undefined, start: string): FoundConfig {
  const path = given === false ? undefined : (given ?? nearest(start))
  if (path === undefined) return { config: {}, folder: start }
  const config = readJsonFile(path)
  const problem = problemIn(config, CONFIG_SCHEMA, '')
  if (problem !== undefined) throw new NodewiseError('invalid-file', problem, { file: path })
  return { config: config as Config, folder: dirname(resolve(path)) }
}

function nearest(start: string): string | undefined {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const path = join(folder, NAME)
    if (existsSync(path)) return path
    if (folder === dirname(folder)) return undefined
  }
}

/** What is wrong with a value by its schema, in a sentence; undefined where nothing is. */
export function problemIn(value: unknown, schema: Schema, path: string): string | undefined {
  const { type, anyOf, properties = {}, additionalProperties, required = [], items } = schema
  const name = path === '' ? 'the configuration' : path
  if (anyOf) {
    if (anyOf.some(one => problemIn(value, one, path) === undefined)) return undefined
    return `${name} is to be ${anyOf.map(one => NAMES[one.type ?? 'object']).join(' or ')}`
  }
  if (type !== undefined && typeOf(value) !== type) return `${name} is to be ${NAMES[type]}`
  if (type === 'array')
    return firstOf((value as unknown[]).map((item, i) => problemIn(item, items ?? {}, `${path}[${i}]`)))
  if (type !== 'object') return undefined
  const missing = required.find(key => !Object.hasOwn(value as object, key))
  if (missing !== undefined) return `${name} lacks "${missing}"`
  return firstOf(
    Object.entries(value as object).map(([key, item]) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : additionalProperties
      if (own === false) return `${name} has no setting "${key}"${alternatives(key, Object.keys(properties))}`
      return own && problemIn(item, own, path === '' ? key : `${path}.${key}`)
    })
  )
}

const alternatives = (key: string, names: readonly string[]): string =>
  didYouMean(key, names) || `; it has ${names.filter(name => name !== '$schema').join(', ')}`

const NAMES = { object: 'an object', array: 'a list', string: 'a text', number: 'a number', boolean: 'true or false' }

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)

const firstOf = (problems: readonly (string | undefined)[]): string | undefined =>
  problems.find(problem => problem !== undefined)
