import { MAGIC, MAGIC_BITS, missOf } from './rounding'

/**
 * Softmax of rows of codes, quantized.
 *
 * The definition is in double precision: y = round(exp((code - highest code) * scale) / sum / divisor). The
 * exponentials come from a table, and sums are added up in order. Four lanes of float32 give the same code where the
 * quotient is not near a tie: it is off by less than 2^-21 of itself, and where it is not clamped it is below 512.
 */
@unmanaged
export class ByteSoftmaxArguments {
  x: usize
  /** float64: exponentials of 0, -1 … -255 times the scale; the divisor. Then the exponentials as float32. */
  table: usize
  y: usize
  isSigned: u32
  yZero: i32
  /** Elements of a row. */
  n: u32
}

const DIVISOR: usize = 2048
const SINGLES: usize = 2056
/** A half less 2^-21 * 512, and what covers the errors of double precision. */
const LIMIT: f32 = 0.4995

/** Computes rows `from … to - 1`. */
export function byteSoftmax(args: ByteSoftmaxArguments, from: u32, to: u32): void {
  // The bytes of int8 codes are in the order of uint8 once their highest bit is changed.
  const flip: u32 = args.isSigned ? 128 : 0
  for (; from < to; from++) {
    const x = args.x + <usize>from * args.n
    const highest = highestOf(x, args.n, flip)
    let sum: f64 = 0
    for (let i: u32 = 0; i < args.n; i++) sum += load<f64>(args.table + ((highest - (load<u8>(x + i) ^ flip)) << 3))
    codesOfRow(args, x, args.y + <usize>from * args.n, highest, flip, sum)
  }
}

function highestOf(x: usize, n: u32, flip: u32): u32 {
  const mask = i8x16.splat(<i8>flip)
  let highest: u32 = 0
  let i: u32 = 0
  if (n >= 16) {
    let codes = i8x16.splat(0)
    for (; i + 16 <= n; i += 16) codes = i8x16.max_u(codes, v128.xor(mask, v128.load(x + i)))
    codes = i8x16.max_u(codes, i64x2.shuffle(codes, codes, 1, 0))
    let rest = i64x2.extract_lane(codes, 0)
    for (let k = 0; k < 8; k++, rest >>= 8) highest = max(highest, <u32>rest & 255)
  }
  for (; i < n; i++) highest = max(highest, <u32>load<u8>(x + i) ^ flip)
  return highest
}

function codesOfRow(args: ByteSoftmaxArguments, x: usize, y: usize, highest: u32, flip: u32, sum: f64): void {
  const isSigned = args.isSigned != 0
  const factor = f32x4.splat(<f32>(1 / (sum * load<f64>(args.table, DIVISOR))))
  const first: i32 = isSigned ? -128 : 0
  const least = f32x4.splat(<f32>(first - args.yZero))
  const largest = f32x4.splat(<f32>(first + 255 - args.yZero))
  const magic = f32x4.splat(MAGIC)
  const bits = i32x4.splat(MAGIC_BITS - args.yZero)
  const singles = args.table + SINGLES
  let i: u32 = 0
  for (; i + 4 <= args.n; i += 4, x += 4, y += 4) {
    const codes = load<u32>(x) ^ (flip * 0x01010101)
    let values = v128.load32_zero(singles + ((highest - (codes & 255)) << 2))
    values = v128.load32_lane(singles + ((highest - ((codes >> 8) & 255)) << 2), values, 1)
    values = v128.load32_lane(singles + ((highest - ((codes >> 16) & 255)) << 2), values, 2)
    values = v128.load32_lane(singles + ((highest - (codes >> 24)) << 2), values, 3)
    const q = f32x4.pmax(least, f32x4.pmin(largest, f32x4.mul(values, factor)))
    const rounded = f32x4.add(q, magic)
    const near = f32x4.lt(missOf(q, rounded, magic), f32x4.splat(LIMIT))
    if (i32x4.all_true(near)) {
      const words = i16x8.narrow_i32x4_s(i32x4.sub(rounded, bits), rounded)
      v128.store32_lane(y, isSigned ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words), 0)
    } else for (let k: usize = 0; k < 4; k++) store<u8>(y + k, codeOf(args, highest - (load<u8>(x + k) ^ flip), sum))
  }
  for (; i < args.n; i++, x++, y++) store<u8>(y, codeOf(args, highest - (load<u8>(x) ^ flip), sum))
}

/** The definition. */
// @ts-ignore: decorator
@inline
function codeOf(args: ByteSoftmaxArguments, distance: u32, sum: f64): u8 {
  const q = load<f64>(args.table + (distance << 3)) / sum / load<f64>(args.table, DIVISOR)
  const lowest: f64 = args.isSigned ? -128 : 0
  return <u8>(<i32>max<f64>(lowest, min<f64>(lowest + 255, nearest<f64>(q) + <f64>args.yZero)))
}
