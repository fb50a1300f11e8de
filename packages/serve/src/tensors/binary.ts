import type { DType } from 'nodewise'
import { Refusal } from '../refusal.ts'
import { arrayOf, NARROW, type PlainTensor, type Shape, slotsOf } from './datatypes.ts'

/** Bytes of the length that stands before each string. */
const LENGTH = 4

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A tensor from its bytes in the binary tensor extension: little-endian and row-major; `BYTES` as a length of four
 * bytes before each element. Elements are copied, since the memory of a request is not aligned for them.
 * @throws Refusal `bad-request` where the bytes are not those of such a tensor
 */
export function tensorFromBytes(name: string, type: DType, { dims, count }: Shape, bytes: Uint8Array): PlainTensor {
  const array = arrayOf(type)
  if (array === undefined) return { type, dims, data: stringsFrom(name, count, bytes) }
  const expected = count * slotsOf(type) * array.BYTES_PER_ELEMENT
  if (bytes.length !== expected)
    throw new Refusal(
      'bad-request',
      `input "${name}": ${count} elements take ${expected} bytes, ${bytes.length} are there`
    )
  const data = new array(new Uint8Array(bytes).buffer)
  checkCodes(name, type, data as Uint8Array)
  return { type, dims, data: data as PlainTensor['data'] }
}

/** Kernels trust elements to be of their type. Any byte but 0 is true. */
function checkCodes(name: string, type: DType, data: Uint8Array | Int8Array): void {
  const range = NARROW[type]
  if (range === undefined) return
  const [least, most] = range
  for (let i = 0; i < data.length; i++) {
    if (data[i] >= least && data[i] <= most) continue
    if (type !== 'bool') throw new Refusal('bad-request', `input "${name}": ${data[i]} at ${i} is no ${type}`)
    data[i] = 1
  }
}

function stringsFrom(name: string, count: number, bytes: Uint8Array): string[] {
  const wrong = (why: string): never => {
    throw new Refusal('bad-request', `input "${name}": ${why}`)
  }
  if (count * LENGTH > bytes.length) wrong(`${count} strings take more than ${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const strings = new Array<string>(count)
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + LENGTH > bytes.length) wrong(`its bytes end before string ${i}`)
    const length = view.getUint32(at, true)
    at += LENGTH
    if (length > bytes.length - at) wrong(`its bytes end within string ${i}`)
    strings[i] = textOf(name, bytes.subarray(at, at + length))
    at += length
  }
  if (at < bytes.length) wrong(`${bytes.length - at} bytes follow its last string`)
  return strings
}

/** @throws Refusal `bad-request` where the bytes are no UTF-8, as strings of models are */
export function textOf(name: string, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Refusal('bad-request', `input "${name}": a string is not UTF-8`)
  }
}

/** The bytes of a tensor in the binary tensor extension; a view of its elements where they are no strings. */
export function bytesOfTensor({ data }: PlainTensor): Buffer {
  if (!Array.isArray(data)) return Buffer.from(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)
  const lengths = data.map(text => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + LENGTH + length, 0))
  let at = 0
  data.forEach((text, i) => {
    at = bytes.writeUInt32LE(lengths[i], at)
    at += bytes.write(text, at)
  })
  return bytes
}
