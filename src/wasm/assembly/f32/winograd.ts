import { ConvArguments, copyLine, stripsOfPart } from './conv'
import { rowsByPanel } from './gemm'
import { stripsByHalf } from './half-panel'
import { epilogue } from './matrix'
import { fma, splat } from './simd'
import { NONE } from './unary'
import { Group, GROUP_BYTES, layOut, POINTS, Tile } from './winograd-group'

/**
 * Input channels of a sum; these sums are added up. At a depth of 256 the rounding errors of sums are four times those
 * of the transform of the inputs with spans of 128, two and a half times with spans of 32.
 */
const SPAN: usize = 32
const ROOT_OF_HALF: f32 = 0.70710678
const ROOT_OF_TWO: f32 = 1.41421356

/**
 * Computes blocks `from … to - 1`: a part of the output channels in a group of tile rows, counted over parts, then over
 * groups, then over images. Parts that are computed together share the transformed inputs.
 */
export function winogradBlocks(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const tileRows = <u32>(args.outH + 3) >> 2
  const groups = (tileRows + args.rows - 1) / args.rows
  const group = changetype<Group>(scratch)
  while (from < to) {
    const at = from / args.parts
    const first = from % args.parts
    const last = min(args.parts, first + to - from)
    group.image = at / groups
    group.first = (at % groups) * args.rows
    group.count = min(args.rows, tileRows - group.first)
    layOut(args, group, scratch + GROUP_BYTES)
    transformInput(args, group)
    for (let part = first; part < last; part++) winogradPart(args, group, part)
    from += last - first
  }
}

/** Multiplies the transformed inputs of a group by a part of the weights and transforms what comes out. */
function winogradPart(args: ConvArguments, group: Group, part: u32): void {
  const strips = (args.m + 3) >> 2
  const perPart = stripsOfPart(args)
  const first = part * perPart
  const count = min(perPart, strips - first)
  const channels = <usize>args.channels
  const tiles = <usize>group.tiles
  const wMatrix = (strips * channels) << 4
  const vMatrix = (tiles * channels) << 2
  const pMatrix = (count * tiles) << 4
  for (let point: usize = 0; point < POINTS; point++) {
    const w = args.w + point * wMatrix + ((first * channels) << 4)
    const v = group.v + point * vMatrix
    const product = group.product + point * pMatrix
    let p: usize = 0
    for (; p + 8 <= tiles; p += 8)
      for (let c: usize = 0; c < channels; c += SPAN)
        rowsByPanel(
          w + (c << 4),
          4,
          16,
          channels << 4,
          v + ((p * channels + (c << 3)) << 2),
          product + (p << 2),
          tiles << 2,
          count << 2,
          8,
          min(SPAN, channels - c),
          c > 0,
          group.lines
        )
    if (p < tiles)
      stripsByHalf(
        w,
        channels << 4,
        v + ((p * channels) << 2),
        16,
        product + (p << 2),
        tiles << 2,
        count,
        channels,
        false
      )
  }
  const m = first << 2
  const end = min(args.m, (first + count) << 2)
  const plane = (<usize>(args.outH * args.outW)) << 2
  const y = (<usize>group.image * args.m + m) * plane
  transformOutput(args, group, m, end, pMatrix, args.y + y, plane)
  if (args.hasResidual || args.activation != NONE) {
    const at = y + ((<usize>(group.first * 4 * args.outW)) << 2)
    epilogue(
      args.y + at,
      args.hasResidual ? args.residual + at : 0,
      plane,
      end - m,
      min(args.outH - group.first * 4, group.count * 4) * args.outW,
      0,
      0,
      1,
      args.activation,
      args.p,
      args.q
    )
  }
}

// @ts-ignore: decorator
@inline
function store6(to: usize, step: usize, d0: v128, d1: v128, d2: v128, d3: v128, d4: v128, d5: v128): void {
  const more = splat(-2.5)
  const a = f32x4.sub(d4, f32x4.mul(splat(2), d2))
  const b = f32x4.mul(splat(ROOT_OF_HALF), f32x4.sub(d3, f32x4.mul(splat(2), d1)))
  const c = f32x4.sub(d4, f32x4.mul(splat(0.5), d2))
  const e = f32x4.mul(splat(ROOT_OF_TWO), f32x4.sub(d3, f32x4.mul(splat(0.5), d1)))
  v128.store(to, f32x4.add(fma(d0, more, d2), d4))
  v128.store(to + step, f32x4.add(a, b))
  v128.store(to + 2 * step, f32x4.sub(a, b))
  v128.store(to + 3 * step, f32x4.add(c, e))
  v128.store(to + 4 * step, f32x4.sub(c, e))
  v128.store(to + 5 * step, f32x4.add(fma(d1, more, d3), d5))
}

/** B^T d down the columns of six lines. */
// @ts-ignore: decorator
@inline
function mixLines(lines: usize, to: usize, wide: usize): void {
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
      v128.load(at + 5 * wide)
    )
  }
}

/** d B along a line, for four tiles: their elements are transposed, so that a vector has one element of each tile. */
// @ts-ignore: decorator
@inline
function mixTiles(line: usize, to: usize, step: usize): void {
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
  store6(to, step, d0, d1, d2, d3, d4, d5)
}

