import { NodewiseError, type Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { ByteRange, Constant, FindingCode } from '../graph/graph.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { type DType, dtypeName, type StorageOf } from '../tensor/dtype.ts'
import { isCoded, isPacked, packedBytes, unpack } from '../tensor/packing.ts'
import { elementCount, fileBytes, Tensor } from '../tensor/tensor.ts'
import { unsigned } from './numbers.ts'
import type { PortOwner } from './ports.ts'
import { badNumber, type GraphScope, quote, report } from './scope.ts'
import { parseStaticShape } from './shapes.ts'
import { readStrings, stringHeaderBytes } from './strings.ts'
import type { Element } from './tree.ts'
import { typeOfConstant } from './types.ts'

/** Type, shape and range of bytes of a constant, as the `<data>` of a Const states them. */
export interface Region {
  readonly type: DType
  readonly dims: readonly number[]
  readonly count: number
  /** Bytes `[offset, offset + size)` of the .bin. */
  readonly offset: number
  readonly size: number
}

/**
 * The constant of a Const layer; undefined, with a finding, where its `<data>` does not describe one. The .bin is not
 * opened before the constant is read.
 */
export function readConstant(scope: GraphScope, layer: PortOwner, data: Element | undefined): Constant | undefined {
  const { xml } = scope.model
  const place = data === undefined ? layer.place : { ...layer.place, offset: xml.offset(data) }
  const wrong = (code: FindingCode, message: string): undefined => {
    report(scope, 'error', code, message, place, layer.needed)
  }
  if (data === undefined) return wrong('missing-data', 'a Const without <data>')
  const region = readRegion(name => xml.attribute(data, name), wrong)
  if (region === undefined) return undefined
  const { type, dims, size } = region
  const needed = minBytes(region)
  if (size < needed) {
    wrong(
      'constant-size',
      `${dtypeName(type, 'openvino')} of shape [${dims.join(', ')}] needs ${needed} bytes, size is ${size}`
    )
  }
  return constantAt(scope, region, place)
}

/** The constant in a region of the .bin, which counts as a weight of the model. */
export function constantAt(scope: GraphScope, region: Region, place: Place): Constant {
  const { weights } = scope.model
  const { count, offset, size } = region
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
    if (error instanceof NodewiseError) return wrong('bad-shape', error.reason)
    throw error
  }
}

/** Minimum of `size` that OpenVINO accepts. It writes a constant without elements with one byte or none. */
const minBytes = ({ type, count }: Region): number =>
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
      return byteRange(region, bin)
    }
  }
}

/** Where the elements are in the .bin; undefined where they cannot be read, for which `read` throws the reason. */
function byteRange({ type, count, offset, size }: Region, bin: () => ByteSource | undefined): ByteRange | undefined {
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
  if (isPacked(type)) return new Tensor(type, unpack(type, bytes, count, 'openvino') as StorageOf[DType], dims)
  return tensorOfBytes(type, dims, bytes, 'openvino')
}

/**
 * @throws NodewiseError `missing-file` without a .bin, `invalid-file` where the region is too small or not inside it
 */
function checkRegion(region: Region, source: ByteSource | undefined): ByteSource {
  const { count, offset, size } = region
  if (source === undefined) throw new NodewiseError('missing-file', 'there is no .bin with the constants of this model')
  const needed = minBytes(region)
  if (size < needed) throw new NodewiseError('invalid-file', `the constant needs ${needed} bytes, size is ${size}`)
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
  // OpenVINO reads the last group of u3 or u6 as a whole, also where `size` ends within it.
  return source.read(
    offset,
    isPacked(type) ? Math.min(packedBytes(type, count, 'openvino'), source.size - offset) : fileBytes(type, count)
  )
}
