/**
 * Moves elements of four bytes between two orders of axes. `rows` count along the axis that is innermost in y,
 * `columns` along the one that is innermost in x; the other axes are loops.
 */
@unmanaged
export class TransposeArguments {
  x: usize
  y: usize
  rows: u32
  columns: u32
  /** Bytes from row to row in x, and from column to column in y. */
  xRow: usize
  yColumn: usize
  /** Loops, the innermost first; they follow: size, bytes that x and y move by, three words each. */
  rank: u32
}

/** Rows of a block: as many fill two lines of the cache that are written to. */
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
      block(x + r * xRow, y + (r << 2), min(BLOCK_ROWS, end - r), columns, xRow, yColumn)
    }
    from += count
  }
}

function block(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  const wholeRows = rows & ~3
  const wholeColumns = columns & ~3
  for (let c: u32 = 0; c < wholeColumns; c += 4) {
    const to = y + c * yColumn
    for (let r: u32 = 0; r < wholeRows; r += 4) {
      const at = x + r * xRow + (c << 2)
      const a = v128.load(at)
      const b = v128.load(at + xRow)
      const d = v128.load(at + 2 * xRow)
      const e = v128.load(at + 3 * xRow)
      const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
      const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
      const de0 = i32x4.shuffle(d, e, 0, 4, 1, 5)
      const de1 = i32x4.shuffle(d, e, 2, 6, 3, 7)
      const out = to + (r << 2)
      v128.store(out, i64x2.shuffle(ab0, de0, 0, 2))
      v128.store(out + yColumn, i64x2.shuffle(ab0, de0, 1, 3))
      v128.store(out + 2 * yColumn, i64x2.shuffle(ab1, de1, 0, 2))
      v128.store(out + 3 * yColumn, i64x2.shuffle(ab1, de1, 1, 3))
    }
  }
  for (let r: u32 = 0; r < rows; r++) {
    for (let c = r < wholeRows ? wholeColumns : 0; c < columns; c++) {
      store<u32>(y + c * yColumn + (r << 2), load<u32>(x + r * xRow + (c << 2)))
    }
  }
}

/** Copies lines of x, wherever they lie, to y, where they lie one after the other. */
@unmanaged
export class LinesArguments {
  x: usize
  y: usize
  /** Bytes of a line. */
  bytes: usize
  /** Loops over lines, the innermost first; they follow: size, bytes that x moves by, two words each. */
  rank: u32
}

/** Copies lines `from … to - 1`, counted over all loops, of which there is at least one. */
export function copyLines(args: LinesArguments, from: u32, to: u32): void {
  const bytes = args.bytes
  const loops = changetype<usize>(args) + offsetof<LinesArguments>()
  const inner = load<u32>(loops)
  const step = load<u32>(loops, 4)
  let y = args.y + from * bytes
  while (from < to) {
    const first = from % inner
    let x = args.x + first * step
    let rest = from / inner
    for (let r: u32 = 1; r < args.rank; r++) {
      const loop = loops + (r << 3)
      const size = load<u32>(loop)
      x += (rest % size) * load<u32>(loop, 4)
      rest /= size
    }
    const count = min(inner - first, to - from)
    copyRun(x, step, y, bytes, count)
    from += count
    y += count * bytes
  }
}

/** Copies `count` lines that lie `step` bytes apart. */
function copyRun(x: usize, step: usize, y: usize, bytes: usize, count: u32): void {
  const end = y + count * bytes
  if (bytes == 8) {
    for (; y < end; y += 8, x += step) store<u64>(y, load<u64>(x))
  } else if ((bytes & 3) != 0 || bytes > MAX_VECTOR_BYTES) {
    for (; y < end; y += bytes, x += step) memory.copy(y, x, bytes)
  } else {
    const whole = bytes & ~15
    for (; y < end; y += bytes, x += step) {
      let at: usize = 0
      for (; at < whole; at += 16) v128.store(y + at, v128.load(x + at))
      for (; at < bytes; at += 4) store<u32>(y + at, load<u32>(x + at))
    }
  }
}

/** Longer lines are copied by the engine, whose own call is slow to start. */
const MAX_VECTOR_BYTES: usize = 2048
