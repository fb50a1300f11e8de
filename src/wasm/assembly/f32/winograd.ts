import { rowsByPanel } from './gemm'
import { epilogue } from './matrix'
import { splat } from './simd'
import { NONE } from './unary'
import { ConvArguments } from './conv'

/**
 * Winograd F(4x4, 3x3): a tile of 4 x 4 outputs is computed from 6 x 6 inputs with 36 multiplications a channel instead
 * of 144 (Lavin and Gray, 2015). Of the error of F(4,3), 5e-6 to 2e-5 of the largest output, most comes from the
 * factors of its transforms.
 */
const POINTS: usize = 36

/**
 * Transforms weights [m][channels][3][3] into 36 matrices in strips, [36][ceil(m / 4)][channels][4]. Strips beyond m
 * are 0.
 */
export function winogradWeights(w: usize, m: u32, channels: u32, to: usize): void {
  const strips = (m + 3) >> 2
  const matrix = (<usize>strips * channels) << 4
  memory.fill(to, 0, POINTS * matrix)
  for (let o: u32 = 0; o < m; o++)
    for (let c: u32 = 0; c < channels; c++) {
      const g = w + <usize>(o * channels + c) * 36
      const out = to + ((<usize>(o >> 2) * channels + c) << 4) + ((o & 3) << 2)
      for (let i: usize = 0; i < 6; i++) {
        const a = rowOfG(i, f32.load(g), f32.load(g, 12), f32.load(g, 24))
        const b = rowOfG(i, f32.load(g, 4), f32.load(g, 16), f32.load(g, 28))
        const d = rowOfG(i, f32.load(g, 8), f32.load(g, 20), f32.load(g, 32))
        for (let j: usize = 0; j < 6; j++) f32.store(out + (i * 6 + j) * matrix, <f32>rowOfG(j, <f32>a, <f32>b, <f32>d))
      }
    }
}

function rowOfG(i: usize, a: f64, b: f64, c: f64): f64 {
  switch (<i32>i) {
    case 0:
      return a / 4
    case 1:
      return -(a + b + c) / 6
    case 2:
      return (b - a - c) / 6
    case 3:
      return a / 24 + b / 12 + c / 6
    case 4:
      return a / 24 - b / 12 + c / 6
    default:
      return c
  }
}

/** Computes rows of tiles `from … to - 1`, counted over all images. */
export function winogradBlocks(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const perImage = <u32>(args.outH + 3) >> 2
  const xBytes = (<usize>args.channels * (args.inH * args.inW)) << 2
  const yBytes = (<usize>args.m * (args.outH * args.outW)) << 2
  while (from < to) {
    const image = from / perImage
    const first = from % perImage
    const last = min(perImage, first + to - from)
    winogradRows(args, args.x + image * xBytes, args.y + image * yBytes, first, last, scratch)
    from += last - first
  }
}

// @ts-ignore: decorator
@inline
function tilesAcross(args: ConvArguments): u32 {
  return (<u32>((args.outW + 3) >> 2) + 3) & ~3
}

