import { EVERY_OTHER, planTaps, SIDE_BY_SIDE, TAP, Windows, ZEROS } from '../windows'
import { panelBytes, widenRow } from './panels'
import { tile1, tile4 } from './product'

/**
 * Y = f(sums of (X - its zero point) (W - zero points of its output channels)) over windows of bytes: exact sums in
 * int32, which wrap; as they are, or scaled in double precision, rounded once and clamped. Steps are in bytes.
 */
@unmanaged
export class ByteConvArguments {
  x: usize
  /** [groups][m][channels][taps]. */
  w: usize
  /** int32: the zero point of each output channel. */
  zeros: usize
  /** float64: scale of X, scale, zero point, lowest and highest code of Y; for all output channels scales, biases. */
  numbers: usize
  y: usize
  /** What Y holds: 0: int32; 2: uint8; 3: int8. */
  result: u32
  /** Whether X and W hold int8. */
  isSigned: u32
  areSigned: u32
  /** Zero point of X. */
  zero: i32
  /** 0: none; 1: biases are added to the sums; 2: to what is scaled. */
  bias: u32
  /** Input and output channels of a group, and groups of an image. */
  channels: u32
  m: u32
  groups: u32
  /** Panels of a block. */
  panels: u32
  /** From image to image, from channel to channel and from position to position. */
  xImage: usize
  xChannel: usize
  xUnit: usize
  yImage: usize
  yChannel: usize
  yUnit: usize
  /** Those of Windows follow. */
  inD: i32
}

// @ts-ignore: decorator
@inline
export function windowsOfBytes(args: ByteConvArguments): Windows {
  return changetype<Windows>(changetype<usize>(args) + offsetof<ByteConvArguments>('inD'))
}

/** Scratch memory: a tile of sums, what is subtracted from its rows; then taps, four rows of weights, and panels. */
const SUMS: usize = 128
const TAPS: usize = 144

/**
 * Computes blocks `from … to - 1`: some panels of eight output positions by all channels of a group, counted over
 * panels, then over groups, then over images.
 */
export function byteConvPanels(args: ByteConvArguments, scratch: usize, from: u32, to: u32): void {
  const windows = windowsOfBytes(args)
  const positions = <u32>(windows.outD * windows.outH * windows.outW)
  const allPanels = (positions + 7) >> 3
  const perPlane = (allPanels + args.panels - 1) / args.panels
  for (; from < to; from++) {
    const plane = from / perPlane
    const first = (from % perPlane) * args.panels
    const count = min(args.panels, allPanels - first)
    const strip = writePanels(args, windows, plane, first, count, positions, scratch)
    multiplyPanels(args, windows, plane, first, count, positions, strip, scratch)
  }
}

/**
 * im2col: writes panels `first … first + count - 1` behind the memory for four rows of weights.
 * @returns where the rows go
 */
function writePanels(
  args: ByteConvArguments,
  windows: Windows,
  plane: u32,
  first: u32,
  count: u32,
  positions: u32,
  scratch: usize
): usize {
  const taps = scratch + TAPS
  const tapCount = <u32>(windows.kD * windows.kH * windows.kW)
  const strip = taps + ((<usize>tapCount * TAP + 15) & ~15)
  const k = args.channels * tapCount
  const bytes = panelBytes(k)
  const x =
    args.x + <usize>(plane / args.groups) * args.xImage + <usize>((plane % args.groups) * args.channels) * args.xChannel
  let panel = strip + bytes
  for (let p = first; p < first + count; p++, panel += bytes) {
    planTaps(windows, <i32>args.xUnit, p << 3, min<u32>(8, positions - (p << 3)), taps)
    writePanel(args, x, taps, tapCount, k, panel)
  }
  return strip
}

/** One panel: pairs of rows (a row is an input channel and a tap), by the taps planned for its positions. */
function writePanel(args: ByteConvArguments, x: usize, taps: usize, tapCount: u32, k: u32, panel: usize): void {
  const unit = args.xUnit
  const mask = i8x16.splat(args.isSigned ? 0 : -128)
  const padding = i8x16.splat(<i8>args.zero)
  const end = taps + <usize>tapCount * TAP
  let tap = taps
  let even = padding
  for (let i: u32 = 0; i < k; i++) {
    const codes = columnsOf(x, tap, unit, padding)
    tap += TAP
    if (tap == end) {
      tap = taps
      x += args.xChannel
    }
    // Weights have 0 beside a last row without a partner.
    if ((i & 1) == 0 && i + 1 < k) even = codes
    else {
      if ((i & 1) == 0) even = codes
      const pairs = i8x16.shuffle(even, codes, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
      v128.store(panel, v128.xor(mask, pairs))
      panel += 16
    }
  }
}

/** What a tap reads at eight positions, in the lower half. */
// @ts-ignore: decorator
@inline
function columnsOf(x: usize, tap: usize, unit: usize, padding: v128): v128 {
  const kind = load<i32>(tap)
  if (kind == ZEROS) return padding
  const at = x + load<u32>(tap, 4)
  if (unit == 1 && kind == SIDE_BY_SIDE) return v128.load64_zero(at)
  if (unit == 1 && kind == EVERY_OTHER) {
    // No load reaches beyond the eighth position.
    const last = v128.load64_zero(at, 7)
    return i8x16.shuffle(v128.load64_zero(at), last, 0, 2, 4, 6, 17, 19, 21, 23, 0, 0, 0, 0, 0, 0, 0, 0)
  }
  if (kind == SIDE_BY_SIDE) return evenly(at, unit)
  if (kind == EVERY_OTHER) return evenly(at, unit << 1)
  return oneByOne(x, tap + 8, padding)
}

function evenly(x: usize, step: usize): v128 {
  let codes = v128.load8_splat(x)
  codes = v128.load8_lane(x + step, codes, 1)
  codes = v128.load8_lane(x + 2 * step, codes, 2)
  codes = v128.load8_lane(x + 3 * step, codes, 3)
  codes = v128.load8_lane(x + 4 * step, codes, 4)
  codes = v128.load8_lane(x + 5 * step, codes, 5)
  codes = v128.load8_lane(x + 6 * step, codes, 6)
  return v128.load8_lane(x + 7 * step, codes, 7)
}

function oneByOne(x: usize, offsets: usize, padding: v128): v128 {
  let codes = padding
  let offset = load<i32>(offsets)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 0)
  offset = load<i32>(offsets, 4)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 1)
  offset = load<i32>(offsets, 8)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 2)
  offset = load<i32>(offsets, 12)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 3)
  offset = load<i32>(offsets, 16)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 4)
  offset = load<i32>(offsets, 20)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 5)
  offset = load<i32>(offsets, 24)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 6)
  offset = load<i32>(offsets, 28)
  return offset >= 0 ? v128.load8_lane(x + offset, codes, 7) : codes
}

