import { NodewiseError, type Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { ByteRange, Constant, FindingCode } from '../graph/graph.ts'
import { type DType, dtypeName, DTYPES } from '../tensor/dtype.ts'
import { isCoded, isPacked, packedBytes, unpack } from '../tensor/packing.ts'
import { elementCount, fileBytes, Tensor } from '../tensor/tensor.ts'
import { unsigned } from './numbers.ts'
import type { PortOwner } from './ports.ts'
import { badNumber, type GraphScope, quote, report } from './scope.ts'
import { parseStaticShape } from './shapes.ts'
import { readStrings, stringHeaderBytes } from './strings.ts'
import type { Element } from './tree.ts'
import { typeOfConstant } from './types.ts'

/** What a Const's `<data>` says. */
interface Region {
  readonly type: DType
  readonly dims: readonly number[]
  readonly count: number
  /** Bytes of the .bin. */
  readonly offset: number
  readonly size: number
}

/**
 * The constant of a Const layer; undefined, with a finding, when its `<data>` does not describe one. The .bin is not
 * touched
 * before the constant is read.
 */
export function readConstant(scope: GraphScope, layer: PortOwner, data: Element | undefined): Constant | undefined {
  const { xml, weights } = scope.model
  const place = data === undefined ? layer.place : { ...layer.place, offset: xml.offset(data) }
  const wrong = (code: FindingCode, message: string): undefined => {
    report(scope, 'error', code, message, place, layer.needed)
  }
  if (data === undefined) return wrong('missing-data', 'a Const without <data>')
  const region = readRegion(name => xml.attribute(data, name), wrong)
  if (region === undefined) return undefined
  const { type, dims, count, offset, size } = region
  const least = leastBytes(region)
  if (size < least) {
    wrong(
      'constant-size',
      `${dtypeName(type, 'openvino')} of shape [${dims.join(', ')}] needs ${least} bytes, size is ${size}`
    )
  }

  weights.parameters += count
  const key = `${offset}:${size}`
  if (!weights.regions.has(key)) weights.bytes += size
  weights.regions.add(key)
  return constantOf(scope, region, place)
}

function readRegion(
  attribute: (name: string) => string | undefined,
  wrong: (code: FindingCode, message: string) => undefined
): Region | undefined {
  if (attribute('value') !== undefined)
    return wrong('constant-literal', 'a Const is read from the .bin, not from a value in the XML')
  for (const name of ['element_type', 'shape', 'offset', 'size']) {
    if (attribute(name) === undefined) return wrong('missing-attribute', `a Const without ${name}`)
  }
  const typeText = attribute('element_type') ?? ''
  const type = typeOfConstant(typeText)
  if (type === undefined || type === 'dynamic')
    return wrong('unknown-type', `${quote(typeText)} is no element type of a Const`)
  const shape = parseStaticShape(attribute('shape') ?? '')
  if (shape.problem !== undefined)
    return wrong('bad-shape', `the shape ${quote(attribute('shape') ?? '')} of a Const: ${shape.problem}`)
  const offset = unsigned(attribute('offset'))
  const size = unsigned(attribute('size'))
  if (offset === undefined || size === undefined) {
    const name = offset === undefined ? 'offset' : 'size'
    return wrong('bad-number', badNumber('a Const', name, attribute(name)))
  }
  try {
    return { type, dims: shape.dims, count: elementCount(shape.dims), offset, size }
  } catch (error) {
    if (error instanceof NodewiseError) return wrong('bad-shape', error.message)
    throw error
  }
}

/** Bytes without which OpenVINO refuses the constant. It writes an empty one with a byte in the file or none. */
const leastBytes = ({ type, count }: Region): number =>
  count === 0 ? 0 : type === 'string' ? stringHeaderBytes(count) : fileBytes(type, count)

function constantOf(scope: GraphScope, region: Region, place: Place): Constant {
  const { bin, locate } = scope.model
  const { type, dims, count, size } = region
  const located = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      if (error instanceof NodewiseError) throw error.at(locate(place))
      if (error instanceof RangeError)
        throw new NodewiseError('limit-exceeded', `no memory for a constant of ${size} bytes`, locate(place))
      throw error
    }
  }
  const constant = {
    type,
    dims,
    byteLength: type === 'string' ? Math.max(0, size - stringHeaderBytes(count)) : fileBytes(type, count),
    place,
    read: () => located(() => readTensor(region, bin)),
    verify: () =>
      located(() => {
        checkRegion(region, bin())
      })
  }
  if (type === 'string') return constant
  return {
    ...constant,
    get raw() {
      return rawPlace(region, bin)
    }
  }
}

/** Undefined where the region cannot be read: `read` says why. */
function rawPlace({ type, count, offset, size }: Region, bin: () => ByteSource | undefined): ByteRange | undefined {
  const length = fileBytes(type, count)
  try {
    const source = bin()
    return source === undefined || size < length || offset + size > source.size
      ? undefined
      : { source, offset, length, ...(isCoded(type) && { layout: 'openvino' }) }
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}

function readTensor(region: Region, bin: () => ByteSource | undefined): Tensor {
  const { type, dims, count } = region
  if (count === 0) return new Tensor(type, [], dims)
  const bytes = readBytes(region, bin())
  if (type === 'string') return new Tensor(type, readStrings(bytes, count), dims)
  if (isPacked(type)) return new Tensor(type, unpack(type, bytes, count, 'openvino') as never, dims)
  if (type === 'bool')
    return new Tensor(type, bytes.some(byte => byte > 1) ? bytes.map(byte => (byte === 0 ? 0 : 1)) : bytes, dims)
  return new Tensor(type, viewOf(type, bytes) as never, dims)
}

/** @throws NodewiseError `missing-file` without a .bin, `invalid-file` when the region is too small or not inside it */
function checkRegion(region: Region, source: ByteSource | undefined): ByteSource {
  const { count, offset, size } = region
  if (source === undefined) throw new NodewiseError('missing-file', 'there is no .bin with the constants of this model')
  const least = leastBytes(region)
  if (size < least) throw new NodewiseError('invalid-file', `the constant needs ${least} bytes, size is ${size}`)
  if (count > 0 && offset + size > source.size) {
    throw new NodewiseError(
      'invalid-file',
      `offset ${offset} and size ${size} are beyond the ${source.size} bytes of ${source.name}`
    )
  }
  return source
}

function readBytes(region: Region, bin: ByteSource | undefined): Uint8Array {
  const { type, count, offset, size } = region
  const source = checkRegion(region, bin)
  if (type === 'string') return source.read(offset, size)
  // OpenVINO reads a last group of u3 or u6 whole even where size cuts it.
  return source.read(
    offset,
    isPacked(type) ? Math.min(packedBytes(type, count, 'openvino'), source.size - offset) : fileBytes(type, count)
  )
}

/** The bytes as the type's array: a view where they are aligned, else a copy. */
function viewOf(type: DType, bytes: Uint8Array) {
  const { array } = DTYPES[type]
  if (array === undefined) throw new NodewiseError('internal', `${type} has no array`)
  const { buffer, byteOffset } = bytes.byteOffset % array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes)
  return new array(buffer, byteOffset, bytes.length / array.BYTES_PER_ELEMENT)
}
