import { readFileSync } from 'node:fs'
import { Refusal } from '../refusal.ts'

/** What `nodewise.json` in the folder of a model may say; `model.schema.json` describes it. */
export interface ModelConfig {
  /** Versions to serve: the latest (default), all, or these. */
  readonly versions?: 'latest' | 'all' | readonly number[]
  /** Engines that run the model at the same time. */
  readonly instances?: number
  /** Threads of each run. */
  readonly threads?: number
  readonly precision?: 'fast' | 'exact'
  /** Bytes that the tensors of a run may take. */
  readonly maxMemory?: number
  /** Requests that may wait. */
  readonly maxQueue?: number
  /** Milliseconds that a request may take where it has no deadline of its own. */
  readonly timeout?: number
  readonly batching?: BatchingConfig
  /** Whether requests that take little time are run in the thread of the server; yes where it is left out. */
  readonly nearby?: boolean
  /** Requests that are run before the model counts as ready: dims of inputs by name, filled with zeros. */
  readonly warmUp?: readonly Readonly<Record<string, readonly number[]>>[]
}

/** How requests are joined. */
export interface BatchingConfig {
  /** Most requests that are run as one; 1: none are joined. */
  readonly maxSize?: number
  /** Milliseconds that a request waits for others. */
  readonly maxDelay?: number
  /** Join requests although it is not proven that the rows of the first dim are independent of each other. */
  readonly force?: boolean
}

type Check = (value: unknown) => boolean

const isWhole =
  (least: number): Check =>
  value =>
    Number.isSafeInteger(value) && (value as number) >= least
const isNumber: Check = value => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isDims: Check = value => Array.isArray(value) && value.every(isWhole(0))

const BATCHING: Readonly<Record<string, Check>> = {
  maxSize: isWhole(1),
  maxDelay: isNumber,
  force: value => typeof value === 'boolean'
}
const KEYS: Readonly<Record<string, Check>> = {
  $schema: value => typeof value === 'string',
  versions: value =>
    value === 'latest' || value === 'all' || (Array.isArray(value) && value.length > 0 && value.every(isWhole(1))),
  instances: isWhole(1),
  threads: isWhole(1),
  precision: value => value === 'fast' || value === 'exact',
  maxMemory: isWhole(1),
  maxQueue: isWhole(1),
  timeout: isNumber,
  batching: isObject,
  nearby: value => typeof value === 'boolean',
  warmUp: value => Array.isArray(value) && value.every(one => isObject(one) && Object.values(one).every(isDims))
}

/**
 * Reads the configuration of a model.
 * @throws Refusal `bad-request` where it is no such document, with the file's name
 */
export function readConfig(path: string): ModelConfig {
  try {
    // Editors of Windows write a byte order mark before the text.
    return configFrom(JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, '')))
  } catch (error) {
    throw new Refusal('bad-request', `${path}: ${(error as Error).message}`)
  }
}

/** @throws Refusal `bad-request` for unknown keys and values of another kind */
export function configFrom(value: unknown): ModelConfig {
  checkKeys(value, KEYS, '')
  const config = value as ModelConfig
  if (config.batching !== undefined) checkKeys(config.batching, BATCHING, 'batching.')
  return config
}

function checkKeys(value: unknown, keys: Readonly<Record<string, Check>>, path: string): void {
  if (!isObject(value)) throw new Refusal('bad-request', 'a configuration is a JSON object')
  for (const [key, item] of Object.entries(value)) {
    const check = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (check === undefined)
      throw new Refusal('bad-request', `there is no key "${path}${key}"; there are ${Object.keys(keys).join(', ')}`)
    if (!check(item)) throw new Refusal('bad-request', `"${path}${key}" cannot be ${JSON.stringify(item)}`)
  }
}
