import { codeIn } from './code'

/** Numbers quantized to bytes, or back, in lines of so many elements. */
@unmanaged
export class CodesArguments {
  x: usize
  /** float32, and int16. */
  scales: usize
  zeros: usize
  to: usize
  /** Elements of a line, which is a block, and of all. */
  line: u32
  count: u32
  /** Scales: line `i` has number `i % channels`; or, by element, each element of a line has its own. */
  channels: u32
  isByElement: u32
  isSigned: u32
}

export function quantizeLines(args: CodesArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    const start = from * args.line
    const n = min(args.line, args.count - start)
    const channel = args.isByElement ? 0 : from % args.channels
    const scales = args.scales + (channel << 2)
    const zeros = args.zeros + (channel << 1)
    const x = args.x + ((<usize>start) << 2)
    if (args.isByElement) quantizeSpan(x, args.to + start, n, scales, zeros, true, args.isSigned != 0)
    else quantizeSpan(x, args.to + start, n, scales, zeros, false, args.isSigned != 0)
  }
}

// @ts-ignore: decorator
@inline
function quantizeSpan(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool, isSigned: bool): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = i32x4.splat(<i32>load<i16>(z))
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 8) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load16x4_s(z + (i << 1))
      zeroB = v128.load16x4_s(z + (i << 1), 8)
    }
    const p = codesOf(f32x4.div(v128.load(x), low), zeroA, isSigned)
    const q = codesOf(f32x4.div(v128.load(x, 16), high), zeroB, isSigned)
    const words = i16x8.narrow_i32x4_s(p, q)
    const codes = isSigned ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words)
    v128.store64_lane(to, codes, 0)
  }
  const lowest: f32 = isSigned ? -128 : 0
  for (; i < n; i++, x += 4, to++) {
    const at = steps ? i : 0
    const sum = nearest<f32>(load<f32>(x) / load<f32>(s + (at << 2))) + <f32>load<i16>(z + (at << 1))
    const code = max<f32>(lowest, min<f32>(lowest + 255, sum))
    store<u8>(to, sum == sum ? <u8>(<i32>code) : 0)
  }
}

/** 1.5 * 2^23: a small number that is added to it is rounded to an integer, ties to even, in the lowest bits. */
const MAGIC: f32 = 12582912
const MAGIC_BITS: i32 = 0x4b400000

/** Four quotients rounded and clamped to codes, in 32 bits. What is no number has code 0, whatever the zero point. */
// @ts-ignore: decorator
@inline
function codesOf(quotients: v128, zero: v128, isSigned: bool): v128 {
  const lowest = f32x4.convert_i32x4_s(i32x4.sub(i32x4.splat(isSigned ? -128 : 0), zero))
  const highest = f32x4.add(lowest, f32x4.splat(255))
  // The bounds are integers, so it is all one whether clamping or rounding comes first.
  const clamped = f32x4.pmax(lowest, f32x4.pmin(highest, quotients))
  const rounded = i32x4.sub(f32x4.add(clamped, f32x4.splat(MAGIC)), i32x4.splat(MAGIC_BITS))
  return v128.and(i32x4.add(rounded, zero), f32x4.eq(quotients, quotients))
}

export function dequantizeLines(args: CodesArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    const start = from * args.line
    const n = min(args.line, args.count - start)
    const channel = args.isByElement ? 0 : from % args.channels
    const scales = args.scales + (channel << 2)
    const zeros = args.zeros + (channel << 1)
    const target = args.to + ((<usize>start) << 2)
    if (args.isByElement) dequantizeSpan(args.x + start, target, n, scales, zeros, true, args.isSigned != 0)
    else dequantizeSpan(args.x + start, target, n, scales, zeros, false, args.isSigned != 0)
  }
}

