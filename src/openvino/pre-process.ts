import type { Place } from '../errors.ts'
import type { DeclaredType, Graph, GraphPort, InputMean } from '../graph/graph.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, dtypeName, isFloat, isInteger, MAX_FLOAT32 } from '../tensor/dtype.ts'
import { isPacked } from '../tensor/packing.ts'
import { allocate, elementCount, fileBytes, Tensor } from '../tensor/tensor.ts'
import { constantAt } from './constants.ts'
import { trimBlanks, unsigned } from './numbers.ts'
import { badNumber, type GraphScope, type ModelScope, notePassedOver, placeOf, quote, report } from './scope.ts'
import type { Element } from './tree.ts'

/** Says what is wrong with the section. */
type Wrong = (message: string) => undefined

/** What `<channel>` elements state: each channel with its value, or with the offset of its image in the .bin. */
interface Stated {
  readonly values: Channels
  readonly images: Channels
}
/** Pairs of a channel and a number; equal pairs are one, as they are to OpenVINO 2026.4. */
type Channels = Map<string, readonly [channel: number, stated: number]>

/** Type and dims of the input, and of what is subtracted from it. */
interface Target {
  readonly type: DType
  readonly channels: number
  /** Dims of the mean values: one number for each channel. */
  readonly valueDims: readonly number[]
  /** Dims of the image of a channel. */
  readonly imageDims: readonly number[]
}

/**
 * The graph with the mean values that the `<pre-process>` of its net states for an input. IR 10 describes the section;
 * OpenVINO 2026.4 reads it in both versions, and ignores all of it but means.
 */
export function withMeans(model: ModelScope, net: Element, graph: Graph): Graph {
  const { xml } = model
  const element = xml.child(net, 'pre-process')
  if (element === undefined) return graph
  const scope: GraphScope = { model, path: '', findings: [] }
  const place = placeOf(scope, element)
  const wrong: Wrong = message => {
    report(scope, 'error', 'pre-process', message, place)
  }
  const port = inputOf(xml.attribute(element, 'reference-layer-name'), graph, wrong)
  const target = port && targetOf(port, wrong)
  const mean = target && meanOf(scope, element, target, place, wrong)
  const findings = [...graph.findings, ...scope.findings]
  if (mean === undefined) return { ...graph, findings }
  return { ...graph, findings, inputs: graph.inputs.map(input => (input === port ? { ...port, mean } : input)) }
}

/** The Parameter of this name; without one the first of rank 4, or else the first. */
function inputOf(reference: string | undefined, { inputs, nodes }: Graph, wrong: Wrong): GraphPort | undefined {
  const name = trimBlanks(reference ?? '')
  if (name === '') return inputs.find(input => dimsOf(input)?.length === 4) ?? inputs.at(0) ?? wrong(NO_INPUT)
  return (
    inputs.find(({ node }) => node !== undefined && nodes[node].name === name) ??
    wrong(`<pre-process> is of ${quote(name)}, and no Parameter has this name`)
  )
}

const NO_INPUT = '<pre-process> in a model without inputs'
const tensorOf = ({ declared }: GraphPort): Extract<DeclaredType, { kind: 'tensor' }> | undefined =>
  declared?.kind === 'tensor' ? declared : undefined
const dimsOf = (port: GraphPort): readonly unknown[] | undefined => tensorOf(port)?.dims

function targetOf(port: GraphPort, wrong: Wrong): Target | undefined {
  const { type, dims } = tensorOf(port) ?? {}
  const of = `<pre-process> of ${quote(port.name)}`
  if (!dims?.every(dim => typeof dim === 'number')) return wrong(`${of}, whose dims are not all known`)
  if (type === undefined || !(isFloat(type) || isInteger(type)) || isPacked(type))
    return wrong(`${of}, from whose type ${type === undefined ? 'dynamic' : dtypeName(type, 'openvino')} ${NONE_TAKEN}`)
  if (dims.length < 2 || dims.length > 5)
    return wrong(`${of}, whose rank is ${dims.length}: a rank of 2 to 5 is needed`)
  // Three dims are channels, height and width; all others start with a batch.
  const [channels, ...image] = dims.length === 3 ? dims : dims.slice(1)
  const imageDims = image.length === 0 ? [1] : [1, ...image]
  return { type, channels, imageDims, valueDims: [channels, ...image.map(() => 1)] }
}

const NONE_TAKEN = 'nothing can be subtracted'