/** Computes rows of tiles `from … to - 1` (each four rows of the output) of one image. */
function winogradRows(args: ConvArguments, x: usize, y: usize, from: i32, to: i32, scratch: usize): void {
  const across = <usize>tilesAcross(args)
  const tiles = (across * <usize>(to - from) + 7) & ~7
  const wide = (across << 2) + 8
  const lines = scratch
  const mixed = lines + ((wide * 6) << 2)
  const v = mixed + ((wide * 6) << 2)
  const product = v + ((36 * tiles * <usize>args.channels) << 2)
  transformInput(args, x, from, to, across, tiles, wide << 2, lines, mixed, v)
  const strips = (<usize>args.m + 3) >> 2
  const wMatrix = (strips * args.channels) << 4
  const vMatrix = (tiles * args.channels) << 2
  const pMatrix = (strips * tiles) << 4
  for (let point: usize = 0; point < POINTS; point++) {
    for (let p: usize = 0; p < tiles; p += 8) {
      rowsByPanel(
        args.w + point * wMatrix,
        4,
        16,
        (<usize>args.channels) << 4,
        v + point * vMatrix + ((p * args.channels) << 2),
        product + point * pMatrix + (p << 2),
        tiles << 2,
        (<u32>strips) << 2,
        8,
        args.channels,
        false,
        0
      )
    }
  }
  transformOutput(args, y, from, to, across, tiles << 2, pMatrix, product, lines)
  if (args.hasResidual || args.activation != NONE) {
    const at = y + ((<usize>(from * 4 * args.outW)) << 2)
    const cols = min(args.outH - from * 4, (to - from) * 4) * args.outW
    epilogue(
      at,
      args.hasResidual ? args.residual + (at - args.y) : 0,
      (<usize>(args.outH * args.outW)) << 2,
      args.m,
      cols,
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
  const four = splat(4)
  const five = splat(5)
  const a = f32x4.sub(d4, f32x4.mul(four, d2))
  const b = f32x4.sub(d3, f32x4.mul(four, d1))
  const c = f32x4.sub(d4, d2)
  const e = f32x4.mul(splat(2), f32x4.sub(d3, d1))
  v128.store(to, f32x4.add(f32x4.sub(f32x4.mul(four, d0), f32x4.mul(five, d2)), d4))
  v128.store(to + step, f32x4.add(a, b))
  v128.store(to + 2 * step, f32x4.sub(a, b))
  v128.store(to + 3 * step, f32x4.add(c, e))
  v128.store(to + 4 * step, f32x4.sub(c, e))
  v128.store(to + 5 * step, f32x4.add(f32x4.sub(f32x4.mul(four, d1), f32x4.mul(five, d3)), d5))
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

function transformInput(
  args: ConvArguments,
  x: usize,
  from: i32,
  to: i32,
  across: usize,
  tiles: usize,
  wide: usize,
  lines: usize,
  mixed: usize,
  v: usize
): void {
  const inW = args.inW
  const inH = args.inH
  const left = args.pW
  const plane = (<usize>(inW * inH)) << 2
  const step = (tiles * args.channels) << 2
  const width = (<usize>min(inW, <i32>(wide >> 2) - left)) << 2
  memory.fill(lines, 0, wide * 6)
  for (let c: u32 = 0; c < args.channels; c++, x += plane) {
    for (let row = from; row < to; row++) {
      const top = row * 4 - args.pH
      for (let i = 0; i < 6; i++) {
        const line = lines + <usize>i * wide
        const at = top + i
        if (<u32>at < <u32>inH) memory.copy(line + ((<usize>left) << 2), x + ((<usize>(at * inW)) << 2), width)
        else memory.fill(line, 0, wide)
      }
      mixLines(lines, mixed, wide)
      const base = <usize>(row - from) * across
      for (let i: usize = 0; i < 6; i++)
        for (let tile: usize = 0; tile < across; tile += 4) {
          const p = base + tile
          const to = v + (((p >> 3) * args.channels + c) << 5) + ((p & 7) << 2) + i * 6 * step
          mixTiles(mixed + i * wide + (tile << 4), to, step)
        }
    }
  }
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
    v128.store(o, f32x4.add(q, f32x4.mul(splat(2), f)), 96)
    v128.store(o, f32x4.add(p, f32x4.mul(splat(4), e)), 192)
    v128.store(o, f32x4.add(f32x4.add(q, f32x4.mul(splat(8), f)), a5), 288)
  }
}

/** m A along a line of six vectors, transposed back into sixteen outputs side by side, of which `left` are stored. */
// @ts-ignore: decorator
@inline
function unmixTiles(line: usize, bias: v128, to: usize, left: i32): void {
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
  const r1 = f32x4.add(f32x4.add(q, f32x4.mul(splat(2), f)), bias)
  const r2 = f32x4.add(f32x4.add(p, f32x4.mul(splat(4), e)), bias)
  const r3 = f32x4.add(f32x4.add(f32x4.add(q, f32x4.mul(splat(8), f)), a5), bias)
  const ab0 = i32x4.shuffle(r0, r1, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(r0, r1, 2, 6, 3, 7)
  const cd0 = i32x4.shuffle(r2, r3, 0, 4, 1, 5)
  const cd1 = i32x4.shuffle(r2, r3, 2, 6, 3, 7)
  put(to, i64x2.shuffle(ab0, cd0, 0, 2), left)
  put(to + 16, i64x2.shuffle(ab0, cd0, 1, 3), left - 4)
  put(to + 32, i64x2.shuffle(ab1, cd1, 0, 2), left - 8)
  put(to + 48, i64x2.shuffle(ab1, cd1, 1, 3), left - 12)
}

/**
 * Two rows of A^T m A at once would spill; one tile row of four tiles is transformed through memory of 6 x 4 vectors
 * (`half`).
 */
function transformOutput(
  args: ConvArguments,
  y: usize,
  from: i32,
  to: i32,
  across: usize,
  row: usize,
  matrix: usize,
  product: usize,
  half: usize
): void {
  const outW = args.outW
  const outH = args.outH
  const plane = (<usize>(outW * outH)) << 2
  for (let m: u32 = 0; m < args.m; m++, y += plane) {
    const bias = args.hasBias ? splat(f32.load(args.bias + (m << 2))) : splat(0)
    for (let r = from; r < to; r++)
      for (let t: usize = 0; t < across; t += 4) {
        const z = product + <usize>m * row + ((<usize>(r - from) * across + t) << 2)
        unmixLines(z, matrix, half)
        for (let i = 0; i < 4; i++) {
          const line = r * 4 + i
          if (line >= outH) break
          const left = <i32>(t << 2)
          unmixTiles(half + <usize>i * 96, bias, y + ((<usize>(line * outW + left)) << 2), outW - left)
        }
      }
  }
}

/** Stores as many of four lanes as are left in the line. */
// @ts-ignore: decorator
@inline
function put(at: usize, v: v128, left: i32): void {
  if (left >= 4) v128.store(at, v)
  else {
    if (left > 0) f32.store(at, f32x4.extract_lane(v, 0))
    if (left > 1) f32.store(at, f32x4.extract_lane(v, 1), 4)
    if (left > 2) f32.store(at, f32x4.extract_lane(v, 2), 8)
  }
}
