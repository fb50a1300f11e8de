import { registryWith } from '../../built-in.ts'
import { NodewiseError } from '../../errors.ts'
import type { DeclaredDim, DeclaredType } from '../../graph/graph.ts'
import { asDeclared, readWhole } from '../../io/read.ts'
import { load } from '../../load.ts'
import { Session } from '../../runtime/session.ts'
import { convert } from '../../tensor/convert.ts'
import { isFloat, isInteger } from '../../tensor/dtype.ts'
import { isTensor, Tensor, type Value } from '../../tensor/tensor.ts'
import { badUsage } from '../failure.ts'
import { admits, declaredTensor, inFile, mediaText, requireKind } from './media.ts'

const OPTION = '--image'
const SETTINGS = ['layout', 'order', 'resize', 'filter', 'scale', 'mean', 'std']
/** Values of ImageDecoder's attribute `pixel_format`. */
const ORDERS: ReadonlyMap<string, string> = new Map([
  ['rgb', 'RGB'],
  ['bgr', 'BGR'],
  ['gray', 'Grayscale'],
  ['grey', 'Grayscale']
])
const FILTERS: readonly string[] = ['linear', 'cubic', 'nearest']

/** How a picture becomes a tensor. */
interface How {
  /** Letters of the dims: n, c, h and w. */
  readonly layout: string
  readonly order: string
  readonly resize: readonly [height: number, width: number] | undefined
  readonly filter: string
  /** Factor on the components (0 … 255), before `mean` is taken off and `std` divides. */
  readonly scale: readonly [number: number, divisor: number]
  readonly mean: readonly number[]
  readonly std: readonly number[]
  /** Whether components become float32; they stay uint8 otherwise. */
  readonly isFloat: boolean
}

/**
 * The tensor of a picture: `cat.png,layout=nchw,order=rgb,resize=224x224,scale=1/255,mean=0.5,std=0.5`. Elements are
 * `(component * scale - mean) / std`. A small graph of ONNX computes it, so that decoding, resizing and arithmetic are
 * those of ImageDecoder, Resize and their like.
 * @param text what stands after the name of the input
 * @throws NodewiseError `bad-usage`, `dims-mismatch`, and what reading a file throws
 */
export async function readImage(name: string, text: string, declared: DeclaredType | undefined): Promise<Value> {
  const { file, settings } = mediaText(`${OPTION} ${name}`, text, SETTINGS)
  const type = declaredTensor(declared)
  const how = howOf(name, settings, type)
  try {
    const encoded = readWhole(file)
    requireKind(OPTION, name, file, encoded)
    const graph = await load(new TextEncoder().encode(graphText(how)), { name: 'picture.onnxtxt' })
    const session = new Session(graph, registryWith(), { threads: 1 })
    const { y } = await session.run({ encoded: new Tensor('uint8', encoded, [encoded.length]) })
    if (!isTensor(y)) throw new TypeError('a picture is a tensor')
    checkDims(name, y.dims, how, type.dims)
    return asDeclared(type.type === undefined ? y : convert(y, type.type), declared)
  } catch (error) {
    throw inFile(error, file)
  }
}

function howOf(
  name: string,
  settings: ReadonlyMap<string, string>,
  { type = 'float32', dims }: DeclaredType & { kind: 'tensor' }
): How {
  const option = `${OPTION} ${name}`
  if (!isFloat(type) && !isInteger(type)) badUsage(`${option}: the input is ${type}; a picture is numbers`)
  if (!isFloat(type) && ['scale', 'mean', 'std'].some(key => settings.has(key)))
    badUsage(`${option}: the input is ${type}; scale=, mean= and std= are for floats`)
  const layout = settings.get('layout')?.toLowerCase() ?? layoutOf(dims)
  if (!/^[nchw]{2,4}$/.test(layout) || new Set(layout).size < layout.length || !/h/.test(layout) || !/w/.test(layout))
    badUsage(`${option}: layout=${layout} is none; nchw, nhwc, chw, hwc and hw are`)
  const order = orderOf(option, settings.get('order')?.toLowerCase(), layout, dims)
  const count = order === 'Grayscale' ? 1 : 3
  const filter = settings.get('filter') ?? 'linear'
  if (!FILTERS.includes(filter)) badUsage(`${option}: filter=${filter}: ${FILTERS.join(', ')} are known`)
  const size = settings.get('resize')
  return {
    layout,
    order,
    resize: size === undefined ? undefined : sizeOf(option, size),
    filter,
    scale: fractionOf(`${option}: scale=`, settings.get('scale') ?? '1'),
    mean: numbersOf(`${option}: mean=`, settings.get('mean') ?? '0', count),
    std: numbersOf(`${option}: std=`, settings.get('std') ?? '1', count).map(value =>
      value === 0 ? badUsage(`${option}: std=0 would divide by 0`) : value
    ),
    isFloat: isFloat(type)
  }
}

/** The order of the channels: as given, else gray where the input has one channel. */
function orderOf(option: string, given: string | undefined, layout: string, dims?: readonly DeclaredDim[]): string {
  const isPlane = !layout.includes('c')
  const name = given ?? (isPlane || dims?.at(layout.indexOf('c')) === 1 ? 'gray' : 'rgb')
  const order = ORDERS.get(name) ?? badUsage(`${option}: order=${name}: rgb, bgr or gray is needed`)
  if (isPlane && order !== 'Grayscale')
    badUsage(`${option}: layout=${layout} has no place for the channels of order=${name}`)
  return order
}

