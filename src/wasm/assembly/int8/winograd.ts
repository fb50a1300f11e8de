import { interleaveHigh, interleaveLow } from '../interleave'
import { Windows } from '../windows'
import { codeIn } from './code'
import { ByteConvArguments, stripsOfPart, windowsOfBytes } from './conv-arguments'
import { finishRow } from './requantize'
import { stripByPanel, stripBytes } from './strips'

/**
 * Winograd F(2x2, 3x3) in integers: a tile of 2 x 2 outputs is computed from 4 x 4 inputs with 16 multiplications a
 * channel instead of 36 (Lavin and Gray, 2015). It is exact: weights are transformed by twice the usual matrix, which
 * makes them integers of up to 9 * 255 and the sums four times as large, and inputs grow to 4 * 255, so that both fit
 * into int16. Sums wrap in between, which does not matter as long as four times the result fits into int32.
 */
export const POINTS: usize = 16
/** Strips of output channels whose products wait for their transform together. */
const STRIPS: u32 = 16
/** Scratch memory: eight sums twice; then lines. */
const LINES: usize = 64

/** Tiles in a row, a multiple of four. */
// @ts-ignore: decorator
@inline
function tilesAcross(windows: Windows): usize {
  return <usize>((((windows.outW + 1) >> 1) + 3) & ~3)
}

/**
 * Computes blocks `from … to - 1`: `panels` rows of tiles of an image by a part of the output channels, counted over
 * parts, then over rows. Parts that are computed together share the transformed input.
 */
export function byteWinograd(args: ByteConvArguments, scratch: usize, from: u32, to: u32): void {
  const windows = windowsOfBytes(args)
  const rows = (<u32>windows.outH + 1) >> 1
  const perImage = (rows + args.panels - 1) / args.panels
  const strips = (args.m + 3) >> 2
  const partStrips = stripsOfPart(args)
  while (from < to) {
    const unit = from / args.parts
    const part = from % args.parts
    const last = min(args.parts, part + to - from)
    const image = <usize>(unit / perImage)
    const row = (unit % perImage) * args.panels
    const end = min(strips, last * partStrips)
    const x = args.x + image * args.xImage
    const y = args.y + image * args.yImage
    blockOfRows(args, windows, x, y, row, min(rows, row + args.panels), part * partStrips, end, scratch)
    from += last - part
  }
}

/** Rows of tiles `from … to - 1` by strips `firstStrip … lastStrip - 1` of output channels. */
function blockOfRows(
  args: ByteConvArguments,
  windows: Windows,
  x: usize,
  y: usize,
  from: u32,
  to: u32,
  firstStrip: u32,
  lastStrip: u32,
  scratch: usize
): void {
  const across = tilesAcross(windows)
  const tiles = (across * <usize>(to - from) + 7) & ~7
  const strip = stripBytes(args.channels)
  const matrix = (tiles >> 3) * (strip << 1)
  // A line has an element for both channels of a pair; two columns beside the tiles, and room to load four.
  const wide = (across << 3) + 16
  const lines = scratch + LINES
  const v = lines + (((wide << 3) + 63) & ~63)
  const products = v + POINTS * matrix
  transformInput(args, windows, x, from, to, across, matrix, wide, lines, v)
  const wMatrix = <usize>((args.m + 3) >> 2) * strip
  for (let first = firstStrip; first < lastStrip; first += STRIPS) {
    const count = min(STRIPS, lastStrip - first)
    const row = (tiles >> 3) << 7
    const pMatrix = row * count
    for (let point: usize = 0; point < POINTS; point++) {
      let a = args.w + point * wMatrix + first * strip
      let product = products + point * pMatrix
      for (let s: u32 = 0; s < count; s++, a += strip) {
        let panel = v + point * matrix
        for (let p: usize = 0; p < tiles; p += 8, panel += strip << 1, product += 128)
          stripByPanel(a, panel, panel + (strip << 1), product)
      }
    }
    for (let s: u32 = 0; s < count; s++) {
      const channel = (first + s) << 2
      const channels = min<u32>(4, args.m - channel)
      for (let r: u32 = 0; r < channels; r++)
        transformOutput(
          args,
          windows,
          products + s * row + (r << 5),
          pMatrix,
          channel + r,
          y + <usize>(channel + r) * args.yChannel,
          from,
          to,
          across,
          scratch
        )
    }
  }
}

