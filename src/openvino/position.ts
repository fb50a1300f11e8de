import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Encoding } from './encoding.ts'

/** Line and column of a byte, both from 0, the column in UTF-16 units. */
interface LineColumn {
  readonly line: number
  readonly column: number
  /** Whether the byte before is a carriage return; a line feed here is then part of the same line end. */
  readonly afterReturn: boolean
}

const START: LineColumn = { line: 0, column: 0, afterReturn: false }
/** Line and column are noted for every multiple of this offset. */
const BLOCK = 1 << 16
const RETURN = 0x0d
const FEED = 0x0a

/**
 * Returns a function that adds line and column (both from 1, columns in UTF-16 units) to a place with a byte offset.
 * Its first call reads the whole file, later ones at most a block. Places of other files, places without an offset and
 * places that have a line are returned as they are.
 */
export function locator(source: ByteSource, file: string, encoding: Encoding): (place: Place) => Place {
  let blocks: LineColumn[] | undefined
  let last = { offset: Infinity, position: START }
  const positionOf = (offset: number): LineColumn => {
    blocks ??= blockStarts(source, encoding)
    const block = Math.min(Math.floor(offset / BLOCK), blocks.length - 1)
    const blockStart = Math.max(block * BLOCK, encoding.skip)
    // Places often come in the order of the file; then only the bytes since the last one are read.
    const isNext = blockStart <= last.offset && last.offset <= offset
    const from = isNext ? last : { offset: blockStart, position: blocks[block] }
    const position = advance(from.position, source.read(from.offset, Math.max(0, offset - from.offset)), encoding)
    last = { offset: Math.max(offset, from.offset), position }
    return position
  }
  return place => {
    const { offset } = place
    if (offset === undefined || place.line !== undefined || (place.file !== undefined && place.file !== file))
      return place
    const { line, column } = positionOf(Math.min(offset, source.size))
    return { ...place, line: line + 1, column: column + 1 }
  }
}

/** Line and column at the start of each block. */
function blockStarts(source: ByteSource, encoding: Encoding): LineColumn[] {
  let position = START
  const starts = [position]
  for (let offset = 0; offset + BLOCK < source.size; offset += BLOCK) {
    const start = Math.max(offset, encoding.skip)
    position = advance(position, source.read(start, offset + BLOCK - start), encoding)
    starts.push(position)
  }
  return starts
}

/**
 * The position after `bytes`. A UTF-8 character is counted at its first byte: two UTF-16 units where it has four bytes,
 * else one.
 */
function advance(from: LineColumn, bytes: Uint8Array, encoding: Encoding): LineColumn {
  let { line, column, afterReturn } = from
  const oneByteEach = encoding.name === 'latin1'
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === FEED || byte === RETURN) {
      if (byte === RETURN || !afterReturn) line++
      column = 0
    } else if (byte < 0x80 || oneByteEach) column++
    else if (byte >= 0xc0) column += byte >= 0xf0 ? 2 : 1
    afterReturn = byte === RETURN
  }
  return { line, column, afterReturn }
}
