import { sumOfInts } from '../f32/simd'
import { codeIn } from './code'

/**
 * Codes of the means of what codes stand for, along the middle of three axes: a global pool, of either layout.
 *
 * The definition is in double precision: y = round(sum of (code - zero) * scale / count / scale of Y). Each product has
 * at most 32 bits, so the sum is exact, and that of the codes times the scale is the same.
 */
@unmanaged
export class ByteMeanArguments {
  x: usize
  /** float64: scale of X, scale of Y. */
  scales: usize
  y: usize
  isSigned: u32
  zero: i32
  yZero: i32
  /** Elements of the axis that goes, and of those after it. */
  count: u32
  inner: u32
}

/**
 * Computes the means of elements `from … to - 1` of the first axis.
 * @param scratch for 16 sums in int32
 */
export function byteMeans(args: ByteMeanArguments, scratch: usize, from: u32, to: u32): void {
  const inner = args.inner
  const isSigned = args.isSigned != 0
  for (; from < to; from++) {
    const x = args.x + <usize>from * args.count * inner
    const y = args.y + <usize>from * inner
    if (inner == 1) {
      store<u8>(y, codeOf(args, sumOfLine(x, args.count, isSigned)))
      continue
    }
    let column: u32 = 0
    for (; column + 16 <= inner; column += 16) {
      sumColumns(x + column, inner, args.count, isSigned, scratch)
      for (let i: u32 = 0; i < 16; i++) store<u8>(y + column + i, codeOf(args, load<i32>(scratch + (i << 2))))
    }
    for (; column < inner; column++) {
      let sum = 0
      let at = x + column
      for (let i: u32 = 0; i < args.count; i++, at += inner) sum += codeIn(at, isSigned)
      store<u8>(y + column, codeOf(args, sum))
    }
  }
}

function sumOfLine(x: usize, n: u32, isSigned: bool): i32 {
  let sums = i32x4.splat(0)
  let i: u32 = 0
  for (; i + 16 <= n; i += 16, x += 16) {
    const codes = v128.load(x)
    const pairs = isSigned ? i16x8.extadd_pairwise_i8x16_s(codes) : i16x8.extadd_pairwise_i8x16_u(codes)
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(pairs))
  }
  let sum = sumOfInts(sums)
  for (; i < n; i++, x++) sum += codeIn(x, isSigned)
  return sum
}

/** The sums of 16 columns, to `to`. */
function sumColumns(x: usize, step: usize, n: u32, isSigned: bool, to: usize): void {
  let s0 = i32x4.splat(0)
  let s1 = s0
  let s2 = s0
  let s3 = s0
  for (let i: u32 = 0; i < n; i++, x += step) {
    const low = isSigned ? v128.load8x8_s(x) : v128.load8x8_u(x)
    const high = isSigned ? v128.load8x8_s(x, 8) : v128.load8x8_u(x, 8)
    s0 = i32x4.add(s0, i32x4.extend_low_i16x8_s(low))
    s1 = i32x4.add(s1, i32x4.extend_high_i16x8_s(low))
    s2 = i32x4.add(s2, i32x4.extend_low_i16x8_s(high))
    s3 = i32x4.add(s3, i32x4.extend_high_i16x8_s(high))
  }
  v128.store(to, s0)
  v128.store(to, s1, 16)
  v128.store(to, s2, 32)
  v128.store(to, s3, 48)
}

/** @param sum of the codes as they are */
// @ts-ignore: decorator
@inline
function codeOf(args: ByteMeanArguments, sum: i32): u8 {
  const total = <f64>(<i64>sum - <i64>args.count * args.zero) * load<f64>(args.scales)
  const lowest: f64 = args.isSigned ? -128 : 0
  const code = nearest<f64>(total / <f64>args.count / load<f64>(args.scales, 8)) + <f64>args.yZero
  return <u8>(<i32>max<f64>(lowest, min<f64>(lowest + 255, code)))
}
