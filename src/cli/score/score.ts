import { clock } from '../../host.ts'
import type { Op } from '../../op-kit/define.ts'
import type { Value } from '../../tensor/tensor.ts'
import { companion } from '../companion.ts'
import { badUsage, EXIT } from '../failure.ts'
import { givenInputs } from '../inputs/inputs.ts'
import { openModel } from '../model.ts'
import { splitNamed } from '../options.ts'
import { operatorsIn, type OpsFlags } from '../own-ops.ts'
import { isStdout, isStream, writeTo } from '../streams.ts'
import { counted, grouped, print, startProgress, type Terminal } from '../terminal.ts'

export interface ScoreFlags extends OpsFlags {
  readonly output?: string
  readonly map?: readonly string[]
  readonly as?: readonly string[]
  readonly outputs?: string
  readonly keep?: string
  readonly input?: readonly string[]
  readonly batch?: number
  readonly pad?: string
  readonly onError?: 'fail' | 'skip' | 'null'
  readonly errors?: string
  readonly resume?: boolean
  readonly fromFormat?: string
  readonly toFormat?: string
  readonly threads?: number
  readonly maxMemory?: number
  readonly json?: boolean
}

/** What is used of the package nodewise-score, whose options these are. */
interface Scoring {
  score(options: Readonly<Record<string, unknown>>): Promise<Scored>
}

interface Scored {
  readonly rows: number
  readonly failed: number
  readonly columns: readonly string[]
  readonly resumed: number
}

interface Done {
  readonly rows: number
  readonly failed: number
  readonly fraction?: number
}

/** `nodewise score <model> [table]` */
export async function score(
  model: string,
  table: string | undefined,
  flags: ScoreFlags,
  terminal: Terminal
): Promise<number> {
  const { output = '-' } = flags
  if (flags.json && isStdout(output)) badUsage('-o - and --json both write to stdout')
  const options = await optionsOf(model, flags)
  const { score: scoreTable } = companion<Scoring>('score', terminal)
  const stop = new AbortController()
  const forget = terminal.onInterrupt?.(() => stop.abort())
  const progress = startProgress(terminal)
  const start = clock()
  try {
    const result = await scoreTable({
      ...options,
      model,
      from: table === undefined || isStream(table) ? process.stdin : table,
      to: isStdout(output) ? (bytes: Uint8Array) => writeTo('-', bytes, terminal.stdout) : output,
      signal: stop.signal,
      onProgress: (done: Done) => progress.show(() => progressText(done, clock() - start))
    })
    progress.end()
    const seconds = (clock() - start) / 1000
    if (flags.json) print(terminal, JSON.stringify({ ...result, seconds }, undefined, 2))
    else terminal.stderr.write(`${resultText(result, output, seconds)}\n`)
    return EXIT.yes
  } finally {
    progress.end()
    forget?.()
  }
}

async function optionsOf(model: string, flags: ScoreFlags): Promise<Record<string, unknown>> {
  const { map = [], as = [], outputs, keep, input, pad, ops } = flags
  const { batch, onError, errors, resume, fromFormat, toFormat, threads, maxMemory } = flags
  const given = { batch, onError, errors, resume, fromFormat, toFormat, threads, maxMemory }
  const named = (option: string, texts: readonly string[]): [string, string][] =>
    texts.map(text => Object.values(splitNamed(option, text, [])) as [string, string])
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    map: Object.fromEntries(named('--map', map).map(([name, columns]) => [name, listed(columns)])),
    as: Object.fromEntries(named('--as', as)),
    ...(outputs !== undefined && { outputs: listed(outputs) }),
    ...(keep !== undefined && { keep: keep === 'none' ? [] : listed(keep) }),
    ...(pad !== undefined && { pad: Number.isNaN(Number(pad)) || pad.trim() === '' ? pad : Number(pad) }),
    ...(input && { feeds: await feedsOf(model, input) }),
    ...(ops && { ops: ops.flatMap((file): Op[] => operatorsIn(file)) })
  }
}

const listed = (text: string): string[] => text.split(',').map(name => name.trim())

async function feedsOf(path: string, input: readonly string[]): Promise<Record<string, Value>> {
  const model = await openModel(path, {})
  return Object.fromEntries(await givenInputs(model, { input }, { inputs: new Map(), dims: new Map() }))
}

/** `1,234,567 rows, 42 %, 100,000 rows a second, 15 s left` */
function progressText({ rows, failed, fraction }: Done, milliseconds: number): string {
  const parts = [`${counted(rows, 'row')}${failed > 0 ? ` (${grouped(failed)} failed)` : ''}`]
  if (fraction !== undefined) parts.push(`${Math.floor(100 * fraction)} %`)
  parts.push(`${grouped(Math.round((1000 * rows) / milliseconds))} rows a second`)
  if (fraction !== undefined && fraction > 0)
    parts.push(`${Math.ceil((milliseconds / 1000) * (1 / fraction - 1))} s left`)
  return parts.join(', ')
}

function resultText({ rows, failed, resumed }: Scored, output: string, seconds: number): string {
  const done = rows - resumed
  const notes = [
    ...(resumed > 0 ? [`${grouped(resumed)} of them before`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : [])
  ]
  const speed = `${seconds.toFixed(1)} s, ${grouped(Math.round(done / seconds))} rows a second`
  return `${isStdout(output) ? '' : `${output}: `}${[counted(rows, 'row'), ...notes].join(', ')}; ${speed}`
}
