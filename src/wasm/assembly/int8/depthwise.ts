import { interleaveHigh, interleaveLow } from '../interleave'
import { Windows } from '../windows'
import { codeIn } from './code'
import { ByteConvArguments, windowsOfBytes } from './conv-arguments'
import { widenRow } from './panels'
import { finishLine } from './requantize'

/** Positions whose sums are made before they become results: of several lines, where these are short. */
const POSITIONS: u32 = 64
/** Scratch memory: their sums; then weights and offsets of the taps, and the plane. */
const SUMS: usize = (<usize>POSITIONS) << 2

/**
 * Elements of a part of a line: the columns that one tap reads for successive positions. A line with its padding lies
 * in as many parts as the stride says, so that they lie side by side; whole vectors may be read at the end.
 */
// @ts-ignore: decorator
@inline
function partOf(windows: Windows): usize {
  const width = (windows.outW - 1) * windows.sW + (windows.kW - 1) * windows.dW + 1
  return <usize>((width + windows.sW - 1) / windows.sW + 8)
}

/** {@link byteConvPanels} for one input channel a group and two spatial axes: planes `from … to - 1`. */
export function byteDepthwisePlanes(args: ByteConvArguments, scratch: usize, from: u32, to: u32): void {
  const windows = windowsOfBytes(args)
  const taps = <u32>(windows.kH * windows.kW)
  const pairs = (taps + 1) >> 1
  const weights = scratch + SUMS
  const offsets = weights + ((<usize>pairs) << 2)
  const plane = offsets + ((<usize>pairs) << 3)
  const lines = (windows.outH - 1) * windows.sH + (windows.kH - 1) * windows.dH + 1
  const lineBytes = (partOf(windows) * windows.sW) << 1
  memory.fill(plane, 0, lineBytes * lines)
  planOffsets(windows, lineBytes, offsets)
  for (; from < to; from++) {
    const image = from / args.groups
    const group = from % args.groups
    widenPlane(args, windows, args.x + image * args.xImage + group * args.xChannel, lines, lineBytes, plane)
    for (let i: u32 = 0; i < args.m; i++) {
      const channel = group * args.m + i
      const zero = load<i32>(args.zeros + <usize>(channel << 2))
      widenRow(args.w + <usize>channel * taps, 1, taps, args.areSigned != 0, zero, weights)
      const y = args.y + image * args.yImage + channel * args.yChannel
      convolvePlane(args, windows, plane, lineBytes, pairs, offsets, channel, y, scratch)
    }
  }
}

/** For each tap, where it reads for position 0; a last tap without a partner is paired with one of weight 0. */
function planOffsets(windows: Windows, lineBytes: usize, to: usize): void {
  const part = partOf(windows)
  for (let i = 0; i < windows.kH; i++)
    for (let j = 0; j < windows.kW; j++, to += 4) {
      const column = j * windows.dW
      const inPart = <usize>(column % windows.sW) * part + column / windows.sW
      store<u32>(to, <u32>(<usize>(i * windows.dH) * lineBytes + (inPart << 1)))
    }
  if ((windows.kH * windows.kW) & 1) store<u32>(to, 0)
}

/** The plane minus its zero point as int16; what lies around it is 0. */
function widenPlane(
  args: ByteConvArguments,
  windows: Windows,
  x: usize,
  lines: i32,
  lineBytes: usize,
  plane: usize
): void {
  const step = windows.sW
  const part = partOf(windows)
  const unit = args.xUnit
  const width = (windows.outW - 1) * step + (windows.kW - 1) * windows.dW + 1
  const first = max(0, windows.pW)
  const last = min(width, windows.inW + windows.pW)
  for (let line = max(0, windows.pH); line < min(lines, windows.inH + windows.pH); line++) {
    const to = plane + <usize>line * lineBytes
    let at = x + <usize>((line - windows.pH) * windows.inW + first - windows.pW) * unit
    if (step == 1 && last > first) {
      // An odd row is followed by a 0, as the padding is.
      widenRow(at, unit, last - first, args.isSigned != 0, args.zero, to + ((<usize>first) << 1))
    } else {
      let column = first
      if (step == 2 && unit == 1) {
        // Even columns lie in the first part of a line, odd ones in the second.
        const odd = first & 1
        const even = to + (<usize>(first + odd) & ~1)
        const other = to + (part << 1) + (<usize>first & ~1)
        column += widenPairs(args, at, last - first, odd ? other : even, odd ? even : other)
        at += column - first
      }
      for (let phase = column % step, place = to + ((<usize>(column / step)) << 1); column < last; column++) {
        const code = codeIn(at, args.isSigned != 0)
        store<i16>(place + ((<usize>phase * part) << 1), <i16>(code - args.zero))
        at += unit
        // Counted, as a division takes longer than all else.
        if (++phase == step) {
          phase = 0
          place += 2
        }
      }
    }
  }
}

/**
 * Codes minus their zero point as int16: the first, third and so on to `to`, the others to `second`.
 * @returns how many of the `count` codes were taken, a multiple of 16
 */
function widenPairs(args: ByteConvArguments, x: usize, count: i32, to: usize, second: usize): i32 {
  const zero = i16x8.splat(<i16>args.zero)
  const isSigned = args.isSigned != 0
  const taken = max(0, count) & ~15
  for (const end = x + taken; x < end; x += 16, to += 16, second += 16) {
    const codes = v128.load(x)
    const even = isSigned ? i16x8.shr_s(i16x8.shl(codes, 8), 8) : v128.and(codes, i16x8.splat(0xff))
    const odd = isSigned ? i16x8.shr_s(codes, 8) : i16x8.shr_u(codes, 8)
    v128.store(to, i16x8.sub(even, zero))
    v128.store(second, i16x8.sub(odd, zero))
  }
  return taken
}

function convolvePlane(
  args: ByteConvArguments,
  windows: Windows,
  plane: usize,
  lineBytes: usize,
  pairs: u32,
  offsets: usize,
  channel: u32,
  y: usize,
  scratch: usize
): void {
  const weights = scratch + SUMS
  const end = weights + ((<usize>pairs) << 2)
  const width = <u32>windows.outW
  let made: u32 = 0
  for (let line = 0; line < windows.outH; line++) {
    const x = plane + <usize>(line * windows.sH) * lineBytes
    for (let column: u32 = 0; column < width; column += 8) {
      const start = x + ((<usize>column) << 1)
      let low = i32x4.splat(0)
      let high = low
      let offset = offsets
      for (let w = weights; w < end; w += 4, offset += 8) {
        const a = v128.load(start + load<u32>(offset))
        const b = v128.load(start + load<u32>(offset, 4))
        const pair = v128.load32_splat(w)
        low = i32x4.add(low, i32x4.dot_i16x8_s(pair, interleaveLow(a, b)))
        high = i32x4.add(high, i32x4.dot_i16x8_s(pair, interleaveHigh(a, b)))
      }
      const sums = scratch + ((<usize>made) << 2)
      v128.store(sums, low)
      v128.store(sums, high, 16)
      made += min(8, width - column)
      if (made + 8 <= POSITIONS) continue
      const whole = made & ~7
      finishLine(args, scratch, channel, whole, y)
      y += whole * args.yUnit
      made -= whole
      const left = scratch + ((<usize>whole) << 2)
      v128.store(scratch, v128.load(left))
      v128.store(scratch, v128.load(left, 16), 16)
    }
  }
  finishLine(args, scratch, channel, made, y)
}
