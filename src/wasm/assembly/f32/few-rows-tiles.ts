import { fma, splat } from './simd'

/* One to three rows by a few panels, whose sums stay in registers; few-rows.ts puts them together. */

/** Bytes of two of four streams that are read before the other two. */
const BURST: usize = 256

/** What a sum begins with. */
// @ts-ignore: decorator
@inline
function start(c: usize, add: bool): v128 {
  return add ? v128.load(c) : splat(0)
}

// @ts-ignore: decorator
@inline
function store8(c: usize, low: v128, high: v128): void {
  v128.store(c, low)
  v128.store(c, high, 16)
}

/**
 * Writes the sums of eight columns, or adds them to what is there. Behind a loop of twelve sums this costs registers.
 */
// @ts-ignore: decorator
@inline
export function add8(c: usize, low: v128, high: v128, add: bool): void {
  store8(c, add ? f32x4.add(v128.load(c), low) : low, add ? f32x4.add(v128.load(c, 16), high) : high)
}

/**
 * One row by four panels of `len` bytes, `stride` bytes apart; their columns are `cStride` bytes apart. Where
 * products are rounded apart, two panels take turns with the other two: V8 makes one step of two of a loop of eight
 * sums, for which Node 20 has too few registers (38 GB/s from caches, not 62).
 */
export function oneByFour(
  a: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  cStride: usize,
  add: bool
): void {
  const c1 = c + cStride
  const c2 = c1 + cStride
  const c3 = c2 + cStride
  let c00 = splat(0)
  let c01 = splat(0)
  let c10 = splat(0)
  let c11 = splat(0)
  let c20 = splat(0)
  let c21 = splat(0)
  let c30 = splat(0)
  let c31 = splat(0)
  let p1 = p + stride
  let p2 = p1 + stride
  let p3 = p2 + stride
  const end = p + len
  if (ASC_FEATURE_RELAXED_SIMD)
    for (; p < end; p += 32, p1 += 32, p2 += 32, p3 += 32, a += ka) {
      const v = v128.load32_splat(a)
      c00 = fma(c00, v, v128.load(p))
      c01 = fma(c01, v, v128.load(p, 16))
      c10 = fma(c10, v, v128.load(p1))
      c11 = fma(c11, v, v128.load(p1, 16))
      c20 = fma(c20, v, v128.load(p2))
      c21 = fma(c21, v, v128.load(p2, 16))
      c30 = fma(c30, v, v128.load(p3))
      c31 = fma(c31, v, v128.load(p3, 16))
    }
  while (p < end) {
    const bytes = min(BURST, end - p)
    let x = a
    for (const stop = p + bytes; p < stop; p += 32, p1 += 32, x += ka) {
      const v = v128.load32_splat(x)
      c00 = fma(c00, v, v128.load(p))
      c01 = fma(c01, v, v128.load(p, 16))
      c10 = fma(c10, v, v128.load(p1))
      c11 = fma(c11, v, v128.load(p1, 16))
    }
    for (const stop = p2 + bytes; p2 < stop; p2 += 32, p3 += 32, a += ka) {
      const v = v128.load32_splat(a)
      c20 = fma(c20, v, v128.load(p2))
      c21 = fma(c21, v, v128.load(p2, 16))
      c30 = fma(c30, v, v128.load(p3))
      c31 = fma(c31, v, v128.load(p3, 16))
    }
  }
  add8(c, c00, c01, add)
  add8(c1, c10, c11, add)
  add8(c2, c20, c21, add)
  add8(c3, c30, c31, add)
}

/** One row by six panels of `len` bytes, `stride` bytes apart; their columns are `cStride` bytes apart. */
export function oneBySix(
  a: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  cStride: usize,
  add: bool
): void {
  const c1 = c + cStride
  const c2 = c1 + cStride
  const c3 = c2 + cStride
  const c4 = c3 + cStride
  const c5 = c4 + cStride
  let c00 = start(c, add)
  let c01 = start(c + 16, add)
  let c10 = start(c1, add)
  let c11 = start(c1 + 16, add)
  let c20 = start(c2, add)
  let c21 = start(c2 + 16, add)
  let c30 = start(c3, add)
  let c31 = start(c3 + 16, add)
  let c40 = start(c4, add)
  let c41 = start(c4 + 16, add)
  let c50 = start(c5, add)
  let c51 = start(c5 + 16, add)
  let p1 = p + stride
  let p2 = p1 + stride
  let p3 = p2 + stride
  let p4 = p3 + stride
  let p5 = p4 + stride
  for (const end = p + len; p < end; a += ka) {
    const x = v128.load32_splat(a)
    c00 = fma(c00, x, v128.load(p))
    c01 = fma(c01, x, v128.load(p, 16))
    c10 = fma(c10, x, v128.load(p1))
    c11 = fma(c11, x, v128.load(p1, 16))
    c20 = fma(c20, x, v128.load(p2))
    c21 = fma(c21, x, v128.load(p2, 16))
    c30 = fma(c30, x, v128.load(p3))
    c31 = fma(c31, x, v128.load(p3, 16))
    c40 = fma(c40, x, v128.load(p4))
    c41 = fma(c41, x, v128.load(p4, 16))
    c50 = fma(c50, x, v128.load(p5))
    c51 = fma(c51, x, v128.load(p5, 16))
    p += 32
    p1 += 32
    p2 += 32
    p3 += 32
    p4 += 32
    p5 += 32
  }
  store8(c, c00, c01)
  store8(c1, c10, c11)
  store8(c2, c20, c21)
  store8(c3, c30, c31)
  store8(c4, c40, c41)
  store8(c5, c50, c51)
}

