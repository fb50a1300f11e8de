import { fail, NodewiseError } from '../../errors.ts'
import { type FileKind, KIND_BYTES, kindOf } from '../../files/kinds.ts'
import type { DeclaredDim, DeclaredType } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { badUsage } from '../failure.ts'

/** A file and how it becomes a tensor: `cat.png,resize=224x224`. */
export interface MediaText {
  readonly file: string
  readonly settings: ReadonlyMap<string, string>
}

/**
 * Takes `file,key=value,…` apart. A file may hold commas: settings are what stands at the end in their form.
 * @throws NodewiseError `bad-usage` for a setting that is not among `known`, or is given twice
 */
export function mediaText(option: string, text: string, known: readonly string[]): MediaText {
  const parts = text.split(',')
  const settings = new Map<string, string>()
  while (parts.length > 1 && /^\s*[a-z]+=/.test(parts[parts.length - 1])) {
    const part = (parts.pop() ?? '').trim()
    const key = part.slice(0, part.indexOf('='))
    if (!known.includes(key))
      badUsage(`${option}: there is no "${key}="; it takes ${known.join(', ')}${didYouMean(key, known)}`)
    if (settings.has(key)) badUsage(`${option}: "${key}=" is given twice`)
    settings.set(key, part.slice(key.length + 1).trim())
  }
  return { file: parts.join(','), settings }
}

/** The declared tensor that a picture or recording is to become, an optional one too. */
export function declaredTensor(declared: DeclaredType | undefined): DeclaredType & { kind: 'tensor' } {
  if (declared?.kind === 'optional') return declaredTensor(declared.element)
  return declared?.kind === 'tensor' ? declared : { kind: 'tensor' }
}

/** Whether a declared dim can be of a size. */
export function admits(dim: DeclaredDim | undefined, size: number): boolean {
  if (typeof dim === 'number') return dim === size
  return dim === null || typeof dim !== 'object' || (size >= dim.min && size <= dim.max)
}

/** What to do with a file that is given as the elements of an input, and is no tensor. */
export const adviceOn = ({ option, asTensor }: FileKind, name: string, file: string): string =>
  option === undefined ? asTensor : `give it with ${option} ${name}=${file}`

/** @throws NodewiseError `invalid-file` where the first bytes tell that a file is for the other option */
export function requireKind(option: '--image' | '--audio', name: string, file: string, bytes: Uint8Array): void {
  const kind = kindOf(bytes.subarray(0, KIND_BYTES), file)
  if (kind?.option !== undefined && kind.option !== option)
    fail('invalid-file', `this is ${kind.what}; ${adviceOn(kind, name, file)}`)
}

/** Puts the name of the file to a failure, and tells what a failure of a picture's or recording's bytes is. */
export function inFile(error: unknown, file: string): unknown {
  if (!(error instanceof NodewiseError)) return error
  const isSpoiled =
    error.code === 'value-out-of-range' || (error.code === 'unsupported-op' && /no picture/.test(error.reason))
  return new NodewiseError(isSpoiled ? 'invalid-file' : error.code, error.reason, { file }, error.details)
}
