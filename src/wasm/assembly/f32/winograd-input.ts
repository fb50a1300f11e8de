import { ConvArguments, copyLine } from './conv'
import { fma, hidden } from './simd'
import { depthOf, Group, reachOf, rowsOfPlane, ROOT_OF_HALF, ROOT_OF_TWO, Tile } from './winograd-group'
import { mixApartTwo, mixLinesTwo, mixTilesTwo } from './winograd-two'

/** Six sums along an axis of a tile. The factors are constants that are made once, before the loops. */
// @ts-ignore: decorator
@inline
function store6(
  to: usize,
  step: usize,
  d0: v128,
  d1: v128,
  d2: v128,
  d3: v128,
  d4: v128,
  d5: v128,
  more: v128,
  lessHalf: v128,
  rootOfHalf: v128,
  rootOfTwo: v128
): void {
  const a = f32x4.sub(d4, f32x4.add(d2, d2))
  const b = f32x4.mul(rootOfHalf, f32x4.sub(d3, f32x4.add(d1, d1)))
  const c = fma(d4, lessHalf, d2)
  const e = f32x4.mul(rootOfTwo, fma(d3, lessHalf, d1))
  v128.store(to, f32x4.add(fma(d0, more, d2), d4))
  v128.store(to + step, f32x4.add(a, b))
  v128.store(to + 2 * step, f32x4.sub(a, b))
  v128.store(to + 3 * step, f32x4.add(c, e))
  v128.store(to + 4 * step, f32x4.sub(c, e))
  v128.store(to + 5 * step, f32x4.add(fma(d1, more, d3), d5))
}

/** B^T d down the columns of six lines. */
function mixLines(lines: usize, to: usize, wide: usize): void {
  // Lines lie at multiples of four bytes.
  const zero = <i32>(lines & 3)
  const more = hidden(-2.5, zero)
  const lessHalf = hidden(-0.5, zero)
  const rootOfHalf = hidden(ROOT_OF_HALF, zero)
  const rootOfTwo = hidden(ROOT_OF_TWO, zero)
  for (let i: usize = 0; i < wide; i += 16) {
    const at = lines + i
    store6(
      to + i,
      wide,
      v128.load(at),
      v128.load(at + wide),
      v128.load(at + 2 * wide),
      v128.load(at + 3 * wide),
      v128.load(at + 4 * wide),
      v128.load(at + 5 * wide),
      more,
      lessHalf,
      rootOfHalf,
      rootOfTwo
    )
  }
}

/** d B along a line, for four tiles: their elements are transposed, so that a vector has one element of each tile. */
// @ts-ignore: decorator
@inline
function mixTiles(
  line: usize,
  to: usize,
  step: usize,
  more: v128,
  lessHalf: v128,
  rootOfHalf: v128,
  rootOfTwo: v128
): void {
  const a = v128.load(line)
  const b = v128.load(line, 16)
  const g = v128.load(line, 32)
  const h = v128.load(line, 48)
  const next = v128.load(line, 64)
  const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const gh0 = i32x4.shuffle(g, h, 0, 4, 1, 5)
  const gh1 = i32x4.shuffle(g, h, 2, 6, 3, 7)
  const d0 = i64x2.shuffle(ab0, gh0, 0, 2)
  const d1 = i64x2.shuffle(ab0, gh0, 1, 3)
  const d2 = i64x2.shuffle(ab1, gh1, 0, 2)
  const d3 = i64x2.shuffle(ab1, gh1, 1, 3)
  const d4 = i32x4.shuffle(d0, next, 1, 2, 3, 4)
  const d5 = i32x4.shuffle(d1, next, 1, 2, 3, 5)
  store6(to, step, d0, d1, d2, d3, d4, d5, more, lessHalf, rootOfHalf, rootOfTwo)
}

/** {@link mixTiles} for tiles of several rows, whose lines begin at four places. */
// @ts-ignore: decorator
@inline
function mixApart(
  l0: usize,
  l1: usize,
  l2: usize,
  l3: usize,
  to: usize,
  step: usize,
  more: v128,
  lessHalf: v128,
  rootOfHalf: v128,
  rootOfTwo: v128
): void {
  const a = v128.load(l0)
  const b = v128.load(l1)
  const g = v128.load(l2)
  const h = v128.load(l3)
  const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const gh0 = i32x4.shuffle(g, h, 0, 4, 1, 5)
  const gh1 = i32x4.shuffle(g, h, 2, 6, 3, 7)
  const ab2 = i32x4.shuffle(v128.load(l0, 16), v128.load(l1, 16), 0, 4, 1, 5)
  const gh2 = i32x4.shuffle(v128.load(l2, 16), v128.load(l3, 16), 0, 4, 1, 5)
  store6(
    to,
    step,
    i64x2.shuffle(ab0, gh0, 0, 2),
    i64x2.shuffle(ab0, gh0, 1, 3),
    i64x2.shuffle(ab1, gh1, 0, 2),
    i64x2.shuffle(ab1, gh1, 1, 3),
    i64x2.shuffle(ab2, gh2, 0, 2),
    i64x2.shuffle(ab2, gh2, 1, 3),
    more,
    lessHalf,
    rootOfHalf,
    rootOfTwo
  )
}

