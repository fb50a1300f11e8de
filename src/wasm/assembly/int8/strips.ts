import { storeTransposed } from '../transpose4'
import { codeIn } from './code'

/** Bytes of a strip: four rows of weights as pairs of int16, [ceil(k / 2)][4][2]. */
// @ts-ignore: decorator
@inline
export function stripBytes(k: u32): usize {
  return (<usize>((k + 1) >> 1)) << 4
}

/** The zero point of a row, of a list in int32; without a list it is 0. */
// @ts-ignore: decorator
@inline
export function zeroOfRow(zeros: usize, row: u32): i32 {
  return zeros == 0 ? 0 : load<i32>(zeros + ((<usize>row) << 2))
}

/**
 * Writes up to four rows of k bytes, which lie behind each other, less their zero points into a strip. Rows that there
 * are not, and a last column without a partner, are 0.
 * @param zeros of the rows, as {@link zeroOfRow} takes them
 */
export function packByteStrip(w: usize, k: u32, rows: u32, isSigned: bool, zeros: usize, to: usize): void {
  if (rows < 4 || (k & 1) != 0) memory.fill(to, 0, stripBytes(k))
  for (let r: u32 = 0; r < rows; r++, w += k, to += 4) {
    const zero = zeroOfRow(zeros, r)
    const point = i16x8.splat(<i16>zero)
    let at = to
    let i: u32 = 0
    for (; i + 8 <= k; i += 8, at += 64) {
      const pairs = i16x8.sub(isSigned ? v128.load8x8_s(w + i) : v128.load8x8_u(w + i), point)
      v128.store32_lane(at, pairs, 0)
      v128.store32_lane(at + 16, pairs, 1)
      v128.store32_lane(at + 32, pairs, 2)
      v128.store32_lane(at + 48, pairs, 3)
    }
    for (; i < k; i++) {
      const code = codeIn(w + i, isSigned)
      store<i16>(to + ((<usize>(i >> 1)) << 4) + ((i & 1) << 1), <i16>(code - zero))
    }
  }
}

/**
 * Writes up to four rows of k bytes less a zero point into a strip, as {@link packByteStrip} does.
 * @param rowStep from row to row, and `step` from element to element of a row, in bytes
 */
export function widenStrip(
  w: usize,
  rowStep: usize,
  step: usize,
  rows: u32,
  k: u32,
  isSigned: bool,
  zero: i32,
  to: usize
): void {
  let i: u32 = 0
  if (rows == 4 && step == 1) {
    const point = i16x8.splat(<i16>zero)
    const w1 = w + rowStep
    const w2 = w1 + rowStep
    const w3 = w2 + rowStep
    for (; i + 8 <= k; i += 8, to += 64) {
      const a = i16x8.sub(isSigned ? v128.load8x8_s(w + i) : v128.load8x8_u(w + i), point)
      const b = i16x8.sub(isSigned ? v128.load8x8_s(w1 + i) : v128.load8x8_u(w1 + i), point)
      const c = i16x8.sub(isSigned ? v128.load8x8_s(w2 + i) : v128.load8x8_u(w2 + i), point)
      const d = i16x8.sub(isSigned ? v128.load8x8_s(w3 + i) : v128.load8x8_u(w3 + i), point)
      storeTransposed(a, b, c, d, to, 16)
    }
  }
  for (; i < k; i += 2, to += 16) {
    v128.store(to, i64x2.splat(0))
    for (let r: u32 = 0; r < rows; r++) {
      const at = w + r * rowStep + i * step
      store<i16>(to + (r << 2), <i16>(codeIn(at, isSigned) - zero))
      if (i + 1 < k) store<i16>(to + (r << 2), <i16>(codeIn(at + step, isSigned) - zero), 2)
    }
  }
}

/** The sums of the four rows of a strip. */
// @ts-ignore: decorator
@inline
export function sumsOfStrip(strip: usize, end: usize): v128 {
  const ones = i16x8.splat(1)
  let sums = i32x4.splat(0)
  for (; strip < end; strip += 16) sums = i32x4.add(sums, i32x4.dot_i16x8_s(v128.load(strip), ones))
  return sums
}

/**
 * A strip by a panel of eight columns, [ceil(k / 2)][8][2] in int16. The sums, which wrap, go to `c`, eight a row. Sums
 * that begin with what is in memory, and two pairs of rows a turn, take longer: V8 then runs out of registers.
 * @param end where the panel ends
 */
export function stripByPanel(a: usize, p: usize, end: usize, c: usize): void {
  let c00 = i32x4.splat(0)
  let c01 = c00
  let c10 = c00
  let c11 = c00
  let c20 = c00
  let c21 = c00
  let c30 = c00
  let c31 = c00
  for (; p < end; p += 32, a += 16) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = i32x4.add(i32x4.dot_i16x8_s(b0, x), c00)
    c01 = i32x4.add(i32x4.dot_i16x8_s(b1, x), c01)
    x = v128.load32_splat(a, 4)
    c10 = i32x4.add(i32x4.dot_i16x8_s(b0, x), c10)
    c11 = i32x4.add(i32x4.dot_i16x8_s(b1, x), c11)
    x = v128.load32_splat(a, 8)
    c20 = i32x4.add(i32x4.dot_i16x8_s(b0, x), c20)
    c21 = i32x4.add(i32x4.dot_i16x8_s(b1, x), c21)
    x = v128.load32_splat(a, 12)
    c30 = i32x4.add(i32x4.dot_i16x8_s(b0, x), c30)
    c31 = i32x4.add(i32x4.dot_i16x8_s(b1, x), c31)
  }
  v128.store(c, c00)
  v128.store(c, c01, 16)
  v128.store(c, c10, 32)
  v128.store(c, c11, 48)
  v128.store(c, c20, 64)
  v128.store(c, c21, 80)
  v128.store(c, c30, 96)
  v128.store(c, c31, 112)
}

/** Bytes of the sums of a strip by a panel. */
export const STRIP_SUMS: usize = 128

/**
 * Strips that lie `step` bytes apart by a panel of `bytes`; the sums go to `c`, those of a strip behind each other.
 * @param sums memory for the sums of a strip where sums are added to what is in `c`; 0: they are written
 */
export function stripsByPanel(
  a: usize,
  step: usize,
  strips: usize,
  p: usize,
  bytes: usize,
  c: usize,
  sums: usize
): void {
  const end = p + bytes
  for (const last = c + strips * STRIP_SUMS; c < last; c += STRIP_SUMS, a += step) {
    if (sums == 0) {
      stripByPanel(a, p, end, c)
      continue
    }
    stripByPanel(a, p, end, sums)
    for (let i: usize = 0; i < STRIP_SUMS; i += 16) v128.store(c + i, i32x4.add(v128.load(c + i), v128.load(sums + i)))
  }
}
