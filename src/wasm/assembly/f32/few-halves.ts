import { SPAN } from './gemm'
import { fma, hidden, splat } from './simd'

/**
 * Products whose A has one to four rows and whose B lies in panels of 16-bit floats: half the bytes of float32, which
 * is what they wait for. Panels are read side by side, as in few-rows.ts.
 */

/**
 * Float16 in panels has another exponent than elsewhere: 1 means 2^-24, its smallest number, and 0 means zero. So every
 * number is a normal one where it is moved into the place of a float32; it takes 100 cycles to multiply others.
 * Numbers of 128 and more have no such code. There they are 2^-102 of what they are.
 */
const SCALE: f32 = 5.070602400912918e30
const BIAS: i32 = 102 << 10
/** The bits of a float32 that come from a code. */
const MASK: i32 = 0x8fffe000
const BRAIN_MASK: i32 = 0xffff0000

/**
 * Codes of `count` numbers, a multiple of eight, that have such codes. Each word of four has one of the first four
 * numbers in its lower half, and one of the last four in its upper half: from there both are moved into their places by
 * fewer instructions than from neighbouring codes.
 */
export function packHalves(from: usize, to: usize, count: u32, isBrain: bool): void {
  for (const end = to + ((<usize>count) << 1); to < end; from += 32, to += 16) {
    const low = codesOf(v128.load(from), isBrain)
    v128.store(to, v128.or(low, i32x4.shl(codesOf(v128.load(from, 16), isBrain), 16)))
  }
}

// @ts-ignore: decorator
@inline
function codesOf(v: v128, isBrain: bool): v128 {
  if (isBrain) return i32x4.shr_u(v, 16)
  const magnitude = v128.and(v, i32x4.splat(0x7fffffff))
  const code = i32x4.sub(i32x4.shr_u(magnitude, 13), i32x4.splat(BIAS))
  const sign = v128.and(i32x4.shr_u(v, 16), i32x4.splat(0x8000))
  return v128.or(sign, v128.andnot(code, i32x4.eq(magnitude, splat(0))))
}

/** Widens `count` numbers of a panel, a multiple of eight. */
export function widenPanel(from: usize, to: usize, count: u32, isBrain: bool): void {
  const scale = hidden(SCALE, <i32>(from & 15))
  const mask = maskOf(from, isBrain)
  for (const end = from + ((<usize>count) << 1); from < end; from += 16, to += 32) {
    const codes = v128.load(from)
    const low = lowOf(codes, isBrain, mask)
    const high = highOf(codes, isBrain, mask)
    v128.store(to, isBrain ? low : f32x4.mul(low, scale))
    v128.store(to, isBrain ? high : f32x4.mul(high, scale), 16)
  }
}

/**
 * The exponent of a power of two, 127 for 1, by which a row is scaled: it is then about 2^100 where
 * it is largest, so that no product is too small, and sums are scaled back.
 */
function exponentFor(a: usize, ka: usize, k: usize): u32 {
  let largest: u32 = 0
  for (let i: usize = 0; i < k; i++, a += ka) largest = max(largest, load<u32>(a) & 0x7fffffff)
  return max<u32>(102, min<u32>(253, 354 - (largest >> 23)))
}

/** Rows whose exponents are further apart take a scale each: one with infinity or NaN leaves the other its digits. */
const APART: u32 = 50

/** Panels lie at multiples of sixteen bytes, which hides that the mask is constant: V8 would make it in each step. */
// @ts-ignore: decorator
@inline
function maskOf(p: usize, isBrain: bool): v128 {
  return i32x4.splat((isBrain ? BRAIN_MASK : MASK) + <i32>(p & 15))
}

/** The first four of eight numbers: of float16 2^-102 of them. */
// @ts-ignore: decorator
@inline
function lowOf(codes: v128, isBrain: bool, mask: v128): v128 {
  const bits = i32x4.shl(codes, 16)
  return isBrain ? bits : v128.and(i32x4.shr_s(bits, 3), mask)
}

/** The last four. */
// @ts-ignore: decorator
@inline
function highOf(codes: v128, isBrain: bool, mask: v128): v128 {
  return v128.and(isBrain ? codes : i32x4.shr_s(codes, 3), mask)
}

/** Scales sums back and writes them, or adds them to what is there. */
// @ts-ignore: decorator
@inline
function storeScaled(c: usize, low: v128, high: v128, isBrain: bool, down: f32, add: bool): void {
  const first = isBrain ? low : f32x4.mul(low, splat(down))
  const second = isBrain ? high : f32x4.mul(high, splat(down))
  v128.store(c, add ? f32x4.add(v128.load(c), first) : first)
  v128.store(c, add ? f32x4.add(v128.load(c, 16), second) : second, 16)
}

