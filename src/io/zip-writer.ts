import { crc32 } from './zip.ts'

interface Written {
  readonly name: Uint8Array
  readonly size: number
  readonly crc: number
  readonly offset: number
}

/** Stands in a field of 32 bits for a number that is in a ZIP64 field. */
const WIDE = 0xffffffff
const MANY = 0xffff
/** 1 January 1980: all files have it, so that equal files give equal archives. */
const DATE = 0x21
/** Names are UTF-8. */
const FLAGS = 0x800
const VERSION = 45

/**
 * Writes a ZIP archive (APPNOTE 6.3.10, with ZIP64 where it needs it) file by file; files are stored, not packed. It
 * holds the directory, and nothing of the files.
 */
export class ZipWriter {
  private readonly write: (bytes: Uint8Array) => void
  private readonly files: Written[] = []
  private offset = 0

  constructor(write: (bytes: Uint8Array) => void) {
    this.write = write
  }

  /** Adds a file. Names must differ. */
  add(name: string, chunks: readonly Uint8Array[]): void {
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    const crc = chunks.reduce((sum, bytes) => crc32(bytes, sum), 0)
    const file = { name: new TextEncoder().encode(name), size, crc, offset: this.offset }
    this.files.push(file)
    this.put(localHeader(file))
    for (const bytes of chunks) this.put(bytes)
  }

  /** Writes the directory; nothing may be added after it. */
  end(): void {
    const start = this.offset
    for (const file of this.files) this.put(centralHeader(file))
    this.put(endRecords(this.files.length, start, this.offset))
  }

  private put(bytes: Uint8Array): void {
    this.write(bytes)
    this.offset += bytes.length
  }
}

/** Fields of 2, 4 and 8 bytes, one after the other. */
function fields(list: readonly (readonly [bytes: 2 | 4 | 8, value: number])[], ...rest: Uint8Array[]): Uint8Array {
  const length = list.reduce((sum, [bytes]) => sum + bytes, 0)
  const all = new Uint8Array(rest.reduce((sum, bytes) => sum + bytes.length, length))
  const view = new DataView(all.buffer)
  let at = 0
  for (const [bytes, value] of list) {
    if (bytes === 2) view.setUint16(at, value, true)
    else if (bytes === 4) view.setUint32(at, value, true)
    else view.setBigUint64(at, BigInt(value), true)
    at += bytes
  }
  for (const bytes of rest) {
    all.set(bytes, at)
    at += bytes.length
  }
  return all
}

/** The extra field 1, for numbers that do not fit 32 bits. */
const wideField = (numbers: readonly number[]): Uint8Array =>
  numbers.length === 0
    ? new Uint8Array()
    : fields([[2, 1], [2, 8 * numbers.length], ...numbers.map(number => [8, number] as const)])

const isWide = (number: number): boolean => number >= WIDE
const narrow = (number: number): number => (isWide(number) ? WIDE : number)

/** What both headers of a file say of it, from the version that reads it on. */
const described = ({ name, size, crc }: Written, extra: Uint8Array): (readonly [2 | 4, number])[] => [
  [2, VERSION],
  [2, FLAGS],
  // Stored, at midnight.
  [2, 0],
  [2, 0],
  [2, DATE],
  [4, crc],
  [4, narrow(size)],
  [4, narrow(size)],
  [2, name.length],
  [2, extra.length]
]

function localHeader(file: Written): Uint8Array {
  const { name, size } = file
  const extra = wideField(isWide(size) ? [size, size] : [])
  return fields([[4, 0x04034b50], ...described(file, extra)], name, extra)
}

function centralHeader(file: Written): Uint8Array {
  const { name, size, offset } = file
  const extra = wideField([...(isWide(size) ? [size, size] : []), ...(isWide(offset) ? [offset] : [])])
  return fields(
    [
      [4, 0x02014b50],
      [2, VERSION],
      ...described(file, extra),
      // No comment, disk 0, no attributes.
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, narrow(offset)]
    ],
    name,
    extra
  )
}

function endRecords(count: number, start: number, end: number): Uint8Array {
  const size = end - start
  const isLarge = count >= MANY || isWide(start) || isWide(size)
  const wide: (readonly [2 | 4 | 8, number])[] = [
    [4, 0x06064b50],
    [8, 44],
    [2, VERSION],
    [2, VERSION],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, start],
    // The locator: disk 0, where the record above is, one disk.
    [4, 0x07064b50],
    [4, 0],
    [8, end],
    [4, 1]
  ]
  return fields([
    ...(isLarge ? wide : []),
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, Math.min(count, MANY)],
    [2, Math.min(count, MANY)],
    [4, narrow(size)],
    [4, isLarge ? WIDE : start],
    [2, 0]
  ])
}
