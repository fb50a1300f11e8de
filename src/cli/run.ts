import { registryWith } from '../built-in.ts'
import { NodewiseError } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import type { SavedValue } from '../io/save.ts'
import { Session } from '../runtime/session.ts'
import { EXIT, failureIn } from './failure.ts'
import { feedsFrom } from './fill.ts'
import { isMeasured, type Measured, measuredRuns, type MeasureFlags, statisticsText } from './measured-runs.ts'
import { openModel } from './model.ts'
import { printJson, printText } from './run-print.ts'
import { columnsOf, print, type Terminal, warn } from './terminal.ts'
import { chromeTrace, traceText } from './trace.ts'

export interface RunFlags extends MeasureFlags {
  readonly input?: readonly string[]
  readonly inputs?: string
  readonly output?: string
  readonly fetch?: readonly string[]
  readonly fill?: string
  readonly shape?: readonly string[]
  readonly threads?: number
  readonly precision?: 'fast' | 'exact'
  readonly maxMemory?: number
  readonly dataRoot?: string
  readonly limit?: readonly string[]
  readonly print?: boolean
  readonly json?: boolean
}

/** `nodewise run <model>` */
export async function run(path: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  const model = await openModel(path, flags)
  for (const note of model.notes) warn(terminal, `${model.file}: ${note}`)
  try {
    return await runModel(model, flags, terminal)
  } catch (error) {
    throw failureIn(model, error)
  }
}

async function runModel(model: Model, flags: RunFlags, terminal: Terminal): Promise<number> {
  const feeds = await feedsFrom(model, flags)
  const session = new Session(model, registryWith(), {
    ...(flags.maxMemory !== undefined && { maxMemory: flags.maxMemory }),
    ...(flags.threads !== undefined && { threads: flags.threads }),
    ...(flags.precision !== undefined && { precision: flags.precision })
  })
  const names = flags.fetch && fetchNames(model, flags.fetch)
  const measured: Measured = { outputs: {}, times: [], traces: [] }
  try {
    await measuredRuns(session, feeds, names, flags, measured, terminal)
  } catch (error) {
    await tellWhatWas(measured, flags, model.file, terminal)
    if (!(error instanceof NodewiseError) || error.code !== 'missing-input') throw error
    throw (await import('./missing-input.ts')).withExample(model, error, new Set(Object.keys(feeds)))
  }
  const saved = await save(measured, flags, model.file)
  if (flags.json) await printJson(measured, flags, saved, terminal)
  else await printText(measured, flags, saved, terminal)
  return EXIT.yes
}

/** What ran before a failure, or before Ctrl-C, is what a trace, a profile and repeated runs are asked for. */
async function tellWhatWas(measured: Measured, flags: RunFlags, model: string, terminal: Terminal): Promise<void> {
  const { times, traces } = measured
  if (flags.profile !== undefined) await saveProfile(flags.profile, traces, model)
  if (flags.json) return
  if (flags.trace && traces.length > 0) print(terminal, traceText(traces[traces.length - 1], columnsOf(terminal)))
  if (isMeasured(flags) && times.length > 0) print(terminal, statisticsText(times, flags))
}

async function saveProfile(path: string, traces: Measured['traces'], model: string): Promise<void> {
  const { saveFile } = await import('../io/save.ts')
  await saveFile(path, new TextEncoder().encode(chromeTrace(traces, model)))
}

/** Names separated by commas; a name that holds commas itself is one that the model has. */
function fetchNames({ graph: { outputs, values } }: Model, texts: readonly string[]): string[] {
  const known = new Set([
    ...outputs.flatMap(({ name, aliases }) => [name, ...aliases]),
    ...[...values.values()].flatMap(({ name, names }) => [name, ...names])
  ])
  const names = texts.flatMap(text =>
    known.has(text)
      ? [text]
      : text
          .split(',')
          .map(name => name.trim())
          .filter(name => name !== '')
  )
  return [...new Set(names)]
}

async function save({ outputs, traces }: Measured, flags: RunFlags, model: string): Promise<SavedValue[]> {
  if (flags.profile !== undefined) await saveProfile(flags.profile, traces, model)
  if (flags.output === undefined) return []
  const { saveValues } = await import('../io/save.ts')
  return saveValues(flags.output, new Map(Object.entries(outputs)))
}
