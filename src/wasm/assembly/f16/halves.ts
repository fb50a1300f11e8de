/** Conversions between float32 and floats of 16 bits: float16, or bfloat16 where `isBrain`. */

/** Widens `count` numbers. `to` may begin 2 * count bytes before `from`, where both end together. */
export function widenHalves(from: usize, to: usize, count: u32, isBrain: bool): void {
  const end = from + ((<usize>count) << 1)
  for (const whole = end - ((count & 7) << 1); from < whole; from += 16, to += 32) {
    const codes = v128.load(from)
    v128.store(to, widened(i32x4.extend_low_i16x8_u(codes), isBrain))
    v128.store(to, widened(i32x4.extend_high_i16x8_u(codes), isBrain), 16)
  }
  for (; from < end; from += 2, to += 4) v128.store32_lane(to, widened(i32x4.splat(<i32>load<u16>(from)), isBrain), 0)
}

/** Narrows `count` numbers to the nearest, ties to even. `to` may be `from`. */
export function narrowHalves(from: usize, to: usize, count: u32, isBrain: bool): void {
  const end = to + ((<usize>count) << 1)
  for (const whole = end - ((count & 7) << 1); to < whole; from += 32, to += 16)
    v128.store(to, i16x8.narrow_i32x4_u(narrowed(v128.load(from), isBrain), narrowed(v128.load(from, 16), isBrain)))
  for (; to < end; from += 4, to += 2) v128.store16_lane(to, narrowed(v128.load32_splat(from), isBrain), 0)
}

/** Codes in the low halves of the lanes as float32. */
// @ts-ignore: decorator
@inline
export function widened(codes: v128, isBrain: bool): v128 {
  if (isBrain) return i32x4.shl(codes, 16)
  const sign = i32x4.shl(v128.and(codes, i32x4.splat(0x8000)), 16)
  const magnitude = v128.and(codes, i32x4.splat(0x7fff))
  const rest = i32x4.shl(magnitude, 13)
  // 112 is between the biases of both exponents. Numbers below the smallest normal one are whole multiples of 2^-24: as
  // float32 they are normal, and no step on the way is subnormal there, which takes processors 100 cycles.
  const normal = i32x4.add(rest, i32x4.splat(112 << 23))
  const small = f32x4.mul(f32x4.convert_i32x4_s(magnitude), i32x4.splat(0x33800000))
  const number = v128.bitselect(small, normal, i32x4.lt_s(rest, i32x4.splat(1 << 23)))
  const isSpecial = i32x4.gt_s(rest, i32x4.splat(0x0f7fffff))
  return v128.or(sign, v128.or(number, v128.and(isSpecial, i32x4.splat(0x7f800000))))
}

/** Codes of four numbers. */
// @ts-ignore: decorator
@inline
export function narrowed(v: v128, isBrain: bool): v128 {
  const sign = v128.and(v, i32x4.splat(0x80000000))
  const bits = v128.xor(v, sign)
  const isNaN = i32x4.gt_s(bits, i32x4.splat(0x7f800000))
  const one = i32x4.splat(1)
  const shifted = i32x4.shr_u(sign, 16)
  if (isBrain) {
    const odd = v128.and(i32x4.shr_u(bits, 16), one)
    const code = i32x4.shr_u(i32x4.add(i32x4.add(bits, i32x4.splat(0x7fff)), odd), 16)
    return v128.or(shifted, v128.bitselect(i32x4.splat(0x7fc0), code, isNaN))
  }
  const odd = v128.and(i32x4.shr_u(bits, 13), one)
  // The exponent is moved by 112, and just under half a unit of the result is added.
  const normal = i32x4.shr_u(i32x4.add(i32x4.add(bits, i32x4.splat(0xc8000fff)), odd), 13)
  // Beside 0.5 a unit of float32 is the smallest number of float16, so that the addition rounds to it.
  const small = i32x4.sub(f32x4.add(bits, f32x4.splat(0.5)), i32x4.splat(0x3f000000))
  const code = v128.bitselect(small, normal, i32x4.lt_s(bits, i32x4.splat(0x38800000)))
  const isHuge = i32x4.gt_s(bits, i32x4.splat(0x477fffff))
  const huge = v128.bitselect(i32x4.splat(0x7e00), i32x4.splat(0x7c00), isNaN)
  return v128.or(shifted, v128.bitselect(huge, code, isHuge))
}
