import { DOT_STRIP, spreadRow, STEP, storeRow } from './dots'

/** Bytes of a strip: six rows of weights, [ceil(k / 4)][6][4], and their sums in int32 behind them. */
// @ts-ignore: decorator
@inline
export function dotStripBytes(k: u32): usize {
  return <usize>((k + 3) >> 2) * STEP + ((<usize>DOT_STRIP) << 2)
}

/**
 * Writes up to six rows of k bytes, which lie behind each other, as codes of int8 into a strip. Rows that there are not
 * are 0.
 * @param flip 128 for uint8, which turns a code into the int8 code that is smaller by 128; else 0
 */
export function packDotStrip(w: usize, k: u32, rows: u32, flip: u32, to: usize): void {
  const sums = to + dotStripBytes(k) - ((<usize>DOT_STRIP) << 2)
  if (rows < DOT_STRIP) memory.fill(to, 0, dotStripBytes(k))
  for (let r: u32 = 0; r < rows; r++, w += k) store<i32>(sums + (r << 2), spreadRow(w, 1, k, flip, true, to + (r << 2)))
}

/**
 * A strip by a panel of eight positions, [ceil(k / 4)][8][4]; the sums of products with what is in the panel less a
 * zero point go to `c`, eight a row.
 * @param end where the panel ends
 */
export function dotStripByPanel(a: usize, p: usize, end: usize, zero: i32, c: usize): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return
  const sums = a + ((end - p) >> 5) * STEP
  const none = i32x4.splat(0)
  let c00 = none
  let c01 = none
  let c10 = none
  let c11 = none
  let c20 = none
  let c21 = none
  let c30 = none
  let c31 = none
  let c40 = none
  let c41 = none
  let c50 = none
  let c51 = none
  if (zero != 0) {
    const factor = i32x4.splat(-zero)
    c00 = i32x4.mul(factor, v128.load32_splat(sums))
    c01 = c00
    c10 = i32x4.mul(factor, v128.load32_splat(sums, 4))
    c11 = c10
    c20 = i32x4.mul(factor, v128.load32_splat(sums, 8))
    c21 = c20
    c30 = i32x4.mul(factor, v128.load32_splat(sums, 12))
    c31 = c30
    c40 = i32x4.mul(factor, v128.load32_splat(sums, 16))
    c41 = c40
    c50 = i32x4.mul(factor, v128.load32_splat(sums, 20))
    c51 = c50
  }
  for (; p < end; p += 32, a += STEP) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c00)
    c01 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c01)
    x = v128.load32_splat(a, 4)
    c10 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c10)
    c11 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c11)
    x = v128.load32_splat(a, 8)
    c20 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c20)
    c21 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c21)
    x = v128.load32_splat(a, 12)
    c30 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c30)
    c31 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c31)
    x = v128.load32_splat(a, 16)
    c40 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c40)
    c41 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c41)
    x = v128.load32_splat(a, 20)
    c50 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b0, c50)
    c51 = i32x4.relaxed_dot_i8x16_i7x16_add_s(x, b1, c51)
  }
  storeRow(c, c00, c01)
  storeRow(c + 32, c10, c11)
  storeRow(c + 64, c20, c21)
  storeRow(c + 96, c30, c31)
  storeRow(c + 128, c40, c41)
  storeRow(c + 160, c50, c51)
}

/**
 * {@link dotStripByPanel} for the first four positions of a panel; the sums of the others become 0. Even and odd steps
 * are apart, as six sums alone would wait for each other.
 */
export function dotStripByHalf(a: usize, p: usize, end: usize, zero: i32, c: usize): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return
  const sums = a + ((end - p) >> 5) * STEP
  const factor = i32x4.splat(-zero)
  let c0 = i32x4.mul(factor, v128.load32_splat(sums))
  let c1 = i32x4.mul(factor, v128.load32_splat(sums, 4))
  let c2 = i32x4.mul(factor, v128.load32_splat(sums, 8))
  let c3 = i32x4.mul(factor, v128.load32_splat(sums, 12))
  let c4 = i32x4.mul(factor, v128.load32_splat(sums, 16))
  let c5 = i32x4.mul(factor, v128.load32_splat(sums, 20))
  const none = i32x4.splat(0)
  let d0 = none
  let d1 = none
  let d2 = none
  let d3 = none
  let d4 = none
  let d5 = none
  for (; p + 32 < end; p += 64, a += 2 * STEP) {
    const even = v128.load(p)
    const odd = v128.load(p, 32)
    c0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a), even, c0)
    d0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP), odd, d0)
    c1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 4), even, c1)
    d1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP + 4), odd, d1)
    c2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 8), even, c2)
    d2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP + 8), odd, d2)
    c3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 12), even, c3)
    d3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP + 12), odd, d3)
    c4 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 16), even, c4)
    d4 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP + 16), odd, d4)
    c5 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 20), even, c5)
    d5 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, STEP + 20), odd, d5)
  }
  if (p < end) {
    const even = v128.load(p)
    c0 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a), even, c0)
    c1 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 4), even, c1)
    c2 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 8), even, c2)
    c3 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 12), even, c3)
    c4 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 16), even, c4)
    c5 = i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load32_splat(a, 20), even, c5)
  }
  storeRow(c, i32x4.add(c0, d0), none)
  storeRow(c + 32, i32x4.add(c1, d1), none)
  storeRow(c + 64, i32x4.add(c2, d2), none)
  storeRow(c + 96, i32x4.add(c3, d3), none)
  storeRow(c + 128, i32x4.add(c4, d4), none)
  storeRow(c + 160, i32x4.add(c5, d5), none)
}
