/**
 * Moves elements of four bytes between two orders of axes. `rows` count along the axis that is innermost in y, `columns` along the one that
 * is innermost in x; the other axes are loops.
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

/** Moves matrices `from … to - 1`, counted over all loops. */
export function transpose(args: TransposeArguments, from: u32, to: u32): void {
  const rows = args.rows, columns = args.columns, xRow = args.xRow, yColumn = args.yColumn
  const loops = changetype<usize>(args) + offsetof<TransposeArguments>()
  for (let i = from; i < to; i++) {
    let x = args.x, y = args.y, rest = i
    for (let r: u32 = 0; r < args.rank; r++) {
      const loop = loops + r * 12
      const size = load<u32>(loop), at = rest % size
      rest /= size
      x += at * load<u32>(loop, 4)
      y += at * load<u32>(loop, 8)
    }
    // Blocks of 16 rows, so that lines of the cache that are written to stay until they are full.
    for (let r0: u32 = 0; r0 < rows; r0 += 16) block(x + r0 * xRow, y + (r0 << 2), min<u32>(16, rows - r0), columns, xRow, yColumn)
  }
}

function block(x: usize, y: usize, rows: u32, columns: u32, xRow: usize, yColumn: usize): void {
  const wholeRows = rows & ~3, wholeColumns = columns & ~3
  for (let c: u32 = 0; c < wholeColumns; c += 4) {
    const to = y + c * yColumn
    for (let r: u32 = 0; r < wholeRows; r += 4) {
      const at = x + r * xRow + (c << 2)
      const a = v128.load(at), b = v128.load(at + xRow), d = v128.load(at + 2 * xRow), e = v128.load(at + 3 * xRow)
      const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5), ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
      const de0 = i32x4.shuffle(d, e, 0, 4, 1, 5), de1 = i32x4.shuffle(d, e, 2, 6, 3, 7)
      const out = to + (r << 2)
      v128.store(out, i64x2.shuffle(ab0, de0, 0, 2))
      v128.store(out + yColumn, i64x2.shuffle(ab0, de0, 1, 3))
      v128.store(out + 2 * yColumn, i64x2.shuffle(ab1, de1, 0, 2))
      v128.store(out + 3 * yColumn, i64x2.shuffle(ab1, de1, 1, 3))
    }
  }
  for (let r: u32 = 0; r < rows; r++) {
    for (let c = r < wholeRows ? wholeColumns : 0; c < columns; c++) store<u32>(y + c * yColumn + (r << 2), load<u32>(x + r * xRow + (c << 2)))
  }
}
