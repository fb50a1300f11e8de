import { bind } from '../../bind/bind.ts'
import type { BoundGraph } from '../../bind/call.ts'
import { NodewiseError } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import type { SavedValue } from '../../io/save.ts'
import { chromeTrace } from '../../runtime/profile.ts'
import { Session, type SessionOptions } from '../../runtime/session.ts'
import type { Value } from '../../tensor/tensor.ts'
import { badUsage, EXIT, failureIn } from '../failure.ts'
import { feedsFrom } from '../inputs/fill.ts'
import type { InputFlags } from '../inputs/inputs.ts'
import { openModel } from '../model.ts'
import { type NetworkFlags, readingBar } from '../network.ts'
import { type OpsFlags, registryOf } from '../own-ops.ts'
import { forPeople, isStdout, writeTo } from '../streams.ts'
import { columnsOf, print, type Terminal, warn } from '../terminal.ts'
import { isMeasured, type Measured, measuredRuns, type MeasureFlags, statisticsText } from './measured-runs.ts'
import { printJson, printText } from './print.ts'
import type { Recorded } from './record.ts'
import { traceText } from './trace.ts'

export interface RunFlags extends MeasureFlags, InputFlags, OpsFlags, NetworkFlags {
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
  readonly top?: number
  readonly labels?: string
  readonly saveCase?: string
  readonly record?: string
  readonly recordMatch?: readonly string[]
  readonly json?: boolean
}

/** `nodewise run <model>` */
export async function run(path: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  const bar = readingBar(terminal)
  const model = await openModel(path, flags, { bar })
  for (const note of model.notes) warn(terminal, `${model.file}: ${note}`)
  try {
    return await runModel(path, model, flags, terminal)
  } catch (error) {
    bar.end()
    throw failureIn(model, error)
  }
}

async function runModel(path: string, model: Model, flags: RunFlags, terminal: Terminal): Promise<number> {
  const feeds = await feedsFrom(model, flags)
  const registry = registryOf(flags)
  const bound = bind(model, registry)
  const session = new Session(model, registry, sessionOptions(flags), bound)
  const names = flags.fetch && (await import('./fetches.ts')).fetchedNames(model, flags.fetch)
  const { output, labels } = flags
  if (output !== undefined) (await import('./outputs.ts')).checkOutput(output, names ?? session.outputNames)
  refuseTwoOnStdout(flags)
  const ranked = labels === undefined ? undefined : (await import('./top.ts')).readLabels(labels)
  const measured: Measured = { outputs: new Map(), times: [], traces: [] }
  const recorded = await recording(session, bound, feeds, flags)
  try {
    await measuredRuns(
      session,
      feeds,
      names,
      { ...flags, ...(recorded && { onStep: recorded.onStep }) },
      measured,
      terminal
    )
    recorded?.end()
  } catch (error) {
    await tellWhatWas(measured, flags, model.file, terminal)
    if (!(error instanceof NodewiseError) || error.code !== 'missing-input') throw error
    throw (await import('../inputs/missing-input.ts')).withExample(model, error, new Set(Object.keys(feeds)))
  } finally {
    recorded?.discard()
  }
  if (flags.saveCase !== undefined)
    await (await import('./save-case.ts')).saveCase(flags.saveCase, path, model, feeds, measured.outputs)
  const saved = await save(measured, flags, model.file, terminal)
  const told = { ...flags, ...(ranked && { ranked }) }
  if (flags.json) await printJson(measured, told, saved, terminal)
  else await printText(measured, told, saved, forPeople(terminal, flags.output, flags.profile))
  return EXIT.yes
}

const sessionOptions = ({ maxMemory, threads, precision }: RunFlags): SessionOptions => ({
  ...(maxMemory !== undefined && { maxMemory }),
  ...(threads !== undefined && { threads }),
  ...(precision !== undefined && { precision })
})

async function recording(
  session: Session,
  bound: BoundGraph,
  feeds: Readonly<Record<string, Value>>,
  flags: RunFlags
): Promise<Recorded | undefined> {
  if (flags.record === undefined && flags.recordMatch === undefined) return undefined
  return (await import('./record.ts')).startRecording(session, bound, feeds, flags)
}

/** What ran before a failure, or before Ctrl-C, is what a trace, a profile and repeated runs are asked for. */
async function tellWhatWas(measured: Measured, flags: RunFlags, model: string, given: Terminal): Promise<void> {
  const { times, traces } = measured
  if (flags.profile !== undefined) await saveProfile(flags.profile, traces, model, given)
  if (flags.json) return
  const terminal = forPeople(given, flags.output, flags.profile)
  const trace = traces.findLast(rows => rows.length > 0)
  if (flags.trace && trace) print(terminal, traceText(trace, columnsOf(terminal)))
  if (isMeasured(flags) && times.length > 0) print(terminal, statisticsText(times, flags))
}

const saveProfile = (path: string, traces: Measured['traces'], model: string, { stdout }: Terminal): Promise<void> =>
  writeTo(path, new TextEncoder().encode(chromeTrace(traces, `nodewise run ${model}`)), stdout)

function refuseTwoOnStdout({ output, profile, json }: RunFlags): void {
  const options = [...(isStdout(output) ? ['-o -'] : []), ...(isStdout(profile) ? ['--profile -'] : [])]
  if (json) options.push('--json')
  if (options.length > 1) badUsage(`${options[0]} and ${options[1]} both write to stdout`)
}

async function save(
  { outputs, traces }: Measured,
  flags: RunFlags,
  model: string,
  terminal: Terminal
): Promise<SavedValue[]> {
  if (flags.profile !== undefined) await saveProfile(flags.profile, traces, model, terminal)
  if (flags.output === undefined) return []
  const { writeOutputs } = await import('./outputs.ts')
  return writeOutputs(flags.output, outputs, terminal.stdout)
}
