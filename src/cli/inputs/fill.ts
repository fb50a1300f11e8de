import { NodewiseError } from '../../errors.ts'
import type { DeclaredDim, DeclaredType, GraphPort, Model } from '../../graph/graph.ts'
import { randomSource } from '../../runtime/random.ts'
import { convertInto } from '../../tensor/convert.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { mapOf } from '../../tensor/map.ts'
import { allocate, elementCount, isTensor, Tensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { callerType, givenInputs, type GivenShapes, type InputFlags, isRaw, neededInputs } from './inputs.ts'
import { givenShapes } from './shapes.ts'

/** How inputs that are not given come to a value. */
export interface Fill {
  readonly how: 'zeros' | 'ones' | 'random'
  readonly seed: number
}

/** `zeros`, `ones`, `random` or `random:7`. */
function parseFill(text: string): Fill {
  const parts = /^(?:(zeros|ones)|(random)(?::(\d+))?)$/.exec(text)
  if (parts === null) return badUsage(`--fill ${text}: zeros, ones, random or random:SEED is needed`)
  return { how: (parts[1] ?? parts[2]) as Fill['how'], seed: Number(parts[3] ?? 0) }
}

export interface FillOptions {
  readonly fill: Fill
  /** Dims in place of what the model declares. */
  readonly shapes?: GivenShapes
  /** Takes the least size for a dim that nobody gives, instead of refusing it. */
  readonly guess?: boolean
}

/**
 * The inputs that `--input`, `--inputs`, `--image`, `--audio`, `--fill` and `--shape` give.
 * @param recorded inputs that are known otherwise; those that are given win over them
 * @throws NodewiseError as {@link givenInputs}, {@link parseFill}, {@link givenShapes} and {@link fillInputs}
 */
export async function feedsFrom(
  model: Model,
  flags: InputFlags & { readonly fill?: string; readonly shape?: readonly string[] },
  recorded: ReadonlyMap<string, Value> = new Map()
): Promise<Record<string, Value>> {
  const isUsed = flags.fill !== undefined || (flags.input ?? []).some(isRaw)
  if (flags.shape !== undefined && !isUsed)
    badUsage('--shape goes with --fill, or with inputs without dims of their own, such as x=x.bin')
  const shapes = givenShapes(model, '--shape', flags.shape ?? [])
  const given = new Map([...recorded, ...(await givenInputs(model, flags, shapes))])
  if (flags.fill === undefined) return Object.fromEntries(given)
  const options = { fill: parseFill(flags.fill), shapes }
  return Object.fromEntries(fillInputs(model, given, options))
}

/**
 * Values for every input that needs one and is not given. A dim's name stands for one size in the whole model: it is
 * known from the inputs that are given and from `shapes`.
 * @throws NodewiseError `missing-input` when a dim is not known, `limit-exceeded` when a tensor is too large
 */
export function fillInputs(model: Model, given: ReadonlyMap<string, Value>, options: FillOptions): Map<string, Value> {
  const names = knownNames(model, given, options.shapes)
  const random = randomSource(0)(options.fill.seed)
  const values = new Map(given)
  for (const port of neededInputs(model)) {
    if (!values.has(port.name))
      values.set(port.name, filled(port, callerType(model, 'input', port), names, options, random))
  }
  return values
}

function filled(
  port: GraphPort,
  declared: DeclaredType | undefined,
  names: ReadonlyMap<string, number>,
  options: FillOptions,
  random: () => number
): Value {
  if (declared?.kind === 'sequence') return { type: 'sequence', values: [] }
  if (declared?.kind === 'optional') return { type: 'optional', value: undefined }
  if (declared?.kind === 'map') return mapOf(declared.keyType, declared.valueType ?? 'float32', [])
  const type = declared?.kind === 'tensor' ? declared.type : undefined
  if (type === undefined && !options.guess) {
    throw new NodewiseError(
      'missing-input',
      `input "${port.name}" has no declared element type, so it cannot be filled; give it with --input`
    )
  }
  const dims = dimsOf(port, declared, names, options)
  return filledTensor(type ?? 'float32', dims, options.fill, random)
}

/** Sizes that names of dims have got: those that are given, and those of inputs that are given or shaped. */
function knownNames(
  model: Model,
  given: ReadonlyMap<string, Value>,
  shapes: FillOptions['shapes']
): Map<string, number> {
  const names = new Map<string, number>()
  for (const [name, dim] of shapes?.dims ?? []) {
    const size = sizeOf(dim, names)
    if (size !== undefined) names.set(name, size)
  }
  for (const port of model.graph.inputs) {
    const declared = callerType(model, 'input', port)
    const value = given.get(port.name)
    const dims = value === undefined ? shapes?.inputs.get(port.name) : isTensor(value) ? value.dims : undefined
    if (declared?.kind !== 'tensor' || dims === undefined) continue
    declared.dims?.forEach((dim, i) => {
      const size = i < dims.length ? sizeOf(dims[i], names) : undefined
      if (typeof dim === 'string' && size !== undefined && !names.has(dim)) names.set(dim, size)
    })
  }
  return names
}

/** The size of a dim: itself, that of its name, or the least of the interval that a caller gives. */
function sizeOf(dim: DeclaredDim, names: ReadonlyMap<string, number>): number | undefined {
  if (typeof dim === 'string') return names.get(dim)
  return typeof dim === 'object' && dim !== null ? leastSize(dim) : (dim ?? undefined)
}

function dimsOf(
  port: GraphPort,
  declared: DeclaredType | undefined,
  names: ReadonlyMap<string, number>,
  { guess, shapes }: FillOptions
): number[] {
  const given = shapes?.inputs.get(port.name)
  const dims = given ?? (declared?.kind === 'tensor' ? declared.dims : undefined)
  if (dims === undefined) {
    if (guess) return []
    throw new NodewiseError(
      'missing-input',
      `input "${port.name}" has no declared rank; give its dims with --shape ${port.name}=2x3`
    )
  }
  // An interval that the model declares says what may be given; one that the caller gives asks for any of its sizes.
  const known = dims.map(dim => (given === undefined && typeof dim === 'object' ? undefined : sizeOf(dim, names)))
  return known.map((size, i) => {
    if (size !== undefined) return size
    if (guess) return leastSize(dims[i])
    const dim = dims[i]
    const example = typeof dim === 'string' ? `${dim}=2` : `${port.name}=${dims.map((_, j) => known[j] ?? 2).join('x')}`
    throw new NodewiseError(
      'missing-input',
      `dim ${i} of input "${port.name}" is ${spelled(dim)}; say how large it is to be, for example --shape ${example}`
    )
  })
}

const leastSize = (dim: DeclaredDim): number =>
  typeof dim === 'object' && dim !== null ? Math.max(dim.min, Math.min(1, dim.max)) : 1

const spelled = (dim: DeclaredDim): string =>
  typeof dim === 'string'
    ? `"${dim}"`
    : dim !== null && typeof dim === 'object'
      ? `${dim.min}..${dim.max === Infinity ? '' : dim.max}`
      : 'unknown'

/**
 * Random floats are uniform in [0, 1). Random integers are 0 or 1: as indices, token ids and masks these are valid
 * nearly everywhere. Random strings are single letters.
 */
function filledTensor(type: DType, dims: readonly number[], { how }: Fill, random: () => number): Tensor {
  const tensor = allocate(type, dims)
  const { kind, slots } = DTYPES[type]
  if (how === 'zeros') return tensor
  const count = elementCount(dims)
  if (kind === 'string') {
    const texts = tensor.data as string[]
    for (let i = 0; i < count; i++)
      texts[i] = how === 'ones' ? '1' : String.fromCharCode(97 + Math.floor(random() * 26))
    return tensor
  }
  const next = kind === 'float' || kind === 'complex' ? random : () => Math.round(random())
  if (kind === 'complex') {
    const data = tensor.data as Float32Array | Float64Array
    for (let i = 0; i < data.length; i++) data[i] = how === 'ones' ? Number(i % slots === 0) : next()
    return tensor
  }
  if (type === 'float32' || type === 'float64') {
    drawInto(tensor.data as Float32Array | Float64Array, how, next)
    return tensor
  }
  const numbers = new Float64Array(count)
  drawInto(numbers, how, next)
  convertInto(new Tensor('float64', numbers, dims), tensor)
  return tensor
}

function drawInto(data: Float32Array | Float64Array, how: Fill['how'], next: () => number): void {
  if (how === 'ones') data.fill(1)
  else for (let i = 0; i < data.length; i++) data[i] = next()
}
