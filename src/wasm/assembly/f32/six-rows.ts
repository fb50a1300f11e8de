import { clip, fma, splat } from './simd'

// @ts-ignore: decorator
@inline
function startOf(bias: usize, row: usize): v128 {
  return bias == 0 ? splat(0) : v128.load32_splat(bias + (row << 2))
}

/**
 * Six rows by one panel, for the relaxed module: with a fused multiply-add it takes 0.85 of the time of tiles of four
 * rows. Without one it takes longer than they do, since engines run out of registers.
 * @param strip bytes from four rows of A to the next four, of which these begin with row `half` (0 or 2)
 * @param add whether to add to what is in C
 * @param bias a number for each row, with which the sums begin; 0: none
 * @param residual what is added to the sums, laid out as C; 0: nothing
 * @param clips whether to keep the sums between `low` and `high` at last
 */
// @ts-ignore: decorator
@inline
function tile6(
  a: usize,
  lda: usize,
  ka: usize,
  strip: usize,
  half: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32
): void {
  a += half * lda
  let a1 = a + lda
  let a2 = half == 0 ? a1 + lda : a + strip - half * lda
  let a3 = a2 + lda
  let a4 = half == 0 ? a + strip : a3 + lda
  let a5 = a4 + lda
  const c1 = c + ldc
  const c2 = c1 + ldc
  const c3 = c2 + ldc
  const c4 = c3 + ldc
  const c5 = c4 + ldc
  let c00 = startOf(bias, 0)
  let c01 = c00
  let c10 = startOf(bias, 1)
  let c11 = c10
  let c20 = startOf(bias, 2)
  let c21 = c20
  let c30 = startOf(bias, 3)
  let c31 = c30
  let c40 = startOf(bias, 4)
  let c41 = c40
  let c50 = startOf(bias, 5)
  let c51 = c50
  for (const end = p + (k << 5); p < end; p += 32) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = fma(c00, x, b0)
    c01 = fma(c01, x, b1)
    x = v128.load32_splat(a1)
    c10 = fma(c10, x, b0)
    c11 = fma(c11, x, b1)
    x = v128.load32_splat(a2)
    c20 = fma(c20, x, b0)
    c21 = fma(c21, x, b1)
    x = v128.load32_splat(a3)
    c30 = fma(c30, x, b0)
    c31 = fma(c31, x, b1)
    x = v128.load32_splat(a4)
    c40 = fma(c40, x, b0)
    c41 = fma(c41, x, b1)
    x = v128.load32_splat(a5)
    c50 = fma(c50, x, b0)
    c51 = fma(c51, x, b1)
    a += ka
    a1 += ka
    a2 += ka
    a3 += ka
    a4 += ka
    a5 += ka
  }
  if (add) {
    c00 = f32x4.add(v128.load(c), c00)
    c01 = f32x4.add(v128.load(c, 16), c01)
    c10 = f32x4.add(v128.load(c1), c10)
    c11 = f32x4.add(v128.load(c1, 16), c11)
    c20 = f32x4.add(v128.load(c2), c20)
    c21 = f32x4.add(v128.load(c2, 16), c21)
    c30 = f32x4.add(v128.load(c3), c30)
    c31 = f32x4.add(v128.load(c3, 16), c31)
    c40 = f32x4.add(v128.load(c4), c40)
    c41 = f32x4.add(v128.load(c4, 16), c41)
    c50 = f32x4.add(v128.load(c5), c50)
    c51 = f32x4.add(v128.load(c5, 16), c51)
  }
  if (residual != 0) {
    c00 = f32x4.add(v128.load(residual), c00)
    c01 = f32x4.add(v128.load(residual, 16), c01)
    residual += ldc
    c10 = f32x4.add(v128.load(residual), c10)
    c11 = f32x4.add(v128.load(residual, 16), c11)
    residual += ldc
    c20 = f32x4.add(v128.load(residual), c20)
    c21 = f32x4.add(v128.load(residual, 16), c21)
    residual += ldc
    c30 = f32x4.add(v128.load(residual), c30)
    c31 = f32x4.add(v128.load(residual, 16), c31)
    residual += ldc
    c40 = f32x4.add(v128.load(residual), c40)
    c41 = f32x4.add(v128.load(residual, 16), c41)
    residual += ldc
    c50 = f32x4.add(v128.load(residual), c50)
    c51 = f32x4.add(v128.load(residual, 16), c51)
  }
  if (clips) {
    const least = splat(low)
    const most = splat(high)
    c00 = clip(c00, least, most)
    c01 = clip(c01, least, most)
    c10 = clip(c10, least, most)
    c11 = clip(c11, least, most)
    c20 = clip(c20, least, most)
    c21 = clip(c21, least, most)
    c30 = clip(c30, least, most)
    c31 = clip(c31, least, most)
    c40 = clip(c40, least, most)
    c41 = clip(c41, least, most)
    c50 = clip(c50, least, most)
    c51 = clip(c51, least, most)
  }
  v128.store(c, c00)
  v128.store(c, c01, 16)
  v128.store(c1, c10)
  v128.store(c1, c11, 16)
  v128.store(c2, c20)
  v128.store(c2, c21, 16)
  v128.store(c3, c30)
  v128.store(c3, c31, 16)
  v128.store(c4, c40)
  v128.store(c4, c41, 16)
  v128.store(c5, c50)
  v128.store(c5, c51, 16)
}

/** {@link tile6} with the steps of plain rows and of strips as constants. */
export function sixRows(
  a: usize,
  lda: usize,
  ka: usize,
  strip: usize,
  half: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize,
  add: bool
): void {
  if (ka == 4) tile6(a, lda, 4, strip, half, p, c, ldc, k, add, 0, 0, false, 0, 0)
  else if (ka == 16) tile6(a, lda, 16, strip, half, p, c, ldc, k, add, 0, 0, false, 0, 0)
  else tile6(a, lda, ka, strip, half, p, c, ldc, k, add, 0, 0, false, 0, 0)
}

/**
 * {@link tile6} for strips of four output channels, with all that is done to its sums before they are stored.
 */
export function sixChannels(
  w: usize,
  strip: usize,
  half: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32
): void {
  tile6(w, 4, 16, strip, half, p, c, ldc, k, add, bias, residual, clips, low, high)
}