/** B^T d B of all channels of a group. */
export function transformInput(args: ConvArguments, group: Group): void {
  const inW = args.inW
  const wide = group.wide
  const reach = reachOf(args)
  const plane = (<usize>(inW * args.inH)) << 2
  const start = group.lines + ((<usize>args.pW) << 2)
  const width = (<usize>min(inW, <i32>(wide >> 2) - args.pW)) << 2
  const perPlane = rowsOfPlane(args)
  const depth = depthOf(args)
  let x = args.x + <usize>(group.image * args.channels * args.inD) * plane
  let kernelPlane = 0
  for (let c: u32 = 0; c < depth; c++) {
    for (let row: u32 = 0; row < group.count; row++) {
      const all = group.first + row
      const top = <i32>((all % perPlane) * args.side) - args.pH
      const inPlane = <i32>(all / perPlane) * args.sD + kernelPlane * args.dD - args.pD
      const isInside = <u32>inPlane < <u32>args.inD
      const from = x + <usize>inPlane * plane
      for (let i: u32 = 0; i < reach; i++) {
        const line = start + i * wide
        const at = top + <i32>i
        if (isInside && <u32>at < <u32>args.inH) copyLine(line, from + ((<usize>(at * inW)) << 2), width)
        else memory.fill(line, 0, width)
      }
      const mixed = group.mixed + row * reach * wide
      if (args.side == 2) mixLinesTwo(group.lines, mixed, wide)
      else mixLines(group.lines, mixed, wide)
    }
    if (args.side == 2) transformTwo(group, depth, c)
    else transformFour(group, depth, c)
    if (++kernelPlane == args.kD) {
      kernelPlane = 0
      x += <usize>args.inD * plane
    }
  }
}

/**
 * Mixes the lines of all tiles of a channel into panels of eight tiles, [channels][8]; the last one may have four.
 * @param side outputs of a tile along an axis, a constant, since this is inlined
 */
// @ts-ignore: decorator
@inline
function transformTiles(side: usize, group: Group, channels: usize, c: u32): void {
  const zero = <i32>(group.lines & 3)
  const more = hidden(-2.5, zero)
  const lessHalf = hidden(-0.5, zero)
  const rootOfHalf = hidden(ROOT_OF_HALF, zero)
  const rootOfTwo = hidden(ROOT_OF_TWO, zero)
  const wide = group.wide
  const step = group.matrix
  const lines = (side + 2) * wide
  const line = (side + 2) * step
  for (let t: usize = 0; t < group.tiles; t += 4) {
    const tile = group.table + t * offsetof<Tile>()
    const a = mixedOf(group, tile)
    const b = mixedOf(group, tile + offsetof<Tile>())
    const g = mixedOf(group, tile + 2 * offsetof<Tile>())
    const h = mixedOf(group, tile + 3 * offsetof<Tile>())
    let to = placeOf(group, channels, c, t)
    // Four tiles of a row lie side by side.
    if (h - a == 3 * (side << 2))
      for (let i: usize = 0; i < lines; i += wide, to += line)
        if (side == 2) mixTilesTwo(a + i, to, step)
        else mixTiles(a + i, to, step, more, lessHalf, rootOfHalf, rootOfTwo)
    else
      for (let i: usize = 0; i < lines; i += wide, to += line)
        if (side == 2) mixApartTwo(a + i, b + i, g + i, h + i, to, step)
        else mixApart(a + i, b + i, g + i, h + i, to, step, more, lessHalf, rootOfHalf, rootOfTwo)
  }
}

function transformFour(group: Group, channels: usize, c: u32): void {
  transformTiles(4, group, channels, c)
}

function transformTwo(group: Group, channels: usize, c: u32): void {
  transformTiles(2, group, channels, c)
}

/** Where the mixed lines of a tile begin. */
// @ts-ignore: decorator
@inline
function mixedOf(group: Group, tile: usize): usize {
  return group.mixed + changetype<Tile>(tile).from
}

/** Where channel `c` of tiles `t … t + 3` belongs in the transformed inputs of a point. */
// @ts-ignore: decorator
@inline
function placeOf(group: Group, channels: usize, c: u32, t: usize): usize {
  const panel = t & ~7
  const isHalf = panel + 8 > group.tiles
  return group.v + ((panel * channels) << 2) + (isHalf ? (<usize>c) << 4 : ((<usize>c) << 5) + ((t & 4) << 2))
}