/** B^T d B for all channels, in pairs; V has 16 matrices in panels of eight tiles, [channels / 2][8][2]. */
function transformInput(
  args: ByteConvArguments,
  windows: Windows,
  x: usize,
  from: u32,
  to: u32,
  across: usize,
  matrix: usize,
  wide: usize,
  lines: usize,
  v: usize
): void {
  const inW = windows.inW
  const strip = stripBytes(args.channels)
  const mixed = lines + (wide << 2)
  memory.fill(lines, 0, wide << 2)
  for (let c: u32 = 0; c < args.channels; c += 2, x += args.xChannel << 1) {
    const other = c + 1 < args.channels ? x + args.xChannel : 0
    for (let row = from; row < to; row++) {
      const top = <i32>(row << 1) - windows.pH
      for (let i = 0; i < 4; i++) {
        const at = top + i
        const line = lines + <usize>i * wide
        if (<u32>at < <u32>windows.inH) {
          const offset = <usize>(at * inW)
          readLine(args, x + offset, other == 0 ? 0 : other + offset, line + (windows.pW << 2), inW, line + wide)
        } else memory.fill(line, 0, wide)
      }
      mixLines(lines, mixed, wide)
      const base = <usize>(row - from) * across
      const pair = (<usize>(c >> 1)) << 5
      for (let i: usize = 0; i < 4; i++)
        for (let tile: usize = 0; tile < across; tile += 4) {
          const p = base + tile
          mixTiles(
            mixed + i * wide + (tile << 3),
            v + (p >> 3) * (strip << 1) + pair + ((p & 7) << 2) + i * 4 * matrix,
            matrix
          )
        }
    }
  }
}

/** Codes of two channels less the zero point, side by side; as many of `n` as there is room for before `end`. */
function readLine(args: ByteConvArguments, x: usize, other: usize, to: usize, n: i32, end: usize): void {
  const isSigned = args.isSigned != 0
  const zero = i16x8.splat(<i16>args.zero)
  const count = min<usize>(<usize>n, (end - to) >> 2)
  let i: usize = 0
  for (; i + 8 <= count; i += 8) {
    const a = i16x8.sub(isSigned ? v128.load8x8_s(x + i) : v128.load8x8_u(x + i), zero)
    let b = i64x2.splat(0)
    if (other != 0) b = i16x8.sub(isSigned ? v128.load8x8_s(other + i) : v128.load8x8_u(other + i), zero)
    v128.store(to + (i << 2), interleaveLow(a, b))
    v128.store(to + (i << 2), interleaveHigh(a, b), 16)
  }
  for (; i < count; i++) {
    store<i16>(to + (i << 2), <i16>(codeIn(x + i, isSigned) - args.zero))
    store<i16>(to + (i << 2), other == 0 ? 0 : <i16>(codeIn(other + i, isSigned) - args.zero), 2)
  }
}

/** B^T d down the columns of four lines. */
// @ts-ignore: decorator
@inline
function mixLines(lines: usize, to: usize, wide: usize): void {
  for (let i: usize = 0; i < wide; i += 16) {
    const at = lines + i
    store4(to + i, wide, v128.load(at), v128.load(at + wide), v128.load(at + 2 * wide), v128.load(at + 3 * wide))
  }
}