// @ts-ignore: decorator
@inline
function oneByFour(
  a: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  isBrain: bool,
  up: f32,
  down: f32,
  add: bool
): void {
  let c00 = splat(0)
  let c01 = c00
  let c10 = c00
  let c11 = c00
  let c20 = c00
  let c21 = c00
  let c30 = c00
  let c31 = c00
  const mask = maskOf(p, isBrain)
  let p1 = p + stride
  let p2 = p1 + stride
  let p3 = p2 + stride
  for (const end = p + len; p < end; a += ka) {
    let x = v128.load32_splat(a)
    if (!isBrain) x = f32x4.mul(x, splat(up))
    let codes = v128.load(p)
    c00 = fma(c00, x, lowOf(codes, isBrain, mask))
    c01 = fma(c01, x, highOf(codes, isBrain, mask))
    codes = v128.load(p1)
    c10 = fma(c10, x, lowOf(codes, isBrain, mask))
    c11 = fma(c11, x, highOf(codes, isBrain, mask))
    codes = v128.load(p2)
    c20 = fma(c20, x, lowOf(codes, isBrain, mask))
    c21 = fma(c21, x, highOf(codes, isBrain, mask))
    codes = v128.load(p3)
    c30 = fma(c30, x, lowOf(codes, isBrain, mask))
    c31 = fma(c31, x, highOf(codes, isBrain, mask))
    p += 16
    p1 += 16
    p2 += 16
    p3 += 16
  }
  storeScaled(c, c00, c01, isBrain, down, add)
  storeScaled(c + 32, c10, c11, isBrain, down, add)
  storeScaled(c + 64, c20, c21, isBrain, down, add)
  storeScaled(c + 96, c30, c31, isBrain, down, add)
}

// @ts-ignore: decorator
@inline
function twoByTwo(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  ldc: usize,
  isBrain: bool,
  up: f32,
  down: f32,
  add: bool
): void {
  let c00 = splat(0)
  let c01 = c00
  let c10 = c00
  let c11 = c00
  let d00 = c00
  let d01 = c00
  let d10 = c00
  let d11 = c00
  const mask = maskOf(p, isBrain)
  let p1 = p + stride
  for (const end = p + len; p < end; a += ka) {
    let x = v128.load32_splat(a)
    let y = v128.load32_splat(a + lda)
    if (!isBrain) {
      x = f32x4.mul(x, splat(up))
      y = f32x4.mul(y, splat(up))
    }
    let codes = v128.load(p)
    let b = lowOf(codes, isBrain, mask)
    c00 = fma(c00, x, b)
    d00 = fma(d00, y, b)
    b = highOf(codes, isBrain, mask)
    c01 = fma(c01, x, b)
    d01 = fma(d01, y, b)
    codes = v128.load(p1)
    b = lowOf(codes, isBrain, mask)
    c10 = fma(c10, x, b)
    d10 = fma(d10, y, b)
    b = highOf(codes, isBrain, mask)
    c11 = fma(c11, x, b)
    d11 = fma(d11, y, b)
    p += 16
    p1 += 16
  }
  storeScaled(c, c00, c01, isBrain, down, add)
  storeScaled(c + 32, c10, c11, isBrain, down, add)
  storeScaled(c + ldc, d00, d01, isBrain, down, add)
  storeScaled(c + ldc + 32, d10, d11, isBrain, down, add)
}

/** Two rows by two panels, or one by four, in spans of the depth. */
function inSpans(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  k: usize,
  c: usize,
  ldc: usize,
  isPair: bool,
  isBrain: bool,
  up: f32,
  down: f32
): void {
  const stride = k << 4
  // At least once, so that C is written where k is 0, too.
  for (let from: usize = 0; from < k || from == 0; from += SPAN, a += SPAN * ka, p += SPAN << 4) {
    const len = min(k - from, SPAN) << 4
    const add = from > 0
    if (isPair) {
      if (isBrain) twoByTwo(a, lda, ka, p, stride, len, c, ldc, true, 1, 1, add)
      else twoByTwo(a, lda, ka, p, stride, len, c, ldc, false, up, down, add)
    } else if (isBrain) oneByFour(a, ka, p, stride, len, c, true, 1, 1, add)
    else oneByFour(a, ka, p, stride, len, c, false, up, down, add)
  }
}

/**
 * One to four rows of A, elements `ka` bytes apart, by panels of `k` times eight 16-bit floats.
 * @returns the panels that are done; fewer are left than are taken together
 */
export function rowsByHalves(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  c: usize,
  ldc: usize,
  rows: u32,
  panels: u32,
  k: usize,
  isBrain: bool
): u32 {
  const len = k << 4
  panels &= ~3
  for (let left = rows, taken: u32 = 0; left > 0; left -= taken, a += lda * taken, c += ldc * taken) {
    taken = min<u32>(left, 2)
    let exponent: u32 = 127
    if (!isBrain) {
      exponent = exponentFor(a, ka, k)
      const other = taken > 1 ? exponentFor(a + lda, ka, k) : exponent
      if (max(exponent, other) - min(exponent, other) > APART) taken = 1
      else exponent = min(exponent, other)
    }
    const isPair = taken > 1
    const up = reinterpret<f32>(exponent << 23)
    const down = reinterpret<f32>((356 - exponent) << 23)
    for (let done: u32 = 0; done < panels; done += isPair ? 2 : 4)
      inSpans(a, lda, ka, p + done * len, k, c + (done << 5), ldc, isPair, isBrain, up, down)
  }
  return panels
}
