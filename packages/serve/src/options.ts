import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { clock, linesOfTurn } from './log.ts'
import { Refusal } from './refusal.ts'
import type { ServeOptions, Tls } from './server.ts'

/** An option: what stands for its value in the help, and what it does. A flag has no value. */
interface Option {
  readonly value?: string
  readonly help: string
  readonly short?: string
}

const OPTIONS = {
  name: { value: '<name>', help: 'name of a single model (default: that of its file)' },
  host: { value: '<address>', help: 'address to listen at (default: 127.0.0.1; 0.0.0.0 for all)' },
  'http-port': { value: '<n>', help: 'port of REST and of the metrics (default: 8000; none: no REST)' },
  'grpc-port': { value: '<n>', help: 'port of gRPC (default: 8001; none: no gRPC)' },
  load: { value: '<which>', help: 'all (default), or none: models are loaded when a request asks for it' },
  'no-control': { help: 'requests may not load and unload models' },
  watch: { value: '<seconds>', help: 'how often to look for changed files (default: 2; 0: never)' },
  instances: { value: '<n>', help: 'engines of each model (default: one a core for models of up to 32 MB of weights)' },
  threads: { value: '<n>', help: 'threads of each run (default: one, or all cores where there is one engine)' },
  precision: { value: '<which>', help: 'fast (default) or exact, as in nodewise run' },
  'max-memory': { value: '<size>', help: 'what the tensors of a run may take' },
  'model-memory': { value: '<size>', help: 'what weights of all models may take; idle models are put away beyond it' },
  'max-queue': { value: '<n>', help: 'requests of a model that may wait (default: 256)' },
  'max-batch': { value: '<n>', help: 'requests that are run as one, where that changes no answer (default: 16)' },
  'max-delay': { value: '<ms>', help: 'how long a request waits for others (default: 0)' },
  timeout: { value: '<ms>', help: 'how long a request may take that has no deadline (default: 0, any time)' },
  'max-body': { value: '<size>', help: 'largest body of a request (default: 64MB)' },
  'max-json': { value: '<size>', help: 'largest JSON of a request, and typed contents in gRPC (default: 16MB)' },
  'max-connections': { value: '<n>', help: 'connections of REST at the same time' },
  'io-timeout': {
    value: '<seconds>',
    help: 'how long a client may take to send a request, or read nothing of an answer (default: 120)'
  },
  'tls-cert': { value: '<file>', help: 'certificate of both ports, as PEM' },
  'tls-key': { value: '<file>', help: 'its key' },
  'tls-ca': { value: '<file>', help: 'clients need a certificate that this one has signed' },
  'token-file': { value: '<file>', help: 'each request needs a bearer token of this file, one a line' },
  drain: { value: '<seconds>', help: 'how long requests are waited for at the end (default: 30)' },
  'log-level': { value: '<level>', help: 'trace, debug, info (default), warn, error or silent' },
  json: { help: 'print a failure as a JSON document' },
  help: { help: 'show this', short: 'h' }
} as const satisfies Readonly<Record<string, Option>>

/** What the command is asked for. */
export interface Asked {
  readonly isHelp: boolean
  readonly json: boolean
  readonly options: ServeOptions
  /** Milliseconds. */
  readonly drain: number
}

const wrong = (why: string): never => {
  throw new Refusal('bad-usage', why)
}

/** Reads a size: 1048576, 512MB, 2GB. */
function sizeOf(name: string, text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text) ?? wrong(`--${name} ${text} is no size`)
  const size = Math.floor(Number(digits) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '))
  return size > 0 && Number.isSafeInteger(size) ? size : wrong(`--${name} ${text} is no size`)
}

function numberIn(name: string, text: string, least: number, most: number, isWhole = true): number {
  const value = Number(text)
  const isNumber = text.trim() !== '' && Number.isFinite(value) && (!isWhole || Number.isInteger(value))
  return isNumber && value >= least && value <= most
    ? value
    : wrong(`--${name} is a number from ${least} to ${most}, not ${text}`)
}

/**
 * Reads the arguments of the command.
 * @throws Refusal `bad-usage`, `missing-file`
 */
export function readArguments(args: readonly string[]): Asked {
  const options = Object.fromEntries(
    Object.entries(OPTIONS as Readonly<Record<string, Option>>).map(([name, { value, short }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) }
    ])
  )
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    return wrong((error as Error).message)
  }
  const values = parsed.values as Readonly<Record<string, string | boolean | undefined>>
  const isHelp = values.help === true
  const [source, ...more] = parsed.positionals
  if (!isHelp && source === undefined) wrong('which model or repository?')
  if (more.length > 0) wrong(`there is one model or repository, not also ${more.join(', ')}`)
  return {
    isHelp,
    json: values.json === true,
    options: optionsFrom(source ?? '', values),
    drain: given(values, 'drain', text => numberIn('drain', text, 0, 86_400, false), 30) * 1000
  }
}