// @ts-ignore: decorator
@inline
function store4(to: usize, step: usize, d0: v128, d1: v128, d2: v128, d3: v128): void {
  v128.store(to, i16x8.sub(d0, d2))
  v128.store(to + step, i16x8.add(d1, d2))
  v128.store(to + 2 * step, i16x8.sub(d2, d1))
  v128.store(to + 3 * step, i16x8.sub(d1, d3))
}

/** d B along a line, for four tiles, which begin at every other element. */
// @ts-ignore: decorator
@inline
function mixTiles(line: usize, to: usize, step: usize): void {
  const a = v128.load(line)
  const b = v128.load(line, 16)
  const next = v128.load64_zero(line, 32)
  const d0 = i32x4.shuffle(a, b, 0, 2, 4, 6)
  const d1 = i32x4.shuffle(a, b, 1, 3, 5, 7)
  store4(to, step, d0, d1, i32x4.shuffle(d0, next, 1, 2, 3, 4), i32x4.shuffle(d1, next, 1, 2, 3, 5))
}

/** A^T m A for one output channel, and the results of its sums. */
function transformOutput(
  args: ByteConvArguments,
  windows: Windows,
  products: usize,
  matrix: usize,
  channel: u32,
  y: usize,
  from: u32,
  to: u32,
  across: usize,
  sums: usize
): void {
  for (let row = from; row < to; row++) {
    const line = <i32>(row << 1)
    const hasSecond = line + 1 < windows.outH
    const at = y + <usize>(line * windows.outW) * args.yUnit
    const base = <usize>(row - from) * across
    for (let tile: usize = 0; tile < across; tile += 4) {
      const left = windows.outW - <i32>(tile << 1)
      if (left <= 0) break
      const p = base + tile
      unmix(products + ((p >> 3) << 7) + ((p & 4) << 2), matrix, sums)
      const count = <u32>min(8, left)
      finishRow(args, sums, channel, count, at + (tile << 1) * args.yUnit)
      if (hasSecond) finishRow(args, sums + 32, channel, count, at + ((tile << 1) + <usize>windows.outW) * args.yUnit)
    }
  }
}

/** Two rows of eight sums of four tiles. */
// @ts-ignore: decorator
@inline
function unmix(m: usize, matrix: usize, to: usize): void {
  const u1 = upper(m + matrix, matrix)
  const u2 = upper(m + 2 * matrix, matrix)
  const l1 = lower(m + matrix, matrix)
  const l2 = lower(m + 2 * matrix, matrix)
  const y00 = quarter(i32x4.add(upper(m, matrix), i32x4.add(u1, u2)))
  const y01 = quarter(i32x4.sub(i32x4.sub(u1, u2), upper(m + 3 * matrix, matrix)))
  const y10 = quarter(i32x4.add(lower(m, matrix), i32x4.add(l1, l2)))
  const y11 = quarter(i32x4.sub(i32x4.sub(l1, l2), lower(m + 3 * matrix, matrix)))
  v128.store(to, i32x4.shuffle(y00, y01, 0, 4, 1, 5))
  v128.store(to, i32x4.shuffle(y00, y01, 2, 6, 3, 7), 16)
  v128.store(to, i32x4.shuffle(y10, y11, 0, 4, 1, 5), 32)
  v128.store(to, i32x4.shuffle(y10, y11, 2, 6, 3, 7), 48)
}

/** The upper row of A^T m in one of its columns. */
// @ts-ignore: decorator
@inline
function upper(m: usize, matrix: usize): v128 {
  return i32x4.add(v128.load(m), i32x4.add(v128.load(m + 4 * matrix), v128.load(m + 8 * matrix)))
}

// @ts-ignore: decorator
@inline
function lower(m: usize, matrix: usize): v128 {
  return i32x4.sub(i32x4.sub(v128.load(m + 4 * matrix), v128.load(m + 8 * matrix)), v128.load(m + 12 * matrix))
}

// @ts-ignore: decorator
@inline
function quarter(sums: v128): v128 {
  return i32x4.shr_s(sums, 2)
}
