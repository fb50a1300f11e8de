import { registryWith } from '../built-in.ts'
import type { Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { dataToJson, valueToJson } from '../io/json.ts'
import { formatValue, printable } from '../io/print.ts'
import type { SavedTensor } from '../io/save.ts'
import type { StepEvent } from '../runtime/execute.ts'
import { type RunOptions, Session } from '../runtime/session.ts'
import { elementCount, isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { badUsage, EXIT, failureIn } from './failure.ts'
import { fillInputs, parseFill, parseShapes } from './fill.ts'
import { givenInputs } from './inputs.ts'
import { openModel } from './model.ts'
import { print, type Progress, startProgress, warn } from './terminal.ts'
import type { TraceRow } from './trace.ts'

export interface RunFlags {
  readonly input?: readonly string[]
  readonly inputs?: string
  readonly output?: string
  readonly fetch?: readonly string[]
  readonly fill?: string
  readonly shape?: readonly string[]
  readonly threads?: number
  readonly outOfRange?: 'error' | 'zero'
  readonly maxMemory?: number
  readonly dataRoot?: string
  readonly limit?: readonly string[]
  readonly trace?: boolean
  readonly profile?: string
  readonly repeat?: number
  readonly json?: boolean
}

/** What one `nodewise run` found out. */
interface Outcome {
  readonly outputs: Readonly<Record<string, Value>>
  /** Of every run, in order. */
  readonly times: readonly number[]
  readonly traces: readonly (readonly TraceRow[])[]
}

/** `nodewise run <model>` */
export async function run(path: string, flags: RunFlags): Promise<number> {
  if (flags.shape !== undefined && flags.fill === undefined)
    badUsage('--shape goes with --fill; inputs that are given have their own dims')
  const model = await openModel(path, flags)
  for (const note of model.notes) warn(`${model.file}: ${note}`)
  try {
    return await runModel(model, flags)
  } catch (error) {
    throw failureIn(model, error)
  }
}

async function runModel(model: Model, flags: RunFlags): Promise<number> {
  const given = await givenInputs(model, flags)
  const feeds =
    flags.fill === undefined
      ? given
      : fillInputs(model, given, { fill: parseFill(flags.fill), shapes: parseShapes(model, flags.shape ?? []) })
  const session = new Session(model, registryWith(), {
    ...(flags.maxMemory !== undefined && { maxMemory: flags.maxMemory }),
    ...(flags.threads !== undefined && { threads: flags.threads })
  })
  const outcome = await runs(session, Object.fromEntries(feeds), flags)
  const saved = await save(outcome, flags, model.file)
  if (flags.json) await printJson(outcome, flags, saved)
  else await printText(outcome, flags, saved)
  return EXIT.yes
}

async function runs(session: Session, feeds: Readonly<Record<string, Value>>, flags: RunFlags): Promise<Outcome> {
  const names = flags.fetch && fetchNames(session.model, flags.fetch)
  const { traceRow, traceText } = await import('./trace.ts')
  const isTraced = flags.trace === true || flags.profile !== undefined
  const progress = startProgress()
  const times: number[] = []
  const traces: TraceRow[][] = []
  let outputs: Record<string, Value> = {}
  try {
    for (let i = 0; i < (flags.repeat ?? 1); i++) {
      const rows: TraceRow[] = []
      traces.push(rows)
      let done = 0
      const options: RunOptions = {
        ...(flags.outOfRange && { outOfRange: flags.outOfRange }),
        // Watching costs: values must stay as they were.
        ...((isTraced || progress.isOn) && {
          onStep(event: StepEvent) {
            done++
            if (isTraced) rows.push(traceRow(event))
            showProgress(progress, i, done, flags.repeat ?? 1, event.node.type, event.node.name)
          }
        })
      }
      // Every run begins as the first did, so that what is printed does not depend on how often it ran.
      session.resetState()
      const start = performance.now()
      outputs = await session.run(feeds, names, options)
      times.push(performance.now() - start)
    }
  } catch (error) {
    // What ran before the failure is what a trace is asked for.
    if (flags.trace && !flags.json && traces.length > 0) print(traceText(traces[traces.length - 1]))
    throw error
  } finally {
    progress.end()
  }
  return { outputs, times, traces }
}

function showProgress(progress: Progress, run: number, done: number, repeat: number, type: string, name: string): void {
  progress.show(
    () => `${repeat > 1 ? `run ${run + 1} of ${repeat}, ` : ''}${done} nodes done, the last ${type} "${name}"`
  )
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

async function save({ outputs, traces }: Outcome, flags: RunFlags, model: string): Promise<SavedTensor[]> {
  if (flags.output === undefined && flags.profile === undefined) return []
  const { saveFile, saveValues } = await import('../io/save.ts')
  if (flags.profile !== undefined) {
    const { chromeTrace } = await import('./trace.ts')
    await saveFile(flags.profile, new TextEncoder().encode(chromeTrace(traces, model)))
  }
  return flags.output === undefined ? [] : saveValues(flags.output, new Map(Object.entries(outputs)))
}

async function printText(
  { outputs, times, traces }: Outcome,
  flags: RunFlags,
  saved: readonly SavedTensor[]
): Promise<void> {
  if (flags.trace) {
    const { traceText } = await import('./trace.ts')
    print(`${traceText(traces[traces.length - 1])}\n`)
  }
  if (flags.output === undefined)
    for (const [i, [name, value]] of Object.entries(outputs).entries())
      print(`${i > 0 ? '\n' : ''}${formatValue(name, value)}`)
  else
    for (const { name, file } of saved)
      print(
        `${printable(name)}: ${printable(flags.output)}${flags.output.toLowerCase().endsWith('.npz') ? ` (${file})` : `/${file}`}`
      )
  if (flags.repeat !== undefined) {
    const { minimum, median, p95 } = statistics(times)
    print(
      `\n${times.length} runs: minimum ${minimum.toFixed(3)} ms, median ${median.toFixed(3)} ms, p95 ${p95.toFixed(3)} ms`
    )
  }
}

/** Of times in milliseconds; p95 is the smallest time that 95 of 100 runs do not exceed. */
export function statistics(times: readonly number[]): { minimum: number; median: number; p95: number } {
  const sorted = [...times].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const median = Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)]
  return { minimum: sorted[0], median, p95: sorted[Math.ceil(0.95 * sorted.length) - 1] }
}

/** Elements that are turned into text at a time: an output may have more than one text can hold. */
const PIECE = 65536

async function printJson(
  { outputs, times, traces }: Outcome,
  flags: RunFlags,
  saved: readonly SavedTensor[]
): Promise<void> {
  const { stdout } = process
  stdout.write('{"outputs": [')
  let isFirst = true
  for (const [name, value] of Object.entries(outputs)) {
    stdout.write(isFirst ? '\n' : ',\n')
    isFirst = false
    await printValue(name, value, saved)
  }
  const rest: Record<string, Json> = { milliseconds: statistics(times).median }
  if (flags.repeat !== undefined) rest.repeat = { runs: times.length, ...statistics(times) }
  if (flags.trace) rest.trace = (await import('./trace.ts')).traceJson(traces[traces.length - 1])
  stdout.write(`\n], ${stringifyExact(rest).slice(1)}\n`)
}

async function printValue(name: string, value: Value, saved: readonly SavedTensor[]): Promise<void> {
  if (value.type === 'optional' && value.value !== undefined) return printValue(name, value.value, saved)
  if (isTensor(value)) {
    const file = saved.find(entry => entry.name === name)?.file
    return printTensor(
      stringifyExact({ name, type: value.type, dims: [...value.dims], ...(file !== undefined && { file }) }),
      value
    )
  }
  const files = saved.filter(entry => entry.name.startsWith(`${name}.`)).map(({ file }) => file)
  process.stdout.write(
    stringifyExact({ name, type: value.type, ...(files.length > 0 && { files }), data: valueToJson(value) })
  )
}

async function printTensor(head: string, tensor: Tensor): Promise<void> {
  const { stdout } = process
  const count = elementCount(tensor.dims)
  const slots = count === 0 ? 1 : tensor.data.length / count
  stdout.write(`${head.slice(0, -1)},"data":[`)
  for (let from = 0; from < count; from += PIECE) {
    const to = Math.min(count, from + PIECE)
    const piece = { type: tensor.type, dims: [to - from], data: tensor.data.slice(from * slots, to * slots) } as Tensor
    const text = stringifyExact(dataToJson(piece)).slice(1, -1)
    if (!stdout.write(from === 0 ? text : `,${text}`)) await drained()
  }
  stdout.write(']}')
}

/** A slow reader makes the writer wait instead of filling memory. */
const drained = (): Promise<void> =>
  new Promise(resolve => {
    if (process.stdout.writableNeedDrain) process.stdout.once('drain', resolve)
    else resolve()
  })
