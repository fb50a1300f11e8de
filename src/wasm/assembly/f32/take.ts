import { MAX_VECTOR_BYTES } from './transpose'

/** Takes rows of blocks of bytes: rows and the blocks in them by tables of where they begin. */
@unmanaged
export class TakeArguments {
  x: usize
  /** Where each row of a plane and each block of a row begins in x, in bytes. */
  rows: usize
  columns: usize
  y: usize
  rowCount: u32
  columnCount: u32
  /** Bytes of a plane of x, and of a block. */
  plane: usize
  block: usize
  /** Whether each block is taken twice, in their order. */
  isDoubled: u32
}

/** Copies rows `from … to - 1`, counted over all planes. */
export function takeRows(args: TakeArguments, from: u32, to: u32): void {
  const bytes = <usize>args.columnCount * args.block
  let y = args.y + <usize>from * bytes
  let before: usize = 0
  for (let row = from; row < to; row++, y += bytes) {
    const x = args.x + <usize>(row / args.rowCount) * args.plane + load<u32>(args.rows + ((row % args.rowCount) << 2))
    if (x == before) memory.copy(y, y - bytes, bytes)
    else if (args.isDoubled != 0 && args.block == 4) double(x, y, bytes)
    else takeLine(args, x, y)
    before = x
  }
}

/** A line of elements of four bytes, each taken twice. */
function double(x: usize, y: usize, bytes: usize): void {
  const end = y + bytes
  for (const whole = y + (bytes & ~31); y < whole; x += 16, y += 32) {
    const v = v128.load(x)
    v128.store(y, i32x4.shuffle(v, v, 0, 0, 1, 1))
    v128.store(y, i32x4.shuffle(v, v, 2, 2, 3, 3), 16)
  }
  for (let i: usize = 0; y < end; y += 4, i++) store<u32>(y, load<u32>(x + ((i >> 1) << 2)))
}

function takeLine(args: TakeArguments, x: usize, y: usize): void {
  const columns = args.columns
  const count = args.columnCount
  switch (<u32>args.block) {
    case 1:
      return takeElements<u8>(x, columns, count, y)
    case 2:
      return takeElements<u16>(x, columns, count, y)
    case 4:
      return takeElements<u32>(x, columns, count, y)
    case 8:
      return takeElements<u64>(x, columns, count, y)
  }
  takeBlocks(x, columns, count, y, args.block)
}

// @ts-ignore: decorator
@inline
function takeElements<T>(x: usize, columns: usize, count: u32, y: usize): void {
  const end = columns + ((<usize>count) << 2)
  for (const whole = columns + ((<usize>(count & ~3)) << 2); columns < whole; columns += 16, y += 4 * sizeof<T>()) {
    store<T>(y, load<T>(x + load<u32>(columns)))
    store<T>(y, load<T>(x + load<u32>(columns, 4)), sizeof<T>())
    store<T>(y, load<T>(x + load<u32>(columns, 8)), 2 * sizeof<T>())
    store<T>(y, load<T>(x + load<u32>(columns, 12)), 3 * sizeof<T>())
  }
  for (; columns < end; columns += 4, y += sizeof<T>()) store<T>(y, load<T>(x + load<u32>(columns)))
}

function takeBlocks(x: usize, columns: usize, count: u32, y: usize, block: usize): void {
  const end = columns + ((<usize>count) << 2)
  if (block > MAX_VECTOR_BYTES) {
    for (; columns < end; columns += 4, y += block) memory.copy(y, x + load<u32>(columns), block)
  } else if (block >= 16) {
    const last = block - 16
    for (; columns < end; columns += 4, y += block) {
      const from = x + load<u32>(columns)
      for (let at: usize = 0; at < last; at += 16) v128.store(y + at, v128.load(from + at))
      v128.store(y + last, v128.load(from + last))
    }
  } else if (block > 8) {
    for (; columns < end; columns += 4, y += block) {
      const from = x + load<u32>(columns)
      store<u64>(y, load<u64>(from))
      store<u64>(y + block - 8, load<u64>(from + block - 8))
    }
  } else {
    for (; columns < end; columns += 4, y += block) {
      const from = x + load<u32>(columns)
      for (let at: usize = 0; at < block; at++) store<u8>(y + at, load<u8>(from + at))
    }
  }
}
