import { fma, splat } from '../f32/simd'
import { interleaveHighBytes, interleaveLowBytes } from '../interleave'

/**
 * Floats of 8 bits, sixteen at a time. Each is a bfloat16: where it is a normal number the bits are moved, and the
 * exponent is raised. The bytes of others are corrected by a table, which `floatPlanes` in
 * ../../kernels/coded-floats.ts makes: seven vectors, of which four are XORed to the low and high bytes of the sixteen
 * lowest magnitudes, and of codes that become less than 16 by AND with the fifth and XOR with the sixth; the last is
 * subtracted from magnitudes first.
 */

// @ts-ignore: decorator
@inline
function magnitudeOf(v: v128): v128 {
  return v128.and(v, i8x16.splat(0x7f))
}

/** @param at of the vector for low magnitudes; that for special codes lies 32 bytes behind it */
// @ts-ignore: decorator
@inline
function correctionOf(v: v128, table: usize, at: usize): v128 {
  const special = v128.xor(v128.and(v, v128.load(table, 64)), v128.load(table, 80))
  const low = i8x16.swizzle(v128.load(table + at), magnitudeOf(v))
  return v128.xor(low, i8x16.swizzle(v128.load(table + at, 32), special))
}

/** @param mantissa its bits: 3 or 2 */
// @ts-ignore: decorator
@inline
function lowBytes(mantissa: u32, v: v128, table: usize): v128 {
  const moved = i8x16.shl(i8x16.sub(magnitudeOf(v), v128.load(table, 96)), 7 - mantissa)
  return v128.xor(moved, correctionOf(v, table, 0))
}

// @ts-ignore: decorator
@inline
function highBytes(mantissa: u32, v: v128, table: usize): v128 {
  const moved = i8x16.shr_u(i8x16.sub(magnitudeOf(v), v128.load(table, 96)), 1 + mantissa)
  const raised = i8x16.add(moved, i8x16.splat(mantissa == 3 ? 0x3c : 0x38))
  return v128.or(v128.xor(raised, correctionOf(v, table, 16)), v128.and(v, i8x16.splat(-128)))
}

/** Four of eight bfloat16 as float32. */
// @ts-ignore: decorator
@inline
function lowOf(v: v128): v128 {
  return i8x16.shuffle(i32x4.splat(0), v, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23)
}

// @ts-ignore: decorator
@inline
function highOf(v: v128): v128 {
  return i8x16.shuffle(i32x4.splat(0), v, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)
}

/** Sixteen codes times as many numbers of A, added to sums. */
// @ts-ignore: decorator
@inline
export function addFloats(mantissa: u32, sum: v128, v: v128, table: usize, a: usize): v128 {
  const low = lowBytes(mantissa, v, table)
  const high = highBytes(mantissa, v, table)
  const first = interleaveLowBytes(low, high)
  const last = interleaveHighBytes(low, high)
  sum = fma(sum, lowOf(first), v128.load(a))
  sum = fma(sum, highOf(first), v128.load(a, 16))
  sum = fma(sum, lowOf(last), v128.load(a, 32))
  return fma(sum, highOf(last), v128.load(a, 48))
}

/** Writes `count` numbers times a scale. */
// @ts-ignore: decorator
@inline
function writeFloats(mantissa: u32, codes: usize, count: u32, table: usize, scale: f32, out: usize): void {
  const scales = splat(scale)
  const end = codes + count
  for (const whole = codes + (count & ~15); codes < whole; codes += 16, out += 64) {
    const v = v128.load(codes)
    const low = lowBytes(mantissa, v, table)
    const high = highBytes(mantissa, v, table)
    const first = interleaveLowBytes(low, high)
    const last = interleaveHighBytes(low, high)
    v128.store(out, f32x4.mul(lowOf(first), scales))
    v128.store(out, f32x4.mul(highOf(first), scales), 16)
    v128.store(out, f32x4.mul(lowOf(last), scales), 32)
    v128.store(out, f32x4.mul(highOf(last), scales), 48)
  }
  for (; codes < end; codes++, out += 4) {
    const v = v128.load8_splat(codes)
    const low = lowBytes(mantissa, v, table)
    const high = highBytes(mantissa, v, table)
    const number = interleaveLowBytes(low, high)
    v128.store32_lane(out, f32x4.mul(lowOf(number), scales), 0)
  }
}

/** {@link writeFloats}, compiled for each width of the mantissa. */
export function decodeFloats(mantissa: u32, codes: usize, count: u32, table: usize, scale: f32, out: usize): void {
  if (mantissa == 3) writeFloats(3, codes, count, table, scale, out)
  else writeFloats(2, codes, count, table, scale, out)
}
