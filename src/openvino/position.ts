import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Encoding } from './encoding.ts'

/** Where a byte is: line and column from 0, the column in UTF-16 units. */
interface Spot {
  readonly line: number
  readonly column: number
  /** Whether the byte before is a carriage return, so that a line feed here belongs to it. */
  readonly afterReturn: boolean
}

const START: Spot = { line: 0, column: 0, afterReturn: false }
const BLOCK = 1 << 16
const RETURN = 0x0d
const FEED = 0x0a

/**
 * Turns places with a byte offset into places with line and column (both from 1, columns in UTF-16 units). The file is
 * read on the first call only, and then a block of it a call. Places of other files, without an offset or with a line
 * already are returned as they are.
 */
export function locator(source: ByteSource, file: string, encoding: Encoding): (place: Place) => Place {
  let blocks: Spot[] | undefined
  let last = { offset: Infinity, spot: START }
  const spotAt = (offset: number): Spot => {
    blocks ??= blockStarts(source, encoding)
    const block = Math.min(Math.floor(offset / BLOCK), blocks.length - 1)
    const blockStart = Math.max(block * BLOCK, encoding.skip)
    // Places often come in order: then only what lies between is read.
    const from = blockStart <= last.offset && last.offset <= offset ? last : { offset: blockStart, spot: blocks[block] }
    const spot = walk(from.spot, source.read(from.offset, Math.max(0, offset - from.offset)), encoding)
    last = { offset: Math.max(offset, from.offset), spot }
    return spot
  }
  return place => {
    const { offset } = place
    if (offset === undefined || place.line !== undefined || (place.file !== undefined && place.file !== file))
      return place
    const { line, column } = spotAt(Math.min(offset, source.size))
    return { ...place, line: line + 1, column: column + 1 }
  }
}

function blockStarts(source: ByteSource, encoding: Encoding): Spot[] {
  let spot = START
  const starts = [spot]
  for (let offset = 0; offset + BLOCK < source.size; offset += BLOCK) {
    const start = Math.max(offset, encoding.skip)
    spot = walk(spot, source.read(start, offset + BLOCK - start), encoding)
    starts.push(spot)
  }
  return starts
}

/** The spot after `bytes`. A UTF-8 character counts at its first byte: one unit, two from four bytes on. */
function walk(from: Spot, bytes: Uint8Array, encoding: Encoding): Spot {
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
