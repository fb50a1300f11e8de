import { fma, splat } from './simd'

/**
 * Micro-kernels of C = A B: up to four rows of A by one panel of B, `k` deep. A panel is eight columns of B, [k][8].
 * Rows of A are `lda` bytes apart and elements of a row `ka` bytes, so that both plain rows (4) and strips of four rows
 * (16, lda 4) are read.
 * @param add whether to add to what is in C
 */
// @ts-ignore: decorator
@inline
function tile4(a: usize, lda: usize, ka: usize, p: usize, c: usize, ldc: usize, k: usize, add: bool): void {
  let a1 = a + lda
  let a2 = a1 + lda
  let a3 = a2 + lda
  const c1 = c + ldc
  const c2 = c1 + ldc
  const c3 = c2 + ldc
  let c00 = splat(0)
  let c01 = c00
  let c10 = c00
  let c11 = c00
  let c20 = c00
  let c21 = c00
  let c30 = c00
  let c31 = c00
  if (add) {
    c00 = v128.load(c)
    c01 = v128.load(c, 16)
    c10 = v128.load(c1)
    c11 = v128.load(c1, 16)
    c20 = v128.load(c2)
    c21 = v128.load(c2, 16)
    c30 = v128.load(c3)
    c31 = v128.load(c3, 16)
  }
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
    a += ka
    a1 += ka
    a2 += ka
    a3 += ka
  }
  v128.store(c, c00)
  v128.store(c, c01, 16)
  v128.store(c1, c10)
  v128.store(c1, c11, 16)
  v128.store(c2, c20)
  v128.store(c2, c21, 16)
  v128.store(c3, c30)
  v128.store(c3, c31, 16)
}

// @ts-ignore: decorator
@inline
function tile1(a: usize, ka: usize, p: usize, c: usize, k: usize, add: bool): void {
  let c0 = splat(0)
  let c1 = c0
  let d0 = c0
  let d1 = c0
  if (add) {
    c0 = v128.load(c)
    c1 = v128.load(c, 16)
  }
  // Two sums, so that an addition need not wait for the one before.
  for (const end = p + ((k & ~1) << 5); p < end; p += 64) {
    let x = v128.load32_splat(a)
    c0 = fma(c0, x, v128.load(p))
    c1 = fma(c1, x, v128.load(p, 16))
    x = v128.load32_splat(a + ka)
    d0 = fma(d0, x, v128.load(p, 32))
    d1 = fma(d1, x, v128.load(p, 48))
    a += ka << 1
  }
  if (k & 1) {
    const x = v128.load32_splat(a)
    c0 = fma(c0, x, v128.load(p))
    c1 = fma(c1, x, v128.load(p, 16))
  }
  v128.store(c, f32x4.add(c0, d0))
  v128.store(c, f32x4.add(c1, d1), 16)
}

/**
 * `rows` rows of A by one panel into C, whose first `cols` columns (1 to 8) are written. Four rows of A are `strip`
 * bytes before the next four.
 * @param edge 128 bytes of scratch memory, where C ends within the panel
 */
export function rowsByPanel(
  a: usize,
  lda: usize,
  ka: usize,
  strip: usize,
  p: usize,
  c: usize,
  ldc: usize,
  rows: u32,
  cols: u32,
  k: usize,
  add: bool,
  edge: usize
): void {
  const isEdge = cols < 8
  for (let m: u32 = 0; m < rows; m += 4) {
    const left = min<u32>(4, rows - m)
    let to = c
    let step = ldc
    if (isEdge) {
      to = edge
      step = 32
      if (add) for (let i: u32 = 0; i < left; i++) memory.copy(edge + (i << 5), c + i * ldc, cols << 2)
    }
    if (left == 4) {
      if (ka == 4) tile4(a, lda, 4, p, to, step, k, add)
      else if (ka == 16 && lda == 4) tile4(a, 4, 16, p, to, step, k, add)
      else tile4(a, lda, ka, p, to, step, k, add)
    } else for (let i: u32 = 0; i < left; i++) tile1(a + i * lda, ka, p, to + i * step, k, add)
    if (isEdge) for (let i: u32 = 0; i < left; i++) memory.copy(c + i * ldc, edge + (i << 5), cols << 2)
    a += strip
    c += ldc << 2
  }
}
