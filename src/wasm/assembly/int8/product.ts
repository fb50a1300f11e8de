import { fetchLines } from '../f32/panels'
import { haveRows } from '../remembered'
import { codeIn } from './code'
import { dotPanels, packDotRows } from './dots'
import { packBytes, panelBytes, PART, widenPanel, widenRow } from './panels'
import { ByteProductArguments } from './product-arguments'
import { elementBytes, finishPanel } from './scale'
import { onePanel, sumsOfPanel, twoPanels, widenQuarters } from './strassen'
import { STRIP_SUMS, stripsByPanel, sumsOfStrip, widenStrip } from './strips'

/**
 * Scratch memory: the sums of a block by a panel, eight a row, or, by Strassen's algorithm, seven quarters of those by
 * two panels; sums of the rows of A; a part of a panel, widened; the sums of a strip by it; a panel; and the rows of A,
 * widened: in strips of four, in quarters, or, where there are fewer rows, one by one.
 */
const ROW_SUMS: usize = 14336
const WIDE: usize = ROW_SUMS + 512
const PANEL: usize = WIDE + 2 * PART + STRIP_SUMS
/** Fewest rows that are computed as strips. */
const STRIP: u32 = 4

/** A row of int16 by one panel; the eight sums go to `c`. */
function tile1(a: usize, p: usize, end: usize, c: usize): void {
  let c0 = i32x4.splat(0)
  let c1 = c0
  for (; p < end; p += 16, a += 4) {
    const x = v128.load32_splat(a)
    c0 = i32x4.add(c0, i32x4.dot_i16x8_s(x, v128.load8x8_s(p)))
    c1 = i32x4.add(c1, i32x4.dot_i16x8_s(x, v128.load8x8_s(p, 8)))
  }
  v128.store(c, c0)
  v128.store(c, c1, 16)
}

/** Computes blocks `from … to - 1`, counted over groups of panels, then over blocks of rows, then over matrices. */
export function byteProduct(args: ByteProductArguments, scratch: usize, from: u32, to: u32): void {
  const allPanels = (args.n + 7) >> 3
  const groups = (allPanels + args.panels - 1) / args.panels
  const rowBlocks = (args.m + args.rows - 1) / args.rows
  for (; from < to; from++) {
    const outer = from / groups
    const matrix = outer / rowBlocks
    const row = (outer % rowBlocks) * args.rows
    const rows = min(args.rows, args.m - row)
    let a = args.a + <usize>row * args.aRow
    let b = args.b
    let rest = matrix
    let loop = changetype<usize>(args) + offsetof<ByteProductArguments>()
    for (let i: u32 = 0; i < args.rank; i++, loop += 12) {
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      a += at * load<u32>(loop, 4)
      b += at * load<u32>(loop, 8)
    }
    if (!haveRows(outer)) widenRows(args, a, rows, scratch)
    const first = (from % groups) * args.panels
    const last = min(allPanels, first + args.panels)
    const c = args.c + (<usize>matrix * args.m + row) * args.n * elementBytes(args)
    if (args.dots) dotPanels(args, c, first, last, rows, scratch)
    else if (args.byStrassen) panelsByStrassen(args, c, first, last, rows, scratch)
    else for (let p = first; p < last; p++) panelOf(args, b, c, p, rows, scratch)
  }
}

// @ts-ignore: decorator
@inline
function widenedAt(args: ByteProductArguments, scratch: usize): usize {
  return scratch + PANEL + panelBytes(args.k)
}

function widenRows(args: ByteProductArguments, a: usize, rows: u32, scratch: usize): void {
  if (args.dots) return packDotRows(args, a, rows, scratch)
  const isSigned = args.isSigned != 0
  const zero = codeIn(args.aZero, isSigned)
  // A strip of four rows takes as much as a panel of bytes, a row a quarter of it.
  const step = panelBytes(args.k)
  let to = widenedAt(args, scratch)
  let sums = scratch + ROW_SUMS
  if (args.byStrassen) {
    const wanted = args.hasZeros ? sums : 0
    return widenQuarters(a, args.aRow, args.aElement, rows, args.k, isSigned, zero, to, wanted)
  }
  if (rows < STRIP) {
    for (let i: u32 = 0; i < rows; i++, a += args.aRow, to += step >> 2, sums += 4)
      store<i32>(sums, widenRow(a, args.aElement, args.k, isSigned, zero, to))
    return
  }
  for (let i: u32 = 0; i < rows; i += STRIP, a += STRIP * args.aRow, to += step, sums += 16) {
    widenStrip(a, args.aRow, args.aElement, min(STRIP, rows - i), args.k, isSigned, zero, to)
    if (args.hasZeros) v128.store(sums, sumsOfStrip(to, to + step))
  }
}

/** All rows of a block, which are in quarters, by panels `from … to - 1` of B, which lies in panels. */
function panelsByStrassen(args: ByteProductArguments, c: usize, from: u32, to: u32, rows: u32, scratch: usize): void {
  const widened = widenedAt(args, scratch)
  const sums = scratch + ROW_SUMS
  const size = sumsOfPanel(rows)
  const bytes = panelBytes(args.k)
  for (let p = from; p < to; p += 2) {
    const panel = args.b + p * bytes
    const count = min<u32>(2, to - p)
    fetchLines(panel, count * bytes, scratch)
    if (count == 2) twoPanels(widened, rows, args.k, panel, scratch + WIDE, scratch)
    else onePanel(widened, rows, args.k, panel, scratch + WIDE, scratch)
    for (let i: u32 = 0; i < count; i++) {
      const column = (p + i) << 3
      const cols = min<u32>(8, args.n - column)
      finishPanel(args, scratch + i * size, sums, rows, column, cols, c + column * elementBytes(args))
    }
  }
}

/** All rows of a block by panel `p`. */
function panelOf(args: ByteProductArguments, b: usize, c: usize, p: u32, rows: u32, scratch: usize): void {
  const bytes = panelBytes(args.k)
  const column = p << 3
  const cols = min<u32>(8, args.n - column)
  let panel = b + p * bytes
  if (args.bColumn != 0) {
    panel = scratch + PANEL
    packBytes(b + <usize>column * args.bColumn, args.bRow, args.bColumn, args.k, cols, args.flip, panel)
  } else if (rows >= STRIP) fetchLines(panel, bytes, scratch)
  const widened = widenedAt(args, scratch)
  if (rows < STRIP) {
    for (let i: u32 = 0; i < rows; i++)
      tile1(widened + i * (bytes >> 2), panel, panel + bytes, scratch + ((<usize>i) << 5))
  } else stripsByParts(widened, rows, panel, bytes, scratch)
  finishPanel(args, scratch, scratch + ROW_SUMS, rows, column, cols, c + column * elementBytes(args))
}

/** Strips of rows by a panel, part by part, so that what all strips read stays in the nearest cache. */
function stripsByParts(strips: usize, rows: u32, panel: usize, bytes: usize, scratch: usize): void {
  const wide = scratch + WIDE
  for (let from: usize = 0; from < bytes; from += PART) {
    const part = min(PART, bytes - from)
    widenPanel(panel + from, part, wide)
    const count = <usize>((rows + STRIP - 1) / STRIP)
    stripsByPanel(strips + from, bytes, count, wide, 2 * part, scratch, from > 0 ? wide + 2 * PART : 0)
  }
}
