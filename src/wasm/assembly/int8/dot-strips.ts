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
  let c00 = i32x4.splat(-zero * load<i32>(sums))
  let c01 = c00
  let c10 = i32x4.splat(-zero * load<i32>(sums, 4))
  let c11 = c10
  let c20 = i32x4.splat(-zero * load<i32>(sums, 8))
  let c21 = c20
  let c30 = i32x4.splat(-zero * load<i32>(sums, 12))
  let c31 = c30
  let c40 = i32x4.splat(-zero * load<i32>(sums, 16))
  let c41 = c40
  let c50 = i32x4.splat(-zero * load<i32>(sums, 20))
  let c51 = c50
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
