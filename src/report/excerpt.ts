import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { printable } from '../io/print.ts'
import { widthOf } from './text-width.ts'

/** Lines of a file as compilers show them: the last one has the place, with a marker under it. */
export interface Excerpt {
  readonly lines: readonly { readonly number: number; readonly text: string }[]
  /** `^~~~~~` under the place, with the blanks before it. */
  readonly marker: string
}

/** Bytes that are looked at on each side of a place: a file may be one line of megabytes. */
const WINDOW = 2048
/** Columns shown, and of these how many before the place. */
const WIDTH = 110
const BEFORE = 50
const LINES_BEFORE = 2
const MAX_MARGIN = 8

/**
 * The lines around a place of a text file, cut to a width that fits a terminal; undefined for places without a line.
 * @param source the bytes of the file that the place is in, UTF-8 (a file in Latin-1 shows beyond ASCII what it can)
 */
export function excerptAt(source: ByteSource, { offset, line }: Place): Excerpt | undefined {
  if (offset === undefined || line === undefined || offset > source.size) return undefined
  const start = Math.max(0, offset - WINDOW)
  const before = decode(source.read(start, offset - start))
    .split(LINE_END)
    .map(clean)
  const [after] = decode(source.read(offset, Math.min(WINDOW, source.size - offset))).split(LINE_END, 1)
  const head = before[before.length - 1]
  const margin = head.findIndex(character => character !== ' ')
  // Blanks before the element say nothing when all lines have them.
  const cut = Math.max(0, head.length - BEFORE, (margin < 0 ? head.length : margin) - MAX_MARGIN)
  const show = (line: readonly string[]): string => {
    const isCut = line.slice(0, cut).some(character => character !== ' ')
    const shown = line.slice(cut, cut + WIDTH)
    const text = isCut && shown.length > 0 ? `…${shown.slice(1).join('')}` : shown.join('')
    return `${text}${line.length > cut + WIDTH ? '…' : ''}`.trimEnd()
  }
  // The first line of the window may be a part of one.
  const earlier = before.slice(start > 0 ? 1 : 0, -1).slice(-LINES_BEFORE)
  const element = clean(/^<[^>]*>?/.exec(after)?.[0] ?? after.slice(0, 1)).slice(0, WIDTH - (head.length - cut))
  return {
    lines: [
      ...earlier.map((text, i) => ({ number: line - earlier.length + i, text: show(text) })),
      { number: line, text: show([...head, ...clean(after)]) }
    ],
    marker: `${' '.repeat(widthOf(head.slice(cut)))}^${'~'.repeat(Math.max(0, widthOf(element) - 1))}`
  }
}

const LINE_END = /\r\n|\r|\n/

const decoder = new TextDecoder('utf-8')

/** Text of a part of a file; a character that the part cuts is left out. */
function decode(bytes: Uint8Array): string {
  let start = 0
  while (start < Math.min(3, bytes.length) && (bytes[start] & 0xc0) === 0x80) start++
  return decoder.decode(bytes.subarray(start)).replace(/^\ufeff/, '')
}

/** The characters of a line: tabs as two blanks, and nothing that a terminal would obey. */
const clean = (text: string): string[] => [...printable(text.replace(/\t/g, '  '))]
