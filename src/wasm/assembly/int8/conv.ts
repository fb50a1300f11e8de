import { fetchLines } from '../f32/panels'
import { interleaveHigh, interleaveLow } from '../interleave'
import { planTaps, TAP, Windows } from '../windows'
import { columnsOf } from './columns'
import { ByteConvArguments, dotsOf, stripsOfPart, windowsOfBytes } from './conv-arguments'
import { dotStripByHalf, dotStripByPanel, dotStripBytes } from './dot-strips'
import { dotPanelBytes, writeDotPanels } from './dot-panels'
import { DOT_STRIP, zeroOfDots } from './dots'
import { finishRows } from './requantize'
import { packByteStrip, stripByPanel, stripBytes } from './strips'

/** Scratch memory: a tile of sums of up to six channels; then taps, four rows of weights, and panels. */
const TAPS: usize = 192

/**
 * Computes blocks `from … to - 1`: some panels of eight output positions by a part of the channels of a group, counted
 * over parts, then over panels, then over groups, then over images. Parts that are computed together share the panels.
 */
export function byteConvPanels(args: ByteConvArguments, scratch: usize, from: u32, to: u32): void {
  const windows = windowsOfBytes(args)
  const positions = <u32>(windows.outD * windows.outH * windows.outW)
  const allPanels = (positions + 7) >> 3
  const perPlane = (allPanels + args.panels - 1) / args.panels
  const partRows = rowsOfPart(args)
  while (from < to) {
    const unit = from / args.parts
    const part = from % args.parts
    const last = min(args.parts, part + to - from)
    const plane = unit / perPlane
    const first = (unit % perPlane) * args.panels
    const count = min(args.panels, allPanels - first)
    const strip = writePanels(args, windows, plane, first, count, positions, scratch)
    if (dotsOf(args))
      dotPanels(args, windows, plane, first, count, positions, part * partRows, last * partRows, strip, scratch)
    else multiplyPanels(args, windows, plane, first, count, positions, part * partRows, last * partRows, strip, scratch)
    from += last - part
  }
}

/** Output channels in each part but the last: a whole number of strips. */
function rowsOfPart(args: ByteConvArguments): u32 {
  if (!dotsOf(args)) return stripsOfPart(args) << 2
  const strips = (args.m + DOT_STRIP - 1) / DOT_STRIP
  return ((strips + args.parts - 1) / args.parts) * DOT_STRIP
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
  const dots = dotsOf(args)
  const bytes = dots ? dotPanelBytes(k) : stripBytes(k) << 1
  const x =
    args.x + <usize>(plane / args.groups) * args.xImage + <usize>((plane % args.groups) * args.channels) * args.xChannel
  let panel = strip + stripBytes(k)
  if (dots) {
    writeDotPanels(args, windows, x, first, count, positions, taps, panel)
    return strip
  }
  for (let p = first; p < first + count; p++, panel += bytes) {
    planTaps(windows, <i32>args.xUnit, p << 3, min<u32>(8, positions - (p << 3)), taps)
    writePanel(args, x, taps, tapCount, k, panel)
  }
  return strip
}

/**
 * One panel: pairs of rows (a row is an input channel and a tap) less the zero point as int16, by the taps planned for
 * its positions.
 */
function writePanel(args: ByteConvArguments, x: usize, taps: usize, tapCount: u32, k: u32, panel: usize): void {
  const unit = args.xUnit
  const isSigned = args.isSigned != 0
  const zero = i16x8.splat(<i16>args.zero)
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
    if ((i & 1) == 0) even = codes
    // Weights have 0 beside a last row without a partner.
    if ((i & 1) == 0 && i + 1 < k) continue
    const p = i16x8.sub(isSigned ? i16x8.extend_low_i8x16_s(even) : i16x8.extend_low_i8x16_u(even), zero)
    const q = i16x8.sub(isSigned ? i16x8.extend_low_i8x16_s(codes) : i16x8.extend_low_i8x16_u(codes), zero)
    v128.store(panel, interleaveLow(p, q))
    v128.store(panel, interleaveHigh(p, q), 16)
    panel += 32
  }
}

/** Rows `from … to - 1` of weights, as far as there are such, four at a time, by all panels of a block. */
function multiplyPanels(
  args: ByteConvArguments,
  windows: Windows,
  plane: u32,
  first: u32,
  count: u32,
  positions: u32,
  from: u32,
  to: u32,
  strip: usize,
  scratch: usize
): void {
  const k = args.channels * <u32>(windows.kD * windows.kH * windows.kW)
  const weights = stripBytes(k)
  const bytes = weights << 1
  const m = min(args.m, to)
  const group = plane % args.groups
  const channel = group * args.m
  const y = args.y + <usize>(plane / args.groups) * args.yImage
  let a = args.isPacked ? args.w + <usize>(group * ((args.m + 3) >> 2) + (from >> 2)) * weights : strip
  for (let row = from; row < m; row += 4) {
    const rows = min<u32>(4, m - row)
    if (args.isPacked) fetchLines(a, weights, scratch)
    else packStrip(args, channel + row, rows, k, strip)
    let panel = strip + weights
    for (let p: u32 = 0; p < count; p++, panel += bytes) {
      const position = (first + p) << 3
      stripByPanel(a, panel, panel + bytes, scratch)
      const at = y + <usize>(channel + row) * args.yChannel + <usize>position * args.yUnit
      finishRows(args, scratch, channel + row, rows, min<u32>(8, positions - position), at)
    }
    if (args.isPacked) a += weights
  }
}

/** {@link multiplyPanels} by dot products, six channels at a time, whose weights are packed and have no zero points. */
function dotPanels(
  args: ByteConvArguments,
  windows: Windows,
  plane: u32,
  first: u32,
  count: u32,
  positions: u32,
  from: u32,
  to: u32,
  strip: usize,
  scratch: usize
): void {
  const k = args.channels * <u32>(windows.kD * windows.kH * windows.kW)
  const weights = dotStripBytes(k)
  const bytes = dotPanelBytes(k)
  const m = min(args.m, to)
  const group = plane % args.groups
  const channel = group * args.m
  const y = args.y + <usize>(plane / args.groups) * args.yImage
  const zero = zeroOfDots(args.zero, args.isSigned != 0, dotsOf(args))
  let a = args.w + <usize>(group * ((args.m + DOT_STRIP - 1) / DOT_STRIP) + from / DOT_STRIP) * weights
  for (let row = from; row < m; row += DOT_STRIP, a += weights) {
    const rows = min<u32>(DOT_STRIP, m - row)
    fetchLines(a, weights, scratch)
    let panel = strip + stripBytes(k)
    for (let p: u32 = 0; p < count; p++, panel += bytes) {
      const position = (first + p) << 3
      const cols = min<u32>(8, positions - position)
      if (cols > 4) dotStripByPanel(a, panel, panel + bytes, zero, scratch)
      else dotStripByHalf(a, panel, panel + bytes, zero, scratch)
      const at = y + <usize>(channel + row) * args.yChannel + <usize>position * args.yUnit
      finishRows(args, scratch, channel + row, rows, cols, at)
    }
  }
}

function packStrip(args: ByteConvArguments, channel: u32, rows: u32, k: u32, strip: usize): void {
  const zeros = args.zeros + ((<usize>channel) << 2)
  packByteStrip(args.w + <usize>channel * k, k, rows, args.areSigned != 0, zeros, strip)
}