/** Two rows by two panels, `stride` bytes apart. */
export function twoByTwo(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  ldc: usize,
  cStride: usize,
  add: bool
): void {
  const c1 = c + cStride
  let c00 = start(c, add)
  let c01 = start(c + 16, add)
  let c10 = start(c1, add)
  let c11 = start(c1 + 16, add)
  let d00 = start(c + ldc, add)
  let d01 = start(c + ldc + 16, add)
  let d10 = start(c1 + ldc, add)
  let d11 = start(c1 + ldc + 16, add)
  let q = p + stride
  for (const end = p + len; p < end; a += ka) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    const b2 = v128.load(q)
    const b3 = v128.load(q, 16)
    const x = v128.load32_splat(a)
    c00 = fma(c00, x, b0)
    c01 = fma(c01, x, b1)
    c10 = fma(c10, x, b2)
    c11 = fma(c11, x, b3)
    const y = v128.load32_splat(a + lda)
    d00 = fma(d00, y, b0)
    d01 = fma(d01, y, b1)
    d10 = fma(d10, y, b2)
    d11 = fma(d11, y, b3)
    p += 32
    q += 32
  }
  store8(c, c00, c01)
  store8(c1, c10, c11)
  store8(c + ldc, d00, d01)
  store8(c1 + ldc, d10, d11)
}

/** Two rows by three panels, `stride` bytes apart. */
export function twoByThree(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  ldc: usize,
  cStride: usize,
  add: bool
): void {
  const c1 = c + cStride
  const c2 = c1 + cStride
  let c00 = start(c, add)
  let c01 = start(c + 16, add)
  let c10 = start(c1, add)
  let c11 = start(c1 + 16, add)
  let c20 = start(c2, add)
  let c21 = start(c2 + 16, add)
  let d00 = start(c + ldc, add)
  let d01 = start(c + ldc + 16, add)
  let d10 = start(c1 + ldc, add)
  let d11 = start(c1 + ldc + 16, add)
  let d20 = start(c2 + ldc, add)
  let d21 = start(c2 + ldc + 16, add)
  let p1 = p + stride
  let p2 = p1 + stride
  for (const end = p + len; p < end; a += ka) {
    const x = v128.load32_splat(a)
    const y = v128.load32_splat(a + lda)
    let b = v128.load(p)
    c00 = fma(c00, x, b)
    d00 = fma(d00, y, b)
    b = v128.load(p, 16)
    c01 = fma(c01, x, b)
    d01 = fma(d01, y, b)
    b = v128.load(p1)
    c10 = fma(c10, x, b)
    d10 = fma(d10, y, b)
    b = v128.load(p1, 16)
    c11 = fma(c11, x, b)
    d11 = fma(d11, y, b)
    b = v128.load(p2)
    c20 = fma(c20, x, b)
    d20 = fma(d20, y, b)
    b = v128.load(p2, 16)
    c21 = fma(c21, x, b)
    d21 = fma(d21, y, b)
    p += 32
    p1 += 32
    p2 += 32
  }
  store8(c, c00, c01)
  store8(c1, c10, c11)
  store8(c2, c20, c21)
  store8(c + ldc, d00, d01)
  store8(c1 + ldc, d10, d11)
  store8(c2 + ldc, d20, d21)
}

/** Three rows by two panels, `stride` bytes apart. */
export function threeByTwo(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  ldc: usize,
  cStride: usize,
  add: bool
): void {
  const c1 = c + cStride
  let c00 = start(c, add)
  let c01 = start(c + 16, add)
  let c10 = start(c1, add)
  let c11 = start(c1 + 16, add)
  let d00 = start(c + ldc, add)
  let d01 = start(c + ldc + 16, add)
  let d10 = start(c1 + ldc, add)
  let d11 = start(c1 + ldc + 16, add)
  let e00 = start(c + 2 * ldc, add)
  let e01 = start(c + 2 * ldc + 16, add)
  let e10 = start(c1 + 2 * ldc, add)
  let e11 = start(c1 + 2 * ldc + 16, add)
  let q = p + stride
  for (const end = p + len; p < end; a += ka) {
    const x = v128.load32_splat(a)
    const y = v128.load32_splat(a + lda)
    const z = v128.load32_splat(a + 2 * lda)
    let b = v128.load(p)
    c00 = fma(c00, x, b)
    d00 = fma(d00, y, b)
    e00 = fma(e00, z, b)
    b = v128.load(p, 16)
    c01 = fma(c01, x, b)
    d01 = fma(d01, y, b)
    e01 = fma(e01, z, b)
    b = v128.load(q)
    c10 = fma(c10, x, b)
    d10 = fma(d10, y, b)
    e10 = fma(e10, z, b)
    b = v128.load(q, 16)
    c11 = fma(c11, x, b)
    d11 = fma(d11, y, b)
    e11 = fma(e11, z, b)
    p += 32
    q += 32
  }
  store8(c, c00, c01)
  store8(c1, c10, c11)
  store8(c + ldc, d00, d01)
  store8(c1 + ldc, d10, d11)
  store8(c + 2 * ldc, e00, e01)
  store8(c1 + 2 * ldc, e10, e11)
}