type Values = Readonly<Record<string, string | boolean | undefined>>

function given<T>(values: Values, name: keyof typeof OPTIONS, read: (text: string) => T, otherwise: T): T {
  const text = values[name]
  return typeof text === 'string' ? read(text) : otherwise
}

function optionsFrom(source: string, values: Values): ServeOptions {
  const whole = (name: keyof typeof OPTIONS, least: number, otherwise?: number): number | undefined =>
    given<number | undefined>(values, name, text => numberIn(name, text, least, 2 ** 31 - 1), otherwise)
  const size = (name: keyof typeof OPTIONS, otherwise?: number): number | undefined =>
    given<number | undefined>(values, name, text => sizeOf(name, text), otherwise)
  const choice = <T extends string>(name: keyof typeof OPTIONS, choices: readonly T[], otherwise: T): T =>
    given(
      values,
      name,
      text => choices.find(one => one === text) ?? wrong(`--${name} is ${choices.join(' or ')}, not ${text}`),
      otherwise
    )
  const port = (name: 'http-port' | 'grpc-port', otherwise: number): number | undefined =>
    given(values, name, text => (text === 'none' ? undefined : numberIn(name, text, 0, 65_535)), otherwise)
  const milliseconds = (name: keyof typeof OPTIONS): number =>
    given(values, name, text => numberIn(name, text, 0, 2 ** 31 - 1, false), 0)
  const level = choice('log-level', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info')
  const tls = tlsFrom(values)
  const tokens = given(values, 'token-file', tokensIn, [])
  const all = {
    source,
    name: given<string | undefined>(values, 'name', text => text, undefined),
    host: given(values, 'host', text => text, '127.0.0.1'),
    httpPort: port('http-port', 8000),
    grpcPort: port('grpc-port', 8001),
    loadsAll: choice('load', ['all', 'none'], 'all') === 'all',
    mayControl: values['no-control'] !== true,
    watch: given(values, 'watch', text => numberIn('watch', text, 0, 86_400, false), 2) * 1000,
    instances: whole('instances', 1),
    threads: whole('threads', 1),
    precision: choice('precision', ['fast', 'exact'], 'fast'),
    maxMemory: size('max-memory'),
    modelMemory: size('model-memory'),
    maxQueue: whole('max-queue', 1, 256),
    maxBatch: whole('max-batch', 1, 16),
    maxDelay: milliseconds('max-delay'),
    timeout: milliseconds('timeout'),
    maxBody: size('max-body', 64 * 2 ** 20),
    maxJson: size('max-json', 16 * 2 ** 20),
    maxConnections: whole('max-connections', 1),
    ioTimeout: given(values, 'io-timeout', text => numberIn('io-timeout', text, 0.1, 86_400, false), 120) * 1000,
    tls,
    tokens,
    // The process and the machine's name say nothing that whoever collects the lines does not know.
    logger: level === 'silent' ? false : { level, base: null, timestamp: clock(), stream: linesToStdout() }
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as ServeOptions
}

function linesToStdout(): { write(line: string): void } {
  const lines = linesOfTurn(process.stdout)
  // Also where it ends by an error: writing to stdout does not wait for the event loop.
  process.once('exit', lines.flush)
  return lines
}

function fileOf(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Refusal('missing-file', `--${name}: ${(error as Error).message}`)
  }
}

function tokensIn(path: string): string[] {
  const tokens = fileOf('token-file', path)
    .toString()
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  return tokens.length > 0 ? tokens : wrong(`--token-file: ${path} has no token`)
}

function tlsFrom(values: Values): Tls | undefined {
  const read = (name: 'tls-cert' | 'tls-key' | 'tls-ca'): Buffer | undefined =>
    given<Buffer | undefined>(values, name, path => fileOf(name, path), undefined)
  const [cert, key, ca] = [read('tls-cert'), read('tls-key'), read('tls-ca')]
  if (cert === undefined && key === undefined && ca === undefined) return undefined
  if (cert === undefined || key === undefined) return wrong('TLS needs --tls-cert and --tls-key')
  return { cert, key, ...(ca && { ca }) }
}

/** The help of the command. */
export function helpText(): string {
  const rows = Object.entries(OPTIONS as Readonly<Record<string, Option>>).map(([name, { value, help, short }]) => [
    `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    help
  ])
  const width = Math.max(...rows.map(([left]) => left.length))
  return [
    'Usage: nodewise serve [options] <model | repository>',
    '',
    'Answers requests of the Open Inference Protocol v2, REST and gRPC. A repository is a folder of folders:',
    'name/1/model.onnx or name/1/model.xml, with name/nodewise.json where a model is to be served in another way.',
    '',
    'Options:',
    ...rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`)
  ].join('\n')
}
