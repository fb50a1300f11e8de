import { interleaveHigh, interleaveHighBytes, interleaveLow, interleaveLowBytes } from '../interleave'
import { storeNarrowTransposed, transpose4 } from '../transpose4'

/**
 * Moves elements of one to eight bytes between two orders of axes. `rows` count along the axis that is innermost in y,
 * `columns` along the one that is innermost in x; the other axes are loops.
 */
@unmanaged
export class TransposeArguments {
  x: usize
  y: usize
  /** log2 of the bytes of an element. */
  shift: u32
  rows: u32
  columns: u32
  /** Bytes from row to row in x, and from column to column in y. */
  xRow: usize
  yColumn: usize
  /** Loops, the innermost first; they follow: size, bytes that x and y move by, three words each. */
  rank: u32
}

/** Rows of a block: as many of four bytes fill two lines of the cache that are written to. */
const BLOCK_ROWS: u32 = 32

/** Moves blocks `from … to - 1` of 32 rows, counted over the rows of a matrix and over all loops. */
export function transpose(args: TransposeArguments, from: u32, to: u32): void {
  const rows = args.rows
  const columns = args.columns
  const xRow = args.xRow
  const yColumn = args.yColumn
  const loops = changetype<usize>(args) + offsetof<TransposeArguments>()
  const perMatrix = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS
  while (from < to) {
    let x = args.x
    let y = args.y
    let rest = from / perMatrix
    const first = from % perMatrix
    const count = min(perMatrix - first, to - from)
    for (let r: u32 = 0; r < args.rank; r++) {
      const loop = loops + r * 12
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      x += at * load<u32>(loop, 4)
      y += at * load<u32>(loop, 8)
    }
    const end = min(rows, (first + count) * BLOCK_ROWS)
    for (let r = first * BLOCK_ROWS; r < end; r += BLOCK_ROWS) {
      moveBlock(args.shift, x + r * xRow, y + (r << args.shift), min(BLOCK_ROWS, end - r), columns, xRow, yColumn)
    }
    from += count
  }
}

function moveBlock(shift: u32, x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  if (shift == 0) byteBlock(x, y, rows, columns, xRow, yColumn)
  else if (shift == 1) narrowBlock(x, y, rows, columns, xRow, yColumn)
  else if (shift == 3) wideBlock(x, y, rows, columns, xRow, yColumn)
  else if (columns == 2 && xRow == 8) takeApart(x, y, rows, yColumn)
  else if (rows == 2 && yColumn == 8) putTogether(x, y, columns, xRow)
  else block(x, y, rows, columns, xRow, yColumn)
}

/** A part of a block, element by element, in the loop that is longer. */
// @ts-ignore: decorator
@inline
function part<T>(
  x: usize,
  y: usize,
  row: u32,
  rows: u32,
  column: u32,
  columns: u32,
  xRow: usize,
  yColumn: usize
): void {
  if (rows - row >= columns - column) {
    for (let c = column; c < columns; c++) {
      let at = x + c * sizeof<T>() + row * xRow
      const end = y + c * yColumn + rows * sizeof<T>()
      for (let to = y + c * yColumn + row * sizeof<T>(); to < end; to += sizeof<T>(), at += xRow) {
        store<T>(to, load<T>(at))
      }
    }
  } else {
    for (let r = row; r < rows; r++) {
      let to = y + r * sizeof<T>() + column * yColumn
      const end = x + r * xRow + columns * sizeof<T>()
      for (let at = x + r * xRow + column * sizeof<T>(); at < end; at += sizeof<T>(), to += yColumn) {
        store<T>(to, load<T>(at))
      }
    }
  }
}

/** Pairs that lie one after the other become two lines. */
function takeApart(x: usize, y: usize, rows: u32, yColumn: usize): void {
  const whole = rows & ~3
  const end = y + (whole << 2)
  for (; y < end; x += 32, y += 16) {
    const a = v128.load(x)
    const b = v128.load(x, 16)
    v128.store(y, i32x4.shuffle(a, b, 0, 2, 4, 6))
    v128.store(y + yColumn, i32x4.shuffle(a, b, 1, 3, 5, 7))
  }
  part<u32>(x, y, 0, rows - whole, 0, 2, 8, yColumn)
}

