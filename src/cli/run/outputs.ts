import { extname } from 'node:path'
import { stringifyExact } from '../../io/json-text.ts'
import { valueToJson } from '../../io/json.ts'
import { type SavedValue, saveFile, saveValues } from '../../io/save.ts'
import { kindText } from '../../tensor/map.ts'
import { isTensor, type Tensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { statOf } from '../stat.ts'
import { isOutputStream, writeTo } from '../streams.ts'
import type { Output } from '../terminal.ts'

const SUFFIXES = ['.npz', '.npy', '.json', '.pb']
/** Formats of a file that holds one value. */
const SINGLE = ['.npy', '.pb']

/** The format of a file; undefined for a folder, which is there, or ends in a slash, or has no suffix. */
function formatOf(path: string): string | undefined {
  if (/[\\/]$/.test(path) || statOf(path)?.isDirectory()) return undefined
  const suffix = extname(path).toLowerCase()
  if (suffix === '' || SUFFIXES.includes(suffix)) return suffix || undefined
  return badUsage(`-o ${path}: outputs are written as ${SUFFIXES.join(', ')}, or into a folder (${path}/)`)
}

/**
 * Refuses what cannot be written, before anything is computed.
 * @param names of the outputs that there will be
 * @throws NodewiseError `bad-usage`
 */
export function checkOutput(path: string, names: readonly string[]): void {
  if (isOutputStream(path)) return
  const format = formatOf(path)
  if (format !== undefined && SINGLE.includes(format) && names.length > 1)
    badUsage(
      `-o ${path}: a ${format} holds one output, and there are ${names.length}; ` +
        `take one with --fetch, or write an .npz, a .json or a folder`
    )
}

/** Writes outputs as the suffix of the path says. @returns what lies where, in order */
export async function writeOutputs(
  path: string,
  values: ReadonlyMap<string, Value>,
  stdout: Output
): Promise<SavedValue[]> {
  if (isOutputStream(path)) return writeStream(path, values, stdout)
  const format = formatOf(path)
  if (format === undefined || format === '.npz') return saveValues(path, values)
  await saveFile(path, await encoded(format, values))
  return [...values.keys()].map(name => ({ name, file: '' }))
}

async function encoded(format: string, values: ReadonlyMap<string, Value>): Promise<Uint8Array> {
  if (format === '.json') {
    const all = Object.fromEntries([...values].map(([name, value]) => [name, valueToJson(value)]))
    return new TextEncoder().encode(`${stringifyExact(all)}\n`)
  }
  const [[name, value]] = values
  if (format === '.pb') return (await import('../../onnx/write/values.ts')).encodeValue(name, value)
  const { writeNpy } = await import('../../io/npy.ts')
  return writeNpy(tensorIn(name, value))
}

function tensorIn(name: string, value: Value): Tensor {
  if (isTensor(value)) return value
  if (value.type === 'optional' && value.value !== undefined) return tensorIn(name, value.value)
  return badUsage(`"${name}" is ${kindText(value)}, which no .npy holds; write a .json or a .pb`)
}

/** One output as an .npy, several as an .npz: what a program can tell apart by the first bytes. */
async function writeStream(path: string, values: ReadonlyMap<string, Value>, stdout: Output): Promise<SavedValue[]> {
  const [{ writeNpy }, { writeNpz }, { safeFileNames }] = await Promise.all([
    import('../../io/npy.ts'),
    import('../../io/npz.ts'),
    import('../../io/names.ts')
  ])
  const names = [...values.keys()]
  const tensors = [...values].map(([name, value]) => tensorIn(name, value))
  const safe = safeFileNames(names)
  const bytes = tensors.length === 1 ? writeNpy(tensors[0]) : writeNpz(new Map(tensors.map((one, i) => [safe[i], one])))
  await writeTo(path, bytes, stdout)
  return names.map(name => ({ name, file: '' }))
}
