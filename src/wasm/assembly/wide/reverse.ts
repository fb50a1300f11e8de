import { copyRun } from '../f32/transpose'

/**
 * Reverses the first elements of each sequence of [outer][rows][between][columns], where one of both axes counts the
 * sequences and the other their elements, which are blocks of bytes.
 */
@unmanaged
export class ReverseArguments {
  x: usize
  /** How many elements of each sequence are reversed, int32. */
  lengths: usize
  y: usize
  rows: u32
  between: u32
  columns: u32
  /** Bytes of an element. */
  bytes: u32
  /** Whether a row is part of one sequence, of which columns are the elements. */
  isAlongColumns: u32
}

/** Writes lines `from … to - 1` of columns. */
export function reverseLines(args: ReverseArguments, from: u32, to: u32): void {
  const bytes = <usize>args.bytes
  const columns = args.columns
  const line = columns * bytes
  const apart = args.between * line
  for (; from < to; from++) {
    const x = args.x + from * line
    let y = args.y + from * line
    const row = (from / args.between) % args.rows
    if (args.isAlongColumns) {
      const count = <usize>load<u32>(args.lengths + (row << 2))
      // The last one comes first.
      copyRun(x + count * bytes - bytes, 0 - bytes, y, bytes, bytes, <u32>count)
      memory.copy(y + count * bytes, x + count * bytes, line - count * bytes)
      continue
    }
    let at = x
    for (let column: u32 = 0; column < columns; column++, at += bytes, y += bytes) {
      const count = load<u32>(args.lengths + ((<usize>column) << 2))
      const other = row < count ? count - 1 - row : row
      copyRun(at + (<usize>other - <usize>row) * apart, bytes, y, bytes, bytes, 1)
    }
  }
}