/** Two lines become pairs that lie one after the other. */
function putTogether(x: usize, y: usize, columns: u32, xRow: usize): void {
  const whole = columns & ~3
  const end = x + (whole << 2)
  for (; x < end; x += 16, y += 32) {
    const a = v128.load(x)
    const b = v128.load(x + xRow)
    v128.store(y, i32x4.shuffle(a, b, 0, 4, 1, 5))
    v128.store(y, i32x4.shuffle(a, b, 2, 6, 3, 7), 16)
  }
  part<u32>(x, y, 0, 2, 0, columns - whole, xRow, 8)
}

/** Elements of four bytes, 16 at a time. */
function block(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  const wholeRows = rows & ~3
  const wholeColumns = columns & ~3
  for (let c: u32 = 0; c < wholeColumns; c += 4) {
    const to = y + c * yColumn
    for (let r: u32 = 0; r < wholeRows; r += 4) transpose4(x + r * xRow + (c << 2), xRow, to + (r << 2), yColumn)
  }
  part<u32>(x, y, wholeRows, rows, 0, wholeColumns, xRow, yColumn)
  part<u32>(x, y, 0, rows, wholeColumns, columns, xRow, yColumn)
}

/** Elements of eight bytes: squares of a cache line each way, of which two columns are written at a time. */
function wideBlock(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  const wholeRows = rows & ~7
  const wholeColumns = columns & ~1
  for (let first: u32 = 0; first < wholeColumns; first += 8) {
    const last = min(wholeColumns, first + 8)
    for (let r: u32 = 0; r < wholeRows; r += 8) {
      let at = x + r * xRow + (first << 3)
      let to = y + first * yColumn + (r << 3)
      for (let c = first; c < last; c += 2, at += 16, to += 2 * yColumn) {
        const next = to + yColumn
        const half = at + 4 * xRow
        const a = v128.load(at)
        const b = v128.load(at + xRow)
        const d = v128.load(at + 2 * xRow)
        const e = v128.load(at + 3 * xRow)
        const f = v128.load(half)
        const g = v128.load(half + xRow)
        const h = v128.load(half + 2 * xRow)
        const i = v128.load(half + 3 * xRow)
        v128.store(to, i64x2.shuffle(a, b, 0, 2))
        v128.store(to, i64x2.shuffle(d, e, 0, 2), 16)
        v128.store(to, i64x2.shuffle(f, g, 0, 2), 32)
        v128.store(to, i64x2.shuffle(h, i, 0, 2), 48)
        v128.store(next, i64x2.shuffle(a, b, 1, 3))
        v128.store(next, i64x2.shuffle(d, e, 1, 3), 16)
        v128.store(next, i64x2.shuffle(f, g, 1, 3), 32)
        v128.store(next, i64x2.shuffle(h, i, 1, 3), 48)
      }
    }
  }
  part<u64>(x, y, wholeRows, rows, 0, wholeColumns, xRow, yColumn)
  part<u64>(x, y, 0, rows, wholeColumns, columns, xRow, yColumn)
}