/** The layout that declared dims tell: channels are the dim of 1 or 3; where none is, they come before the pixels. */
function layoutOf(dims: readonly DeclaredDim[] | undefined): string {
  const isLast = dims !== undefined && isChannels(dims.at(-1)) && !isChannels(dims.at(-3))
  switch (dims?.length) {
    case 2:
      return 'hw'
    case 3:
      return isLast ? 'hwc' : 'chw'
    default:
      return isLast ? 'nhwc' : 'nchw'
  }
}

const isChannels = (dim: DeclaredDim | undefined): boolean => dim === 1 || dim === 3

/** Height and width, from `224x320`, or from `224` for both. */
function sizeOf(option: string, text: string): readonly [number, number] {
  const [, height, width = height] = /^([1-9]\d{0,5})(?:x([1-9]\d{0,5}))?$/.exec(text) ?? []
  return height === undefined
    ? badUsage(`${option}: resize=${text}: height and width are needed, as in resize=224x320`)
    : [Number(height), Number(width)]
}

/** A number, or a fraction: `1/255`, which divides, so that 255 becomes 1 exactly. */
function fractionOf(option: string, text: string): readonly [number, number] {
  const parts = text.split('/').map(part => (/\d/.test(part) ? Number(part) : NaN))
  const [value, divisor = 1] = parts
  return parts.length <= 2 && Number.isFinite(value / divisor)
    ? [value, divisor]
    : badUsage(`${option}${text}: a number such as 0.5 or 1/255 is needed`)
}

/** One number for all channels, or one for each: `0.485:0.456:0.406`. */
function numbersOf(option: string, text: string, count: number): number[] {
  const numbers = text.split(':').map(part => {
    const [value, divisor] = fractionOf(option, part)
    return value / divisor
  })
  if (numbers.length === count) return numbers
  return numbers.length === 1
    ? new Array<number>(count).fill(numbers[0])
    : badUsage(`${option}${text}: one number is needed, or ${count}, separated by colons`)
}

/** The graph that makes the tensor, in the text format of ONNX. */
function graphText({ layout, order, resize, filter, scale, mean, std, isFloat: converts }: How): string {
  const nodes: string[] = [`p0 = ImageDecoder <pixel_format = "${order}"> (encoded)`]
  let last = 'p0'
  const then = (node: (x: string) => string): void => {
    const made = `p${nodes.length}`
    nodes.push(`${made} = ${node(last)}`)
    last = made
  }
  const initializers: string[] = []
  if (resize !== undefined) {
    // Antialiased where the picture shrinks, as Pillow and torchvision resize.
    initializers.push(`int64[2] size = {${resize.join(', ')}}`)
    const antialias = filter === 'nearest' ? 0 : 1
    const how = `mode = "${filter}", antialias = ${antialias}, axes = [0, 1], cubic_coeff_a = -0.5, exclude_outside = 1`
    then(x => `Resize <${how}> (${x}, , , size)`)
  }
  const arithmetic = (op: string, name: string, values: readonly number[], neutral: number): void => {
    if (values.every(value => value === neutral)) return
    initializers.push(`float[${values.length}] ${name} = {${values.map(literal).join(', ')}}`)
    then(x => `${op} (${x}, ${name})`)
  }
  if (converts) then(x => `Cast <to = 1> (${x})`)
  arithmetic('Mul', 'scale', [scale[0]], 1)
  arithmetic('Div', 'divisor', [scale[1]], 1)
  arithmetic('Sub', 'mean', mean, 0)
  arithmetic('Div', 'std', std, 1)
  const letters = [...layout].filter(letter => letter !== 'n')
  const axes = letters.includes('c') ? letters : [...letters, 'c']
  then(x => `Transpose <perm = [${axes.map(letter => 'hwc'.indexOf(letter)).join(', ')}]> (${x})`)
  if (!letters.includes('c')) {
    initializers.push('int64[1] channel = {2}')
    then(x => `Squeeze (${x}, channel)`)
  }
  if (layout.includes('n')) {
    initializers.push(`int64[1] batch = {${layout.indexOf('n')}}`)
    then(x => `Unsqueeze (${x}, batch)`)
  }
  nodes.push(`y = Identity (${last})`)
  const constants = initializers.length === 0 ? '' : `<${initializers.join(', ')}>`
  return `<ir_version: 10, opset_import: ["" : 20]>
picture (uint8[length] encoded) => (${converts ? 'float' : 'uint8'}[] y) ${constants} {
${nodes.join('\n')}
}`
}

/** A float as the text format reads it. */
const literal = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))

/** Holds the tensor against the declared dims, in the words of pictures. */
function checkDims(
  name: string,
  dims: readonly number[],
  { layout }: How,
  declared: readonly DeclaredDim[] | undefined
): void {
  if (declared === undefined) return
  if (declared.length !== dims.length)
    throw new NodewiseError(
      'rank-mismatch',
      `input "${name}" has rank ${declared.length}; layout=${layout} gives ${dims.length} dims`
    )
  const [h, w] = [layout.indexOf('h'), layout.indexOf('w')]
  const wrong = dims.flatMap((size, i) => (admits(declared[i], size) ? [] : [i]))
  if (wrong.length === 0) return
  const at = wrong.find(axis => axis !== h && axis !== w) ?? h
  const wanted = [h, w].map(axis => (typeof declared[axis] === 'number' ? declared[axis] : dims[axis]))
  const what =
    at === h
      ? `the picture is ${dims[h]}x${dims[w]} (height x width); add resize=${wanted.join('x')}`
      : `with layout=${layout} dim ${at} is ${dims[at]}; it is declared ${String(declared[at])}; ` +
        'other layouts and orders are set with layout= and order='
  throw new NodewiseError('dims-mismatch', `input "${name}": ${what}`)
}
