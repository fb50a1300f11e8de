import { MAGIC, MAGIC_BITS, missOf } from './rounding'

/** Windows over two spatial axes. */
@unmanaged
class PlaneWindows {
  isSigned: u32
  inH: i32
  inW: i32
  kH: i32
  kW: i32
  sH: i32
  sW: i32
  dH: i32
  dW: i32
  pH: i32
  pW: i32
  outH: i32
  outW: i32
}

/** The highest byte of each window. The windows follow. */
@unmanaged
export class BytePoolArguments {
  x: usize
  y: usize
}

/**
 * The code of the mean of each window: y = round(sum of (code - zero) * scale / count / scale of Y + zero of Y) in
 * double precision, where the sum is exact; the zero of Y may also come after the rounding. Four lanes of float32 give
 * the same code where the quotient is not near a tie: it is off by less than 2^-21 of itself, and where it is not
 * clamped it is below 512. The windows follow.
 */
@unmanaged
export class ByteMeanPoolArguments {
  x: usize
  /** float32: the counts of elements of the windows of each line, then of each column; room for 16 columns more. */
  counts: usize
  /** float64: scale of X, scale of Y. */
  scales: usize
  y: usize
  zero: i32
  /** What of the zero point of Y is added before a quotient is rounded, where ties go to the even code. */
  before: i32
  /** What of it is added after that. */
  yZero: i32
  /** How far a quotient may be from an integer; 1 where no rounding comes before that to a code, ties included. */
  limit: f32
}

/** Bytes of a line of a padded plane, of one of its parts, and its lines. */
// @ts-ignore: decorator
@inline
function partOf(windows: PlaneWindows): i32 {
  return (windows.outW + ((windows.kW - 1) * windows.dW) / windows.sW + 32) & ~15
}

// @ts-ignore: decorator
@inline
function linesOf(windows: PlaneWindows): i32 {
  return (windows.outH - 1) * windows.sH + (windows.kH - 1) * windows.dH + 1
}

/** Room for two vectors before the plane. */
const BEFORE: usize = 32

/** Planes `from … to - 1`. */
export function byteMaxPlanes(args: BytePoolArguments, scratch: usize, from: u32, to: u32): void {
  const windows = changetype<PlaneWindows>(changetype<usize>(args) + offsetof<BytePoolArguments>())
  const padded = scratch + BEFORE
  fillPlane(windows, windows.isSigned ? 128 : 0, padded)
  for (let plane = from; plane < to; plane++) {
    copyPlane(windows, args.x + <usize>plane * (windows.inH * windows.inW), padded)
    poolPlane(windows, padded, args.y + <usize>plane * (windows.outH * windows.outW))
  }
}

/** Planes `from … to - 1`. */
export function byteMeanPlanes(args: ByteMeanPoolArguments, scratch: usize, from: u32, to: u32): void {
  const windows = changetype<PlaneWindows>(changetype<usize>(args) + offsetof<ByteMeanPoolArguments>())
  const padded = scratch + BEFORE
  fillPlane(windows, <u8>args.zero, padded)
  for (let plane = from; plane < to; plane++) {
    copyPlane(windows, args.x + <usize>plane * (windows.inH * windows.inW), padded)
    meansOfPlane(args, windows, padded, args.y + <usize>plane * (windows.outH * windows.outW))
  }
}

function fillPlane(windows: PlaneWindows, code: u8, padded: usize): void {
  memory.fill(padded, code, <usize>(partOf(windows) * windows.sW * linesOf(windows)))
}

/**
 * Lines with their padding lie in as many parts as the stride says, so that what one tap reads for successive windows
 * lies side by side.
 */
function copyPlane(windows: PlaneWindows, x: usize, padded: usize): void {
  const part = partOf(windows)
  const width = part * windows.sW
  const lines = linesOf(windows)
  for (let line = max(0, windows.pH); line < min(lines, windows.inH + windows.pH); line++) {
    const at = x + (line - windows.pH) * windows.inW
    splitLine(at, min(windows.inW, width - windows.pW), windows.pW, windows.sW, part, padded + line * width)
  }
}

/** Deals `n` bytes out to as many parts of a line as the stride says; the first belongs to position `place`. */
function splitLine(x: usize, n: i32, place: i32, step: i32, part: i32, to: usize): void {
  if (step == 1) {
    if (n > 0) memory.copy(to + place, x, n)
    return
  }
  let phase = place % step
  let at = to + place / step
  for (const end = x + max(0, n); x < end;) {
    if (step == 2 && phase == 0 && x + 16 <= end) {
      const bytes = v128.load(x)
      const parted = i8x16.shuffle(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)
      v128.store64_lane(at, parted, 0)
      v128.store64_lane(at + part, parted, 1)
      x += 16
      at += 8
    } else {
      store<u8>(at + phase * part, load<u8>(x++))
      if (++phase == step) {
        phase = 0
        at++
      }
    }
  }
}