/** {@link mixTiles} for tiles of several rows, whose lines begin at four places. */
// @ts-ignore: decorator
@inline
function mixApart(l0: usize, l1: usize, l2: usize, l3: usize, to: usize, step: usize): void {
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
    i64x2.shuffle(ab2, gh2, 1, 3)
  )
}

function transformInput(args: ConvArguments, group: Group): void {
  const inW = args.inW
  const wide = group.wide
  const plane = (<usize>(inW * args.inH)) << 2
  const start = group.lines + ((<usize>args.pW) << 2)
  const width = (<usize>min(inW, <i32>(wide >> 2) - args.pW)) << 2
  let x = args.x + <usize>(group.image * args.channels) * plane
  for (let c: u32 = 0; c < args.channels; c++, x += plane) {
    for (let row: u32 = 0; row < group.count; row++) {
      const top = <i32>((group.first + row) << 2) - args.pH
      for (let i: i32 = 0; i < 6; i++) {
        const line = start + <usize>i * wide
        const at = top + i
        if (<u32>at < <u32>args.inH) copyLine(line, x + ((<usize>(at * inW)) << 2), width)
        else memory.fill(line, 0, width)
      }
      mixLines(group.lines, group.mixed + row * 6 * wide, wide)
    }
    transformTiles(group, args.channels, c)
  }
}

/** Mixes the lines of all tiles of a channel into panels of eight tiles, [channels][8]; the last one may have four. */
function transformTiles(group: Group, channels: usize, c: u32): void {
  const wide = group.wide
  const tiles = <usize>group.tiles
  const step = (tiles * channels) << 2
  for (let t: usize = 0; t < tiles; t += 4) {
    const tile = group.table + t * offsetof<Tile>()
    const a = group.mixed + changetype<Tile>(tile).from
    const b = group.mixed + changetype<Tile>(tile + offsetof<Tile>()).from
    const g = group.mixed + changetype<Tile>(tile + 2 * offsetof<Tile>()).from
    const h = group.mixed + changetype<Tile>(tile + 3 * offsetof<Tile>()).from
    const panel = t & ~7
    const isHalf = panel + 8 > tiles
    let to = group.v + ((panel * channels) << 2) + (isHalf ? (<usize>c) << 4 : ((<usize>c) << 5) + ((t & 4) << 2))
    if (h - a == 48) for (let i: usize = 0; i < 6 * wide; i += wide, to += 6 * step) mixTiles(a + i, to, step)
    else for (let i: usize = 0; i < 6 * wide; i += wide, to += 6 * step) mixApart(a + i, b + i, g + i, h + i, to, step)
  }
}

/** Rows 1 to 3 of A^T, of sums or differences of what belongs to the two roots of 1/2, and to those of 2. */
// @ts-ignore: decorator
@inline
function second(q: v128, f: v128): v128 {
  return fma(f32x4.mul(splat(ROOT_OF_HALF), q), splat(ROOT_OF_TWO), f)
}

// @ts-ignore: decorator
@inline
function third(p: v128, e: v128): v128 {
  return fma(f32x4.mul(splat(0.5), p), splat(2), e)
}

// @ts-ignore: decorator
@inline
function fourth(q: v128, f: v128): v128 {
  return fma(f32x4.mul(splat(0.5 * ROOT_OF_HALF), q), splat(2 * ROOT_OF_TWO), f)
}

/** A^T m down the columns of six points, for four tiles: 4 x 6 vectors. */
// @ts-ignore: decorator
@inline
function unmixLines(points: usize, matrix: usize, to: usize): void {
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
    v128.store(o, second(q, f), 96)
    v128.store(o, third(p, e), 192)
    v128.store(o, f32x4.add(fourth(q, f), a5), 288)
  }
}

/** m A along a line of six vectors, transposed back into line `i` of the outputs of four tiles. */
// @ts-ignore: decorator
@inline
function unmixTiles(line: usize, bias: v128, y: usize, outW: i32, i: i32, tile: usize): void {
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
  const r1 = f32x4.add(second(q, f), bias)
  const r2 = f32x4.add(third(p, e), bias)
  const r3 = f32x4.add(f32x4.add(fourth(q, f), a5), bias)
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
 * Two rows of A^T m A at once would spill; four tiles are transformed through memory of a group's lines.
 * @param y outputs of channel `m`, which is the first of the products
 */
function transformOutput(
  args: ConvArguments,
  group: Group,
  m: u32,
  end: u32,
  matrix: usize,
  y: usize,
  plane: usize
): void {
  const tiles = <usize>group.tiles
  let z = group.product
  for (; m < end; m++, y += plane) {
    const bias = args.hasBias ? splat(f32.load(args.bias + (m << 2))) : splat(0)
    for (let t: usize = 0; t < tiles; t += 4, z += 16) {
      unmixLines(z, matrix, group.lines)
      const tile = group.table + t * offsetof<Tile>()
      for (let i: i32 = 0; i < 4; i++) unmixTiles(group.lines + <usize>i * 96, bias, y, args.outW, i, tile)
    }
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
