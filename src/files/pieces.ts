import type { Part, Range } from './remote.ts'

/** A range that is read at once, and the memory that takes what of it is wanted. */
export interface Piece extends Range {
  /** Ascending by offset. */
  readonly parts: readonly Part[]
}

/**
 * The pieces in which parts are read: parts that are nearer than `gap` together, long ones in several.
 * @param most bytes of a piece
 */
export function piecesOf(parts: readonly Part[], gap: number, most: number): Piece[] {
  const pieces: { offset: number; length: number; parts: Part[] }[] = []
  for (const part of parts.flatMap(whole => cut(whole, most)).sort((a, b) => a.offset - b.offset)) {
    const last = pieces.at(-1)
    const end = part.offset + part.target.length
    if (last && part.offset - (last.offset + last.length) <= gap && end - last.offset <= most) {
      last.parts.push(part)
      last.length = Math.max(last.length, end - last.offset)
    } else pieces.push({ offset: part.offset, length: part.target.length, parts: [part] })
  }
  return pieces
}

function cut({ offset, target }: Part, most: number): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < target.length; at += most)
    parts.push({ offset: offset + at, target: target.subarray(at, at + most) })
  return parts
}

/** Puts bytes of the file, from `offset` on, into the parts that want them. */
export function scatter({ parts }: Pick<Piece, 'parts'>, offset: number, bytes: Uint8Array): void {
  const end = offset + bytes.length
  for (const part of parts) {
    if (part.offset >= end) break
    const from = Math.max(offset, part.offset)
    const to = Math.min(end, part.offset + part.target.length)
    if (from < to) part.target.set(bytes.subarray(from - offset, to - offset), from - part.offset)
  }
}

/** Ranges without overlaps, ascending. */
export function mergedRanges(ranges: readonly Range[]): Range[] {
  const merged: { offset: number; length: number }[] = []
  for (const { offset, length } of [...ranges].sort((a, b) => a.offset - b.offset)) {
    if (length === 0) continue
    const last = merged.at(-1)
    if (last && offset <= last.offset + last.length) last.length = Math.max(last.length, offset + length - last.offset)
    else merged.push({ offset, length })
  }
  return merged
}
