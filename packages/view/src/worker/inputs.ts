import {
  castTensor,
  type Model,
  NodewiseError,
  parseTensor,
  readNpy,
  readNpz,
  readTensorProto,
  Tensor,
  type Value
} from 'nodewise'
import { shapesWith, type Sizes } from './facts.ts'
import { atSize, decoded, type PictureSettings, pictureTensor, type Pixels } from './pictures.ts'

/** How an input comes to a value. */
export type Filling =
  | { readonly how: 'zeros' | 'ones' | 'random' }
  | { readonly how: 'literal'; readonly text: string }
  | { readonly how: 'file'; readonly name: string; readonly bytes: Uint8Array }
  | PictureFilling
  | {
      readonly how: 'sound'
      readonly name: string
      readonly content?: Blob
      readonly samples: Float32Array
      /** Samples a second. */
      readonly rate: number
    }

/** A picture; without content until its file is chosen. */
export interface PictureFilling {
  readonly how: 'picture'
  readonly name: string
  readonly content?: Blob
  readonly settings: PictureSettings
}

/** An input as the page offers it. */
export interface InputField {
  readonly name: string
  readonly type: string
  readonly dims: string
}

/** The part of a request for a run that is about inputs. */
interface Wanted {
  readonly inputs: ReadonlyMap<string, Filling>
  readonly sizes: Sizes
  readonly seed: number
}

/** The inputs that a run needs. */
export function inputFields({ graph, dialect, irVersion }: Model): InputField[] {
  // OpenVINO converts the float16 inputs of an IR of version 10: their callers give float32.
  const typeOf = (type = '?'): string =>
    type === 'float16' && dialect === 'openvino' && irVersion === 10 ? 'float32' : type
  return graph.inputs.flatMap(({ name, value, declared = graph.values.get(value)?.declared }) =>
    graph.initializers.has(value) || declared?.kind !== 'tensor'
      ? []
      : [{ name, type: typeOf(declared.type), dims: declared.dims?.map(dimText).join('×') ?? '…' }]
  )
}

const dimText = (dim: unknown): string => (typeof dim === 'number' || typeof dim === 'string' ? `${dim}` : '?')

/** The inputs of a run, made as it asks for. */
export async function feedsFor(model: Model, { inputs, sizes, seed }: Wanted): Promise<Record<string, Value>> {
  const shapes = shapesWith(model, sizes)
  const feeds: Record<string, Value> = {}
  const random = randomFrom(seed)
  for (const field of inputFields(model)) {
    const { name, type } = field
    const filling = inputs.get(name) ?? { how: 'zeros' }
    if (filling.how === 'literal') feeds[name] = parseTensor(filling.text, type as Tensor['type'])
    else if (filling.how === 'picture') feeds[name] = (await pictureOf(filling, field)).tensor
    else if (filling.how === 'sound') feeds[name] = soundTensor(filling.samples, field)
    else if (filling.how === 'file') feeds[name] = tensorFrom(filling.name, filling.bytes, name, type as Tensor['type'])
    else {
      const dims = (shapes.get(name) ?? []).map(dim =>
        typeof dim === 'number' ? dim : typeof dim === 'object' && dim !== null ? Math.max(1, dim.min) : 1
      )
      feeds[name] = filled(type as Tensor['type'], dims, filling.how, random)
    }
  }
  return feeds
}

/**
 * The pixels of a picture at their size, and the tensor that they become.
 * @throws NodewiseError `missing-input` where no file is chosen, and what decoding it and its settings throw
 */
export async function pictureOf(
  { name, content, settings }: PictureFilling,
  { name: input, type }: InputField
): Promise<{ readonly pixels: Pixels; readonly tensor: Tensor }> {
  if (!content) throw new NodewiseError('missing-input', `choose a picture for input "${input}"`)
  const pixels = await atSize(await decoded(content, name, settings.order === 'gray'), settings)
  return { pixels, tensor: pictureTensor(pixels, settings, type as Tensor['type']) }
}

/** Samples in the last dim; all others are 1. */
function soundTensor(samples: Float32Array, { name, type, dims }: InputField): Tensor {
  if (samples.length === 0) throw new NodewiseError('missing-input', `choose a recording for input "${name}"`)
  const rank = dims === '…' ? 1 : dims.split('×').length
  const shape = [...new Array<number>(rank - 1).fill(1), samples.length]
  return castTensor(new Tensor('float32', samples, shape), type as Tensor['type'])
}

/** Random floats are in [0, 1); random integers are 0 or 1, which are valid as ids and masks nearly everywhere. */
function filled(
  type: Tensor['type'],
  dims: readonly number[],
  how: 'zeros' | 'ones' | 'random',
  random: () => number
): Tensor {
  const count = dims.reduce((product, dim) => product * dim, 1)
  const isFloat = /float|nf4/.test(type)
  const next = how === 'zeros' ? () => 0 : how === 'ones' ? () => 1 : isFloat ? random : () => Math.round(random())
  const numbers = Array.from({ length: count }, next)
  if (type === 'string') return new Tensor('string', numbers.map(String), dims)
  return isFloat ? castTensor(new Tensor('float64', numbers, dims), type) : new Tensor(type, numbers, dims)
}

/** Mulberry32: small, and good enough to fill inputs. */
function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A tensor from a file: of an archive or a recorded run, the array that has the input's name, or the only one. */
function tensorFrom(file: string, bytes: Uint8Array, input: string, type: Tensor['type']): Tensor {
  if (/\.npz$/i.test(file)) {
    const arrays = readNpz(bytes, { typeOf: () => type })
    const found = arrays.get(input) ?? (arrays.size === 1 ? [...arrays.values()][0] : undefined)
    if (found) return found
    throw new NodewiseError('missing-input', `the archive has no array "${input}"`, { file })
  }
  if (/\.pb$/i.test(file)) return readTensorProto(bytes).tensor
  if (/\.json$/i.test(file)) return parseTensor(new TextDecoder().decode(bytes), type)
  return readNpy(bytes, type)
}
