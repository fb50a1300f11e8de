import { MAGIC, MAGIC_BITS } from './rounding'

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
  if (args.type == 0) eachLine<u8>(args, from, to, QUANTIZING)
  else if (args.type == 1) eachLine<i8>(args, from, to, QUANTIZING)
  else if (args.type == 2) eachLine<u16>(args, from, to, QUANTIZING)
  else eachLine<i16>(args, from, to, QUANTIZING)
}

export function dequantizeLines(args: CodesArguments, from: u32, to: u32): void {
  if (args.type == 0) eachLine<u8>(args, from, to, DEQUANTIZING)
  else if (args.type == 1) eachLine<i8>(args, from, to, DEQUANTIZING)
  else if (args.type == 2) eachLine<u16>(args, from, to, DEQUANTIZING)
  else eachLine<i16>(args, from, to, DEQUANTIZING)
}

export function roundLines(args: CodesArguments, from: u32, to: u32): void {
  if (args.type == 0) eachLine<u8>(args, from, to, ROUNDING)
  else if (args.type == 1) eachLine<i8>(args, from, to, ROUNDING)
  else if (args.type == 2) eachLine<u16>(args, from, to, ROUNDING)
  else eachLine<i16>(args, from, to, ROUNDING)
}

/** What is made: codes of numbers, numbers of codes, or of numbers those that their codes stand for. */
const QUANTIZING: u32 = 0
const DEQUANTIZING: u32 = 1
const ROUNDING: u32 = 2

/** Types are parameters of these functions, so that each has loops of its own. */
function eachLine<T>(args: CodesArguments, from: u32, to: u32, mode: u32): void {
  for (; from < to; from++) {
    const start: usize = from * args.line
    const n = min(args.line, args.count - <u32>start)
    const channel: usize = args.isByElement ? 0 : from % args.channels
    const scales = args.scales + (channel << 2)
    const zeros = args.zeros + (channel << 2)
    const codes = start << alignof<T>()
    const numbers = start << 2
    // There is one scale for all where numbers are rounded.
    if (mode == ROUNDING) roundSpan<T>(args.x + numbers, args.to + numbers, n, scales, zeros)
    else if (mode == DEQUANTIZING)
      dequantizeSpan<T>(args.x + codes, args.to + numbers, n, scales, zeros, args.isByElement != 0)
    else quantizeSpan<T>(args.x + numbers, args.to + codes, n, scales, zeros, args.isByElement != 0)
  }
}

function quantizeSpan<T>(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 8 << alignof<T>()) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    const p = codesOf<T>(f32x4.div(v128.load(x), low), zeroA)
    const q = codesOf<T>(f32x4.div(v128.load(x, 16), high), zeroB)
    if (sizeof<T>() == 2) {
      v128.store(to, isSigned<T>() ? i16x8.narrow_i32x4_s(p, q) : i16x8.narrow_i32x4_u(p, q))
    } else {
      const words = i16x8.narrow_i32x4_s(p, q)
      v128.store64_lane(to, isSigned<T>() ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words), 0)
    }
  }
  const lowest = <f32>lowestOf<T>()
  for (; i < n; i++, x += 4, to += sizeof<T>()) {
    const at = steps ? i : 0
    const sum = nearest<f32>(load<f32>(x) / load<f32>(s + (at << 2))) + <f32>load<i32>(z + (at << 2))
    const code = max<f32>(lowest, min<f32>(lowest + <f32>spanOf<T>(), sum))
    store<T>(to, sum == sum ? <T>(<i32>code) : <T>0)
  }
}

// @ts-ignore: decorator
@inline
function lowestOf<T>(): i32 {
  return isSigned<T>() ? (sizeof<T>() == 1 ? -128 : -32768) : 0
}

/** How far the highest code is from the lowest. */
// @ts-ignore: decorator
@inline
function spanOf<T>(): i32 {
  return sizeof<T>() == 2 ? 65535 : 255
}

/** Four quotients rounded and clamped to codes, in 32 bits. What is no number has code 0, whatever the zero point. */
// @ts-ignore: decorator
@inline
function codesOf<T>(quotients: v128, zero: v128): v128 {
  const lowest = f32x4.convert_i32x4_s(i32x4.sub(i32x4.splat(lowestOf<T>()), zero))
  const highest = f32x4.add(lowest, f32x4.splat(<f32>spanOf<T>()))
  // The bounds are integers, so it is all one whether clamping or rounding comes first.
  const clamped = f32x4.pmax(lowest, f32x4.pmin(highest, quotients))
  const rounded = i32x4.sub(f32x4.add(clamped, f32x4.splat(MAGIC)), i32x4.splat(MAGIC_BITS))
  return v128.and(i32x4.add(rounded, zero), f32x4.eq(quotients, quotients))
}

function dequantizeSpan<T>(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 8 << alignof<T>(), to += 32) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    const codes = sizeof<T>() == 2 ? v128.load(x) : isSigned<T>() ? v128.load8x8_s(x) : v128.load8x8_u(x)
    const p = isSigned<T>() ? i32x4.extend_low_i16x8_s(codes) : i32x4.extend_low_i16x8_u(codes)
    const q = isSigned<T>() ? i32x4.extend_high_i16x8_s(codes) : i32x4.extend_high_i16x8_u(codes)
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(p, zeroA)), low))
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(q, zeroB)), high), 16)
  }
  for (; i < n; i++, x += sizeof<T>(), to += 4) {
    const at = steps ? i : 0
    store<f32>(to, <f32>(<i32>load<T>(x) - load<i32>(z + (at << 2))) * load<f32>(s + (at << 2)))
  }
}

function roundSpan<T>(x: usize, to: usize, n: u32, s: usize, z: usize): void {
  const scale = v128.load32_splat(s)
  const zero = v128.load32_splat(z)
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 32) {
    v128.store(to, levelsOf<T>(v128.load(x), scale, zero))
    v128.store(to, levelsOf<T>(v128.load(x, 16), scale, zero), 16)
  }
  for (; i < n; i++, x += 4, to += 4) v128.store32_lane(to, levelsOf<T>(v128.load32_splat(x), scale, zero), 0)
}

// @ts-ignore: decorator
@inline
function levelsOf<T>(v: v128, scale: v128, zero: v128): v128 {
  const codes = codesOf<T>(f32x4.div(v, scale), zero)
  return f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(codes, zero)), scale)
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
  quantizeSpan<u8>(args.x, args.to, args.count, args.scale, scratch, false)
  return false
}
