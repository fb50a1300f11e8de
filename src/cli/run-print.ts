import { dataToJson } from '../io/json-tensor.ts'
import { isJsonObject, type Json, stringifyExact } from '../io/json-text.ts'
import { valueToJson } from '../io/json.ts'
import { formatValue, printable } from '../io/print.ts'
import type { SavedValue } from '../io/save.ts'
import { elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import { isMeasured, type Measured, type MeasureFlags, statistics, statisticsText } from './measured-runs.ts'
import { columnsOf, type Output, print, type Terminal } from './terminal.ts'

/** The flags of `nodewise run` that say what is printed. */
export interface PrintFlags extends MeasureFlags {
  readonly output?: string
  readonly print?: boolean
}

/** Prints a run for people: the trace, each output or where it was saved, and times where the run was repeated. */
export async function printText(
  { outputs, times, traces }: Measured,
  flags: PrintFlags,
  saved: readonly SavedValue[],
  terminal: Terminal
): Promise<void> {
  if (flags.trace) {
    const { traceText } = await import('./trace.ts')
    print(terminal, `${traceText(traces[traces.length - 1], columnsOf(terminal))}\n`)
  }
  const isWanted = flags.print === true || !isMeasured(flags)
  if (flags.output === undefined && isWanted)
    for (const [i, [name, value]] of Object.entries(outputs).entries())
      print(terminal, `${i > 0 ? '\n' : ''}${formatValue(name, value)}`)
  for (const { name, file } of saved)
    print(terminal, `${printable(name)}: ${printable(savedAt(flags.output ?? '', file))}`)
  if (isMeasured(flags)) print(terminal, `${isWanted ? '\n' : ''}${statisticsText(times, flags)}`)
}

const savedAt = (output: string, file: string): string =>
  output.toLowerCase().endsWith('.npz') ? `${output} (${file})` : `${output}/${file}`

/** Elements that are turned into text at a time: all elements of an output may exceed the length of a string. */
const PIECE = 65536

/** Prints a run as one JSON document, piece by piece. */
export async function printJson(
  { outputs, times, traces }: Measured,
  flags: PrintFlags,
  saved: readonly SavedValue[],
  { stdout }: Terminal
): Promise<void> {
  stdout.write('{"outputs": [')
  let isFirst = true
  for (const [name, value] of Object.entries(outputs)) {
    stdout.write(isFirst ? '\n' : ',\n')
    isFirst = false
    await printValue(name, value, saved, stdout)
  }
  const rest: Record<string, Json> = { milliseconds: statistics(times).median }
  if (isMeasured(flags)) rest.repeat = { runs: times.length, warmup: flags.warmup ?? 0, ...statistics(times) }
  if (flags.trace) {
    const { totalsJson, traceJson } = await import('./trace.ts')
    const rows = traces[traces.length - 1]
    rest.trace = traceJson(rows)
    rest.totals = totalsJson(rows)
  }
  stdout.write(`\n], ${stringifyExact(rest).slice(1)}\n`)
}

async function printValue(name: string, value: Value, saved: readonly SavedValue[], stdout: Output): Promise<void> {
  if (value.type === 'optional' && value.value !== undefined) return printValue(name, value.value, saved, stdout)
  const file = saved.find(entry => entry.name === name)?.file
  if (isTensor(value)) {
    const head = { name, type: value.type, dims: [...value.dims], ...(file !== undefined && { file }) }
    return printTensor(stringifyExact(head), value, stdout)
  }
  const json = valueToJson(value)
  if (isJsonObject(json)) {
    // Maps, which have one file together.
    stdout.write(stringifyExact({ name, ...json, ...(file !== undefined && { file }) }))
    return
  }
  const files = saved.filter(entry => entry.name.startsWith(`${name}.`)).map(entry => entry.file)
  stdout.write(stringifyExact({ name, type: value.type, ...(files.length > 0 && { files }), data: json }))
}

async function printTensor(head: string, tensor: Tensor, stdout: Output): Promise<void> {
  const count = elementCount(tensor.dims)
  const slots = count === 0 ? 1 : tensor.data.length / count
  stdout.write(`${head.slice(0, -1)},"data":[`)
  for (let from = 0; from < count; from += PIECE) {
    const to = Math.min(count, from + PIECE)
    const piece = new Tensor(tensor.type, tensor.data.slice(from * slots, to * slots), [to - from])
    const text = stringifyExact(dataToJson(piece)).slice(1, -1)
    if (!stdout.write(from === 0 ? text : `,${text}`)) await drained(stdout)
  }
  stdout.write(']}')
}

/** A slow reader makes the writer wait instead of filling memory. */
const drained = (stdout: Output): Promise<void> =>
  new Promise(resolve => {
    if (stdout.writableNeedDrain) stdout.once('drain', resolve)
    else resolve()
  })
