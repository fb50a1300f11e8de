import { quantizeSpan } from './codes'

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
  quantizeSpan<u8>(args.x, args.to, args.count, args.scale, scratch, false, 0, 255, 0)
  return false
}