/** Four rows of weights at a time, by all panels of a block. */
function multiplyPanels(
  args: ByteConvArguments,
  windows: Windows,
  plane: u32,
  first: u32,
  count: u32,
  positions: u32,
  strip: usize,
  scratch: usize
): void {
  const k = args.channels * <u32>(windows.kD * windows.kH * windows.kW)
  const bytes = panelBytes(k)
  const lda = bytes >> 2
  const m = args.m
  const channel = (plane % args.groups) * m
  const y = args.y + <usize>(plane / args.groups) * args.yImage
  const flip = args.isSigned ? 0 : 128
  const zero = args.zero - flip
  let w = args.w + <usize>channel * k
  for (let row: u32 = 0; row < m; row += 4) {
    const rows = min<u32>(4, m - row)
    const sums = scratch + SUMS
    for (let r: u32 = 0; r < rows; r++, w += k) {
      const point = load<i32>(args.zeros + <usize>((channel + row + r) << 2))
      store<i32>(sums + (r << 2), zero * widenRow(w, 1, k, args.areSigned != 0, point, strip + r * lda))
    }
    let panel = strip + bytes
    for (let p: u32 = 0; p < count; p++, panel += bytes) {
      const position = (first + p) << 3
      if (rows == 4) tile4(strip, lda, panel, panel + bytes, scratch)
      else for (let r: u32 = 0; r < rows; r++) tile1(strip + r * lda, panel, panel + bytes, scratch + (r << 5))
      for (let r: u32 = 0; r < rows; r++) {
        const at = channel + row + r
        const to = y + <usize>at * args.yChannel + <usize>position * args.yUnit
        finishRow(args, scratch + (r << 5), load<i32>(sums + (r << 2)), at, min<u32>(8, positions - position), to)
      }
    }
  }
}

/**
 * Turns the sums of eight positions into results, of which the first `count` are written.
 * @param at the sums
 * @param minus what is subtracted from each: what the zero point of X adds
 */
export function finishRow(args: ByteConvArguments, at: usize, minus: i32, channel: u32, count: u32, to: usize): void {
  const low = i32x4.sub(v128.load(at), i32x4.splat(minus))
  const high = i32x4.sub(v128.load(at, 16), i32x4.splat(minus))
  if (args.result == 0) {
    v128.store(at, low)
    v128.store(at, high, 16)
    if (args.yUnit == 4) memory.copy(to, at, count << 2)
    else for (let j: u32 = 0; j < count; j++, to += args.yUnit) store<i32>(to, load<i32>(at + (j << 2)))
    return
  }
  const channels = args.numbers + 40
  const scales = channels + ((<usize>channel) << 3)
  const biases = channels + ((<usize>(args.groups * args.m + channel)) << 3)
  const scale = v128.load64_splat(scales)
  const bias = args.bias != 0 ? v128.load64_splat(biases) : f64x2.splat(0)
  const a = i64x2.shuffle(codesOf(args, low, scale, bias), codesOf(args, upper(low), scale, bias), 0, 2)
  const b = i64x2.shuffle(codesOf(args, high, scale, bias), codesOf(args, upper(high), scale, bias), 0, 2)
  const words = i16x8.narrow_i32x4_s(a, b)
  const codes = args.result == 3 ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words)
  if (args.yUnit == 1 && count == 8) v128.store64_lane(to, codes, 0)
  else {
    v128.store64_lane(at, codes, 0)
    for (let j: u32 = 0; j < count; j++, to += args.yUnit) store<u8>(to, load<u8>(at + j))
  }
}

// @ts-ignore: decorator
@inline
function upper(sums: v128): v128 {
  return i64x2.shuffle(sums, sums, 1, 0)
}

/** The codes of the lower two of four sums, as integers in the lower two lanes. */
// @ts-ignore: decorator
@inline
function codesOf(args: ByteConvArguments, sums: v128, scale: v128, bias: v128): v128 {
  const numbers = args.numbers
  let x = f64x2.convert_low_i32x4_s(sums)
  // As the reference kernel computes, one step after the other.
  if (args.bias == 1) x = f64x2.add(x, bias)
  x = f64x2.mul(f64x2.mul(x, v128.load64_splat(numbers)), scale)
  if (args.bias == 2) x = f64x2.add(x, bias)
  x = f64x2.nearest(f64x2.div(x, v128.load64_splat(numbers, 8)))
  x = f64x2.add(x, v128.load64_splat(numbers, 16))
  x = f64x2.max(v128.load64_splat(numbers, 24), f64x2.min(v128.load64_splat(numbers, 32), x))
  return i32x4.trunc_sat_f64x2_s_zero(x)
}
