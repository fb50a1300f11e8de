import { ConvArguments, stripsOfPart } from './conv'
import { rowsByPanel } from './gemm'
import { stripsByHalf } from './half-panel'
import { epilogue } from './matrix'
import { fetchLines } from './panels'
import { fma, hidden, splat } from './simd'
import { NONE } from './unary'
import {
  APART,
  depthOf,
  Group,
  GROUP_BYTES,
  layOut,
  POINTS,
  ROOT_OF_HALF,
  ROOT_OF_TWO,
  rowsOfPlane,
  Tile
} from './winograd-group'
import { transformInput } from './winograd-input'

/**
 * Input channels of a sum; these sums are added up. At a depth of 256 the rounding errors of sums are four times those
 * of the transform of the inputs with spans of 128, two and a half times with spans of 32.
 */
const SPAN: usize = 32

/**
 * Computes blocks `from … to - 1`: a part of the output channels in a group of tile rows, counted over parts, then over
 * groups, then over images. Parts that are computed together share the transformed inputs. With three axes each plane
 * of a window is a channel of its own.
 */
export function winogradBlocks(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const tileRows = rowsOfPlane(args) * args.outD
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
  const channels = <usize>depthOf(args)
  const tiles = <usize>group.tiles
  const wMatrix = (strips * channels) << 4
  const pMatrix = ((count * tiles) << 4) + APART
  for (let point: usize = 0; point < POINTS; point++) {
    const w = args.w + point * wMatrix + ((first * channels) << 4)
    const v = group.v + point * group.matrix
    const product = group.product + point * pMatrix
    fetchLines(w, (count * channels) << 4, product)
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
      for (let c: usize = 0; c < channels; c += SPAN)
        stripsByHalf(
          w + (c << 4),
          channels << 4,
          v + ((p * channels + (c << 2)) << 2),
          16,
          product + (p << 2),
          tiles << 2,
          count,
          min(SPAN, channels - c),
          c > 0
        )
  }
  const m = first << 2
  const end = min(args.m, (first + count) << 2)
  const planes = (<usize>(args.outD * args.outH * args.outW)) << 2
  const y = (<usize>group.image * args.m + m) * planes
  transformOutput(args, group, m, end, pMatrix, args.y + y, planes)
  if (args.hasResidual || args.activation != NONE) {
    const line = lineOf(args, group.first)
    const at = y + ((<usize>(line * args.outW)) << 2)
    epilogue(
      args.y + at,
      args.hasResidual ? args.residual + at : 0,
      planes,
      end - m,
      (lineOf(args, group.first + group.count) - line) * args.outW,
      0,
      0,
      1,
      args.activation,
      args.p,
      args.q
    )
  }
}

/** The first line of a row of tiles, counted over the planes of a channel. */
function lineOf(args: ConvArguments, row: u32): u32 {
  const perPlane = rowsOfPlane(args)
  return (row / perPlane) * args.outH + ((row % perPlane) << 2)
}

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
  planes: usize
): void {
  const tiles = <usize>group.tiles
  // Lines lie at multiples of four bytes.
  const zero = <i32>(group.lines & 3)
  const half = hidden(0.5, zero)
  const rootOfHalf = hidden(ROOT_OF_HALF, zero)
  const rootOfTwo = hidden(ROOT_OF_TWO, zero)
  const fourthQ = hidden(0.5 * ROOT_OF_HALF, zero)
  const fourthF = hidden(2 * ROOT_OF_TWO, zero)
  let z = group.product
  for (; m < end; m++, y += planes) {
    const bias = args.hasBias ? splat(f32.load(args.bias + (m << 2))) : splat(0)
    for (let t: usize = 0; t < tiles; t += 4, z += 16) {
      unmixLines(z, matrix, group.lines, half, rootOfHalf, rootOfTwo, fourthQ, fourthF)
      const tile = group.table + t * offsetof<Tile>()
      for (let i: i32 = 0; i < 4; i++)
        unmixTiles(
          group.lines + <usize>i * 96,
          bias,
          y,
          args.outW,
          i,
          tile,
          half,
          rootOfHalf,
          rootOfTwo,
          fourthQ,
          fourthF
        )
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