function meanOf(
  scope: GraphScope,
  element: Element,
  target: Target,
  place: Place,
  wrong: Wrong
): InputMean | undefined {
  const stated = statedIn(scope, element, target, wrong)
  if (stated === undefined) return undefined
  const { values, images } = stated
  if (values.size > 0 && images.size > 0) return wrong('some channels of <pre-process> have a value, others an image')
  if (values.size > 0) {
    const found = byChannel(values, target.channels, wrong)
    return (
      found &&
      meanOfValues(
        found.map(value => value ?? 0),
        target,
        place
      )
    )
  }
  if (images.size === 0) return undefined
  const offsets = byChannel(images, target.channels, wrong)
  if (offsets === undefined) return undefined
  const missing = offsets.indexOf(undefined)
  if (missing >= 0) return wrong(`channel ${missing} of <pre-process> has no mean image`)
  return meanOfImages(scope, offsets as number[], target, place)
}

/** What the section states. Undefined where something of it is wrong. */
function statedIn(scope: GraphScope, element: Element, { type, imageDims }: Target, wrong: Wrong): Stated | undefined {
  const { xml } = scope.model
  const stated: Stated = { values: new Map(), images: new Map() }
  const state = (of: Channels, channel: number, what: number): unknown => of.set(`${channel}:${what}`, [channel, what])
  const needed = imageDims.reduce((bytes, dim) => bytes * dim, fileBytes(type, 1))
  notePassedOver(scope.model, element, new Set(['channel']))
  for (const [index, channel] of xml.children(element, 'channel').entries()) {
    notePassedOver(scope.model, channel, new Set(['mean']))
    const id = xml.attribute(channel, 'id')
    const number = id === undefined ? index : unsigned(id)
    if (number === undefined) return wrong(badNumber('a <channel>', 'id', id))
    const mean = xml.child(channel, 'mean')
    if (mean === undefined) continue
    const [value, size, offset] = ['value', 'size', 'offset'].map(name => xml.attribute(mean, name))
    if (value === undefined && size === undefined) return wrong('a <mean> with neither value nor size')
    if (value !== undefined) {
      const parsed = parseFloat32(value)
      if (parsed === undefined) return wrong(badNumber('a <mean>', 'value', value))
      state(stated.values, number, parsed)
    }
    if (size === undefined || offset === undefined) continue
    const [bytes, start] = [unsigned(size), unsigned(offset)]
    if (bytes === undefined) return wrong(badNumber('a <mean>', 'size', size))
    if (start === undefined) return wrong(badNumber('a <mean>', 'offset', offset))
    if (bytes !== needed)
      return wrong(
        `${dtypeName(type, 'openvino')} of shape [${imageDims.join(', ')}] needs ${needed} bytes, size is ${bytes}`
      )
    state(stated.images, number, start)
  }
  return stated
}

/** A decimal number with blanks before it, cut to the range of float32; undefined for other text. */
function parseFloat32(text: string): number | undefined {
  if (text.length > 400 || !/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined
  return Math.fround(Math.max(-MAX_FLOAT32, Math.min(MAX_FLOAT32, Number(text))))
}

/** What is stated for each channel: the largest number, where there are several. */
function byChannel(stated: Channels, channels: number, wrong: Wrong): (number | undefined)[] | undefined {
  if (stated.size !== channels)
    return wrong(`<pre-process> has ${stated.size} mean values, and the input ${channels} channels`)
  const found = new Array<number | undefined>(channels).fill(undefined)
  for (const [channel, number] of stated.values()) {
    if (channel >= channels) return wrong(`<pre-process> has a channel ${channel}, and the input ${channels} channels`)
    found[channel] = Math.max(found[channel] ?? -Infinity, number)
  }
  return found
}

function meanOfValues(values: readonly number[], { type, valueDims }: Target, place: Place): InputMean {
  const tensor = convert(new Tensor('float32', Float32Array.from(values), valueDims), type) as Tensor
  return { type, dims: valueDims, byteLength: fileBytes(type, values.length), place, read: () => tensor }
}

function meanOfImages(scope: GraphScope, offsets: readonly number[], target: Target, place: Place): InputMean {
  const { type, imageDims } = target
  const count = elementCount(imageDims)
  const size = fileBytes(type, count)
  const images = offsets.map(offset => constantAt(scope, { type, dims: imageDims, count, offset, size }, place))
  const dims = [offsets.length * imageDims[0], ...imageDims.slice(1)]
  let joined: Tensor | undefined
  const read = (): Tensor => {
    const tensor = allocate(type, dims)
    images.forEach((image, i) => (tensor.data as Float32Array).set(image.read().data as Float32Array, i * count))
    return tensor
  }
  return {
    type,
    dims,
    byteLength: size * images.length,
    place,
    images,
    // Every run needs it, and it takes no more than the input itself.
    read: () => (joined ??= read()),
    verify: () => images.forEach(image => image.verify?.())
  }
}
