import { ConvArguments } from './conv'
import { fma, hidden, splat } from './simd'
import { Group, ROOT_OF_HALF, ROOT_OF_TWO, Tile } from './winograd-group'
import { unmixTwo } from './winograd-two'

/** A^T m down the columns of six points, for four tiles: 4 x 6 vectors. */
// @ts-ignore: decorator
@inline
function unmixLines(
  points: usize,
  matrix: usize,
  to: usize,
  half: v128,
  rootOfHalf: v128,
  rootOfTwo: v128,
  fourthQ: v128,
  fourthF: v128
): void {
  for (let j: usize = 0; j < 6; j++) {
    const at = points + j * matrix
    const a0 = v128.load(at)
    const a1 = v128.load(at + 6 * matrix)
    const a2 = v128.load(at + 12 * matrix)
    const a3 = v128.load(at + 18 * matrix)
    const a4 = v128.load(at + 24 * matrix)
    const a5 = v128.load(at + 30 * matrix)
    const p = f32x4.add(a1, a2)
    const q = f32x4.sub(a1, a2)
    const e = f32x4.add(a3, a4)
    const f = f32x4.sub(a3, a4)
    const o = to + (j << 4)
    v128.store(o, f32x4.add(f32x4.add(a0, p), e))
    v128.store(o, fma(f32x4.mul(rootOfHalf, q), rootOfTwo, f), 96)
    v128.store(o, fma(f32x4.add(e, e), half, p), 192)
    v128.store(o, f32x4.add(fma(f32x4.mul(fourthQ, q), fourthF, f), a5), 288)
  }
}

/** m A along a line of six vectors, transposed back into line `i` of the outputs of four tiles. */
// @ts-ignore: decorator
@inline
function unmixTiles(
  line: usize,
  bias: v128,
  y: usize,
  outW: i32,
  i: i32,
  tile: usize,
  half: v128,
  rootOfHalf: v128,
  rootOfTwo: v128,
  fourthQ: v128,
  fourthF: v128
): void {
  const a0 = v128.load(line)
  const a1 = v128.load(line, 16)
  const a2 = v128.load(line, 32)
  const a3 = v128.load(line, 48)
  const a4 = v128.load(line, 64)
  const a5 = v128.load(line, 80)
  const p = f32x4.add(a1, a2)
  const q = f32x4.sub(a1, a2)
  const e = f32x4.add(a3, a4)
  const f = f32x4.sub(a3, a4)
  const r0 = f32x4.add(f32x4.add(f32x4.add(a0, p), e), bias)
  const r1 = f32x4.add(fma(f32x4.mul(rootOfHalf, q), rootOfTwo, f), bias)
  const r2 = f32x4.add(fma(f32x4.add(e, e), half, p), bias)
  const r3 = f32x4.add(f32x4.add(fma(f32x4.mul(fourthQ, q), fourthF, f), a5), bias)
  const ab0 = i32x4.shuffle(r0, r1, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(r0, r1, 2, 6, 3, 7)
  const cd0 = i32x4.shuffle(r2, r3, 0, 4, 1, 5)
  const cd1 = i32x4.shuffle(r2, r3, 2, 6, 3, 7)
  y += (<usize>(i * outW)) << 2
  put(tile, i, y, i64x2.shuffle(ab0, cd0, 0, 2))
  put(tile + offsetof<Tile>(), i, y, i64x2.shuffle(ab0, cd0, 1, 3))
  put(tile + 2 * offsetof<Tile>(), i, y, i64x2.shuffle(ab1, cd1, 0, 2))
  put(tile + 3 * offsetof<Tile>(), i, y, i64x2.shuffle(ab1, cd1, 1, 3))
}

/**
 * A^T m A of channels `m … end - 1`, into the outputs.
 * @param y outputs of channel `m`, which is the first of the products
 */
export function transformOutput(
  args: ConvArguments,
  group: Group,
  m: u32,
  end: u32,
  matrix: usize,
  y: usize,
  planes: usize
): void {
  for (let z = group.product; m < end; m++, y += planes, z += (<usize>group.tiles) << 2) {
    const bias = args.hasBias ? splat(f32.load(args.bias + (m << 2))) : splat(0)
    if (args.side == 2) channelOfTwo(group, z, matrix, bias, y, args.outW)
    else channelOfFour(group, z, matrix, bias, y, args.outW)
  }
}

/** The outputs of a channel by F(2, 3). */
function channelOfTwo(group: Group, z: usize, matrix: usize, bias: v128, y: usize, outW: i32): void {
  const end = group.table + <usize>group.tiles * offsetof<Tile>()
  for (let tile = group.table; tile < end; tile += 4 * offsetof<Tile>(), z += 16)
    unmixTwo(z, matrix, bias, tile, y, outW)
}

/** The outputs of a channel by F(4, 3). Two rows of A^T m A at once would spill: tiles go through memory of lines. */
function channelOfFour(group: Group, z: usize, matrix: usize, bias: v128, y: usize, outW: i32): void {
  // Lines lie at multiples of four bytes.
  const zero = <i32>(group.lines & 3)
  const half = hidden(0.5, zero)
  const rootOfHalf = hidden(ROOT_OF_HALF, zero)
  const rootOfTwo = hidden(ROOT_OF_TWO, zero)
  const fourthQ = hidden(0.5 * ROOT_OF_HALF, zero)
  const fourthF = hidden(2 * ROOT_OF_TWO, zero)
  const end = group.table + <usize>group.tiles * offsetof<Tile>()
  for (let tile = group.table; tile < end; tile += 4 * offsetof<Tile>(), z += 16) {
    unmixLines(z, matrix, group.lines, half, rootOfHalf, rootOfTwo, fourthQ, fourthF)
    for (let i: i32 = 0; i < 4; i++)
      unmixTiles(group.lines + <usize>i * 96, bias, y, outW, i, tile, half, rootOfHalf, rootOfTwo, fourthQ, fourthF)
  }
}

/** Stores line `i` of a tile, as far as it lies in the plane. */
// @ts-ignore: decorator
@inline
function put(tile: usize, i: i32, y: usize, v: v128): void {
  if (i >= changetype<Tile>(tile).lines) return
  const left = changetype<Tile>(tile).columns
  const at = y + changetype<Tile>(tile).to
  if (left >= 4) v128.store(at, v)
  else {
    f32.store(at, f32x4.extract_lane(v, 0))
    if (left > 1) f32.store(at, f32x4.extract_lane(v, 1), 4)
    if (left > 2) f32.store(at, f32x4.extract_lane(v, 2), 8)
  }
}
