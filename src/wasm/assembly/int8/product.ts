import { packBytes, panelBytes, widenPanel, widenRow } from './panels'
import { stripByPanel, sumsOfStrip, widenStrip } from './strips'

/**
 * C = f((A - zero of A) (B - zeros of its columns)) for a list of matrices of bytes: exact sums in int32, which wrap;
 * as they are, or scaled in double precision and rounded once. Steps are in bytes. C is whole.
 */
@unmanaged
export class ByteProductArguments {
  a: usize
  b: usize
  /** int32, for all columns of the panels: zero points, then what is added to the sums. */
  integers: usize
  /** float64: scale of A, alpha, scale and zero point of C; then for all columns scales, then biases. */
  numbers: usize
  c: usize
  /** What C holds: 0: int32; 1: float32; 2: uint8; 3: int8. */
  result: u32
  isSigned: u32
  /** 128 where B holds uint8: its codes are turned into those of int8, and zero points are smaller by it. */
  flip: u32
  zero: i32
  hasZeros: u32
  hasAdded: u32
  hasBias: u32
  m: u32
  n: u32
  k: u32
  /** Rows and panels of a block. */
  rows: u32
  panels: u32
  /** From row to row of A, and from element to element of a row. */
  aRow: usize
  aElement: usize
  /** From row to row of B and from column to column; both 0 where B lies in panels. */
  bRow: usize
  bColumn: usize
  /** Loops over matrices, the innermost first; they follow: size, bytes that A and B move by, three words each. */
  rank: u32
}

/**
 * Scratch memory: the sums of a block by a panel, eight a row; sums of the rows of A; a part of a panel, widened; a
 * panel; and the rows of A, widened: in strips of four, or, where there are fewer, one by one.
 */
const ROW_SUMS: usize = 4096
const WIDE: usize = ROW_SUMS + 512
/** Bytes of a part of a panel: widened it stays, beside the same part of a strip, in a cache of 32 KiB. */
const PART: usize = 8192
const PANEL: usize = WIDE + 2 * PART
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
  let widened: u32 = -1
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
    if (widened != outer) widenRows(args, a, rows, scratch)
    widened = outer
    const first = (from % groups) * args.panels
    const last = min(allPanels, first + args.panels)
    const c = args.c + (<usize>matrix * args.m + row) * args.n * elementBytes(args)
    for (let p = first; p < last; p++) panelOf(args, b, c, p, rows, scratch)
  }
}

// @ts-ignore: decorator
@inline
function elementBytes(args: ByteProductArguments): usize {
  return args.result < 2 ? 4 : 1
}

// @ts-ignore: decorator
@inline
function widenedAt(args: ByteProductArguments, scratch: usize): usize {
  return scratch + PANEL + panelBytes(args.k)
}

function widenRows(args: ByteProductArguments, a: usize, rows: u32, scratch: usize): void {
  const isSigned = args.isSigned != 0
  // A strip of four rows takes as much as a panel of bytes, a row a quarter of it.
  const step = panelBytes(args.k)
  let to = widenedAt(args, scratch)
  let sums = scratch + ROW_SUMS
  if (rows < STRIP) {
    for (let i: u32 = 0; i < rows; i++, a += args.aRow, to += step >> 2, sums += 4)
      store<i32>(sums, widenRow(a, args.aElement, args.k, isSigned, args.zero, to))
    return
  }
  for (let i: u32 = 0; i < rows; i += STRIP, a += STRIP * args.aRow, to += step, sums += 16) {
    widenStrip(a, args.aRow, args.aElement, min(STRIP, rows - i), args.k, isSigned, args.zero, to)
    if (args.hasZeros) v128.store(sums, sumsOfStrip(to, to + step))
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
  }
  const widened = widenedAt(args, scratch)
  if (rows < STRIP) {
    for (let i: u32 = 0; i < rows; i++)
      tile1(widened + i * (bytes >> 2), panel, panel + bytes, scratch + ((<usize>i) << 5))
  } else stripsByPanel(widened, rows, panel, bytes, scratch)
  const width = elementBytes(args)
  c += column * width
  for (let i: u32 = 0; i < rows; i++, c += args.n * width) {
    const sum = load<i32>(scratch + ROW_SUMS + (i << 2))
    const at = scratch + ((<usize>i) << 5)
    finish(args, at, sum, column, min<u32>(4, cols), c)
    if (cols > 4) finish(args, at + 16, sum, column + 4, cols - 4, c + 4 * width)
  }
}

/** Strips of rows by a panel, part by part, so that what all strips read stays in the nearest cache. */
function stripsByPanel(strips: usize, rows: u32, panel: usize, bytes: usize, scratch: usize): void {
  const wide = scratch + WIDE
  for (let from: usize = 0; from < bytes; from += PART) {
    const part = min(PART, bytes - from)
    widenPanel(panel + from, part, wide)
    let strip = strips + from
    let sums = scratch
    for (let i: u32 = 0; i < rows; i += STRIP, strip += bytes, sums += 128)
      stripByPanel(strip, wide, wide + 2 * part, sums, from > 0)
  }
}

/**
 * Turns four sums into results, of which the first `count` are written.
 * @param at the sums, overwritten
 * @param sum that of the row of A
 */
function finish(args: ByteProductArguments, at: usize, sum: i32, column: u32, count: u32, to: usize): void {
  let sums = v128.load(at)
  const integers = args.integers + (column << 2)
  if (args.hasZeros) sums = i32x4.sub(sums, i32x4.mul(i32x4.splat(sum), v128.load(integers)))
  if (args.result != 0) {
    const columns = (args.n + 7) & ~7
    if (args.hasAdded) sums = i32x4.add(sums, v128.load(integers + (columns << 2)))
    const scales = args.numbers + 32 + (column << 3)
    const biases = scales + (columns << 3)
    const low = scaled(args, sums, scales, biases)
    const high = scaled(args, i64x2.shuffle(sums, sums, 1, 0), scales + 16, biases + 16)
    sums = i64x2.shuffle(low, high, 0, 2)
  }
  if (args.result < 2) {
    if (count == 4) v128.store(to, sums)
    else {
      v128.store(at, sums)
      memory.copy(to, at, count << 2)
    }
  } else {
    v128.store(at, sums)
    for (let j: u32 = 0; j < count; j++) store<u8>(to + j, load<u8>(at + (j << 2)))
  }
}

/** The lower two of four sums, scaled: as float32 or rounded to a code in 32 bits, in the lower two lanes. */
// @ts-ignore: decorator
@inline
function scaled(args: ByteProductArguments, sums: v128, scales: usize, biases: usize): v128 {
  const numbers = args.numbers
  let x = f64x2.mul(f64x2.convert_low_i32x4_s(sums), v128.load64_splat(numbers))
  // One after the other, as the reference kernels multiply: a product of scales would be rounded otherwise.
  x = f64x2.mul(f64x2.mul(x, v128.load(scales)), v128.load64_splat(numbers, 8))
  if (args.hasBias) x = f64x2.add(x, v128.load(biases))
  if (args.result == 1) return f32x4.demote_f64x2_zero(x)
  x = f64x2.nearest(f64x2.div(x, v128.load64_splat(numbers, 16)))
  const lowest: f64 = args.result == 3 ? -128 : 0
  x = f64x2.add(x, v128.load64_splat(numbers, 24))
  x = f64x2.max(f64x2.splat(lowest), f64x2.min(f64x2.splat(lowest + 255), x))
  return i32x4.trunc_sat_f64x2_s_zero(x)
}
