import { codeIn } from './code'

/** Numbers quantized to integers of 8 or 16 bits, or back, in lines of so many elements. */
@unmanaged
export class CodesArguments {
  x: usize
  /** float32, and int32. */
  scales: usize
  zeros: usize
  to: usize
  /** Elements of a line, which is a block, and of all. */
  line: u32
  count: u32
  /** Scales: line `i` has number `i % channels`; or, by element, each element of a line has its own. */
  channels: u32
  isByElement: u32
  /** 1: codes are signed; 2: they have 16 bits. */
  type: u32
}

export function quantizeLines(args: CodesArguments, from: u32, to: u32): void {
  if (args.type == 0) return eachLine(args, from, to, false, 0)
  if (args.type == 1) return eachLine(args, from, to, false, 1)
  return args.type == 2 ? eachLine(args, from, to, false, 2) : eachLine(args, from, to, false, 3)
}

export function dequantizeLines(args: CodesArguments, from: u32, to: u32): void {
  if (args.type == 0) return eachLine(args, from, to, true, 0)
  if (args.type == 1) return eachLine(args, from, to, true, 1)
  return args.type == 2 ? eachLine(args, from, to, true, 2) : eachLine(args, from, to, true, 3)
}

// @ts-ignore: decorator
@inline
function eachLine(args: CodesArguments, from: u32, to: u32, isBack: bool, type: u32): void {
  const shift = type >> 1
  for (; from < to; from++) {
    const start: usize = from * args.line
    const n = min(args.line, args.count - <u32>start)
    const channel: usize = args.isByElement ? 0 : from % args.channels
    const scales = args.scales + (channel << 2)
    const zeros = args.zeros + (channel << 2)
    const x = args.x + (start << (isBack ? shift : 2))
    const y = args.to + (start << (isBack ? 2 : shift))
    if (isBack) {
      if (args.isByElement) dequantizeSpan(x, y, n, scales, zeros, true, type)
      else dequantizeSpan(x, y, n, scales, zeros, false, type)
    } else if (args.isByElement) quantizeSpan(x, y, n, scales, zeros, true, type)
    else quantizeSpan(x, y, n, scales, zeros, false, type)
  }
}

// @ts-ignore: decorator
@inline
function quantizeSpan(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool, type: u32): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 8 << (type >> 1)) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    const p = codesOf(f32x4.div(v128.load(x), low), zeroA, type)
    const q = codesOf(f32x4.div(v128.load(x, 16), high), zeroB, type)
    const words = type == 2 ? i16x8.narrow_i32x4_u(p, q) : i16x8.narrow_i32x4_s(p, q)
    if (type >= 2) v128.store(to, words)
    else v128.store64_lane(to, type == 1 ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words), 0)
  }
  const lowest = <f32>lowestOf(type)
  for (; i < n; i++, x += 4, to += 1 << (type >> 1)) {
    const at = steps ? i : 0
    const sum = nearest<f32>(load<f32>(x) / load<f32>(s + (at << 2))) + <f32>load<i32>(z + (at << 2))
    const code = max<f32>(lowest, min<f32>(lowest + <f32>spanOf(type), sum))
    const whole = sum == sum ? <i32>code : 0
    if (type >= 2) store<u16>(to, <u16>whole)
    else store<u8>(to, <u8>whole)
  }
}

// @ts-ignore: decorator
@inline
function lowestOf(type: u32): i32 {
  return type == 0 || type == 2 ? 0 : type == 1 ? -128 : -32768
}

/** How far the highest code is from the lowest. */
// @ts-ignore: decorator
@inline
function spanOf(type: u32): i32 {
  return type >= 2 ? 65535 : 255
}

/** 1.5 * 2^23: a small number that is added to it is rounded to an integer, ties to even, in the lowest bits. */
const MAGIC: f32 = 12582912
const MAGIC_BITS: i32 = 0x4b400000

/** Four quotients rounded and clamped to codes, in 32 bits. What is no number has code 0, whatever the zero point. */
// @ts-ignore: decorator
@inline
function codesOf(quotients: v128, zero: v128, type: u32): v128 {
  const lowest = f32x4.convert_i32x4_s(i32x4.sub(i32x4.splat(lowestOf(type)), zero))
  const highest = f32x4.add(lowest, f32x4.splat(<f32>spanOf(type)))
  // The bounds are integers, so it is all one whether clamping or rounding comes first.
  const clamped = f32x4.pmax(lowest, f32x4.pmin(highest, quotients))
  const rounded = i32x4.sub(f32x4.add(clamped, f32x4.splat(MAGIC)), i32x4.splat(MAGIC_BITS))
  return v128.and(i32x4.add(rounded, zero), f32x4.eq(quotients, quotients))
}

// @ts-ignore: decorator
@inline
function dequantizeSpan(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool, type: u32): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 8 << (type >> 1), to += 32) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    const codes = type == 0 ? v128.load8x8_u(x) : type == 1 ? v128.load8x8_s(x) : v128.load(x)
    const p = type == 2 ? i32x4.extend_low_i16x8_u(codes) : i32x4.extend_low_i16x8_s(codes)
    const q = type == 2 ? i32x4.extend_high_i16x8_u(codes) : i32x4.extend_high_i16x8_s(codes)
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(p, zeroA)), low))
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(q, zeroB)), high), 16)
  }
  for (; i < n; i++, x += 1 << (type >> 1), to += 4) {
    const at = steps ? i : 0
    const code = type < 2 ? codeIn(x, type == 1) : type == 2 ? <i32>load<u16>(x) : <i32>load<i16>(x)
    store<f32>(to, <f32>(code - load<i32>(z + (at << 2))) * load<f32>(s + (at << 2)))
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
  store<u32>(scratch, zero)
  quantizeSpan(args.x, args.to, args.count, args.scale, scratch, false, 0)
  return false
}