function poolPlane(args: PlaneWindows, plane: usize, y: usize): void {
  const isSigned = args.isSigned != 0
  const part = partOf(args)
  const lineBytes = part * args.sW
  for (let line = 0; line < args.outH; line++, y += args.outW) {
    const first = plane + line * args.sH * lineBytes
    for (let column = 0; column < args.outW; column += 16) {
      let highest = i8x16.splat(isSigned ? -128 : 0)
      for (let i = 0; i < args.kH; i++)
        for (let j = 0; j < args.kW; j++) {
          const tap = j * args.dW
          const at = first + i * args.dH * lineBytes + (tap % args.sW) * part + tap / args.sW + column
          const codes = v128.load(at)
          highest = isSigned ? i8x16.max_s(highest, codes) : i8x16.max_u(highest, codes)
        }
      if (column + 16 <= args.outW) v128.store(y + column, highest)
      else {
        v128.store(plane - 16, highest)
        memory.copy(y + column, plane - 16, args.outW - column)
      }
    }
  }
}

function meansOfPlane(args: ByteMeanPoolArguments, windows: PlaneWindows, plane: usize, y: usize): void {
  const isSigned = windows.isSigned != 0
  const part = partOf(windows)
  const lineBytes = part * windows.sW
  const scale = load<f64>(args.scales) / load<f64>(args.scales, 8)
  const columns = args.counts + ((<usize>windows.outH) << 2)
  const shift = i16x8.splat(<i16>(windows.kH * windows.kW * args.zero))
  for (let line = 0; line < windows.outH; line++, y += windows.outW) {
    const first = plane + line * windows.sH * lineBytes
    const rows = load<f32>(args.counts + ((<usize>line) << 2))
    const factor = f32x4.splat(<f32>(scale / rows))
    for (let column = 0; column < windows.outW; column += 16) {
      let low = i16x8.splat(0)
      let high = low
      for (let i = 0; i < windows.kH; i++)
        for (let j = 0; j < windows.kW; j++) {
          const tap = j * windows.dW
          const at = first + i * windows.dH * lineBytes + (tap % windows.sW) * part + tap / windows.sW + column
          low = i16x8.add(low, isSigned ? v128.load8x8_s(at) : v128.load8x8_u(at))
          high = i16x8.add(high, isSigned ? v128.load8x8_s(at, 8) : v128.load8x8_u(at, 8))
        }
      const counts = columns + ((<usize>column) << 2)
      const a = meansOf(args, isSigned, i16x8.sub(low, shift), factor, rows, counts, plane - 32)
      const b = meansOf(args, isSigned, i16x8.sub(high, shift), factor, rows, counts + 32, plane - 32)
      const means = i64x2.shuffle(a, b, 0, 2)
      if (column + 16 <= windows.outW) v128.store(y + column, means)
      else {
        v128.store(plane - 16, means)
        memory.copy(y + column, plane - 16, windows.outW - column)
      }
    }
  }
}

/**
 * The codes of eight sums, in the lower half.
 * @param at room for eight int16
 */
function meansOf(
  args: ByteMeanPoolArguments,
  isSigned: bool,
  sums: v128,
  factor: v128,
  rows: f32,
  counts: usize,
  at: usize
): v128 {
  const first: i32 = isSigned ? -128 : 0
  const least = f32x4.splat(<f32>(first - args.yZero))
  const most = f32x4.splat(<f32>(first + 255 - args.yZero))
  const magic = f32x4.splat(MAGIC)
  let p = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(sums)), f32x4.div(factor, v128.load(counts)))
  let q = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(sums)), f32x4.div(factor, v128.load(counts, 16)))
  const before = f32x4.splat(<f32>args.before)
  p = f32x4.pmax(least, f32x4.pmin(most, f32x4.add(p, before)))
  q = f32x4.pmax(least, f32x4.pmin(most, f32x4.add(q, before)))
  const roundedP = f32x4.add(p, magic)
  const roundedQ = f32x4.add(q, magic)
  const limit = f32x4.splat(args.limit)
  const nearP = f32x4.lt(missOf(p, roundedP, magic), limit)
  const nearQ = f32x4.lt(missOf(q, roundedQ, magic), limit)
  let words: v128
  if (i32x4.all_true(v128.and(nearP, nearQ))) {
    const bits = i32x4.splat(MAGIC_BITS - args.yZero)
    words = i16x8.narrow_i32x4_s(i32x4.sub(roundedP, bits), i32x4.sub(roundedQ, bits))
  } else {
    v128.store(at, sums)
    const lowest: f64 = isSigned ? -128 : 0
    for (let i: usize = 0; i < 8; i++) {
      const total = <f64>load<i16>(at + (i << 1)) * load<f64>(args.scales)
      const count = <f64>rows * <f64>load<f32>(counts + (i << 2))
      const quotient = total / count / load<f64>(args.scales, 8)
      const code = nearest<f64>(quotient + <f64>args.before) + <f64>args.yZero
      store<i16>(at + (i << 1), <i16>(<i32>max<f64>(lowest, min<f64>(lowest + 255, code))))
    }
    words = v128.load(at)
  }
  return isSigned ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words)
}
