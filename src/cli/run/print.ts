import { mapsType } from '../../io/json-map.ts'
import { dataToJson } from '../../io/json-tensor.ts'
import { isJsonObject, type Json, stringifyExact } from '../../io/json-text.ts'
import { valueToJson } from '../../io/json.ts'
import { formatValue, printable } from '../../io/print.ts'
import type { SavedValue } from '../../io/save.ts'
import { elementCount, isTensor, Tensor, type Value } from '../../tensor/tensor.ts'
import { columnsOf, type Output, print, type Terminal } from '../terminal.ts'
import { isMeasured, type Measured, type MeasureFlags, statistics, statisticsText } from './measured-runs.ts'
import type { Ranked } from './top.ts'

/** The flags of `nodewise run` that say what is printed. */
export interface PrintFlags extends MeasureFlags {
  readonly output?: string
  readonly print?: boolean
  readonly top?: number
  /** Names of classes. */
  readonly ranked?: readonly string[]
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
    for (const [i, [name, value]] of [...outputs].entries()) {
      const rows = await ranks(value, flags)
      const text = rows ? (await import('./top.ts')).topText(name, rows) : formatValue(name, value)
      print(terminal, `${i > 0 ? '\n' : ''}${text}`)
    }
  for (const { name, file } of saved)
    print(terminal, `${printable(name)}: ${printable(savedAt(flags.output ?? '', file))}`)
  if (isMeasured(flags)) print(terminal, `${isWanted ? '\n' : ''}${statisticsText(times, flags)}`)
}

/** The best classes of an output, where they are asked for and it has scores. */
async function ranks(value: Value, { top, ranked }: PrintFlags): Promise<Ranked[][] | undefined> {
  if (top === undefined && ranked === undefined) return undefined
  return (await import('./top.ts')).topOf(value, top ?? DEFAULT_TOP, ranked)
}

/** Classes that `--labels` alone asks for. */
const DEFAULT_TOP = 5

function savedAt(output: string, file: string): string {
  if (file === '') return output
  return output.toLowerCase().endsWith('.npz') ? `${output} (${file})` : `${output.replace(/[\\/]$/, '')}/${file}`
}

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
  for (const [name, value] of outputs) {
    stdout.write(isFirst ? '\n' : ',\n')
    isFirst = false
    const rows = await ranks(value, flags)
    const top = rows && { top: (await import('./top.ts')).topJson(rows) }
    await printValue(name, value, { saved, top }, stdout)
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

/** What is said of an output beside its elements, which are left out where a file has them. */
interface About {
  readonly saved: readonly SavedValue[]
  readonly top: { readonly top: Json } | undefined
}

async function printValue(name: string, value: Value, about: About, stdout: Output): Promise<void> {
  if (value.type === 'optional' && value.value !== undefined) return printValue(name, value.value, about, stdout)
  const { saved, top } = about
  const isSaved = saved.length > 0
  const file = saved.find(entry => entry.name === name)?.file
  const named = file === undefined || file === '' ? {} : { file }
  if (isTensor(value)) {
    const head = stringifyExact({ name, type: value.type, dims: [...value.dims], ...named, ...top })
    if (isSaved) stdout.write(head)
    else await printTensor(head, value, stdout)
    return
  }
  if (isSaved) {
    const files = saved.filter(entry => entry.name.startsWith(`${name}.`)).map(entry => entry.file)
    const type = (value.type !== 'optional' && mapsType(value)) || value.type
    stdout.write(stringifyExact({ name, type, ...named, ...(files.length > 0 && { files }), ...top }))
    return
  }
  const json = valueToJson(value)
  // Maps, which have a type and pairs.
  if (isJsonObject(json)) stdout.write(stringifyExact({ name, ...json, ...top }))
  else stdout.write(stringifyExact({ name, type: value.type, ...top, data: json }))
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
