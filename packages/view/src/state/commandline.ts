import type { OpenDim } from '../worker/facts.ts'
import type { Filling, InputField } from '../worker/inputs.ts'
import { pictureText } from '../worker/pictures.ts'

/** What a run was given. */
export interface Given {
  readonly file: string
  readonly inputs: readonly InputField[]
  readonly openDims: readonly OpenDim[]
  readonly fillings: ReadonlyMap<string, Filling>
  readonly sizes: ReadonlyMap<string, number>
  readonly seed: number
}

/** A word as a shell takes it. */
const word = (text: string): string =>
  /^[\w./:=,@%+[\]-]+$/.test(text) && !/[[\]]/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A literal without the blanks between its elements; those within its strings stay. */
const withoutBlanks = (literal: string): string =>
  literal.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text: string | undefined) => text ?? '')

/** The command that runs the model in the same way, with other random numbers. */
export function commandOf({ file, inputs, openDims, fillings, sizes, seed }: Given): string {
  const words = ['nodewise', 'run', word(file)]
  let fill: string | undefined
  /** Archives have the values of many inputs. */
  const archives = new Set<string>()
  for (const { name, dims } of inputs) {
    const filling = fillings.get(name) ?? { how: 'zeros' }
    if (filling.how === 'literal') words.push('-i', word(`${name}=${withoutBlanks(filling.text)}`))
    else if (filling.how === 'picture')
      words.push('--image', word(`${name}=${pictureText(filling.name, filling.settings)}`))
    else if (filling.how === 'sound') words.push('--audio', word(`${name}=${filling.name},rate=${filling.rate}`))
    else if (filling.how === 'file' && /\.npz$/i.test(filling.name)) archives.add(filling.name)
    else if (filling.how === 'file') words.push('-i', word(`${name}=${filling.name}`))
    else {
      fill ??= filling.how === 'random' ? `random:${seed}` : filling.how
      const own = dims.split('×')
      const unnamed = (axis: number): OpenDim | undefined => openDims.find(dim => dim.name === `${name}[${axis}]`)
      if (own.some((_, axis) => unnamed(axis)))
        words.push('--shape', word(`${name}=${own.map((dim, axis) => sizeOf(dim, unnamed(axis), sizes)).join('x')}`))
    }
  }
  for (const { name, min } of openDims)
    if (!name.includes('[') && fill !== undefined) words.push('--shape', word(`${name}=${sizes.get(name) ?? min}`))
  for (const archive of archives) words.push('--inputs', word(archive))
  if (fill !== undefined) words.push('--fill', fill)
  return words.join(' ')
}

/** The size that a run of the page gives a dim: without one that a user set, the least. */
const sizeOf = (dim: string, unnamed: OpenDim | undefined, sizes: ReadonlyMap<string, number>): string =>
  /^\d+$/.test(dim) ? dim : `${sizes.get(unnamed?.name ?? dim) ?? Math.max(1, unnamed?.min ?? 1)}`