// @ts-ignore: decorator
@inline
function dequantizeSpan(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool, isSigned: bool): void {
  let low = v128.load32_splat(s)
  let high = low
  let zero = v128.load16_splat(z)
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 8, to += 32) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zero = v128.load(z + (i << 1))
    }
    const codes = i16x8.sub(isSigned ? v128.load8x8_s(x) : v128.load8x8_u(x), zero)
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(codes)), low))
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(codes)), high), 16)
  }
  for (; i < n; i++, x++, to += 4) {
    const at = steps ? i : 0
    const code = codeIn(x, isSigned)
    store<f32>(to, <f32>(code - <i32>load<i16>(z + (at << 1))) * load<f32>(s + (at << 2)))
  }
}

/** The range of numbers, extended to include 0. */
@unmanaged
export class RangeArguments {
  x: usize
  /** float32: lowest and highest of each block. */
  to: usize
  line: u32
  count: u32
}

export function rangeOfLines(args: RangeArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    const start = from * args.line
    rangeOfSpan(args.x + ((<usize>start) << 2), min(args.line, args.count - start), args.to + ((<usize>from) << 3))
  }
}

/** Writes the lowest and the highest of `n` numbers and 0; both are NaN where one is. */
function rangeOfSpan(x: usize, n: u32, to: usize): void {
  let lows = f32x4.splat(0)
  let highs = lows
  let otherLows = lows
  let otherHighs = lows
  // Whatever is no number is in no order, and is looked for by itself.
  let areNumbers = i32x4.splat(-1)
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32) {
    const a = v128.load(x)
    const b = v128.load(x, 16)
    lows = f32x4.pmin(lows, a)
    highs = f32x4.pmax(highs, a)
    otherLows = f32x4.pmin(otherLows, b)
    otherHighs = f32x4.pmax(otherHighs, b)
    // Both are numbers where they have an order.
    areNumbers = v128.and(areNumbers, v128.or(f32x4.le(a, b), f32x4.ge(a, b)))
  }
  lows = f32x4.pmin(lows, otherLows)
  highs = f32x4.pmax(highs, otherHighs)
  for (; i < n; i++, x += 4) {
    const a = v128.load32_splat(x)
    lows = f32x4.pmin(lows, a)
    highs = f32x4.pmax(highs, a)
    areNumbers = v128.and(areNumbers, f32x4.eq(a, a))
  }
  lows = f32x4.min(lows, i64x2.shuffle(lows, lows, 1, 0))
  highs = f32x4.max(highs, i64x2.shuffle(highs, highs, 1, 0))
  if (!i32x4.all_true(areNumbers)) lows = highs = f32x4.splat(f32.NaN)
  store<f32>(to, min<f32>(f32x4.extract_lane(lows, 0), f32x4.extract_lane(lows, 1)))
  store<f32>(to, max<f32>(f32x4.extract_lane(highs, 0), f32x4.extract_lane(highs, 1)), 4)
}

/** DynamicQuantizeLinear as one block: the range of numbers, what quantizes it to uint8, and the codes. */
@unmanaged
export class DynamicCodesArguments {
  x: usize
  /** float32, and a byte; both are written. */
  scale: usize
  zero: usize
  to: usize
  count: u32
}

/** @returns whether codes are those that only the reference knows: of no numbers, and of too wide and narrow ranges */
export function quantizeByRange(args: DynamicCodesArguments, scratch: usize): bool {
  rangeOfSpan(args.x, args.count, scratch)
  const low = load<f32>(scratch)
  const high = load<f32>(scratch, 4)
  const span: f32 = low == high ? 1 : high - low
  const scale: f32 = span / 255
  if (!(scale > 0 && scale < Infinity)) return true
  const zero = <u32>nearest<f32>(max<f32>(0, min<f32>(255, -low / scale)))
  store<f32>(args.scale, scale)
  store<u8>(args.zero, <u8>zero)
  store<u16>(scratch, <u16>zero)
  quantizeSpan(args.x, args.to, args.count, args.scale, scratch, false, false)
  return false
}