/** Bytes, 8 rows by 16 columns at a time; of three channels, as pictures have, 48 at a time. */
function byteBlock(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  if (columns == 3 && xRow == 3) return takeThreeApart(x, y, rows, yColumn)
  if (rows == 3 && yColumn == 3) return putThreeTogether(x, y, columns, xRow)
  const wholeRows = rows & ~7
  const wholeColumns = columns & ~15
  for (let c: u32 = 0; c < wholeColumns; c += 16) {
    const to = y + c * yColumn
    for (let r: u32 = 0; r < wholeRows; r += 8) {
      const at = x + r * xRow + c
      const half = at + 4 * xRow
      const a = v128.load(at)
      const b = v128.load(at + xRow)
      const d = v128.load(at + 2 * xRow)
      const e = v128.load(at + 3 * xRow)
      const f = v128.load(half)
      const g = v128.load(half + xRow)
      const h = v128.load(half + 2 * xRow)
      const i = v128.load(half + 3 * xRow)
      eightColumns(
        interleaveLowBytes(a, b),
        interleaveLowBytes(d, e),
        interleaveLowBytes(f, g),
        interleaveLowBytes(h, i),
        to + r,
        yColumn
      )
      const next = to + r + 8 * yColumn
      eightColumns(
        interleaveHighBytes(a, b),
        interleaveHighBytes(d, e),
        interleaveHighBytes(f, g),
        interleaveHighBytes(h, i),
        next,
        yColumn
      )
    }
  }
  part<u8>(x, y, wholeRows, rows, 0, wholeColumns, xRow, yColumn)
  part<u8>(x, y, 0, rows, wholeColumns, columns, xRow, yColumn)
}

/** Writes eight columns of eight bytes, given in pairs of rows. */
function eightColumns(a: v128, b: v128, c: v128, d: v128, y: usize, yColumn: usize): void {
  y = fourColumns(interleaveLow(a, b), interleaveLow(c, d), y, yColumn)
  fourColumns(interleaveHigh(a, b), interleaveHigh(c, d), y, yColumn)
}

/** Writes four columns of eight bytes, given in halves. @returns where the next one lies */
// @ts-ignore: decorator
@inline
function fourColumns(a: v128, b: v128, y: usize, yColumn: usize): usize {
  const first = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const last = i32x4.shuffle(a, b, 2, 6, 3, 7)
  v128.store64_lane(y, first, 0)
  y += yColumn
  v128.store64_lane(y, first, 1)
  y += yColumn
  v128.store64_lane(y, last, 0)
  y += yColumn
  v128.store64_lane(y, last, 1)
  return y + yColumn
}

/** Triples of bytes become three lines. */
function takeThreeApart(x: usize, y: usize, rows: u32, yColumn: usize): void {
  const whole = rows & ~15
  const end = y + whole
  for (; y < end; x += 48, y += 16) {
    const a = v128.load(x)
    const b = v128.load(x, 16)
    const c = v128.load(x, 32)
    const first = i8x16.shuffle(a, b, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0)
    v128.store(y, i8x16.shuffle(first, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29))
    const second = i8x16.shuffle(a, b, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0)
    v128.store(y + yColumn, i8x16.shuffle(second, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30))
    const third = i8x16.shuffle(a, b, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0)
    v128.store(y + 2 * yColumn, i8x16.shuffle(third, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31))
  }
  part<u8>(x, y, 0, rows - whole, 0, 3, 3, yColumn)
}

/** Three lines become triples of bytes. */
function putThreeTogether(x: usize, y: usize, columns: u32, xRow: usize): void {
  const whole = columns & ~15
  const end = x + whole
  for (; x < end; x += 16, y += 48) {
    const a = v128.load(x)
    const b = v128.load(x + xRow)
    const c = v128.load(x + 2 * xRow)
    const first = i8x16.shuffle(a, b, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5)
    v128.store(y, i8x16.shuffle(first, c, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15))
    const second = i8x16.shuffle(a, b, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26)
    v128.store(y, i8x16.shuffle(second, c, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15), 16)
    const third = i8x16.shuffle(a, b, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0)
    v128.store(y, i8x16.shuffle(third, c, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31), 32)
  }
  part<u8>(x, y, 0, 3, 0, columns - whole, xRow, 3)
}

