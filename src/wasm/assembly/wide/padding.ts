import { copyRun } from '../f32/transpose'

/** Data of elements of any width, with one element around it; an axis may be cropped instead. */
@unmanaged
export class PaddingArguments {
  x: usize
  /** The element around the data. */
  value: usize
  y: usize
  /** Bytes of an element. */
  width: u32
  /** Bytes from x to what the first line with data takes of it. */
  start: u32
  /** Bytes of a line before the data, of the data, and behind it. */
  before: u32
  body: u32
  behind: u32
  /** Loops over lines, the innermost first; they follow: size, first with data, number with data, bytes in x. */
  rank: u32
}

/**
 * Writes lines `from … to - 1`, counted over all loops. The place in the outer loops is worked out once for each turn
 * of the innermost: divisions take longer than short lines.
 */
export function padLines(args: PaddingArguments, from: u32, to: u32): void {
  const value = valueOf(args.value, args.width)
  const bytes = <usize>args.before + args.body + args.behind
  const loops = changetype<usize>(args) + offsetof<PaddingArguments>()
  const hasLoop = args.rank > 0
  const inner: u32 = hasLoop ? load<u32>(loops) : 1
  const first: u32 = hasLoop ? load<u32>(loops, 4) : 0
  const count: u32 = hasLoop ? load<u32>(loops, 8) : 1
  const step: u32 = hasLoop ? load<u32>(loops, 12) : 0
  let y = args.y + <usize>from * bytes
  while (from < to) {
    const turn = from % inner
    const x = dataOf(args, loops, from / inner)
    const end = min(to, from + inner - turn)
    // What lies before the first one with data is a large number, too.
    for (let at = turn - first; from < end; from++, at++, y += bytes) {
      if (x == 0 || at >= count) {
        spread(value, y, bytes)
        continue
      }
      spread(value, y, args.before)
      copyRun(x + <usize>at * step, 0, y + args.before, args.body, args.body, 1)
      spread(value, y + args.before + args.body, args.behind)
    }
  }
}

/** The data of a turn of the innermost loop; 0 where it has none. */
// @ts-ignore: decorator
@inline
function dataOf(args: PaddingArguments, loops: usize, turn: u32): usize {
  let x = args.x + args.start
  let isInside = args.body > 0
  for (let r: u32 = 1; r < args.rank; r++) {
    const loop = loops + r * 16
    const size = load<u32>(loop)
    const at = (turn % size) - load<u32>(loop, 4)
    turn /= size
    isInside = isInside && at < load<u32>(loop, 8)
    x += <usize>at * load<u32>(loop, 12)
  }
  return isInside ? x : 0
}

/** An element, side by side, in the bits of eight bytes. */
function valueOf(at: usize, width: u32): u64 {
  if (width == 1) return <u64>load<u8>(at) * 0x0101010101010101
  if (width == 2) return <u64>load<u16>(at) * 0x0001000100010001
  if (width == 4) return <u64>load<u32>(at) * 0x0000000100000001
  return load<u64>(at)
}

/** Writes whole elements of those bits. */
// @ts-ignore: decorator
@inline
function spread(value: u64, y: usize, bytes: usize): void {
  const end = y + bytes
  for (; y + 16 <= end; y += 16) v128.store(y, i64x2.splat(value))
  if (y + 8 <= end) {
    store<u64>(y, value)
    y += 8
  }
  if (y + 4 <= end) {
    store<u32>(y, <u32>value)
    y += 4
  }
  if (y + 2 <= end) {
    store<u16>(y, <u16>value)
    y += 2
  }
  if (y < end) store<u8>(y, <u8>value)
}
