import { registryWith } from '../built-in.ts'
import type { Model } from '../graph/graph.ts'
import type { SavedValue } from '../io/save.ts'
import type { StepEvent } from '../runtime/execute.ts'
import { type RunOptions, Session } from '../runtime/session.ts'
import type { Value } from '../tensor/tensor.ts'
import { badUsage, EXIT, failureIn } from './failure.ts'
import { feedsFrom } from './fill.ts'
import { openModel } from './model.ts'
import { type Outcome, printJson, printText } from './run-print.ts'
import { print, startProgress, type Terminal, warn } from './terminal.ts'
import type { TraceRow } from './trace.ts'

export interface RunFlags {
  readonly input?: readonly string[]
  readonly inputs?: string
  readonly output?: string
  readonly fetch?: readonly string[]
  readonly fill?: string
  readonly shape?: readonly string[]
  readonly threads?: number
  readonly precision?: 'fast' | 'exact'
  readonly outOfRange?: 'error' | 'zero'
  readonly maxMemory?: number
  /** Seconds. */
  readonly timeout?: number
  readonly dataRoot?: string
  readonly limit?: readonly string[]
  readonly trace?: boolean
  readonly profile?: string
  readonly repeat?: number
  readonly json?: boolean
}

/** `nodewise run <model>` */
export async function run(path: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.shape !== undefined && flags.fill === undefined)
    badUsage('--shape goes with --fill; inputs that are given have their own dims')
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
  const outcome = await runs(session, feeds, flags, terminal)
  const saved = await save(outcome, flags, model.file)
  if (flags.json) await printJson(outcome, flags, saved, terminal)
  else await printText(outcome, flags, saved, terminal)
  return EXIT.yes
}

/** Runs the model as often as is asked for; every run begins as the first did. */
async function runs(
  session: Session,
  feeds: Readonly<Record<string, Value>>,
  flags: RunFlags,
  terminal: Terminal
): Promise<Outcome> {
  const names = flags.fetch && fetchNames(session.model, flags.fetch)
  const { traceRow, traceText } = await import('./trace.ts')
  const isTraced = flags.trace === true || flags.profile !== undefined
  const repeat = flags.repeat ?? 1
  const progress = startProgress(terminal)
  const times: number[] = []
  const traces: TraceRow[][] = []
  let outputs: Record<string, Value> = {}
  try {
    for (let i = 0; i < repeat; i++) {
      const rows: TraceRow[] = []
      traces.push(rows)
      let done = 0
      const onStep = (event: StepEvent): void => {
        done++
        if (isTraced) rows.push(traceRow(event))
        progress.show(() => progressText(i, repeat, done, event))
      }
      const options: RunOptions = {
        ...(flags.timeout !== undefined && { timeout: 1000 * flags.timeout }),
        ...(flags.outOfRange && { outOfRange: flags.outOfRange }),
        // Only where somebody asks for steps: a run that is observed must keep values as they were.
        ...((isTraced || progress.isOn) && { onStep })
      }
      session.resetState()
      const start = performance.now()
      outputs = await session.run(feeds, names, options)
      times.push(performance.now() - start)
    }
  } catch (error) {
    // What ran before the failure is what a trace is asked for.
    if (flags.trace && !flags.json && traces.length > 0) print(terminal, traceText(traces[traces.length - 1]))
    throw error
  } finally {
    progress.end()
  }
  return { outputs, times, traces }
}

const progressText = (run: number, repeat: number, done: number, { node: { type, name } }: StepEvent): string =>
  `${repeat > 1 ? `run ${run + 1} of ${repeat}, ` : ''}${done} nodes done, the last ${type} "${name}"`

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

async function save({ outputs, traces }: Outcome, flags: RunFlags, model: string): Promise<SavedValue[]> {
  if (flags.output === undefined && flags.profile === undefined) return []
  const { saveFile, saveValues } = await import('../io/save.ts')
  if (flags.profile !== undefined) {
    const { chromeTrace } = await import('./trace.ts')
    await saveFile(flags.profile, new TextEncoder().encode(chromeTrace(traces, model)))
  }
  return flags.output === undefined ? [] : saveValues(flags.output, new Map(Object.entries(outputs)))
}
