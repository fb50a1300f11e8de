import { inflateSync, type Zippable, zipSync } from 'fflate'
import { fail } from '../errors.ts'
import { type ByteSource, bytesSource, roomFor } from '../files/byte-source.ts'

/** A file in an archive, as the central directory describes it. */
export interface ZipEntry {
  readonly name: string
  /** Size when unpacked, in bytes, as the archive declares it; {@link zipRead} checks it. */
  readonly size: number
  readonly packedSize: number
  readonly method: number
  readonly crc: number
  /** Byte offset of the local header. */
  readonly offset: number
}

const END = 0x06054b50
const END_64_LOCATOR = 0x07064b50
const END_64 = 0x06064b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
/** Stands in a field of 32 bits for a number that is in a ZIP64 field. */
const WIDE = 0xffffffff
const STORED = 0
const DEFLATED = 8
/** Maximum ratio of unpacked to packed bytes: deflate encodes at most 258 bytes in 2 bits. */
const MAX_EXPANSION = 1032

/** An archive in memory, or one that is read by position: only its directory and the files that are asked for. */
export type Archive = Uint8Array | ByteSource

const sourceOf = (archive: Archive): ByteSource =>
  archive instanceof Uint8Array ? bytesSource('the archive', archive) : archive

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/**
 * The files in a ZIP archive (APPNOTE 6.3.10, with ZIP64), without folders.
 * @throws NodewiseError `invalid-file` where the directory is damaged, a file is encrypted or a name occurs twice
 */
export function zipEntries(archive: Archive): ZipEntry[] {
  const source = sourceOf(archive)
  const { count, start, end } = findDirectory(source)
  if (start > end) broken('its directory is cut off or damaged')
  const bytes = source.read(start, end - start)
  const view = viewOf(bytes)
  const entries = new Map<string, ZipEntry>()
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== CENTRAL) broken('its directory is cut off or damaged')
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(field => view.getUint16(at + field, true))
    const next = at + 46 + nameLength + extraLength + commentLength
    if (next > bytes.length) broken('its directory is cut off')
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    if ((view.getUint16(at + 8, true) & 1) !== 0) broken(`${JSON.stringify(name)} is encrypted`)
    if (entries.has(name)) broken(`it holds ${JSON.stringify(name)} twice`)
    const extent = extentOf(view, at, at + 46 + nameLength, extraLength)
    const [method, crc] = [view.getUint16(at + 10, true), view.getUint32(at + 16, true)]
    if (!name.endsWith('/')) entries.set(name, { name, method, crc, ...extent })
    at = next
  }
  return [...entries.values()]
}

/**
 * Unpacks a file of an archive. Memory of the declared size is allocated, once it is known that the packed bytes can
 * have that size.
 * @throws NodewiseError `invalid-file` where the bytes are not those that the directory describes
 */
export function zipRead(archive: Archive, entry: ZipEntry): Uint8Array {
  const { offset, size, packedSize, method } = entry
  const name = JSON.stringify(entry.name)
  const source = sourceOf(archive)
  const header = offset + 30 > source.size ? undefined : viewOf(source.read(offset, 30))
  if (header?.getUint32(0, true) !== LOCAL) return broken(`${name} is not where the directory says`)
  const start = offset + 30 + header.getUint16(26, true) + header.getUint16(28, true)
  if (start + packedSize > source.size) broken(`${name} is cut off`)
  if (method !== STORED && method !== DEFLATED) broken(`${name} is packed by method ${method}`)
  const packed = source.read(start, packedSize)
  const content = method === STORED ? packed : inflated(packed, entry)
  if (content.length !== size || crc32(content) !== entry.crc) broken(`${name} is damaged`)
  return content
}

/**
 * A ZIP archive of files. All have the same date, so that equal files give equal archives.
 * @throws NodewiseError `limit-exceeded` where the archive would need ZIP64
 */
export function zipWrite(files: ReadonlyMap<string, Uint8Array>, compress: boolean): Uint8Array {
  const total = [...files.values()].reduce((sum, content) => sum + content.length + 512, 0)
  if (total >= WIDE || files.size >= 0xffff)
    fail('limit-exceeded', 'the files are too large or too many for one archive, not for a folder')
  const zippable: Zippable = Object.create(null) as Zippable
  for (const [name, content] of files)
    zippable[name] = [content, { level: compress ? 6 : 0, mtime: new Date(1980, 0, 1) }]
  return zipSync(zippable)
}

function broken(what: string): never {
  fail('invalid-file', `the archive cannot be read: ${what}`)
}

interface Directory {
  readonly count: number
  readonly start: number
  /** Where the records after the directory begin. */
  readonly end: number
}

function findDirectory(source: ByteSource): Directory {
  // The end record has 22 bytes and a comment of at most 65,535; 20 bytes before it lies the locator of ZIP64.
  const tail = Math.max(0, source.size - 22 - 0xffff - 20)
  const view = viewOf(source.read(tail, source.size - tail))
  const first = Math.max(0, view.byteLength - 22 - 0xffff)
  let at = view.byteLength - 22
  while (at >= first && view.getUint32(at, true) !== END) at--
  if (at < first) broken('it has no directory')
  const count = view.getUint16(at + 10, true)
  const start = view.getUint32(at + 16, true)
  const locator = at - 20
  if ((count !== 0xffff && start !== WIDE) || locator < 0 || view.getUint32(locator, true) !== END_64_LOCATOR)
    return { count, start, end: tail + at }
  const wide = Number(view.getBigUint64(locator + 8, true))
  const record = wide + 56 > source.size ? undefined : viewOf(source.read(wide, 56))
  if (record?.getUint32(0, true) !== END_64) return broken('its ZIP64 directory is missing')
  return { count: Number(record.getBigUint64(32, true)), start: Number(record.getBigUint64(48, true)), end: wide }
}

/** Sizes and offset of an entry; those that do not fit 32 bits are in the extra field 1 (ZIP64), in this order. */
function extentOf(
  view: DataView,
  at: number,
  extraStart: number,
  extraLength: number
): Pick<ZipEntry, 'size' | 'packedSize' | 'offset'> {
  const short = [24, 20, 42].map(field => view.getUint32(at + field, true))
  let wide = -1
  for (let field = extraStart; field + 4 <= extraStart + extraLength; field += 4 + view.getUint16(field + 2, true)) {
    if (view.getUint16(field, true) === 1) wide = field + 4
  }
  const [size, packedSize, offset] = short.map(value => {
    if (value !== WIDE || wide < 0) return value
    wide += 8
    if (wide > extraStart + extraLength) broken('a ZIP64 field is cut off')
    return Number(view.getBigUint64(wide - 8, true))
  })
  return { size, packedSize, offset }
}

function inflated(packed: Uint8Array, { name, size }: ZipEntry): Uint8Array {
  if (size > packed.length * MAX_EXPANSION) broken(`${JSON.stringify(name)} cannot unpack to ${size} bytes`)
  const out = roomFor(size, JSON.stringify(name))
  try {
    return inflateSync(packed, { out })
  } catch (error) {
    // Among them a RangeError, where the bytes unpack to more than the declared size.
    broken(`${JSON.stringify(name)} is damaged (${(error as Error).message})`)
  }
}

let crcTable: Int32Array | undefined

/** @param before the checksum of what comes before the bytes */
export function crc32(bytes: Uint8Array, before = 0): number {
  crcTable ??= Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
    return value
  })
  let crc = ~before
  for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]) & 255] ^ (crc >>> 8)
  return ~crc >>> 0
}