/** Elements of two bytes, 64 at a time: pairs of rows are put together, then pairs of pairs, then of these. */
function narrowBlock(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  const wholeRows = rows & ~7
  const wholeColumns = columns & ~7
  for (let c: u32 = 0; c < wholeColumns; c += 8) {
    const to = y + c * yColumn
    for (let r: u32 = 0; r < wholeRows; r += 8) {
      const at = x + r * xRow + (c << 1)
      const half = at + 4 * xRow
      const a = v128.load(at)
      const b = v128.load(at + xRow)
      const d = v128.load(at + 2 * xRow)
      const e = v128.load(at + 3 * xRow)
      const f = v128.load(half)
      const g = v128.load(half + xRow)
      const h = v128.load(half + 2 * xRow)
      const i = v128.load(half + 3 * xRow)
      storeNarrowTransposed(a, b, d, e, f, g, h, i, to + (r << 1), yColumn)
    }
  }
  part<u16>(x, y, wholeRows, rows, 0, wholeColumns, xRow, yColumn)
  part<u16>(x, y, 0, rows, wholeColumns, columns, xRow, yColumn)
}

/** Copies lines from x to y, wherever they lie. */
@unmanaged
export class LinesArguments {
  x: usize
  y: usize
  /** Bytes of a line. */
  bytes: usize
  /** Bytes from x to the first line. */
  start: u32
  /** Loops over lines, the innermost first; they follow: size, bytes that x and y move by, three words each. */
  rank: u32
}

/**
 * Copies lines `from … to - 1`, counted over all loops, of which there is at least one. The place in the outer loops is
 * worked out once for each turn of the second: divisions take longer than few short lines.
 */
export function copyLines(args: LinesArguments, from: u32, to: u32): void {
  const bytes = args.bytes
  const origin = args.x + args.start
  const loops = changetype<usize>(args) + offsetof<LinesArguments>()
  const inner = load<u32>(loops)
  const xStep = load<u32>(loops, 4)
  const yStep = load<u32>(loops, 8)
  const hasSecond = args.rank > 1
  const second: u32 = hasSecond ? load<u32>(loops, 12) : 1
  const xSecond: u32 = hasSecond ? load<u32>(loops, 16) : 0
  const ySecond: u32 = hasSecond ? load<u32>(loops, 20) : 0
  while (from < to) {
    let first = from % inner
    let rest = from / inner
    let turn = rest % second
    rest /= second
    let x = origin + turn * xSecond
    let y = args.y + turn * ySecond
    for (let r: u32 = 2; r < args.rank; r++) {
      const loop = loops + r * 12
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      x += at * load<u32>(loop, 4)
      y += at * load<u32>(loop, 8)
    }
    for (; turn < second && from < to; turn++, x += xSecond, y += ySecond) {
      const count = min(inner - first, to - from)
      copyRun(x + first * xStep, xStep, y + first * yStep, yStep, bytes, count)
      from += count
      first = 0
    }
  }
}

/** Copies `count` lines that lie some bytes apart. */
export function copyRun(x: usize, xStep: usize, y: usize, yStep: usize, bytes: usize, count: u32): void {
  const end = y + count * yStep
  if (bytes > MAX_VECTOR_BYTES) {
    for (; y != end; x += xStep, y += yStep) memory.copy(y, x, bytes)
  } else if (bytes >= 16) {
    const last = bytes - 16
    for (; y != end; x += xStep, y += yStep) {
      for (let at: usize = 0; at < last; at += 16) v128.store(y + at, v128.load(x + at))
      v128.store(y + last, v128.load(x + last))
    }
  } else if (bytes >= 8) {
    for (; y != end; x += xStep, y += yStep) {
      store<u64>(y, load<u64>(x))
      store<u64>(y + bytes - 8, load<u64>(x + bytes - 8))
    }
  } else if (bytes >= 4) {
    for (; y != end; x += xStep, y += yStep) {
      store<u32>(y, load<u32>(x))
      store<u32>(y + bytes - 4, load<u32>(x + bytes - 4))
    }
  } else {
    for (; y != end; x += xStep, y += yStep) {
      for (let at: usize = 0; at < bytes; at++) store<u8>(y + at, load<u8>(x + at))
    }
  }
}

/** Longer lines are copied by the engine, whose own call is slow to start. */
export const MAX_VECTOR_BYTES: usize = 2048
