/**
 * Rotates pairs of elements of the rows of heads by angles. Steps are in bytes, 0 where an operand is the same for all.
 */
@unmanaged
export class RotateArguments {
  x: usize
  cos: usize
  sin: usize
  y: usize
  heads: u32
  length: u32
  /** Elements of a row, and pairs of them that are rotated; the elements after the pairs are copied. */
  size: u32
  half: u32
  xBatch: usize
  xHead: usize
  xRow: usize
  yBatch: usize
  yHead: usize
  yRow: usize
  angleBatch: usize
  angleHead: usize
  angleRow: usize
  isInterleaved: u32
  /** Whether each element has an angle of its own, where it lies in its row, instead of one for both of a pair. */
  isPerElement: u32
}

/** Computes rows `from … to - 1`, counted over those of a head, then over heads, then over batches. */
export function rotateRows(args: RotateArguments, from: u32, to: u32): void {
  for (let block = from; block < to; block++) {
    const row = block % args.length
    const at = block / args.length
    const head = at % args.heads
    const batch = at / args.heads
    const x = args.x + batch * args.xBatch + head * args.xHead + row * args.xRow
    const y = args.y + batch * args.yBatch + head * args.yHead + row * args.yRow
    const angle = batch * args.angleBatch + head * args.angleHead + row * args.angleRow
    if (args.isInterleaved) rotateNeighbours(args, x, args.cos + angle, args.sin + angle, y)
    else rotateHalves(args, x, args.cos + angle, args.sin + angle, y)
    const rotated = (<usize>args.half) << 3
    const bytes = (<usize>args.size) << 2
    if (rotated < bytes) memory.copy(y + rotated, x + rotated, bytes - rotated)
  }
}

function rotateHalves(args: RotateArguments, x: usize, cos: usize, sin: usize, y: usize): void {
  const half = (<usize>args.half) << 2
  const other: usize = args.isPerElement ? half : 0
  let i: usize = 0
  for (; i + 16 <= half; i += 16) {
    const a = v128.load(x + i)
    const b = v128.load(x + half + i)
    v128.store(y + i, f32x4.sub(f32x4.mul(v128.load(cos + i), a), f32x4.mul(v128.load(sin + i), b)))
    const c = cos + other + i
    const s = sin + other + i
    v128.store(y + half + i, f32x4.add(f32x4.mul(v128.load(s), a), f32x4.mul(v128.load(c), b)))
  }
  for (; i < half; i += 4) {
    const a = f32.load(x + i)
    const b = f32.load(x + half + i)
    f32.store(y + i, f32.load(cos + i) * a - f32.load(sin + i) * b)
    f32.store(y + half + i, f32.load(sin + other + i) * a + f32.load(cos + other + i) * b)
  }
}

function rotateNeighbours(args: RotateArguments, x: usize, cos: usize, sin: usize, y: usize): void {
  const pairs = (<usize>args.half) << 2
  const signs = f32x4(-1, 1, -1, 1)
  let i: usize = 0
  for (; i + 8 <= pairs; i += 8) {
    const v = v128.load(x + (i << 1))
    const swapped = i8x16.shuffle(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
    const c = anglesOf(args, cos, i)
    const s = f32x4.mul(anglesOf(args, sin, i), signs)
    v128.store(y + (i << 1), f32x4.add(f32x4.mul(c, v), f32x4.mul(s, swapped)))
  }
  if (i < pairs) {
    const own: usize = args.isPerElement ? 4 : 0
    const at = args.isPerElement ? i << 1 : i
    const a = f32.load(x + (i << 1))
    const b = f32.load(x + (i << 1), 4)
    f32.store(y + (i << 1), f32.load(cos + at) * a - f32.load(sin + at) * b)
    f32.store(y + (i << 1) + 4, f32.load(sin + at + own) * a + f32.load(cos + at + own) * b)
  }
}

/** Numbers of a table for two pairs of neighbours, of which the first is the one at `i` bytes in a table of pairs. */
// @ts-ignore: decorator
@inline
function anglesOf(args: RotateArguments, table: usize, i: usize): v128 {
  if (args.isPerElement) return v128.load(table + (i << 1))
  const two = v128.load64_zero(table + i)
  return i8x16.shuffle(two, two, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7)
}
