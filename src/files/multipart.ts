import { fail } from '../errors.ts'

const FEED = 0x0a
/** What may stand before the first part. */
const BLANK = '\r\n\r\n'
/** Bytes that the headers of a part may take. */
const MAX_HEADERS = 4096

/** What `Content-Range` says (RFC 9110, 14.4): the first byte, the bytes, and the size of the file. */
export interface ContentRange {
  readonly offset: number
  readonly length: number
  readonly size: number
}

/** Undefined for other text, and where the size is not told. */
export function contentRange(text: string | null): ContentRange | undefined {
  const [, first, last, all] = /^\s*bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})\s*$/i.exec(text ?? '') ?? []
  if (all === undefined) return undefined
  const [offset, end, size] = [Number(first), Number(last) + 1, Number(all)]
  return Number.isSafeInteger(size) && offset < end && end <= size ? { offset, length: end - offset, size } : undefined
}

/** The text between parts of a `multipart/byteranges`; undefined for an answer of another type. */
export function boundaryOf(type: string | null): string | undefined {
  const [, quoted, plain] =
    /^\s*multipart\/byteranges\s*;.*?boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type ?? '') ?? []
  return quoted ?? plain
}

/**
 * Reads `multipart/byteranges` (RFC 9110, 14.6) as it comes. A part is as long as its `Content-Range` says, so nothing
 * is looked for in the bytes of the file.
 */
export class MultipartReader {
  private readonly boundary: string
  private readonly take: (offset: number, bytes: Uint8Array) => void
  private readonly check: (range: ContentRange) => void
  /** Text between parts so far. */
  private head = ''
  private offset = 0
  private left = 0
  isEnded = false

  /** @param check is called with each part's range before its bytes are taken, and may throw */
  constructor(
    boundary: string,
    check: (range: ContentRange) => void,
    take: (offset: number, bytes: Uint8Array) => void
  ) {
    this.boundary = boundary
    this.check = check
    this.take = take
  }

  /** @throws NodewiseError `invalid-file` where the bytes do not follow the format; what `check` throws */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isEnded;) {
      if (this.left === 0) at = this.readHead(bytes, at)
      else {
        const part = bytes.subarray(at, at + this.left)
        this.take(this.offset, part)
        this.offset += part.length
        this.left -= part.length
        at += part.length
      }
    }
  }

  /** Reads up to the end of a part's headers; returns where that is. */
  private readHead(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length;) {
      const feed = bytes.indexOf(FEED, at)
      const end = feed < 0 ? bytes.length : feed + 1
      if (this.head.length + end - at > MAX_HEADERS)
        fail('invalid-file', 'the server sends parts without their headers')
      this.head += String.fromCharCode(...bytes.subarray(at, end))
      at = end
      if (this.head.endsWith('\r\n\r\n') && this.head.length > BLANK.length) {
        this.open()
        return at
      }
      // Nothing of what follows it counts.
      if (this.head.includes(`--${this.boundary}--`)) {
        this.isEnded = true
        return bytes.length
      }
    }
    return bytes.length
  }

  private open(): void {
    const { head } = this
    this.head = ''
    const line = head.split('\r\n').find(text => /^content-range:/i.test(text))
    const range = contentRange(line?.slice('content-range:'.length) ?? null)
    if (range === undefined || !head.includes(`--${this.boundary}\r\n`))
      return fail('invalid-file', 'the server sends a part that does not say which bytes it has')
    this.check(range)
    this.offset = range.offset
    this.left = range.length
  }
}
