import { isEarlyV8 } from '../engine'
import { fma, splat } from './simd'
import { addSixOfStrips, addStripsOfTile, rowsOfTile, sixOfStrips } from './tiles'

/** Bytes of scratch memory that a product of panels needs for sums which are added to C, or end within a panel. */
export const EDGE: usize = 192

/** Depth of a sum of products. Sums of spans are added up, so that rounding errors grow with the depth of a span. */
export const SPAN: usize = 256

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

/** The product comes first, so that V8 adds it before it makes the next one, and has enough registers. */
// @ts-ignore: decorator
@inline
function madd(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(b, a), c)
}

/**
 * A strip of four rows of A, [k][4], by one panel of B into C; `k` is even. Two steps a turn and one address for each
 * factor take 0.85 of the time of {@link tile4} where multiply-add is not fused. Four steps, and anything but stores
 * behind the loop, take longer: V8 then runs out of registers.
 */
// @ts-ignore: decorator
@inline
function stripTile(a: usize, p: usize, c: usize, ldc: usize, k: usize): void {
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
  for (const end = p + (k << 5); p < end; p += 64) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = madd(c00, x, b0)
    c01 = madd(c01, x, b1)
    x = v128.load32_splat(a, 4)
    c10 = madd(c10, x, b0)
    c11 = madd(c11, x, b1)
    x = v128.load32_splat(a, 8)
    c20 = madd(c20, x, b0)
    c21 = madd(c21, x, b1)
    x = v128.load32_splat(a, 12)
    c30 = madd(c30, x, b0)
    c31 = madd(c31, x, b1)
    const d0 = v128.load(p, 32)
    const d1 = v128.load(p, 48)
    x = v128.load32_splat(a, 16)
    c00 = madd(c00, x, d0)
    c01 = madd(c01, x, d1)
    x = v128.load32_splat(a, 20)
    c10 = madd(c10, x, d0)
    c11 = madd(c11, x, d1)
    x = v128.load32_splat(a, 24)
    c20 = madd(c20, x, d0)
    c21 = madd(c21, x, d1)
    x = v128.load32_splat(a, 28)
    c30 = madd(c30, x, d0)
    c31 = madd(c31, x, d1)
    a += 32
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

/** {@link stripTile} of any depth. */
export function stripByPanel(a: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  const even = k & ~1
  stripTile(a, p, c, ldc, even)
  if (k & 1) tile4(a + (even << 4), 4, 16, p + (even << 5), c, ldc, 1, true)
}

/** Writes the first `cols` of eight columns of some rows, or adds them to what is there. */
export function placeColumns(edge: usize, c: usize, ldc: usize, rows: u32, cols: u32, add: bool): void {
  for (let i: u32 = 0; i < rows; i++, edge += 32, c += ldc) {
    if (!add) memory.copy(c, edge, cols << 2)
    else if (cols == 8) {
      v128.store(c, f32x4.add(v128.load(c), v128.load(edge)))
      v128.store(c, f32x4.add(v128.load(c, 16), v128.load(edge, 16)), 16)
    } else
      for (let at: usize = 0; at < (<usize>cols) << 2; at += 4)
        f32.store(c + at, f32.load(c + at) + f32.load(edge + at))
  }
}

/**
 * Adds a strip of A by a panel of B to C. The sum of the products is made by itself, so that rounding errors grow with
 * the depth of such a sum, not with that of the whole product.
 * @param edge {@link EDGE} bytes of scratch memory
 */
// @ts-ignore: decorator
@inline
export function addStripByPanel(a: usize, p: usize, c: usize, ldc: usize, k: usize, edge: usize): void {
  stripByPanel(a, p, edge, 32, k)
  placeColumns(edge, c, ldc, 4, 8, true)
}

// @ts-ignore: decorator
@inline
function tile1(a: usize, ka: usize, p: usize, c: usize, k: usize, add: bool): void {
  let c0 = splat(0)
  let c1 = c0
  let d0 = c0
  let d1 = c0
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
  c0 = f32x4.add(c0, d0)
  c1 = f32x4.add(c1, d1)
  if (add) {
    c0 = f32x4.add(v128.load(c), c0)
    c1 = f32x4.add(v128.load(c, 16), c1)
  }
  v128.store(c, c0)
  v128.store(c, c1, 16)
}

/**
 * `rows` rows of A by one panel into C, whose first `cols` columns (1 to 8) are written. Four rows of A are `strip`
 * bytes before the next four.
 * @param edge {@link EDGE} bytes of scratch memory
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
  for (; k > SPAN; k -= SPAN, a += SPAN * ka, p += SPAN << 5) {
    rowsBySpan(a, lda, ka, strip, p, c, ldc, rows, cols, SPAN, add, edge)
    add = true
  }
  rowsBySpan(a, lda, ka, strip, p, c, ldc, rows, cols, k, add, edge)
}

/** {@link rowsByPanel} for a span of the depth. */
function rowsBySpan(
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
  if (ASC_FEATURE_RELAXED_SIMD) return rowsByTiles(a, lda, ka, strip, p, c, ldc, rows, cols, k, add, edge)
  const isEdge = cols < 8
  for (let m: u32 = 0; m < rows; m += 4) {
    const left = min<u32>(4, rows - m)
    const isAdded = add && !isEdge
    const isApart = isEdge || (isAdded && left == 4)
    const to = isApart ? edge : c
    const step = isApart ? 32 : ldc
    if (left == 4) {
      if (ka == 4) tile4(a, lda, 4, p, to, step, k, false)
      else if (ka != 16 || lda != 4) tile4(a, lda, ka, p, to, step, k, false)
      else stripByPanel(a, p, to, step, k)
    } else for (let i: u32 = 0; i < left; i++) tile1(a + i * lda, ka, p, to + i * step, k, isAdded)
    if (isApart) placeColumns(edge, c, ldc, left, cols, add)
    a += strip
    c += ldc << 2
  }
}

/**
 * {@link rowsBySpan} with fused multiply-add: rows are divided into tiles of six and five where it can be. Of rows that
 * are not in strips, what is added to C is made apart.
 */
function rowsByTiles(
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
  const areStrips = ka == 16 && lda == 4
  const isApart = cols < 8 || (add && (!areStrips || isEarlyV8))
  const isAdded = add && !isApart
  const gap = strip - (lda << 2)
  if (!isApart && areStrips)
    for (; rows >= 24 || rows == 12; rows -= 12, a += 3 * strip, c += 12 * ldc) {
      if (isAdded) {
        addSixOfStrips(a, 4, gap, p, c, ldc, k)
        addSixOfStrips(a + strip + 8, 2, gap, p, c + 6 * ldc, ldc, k)
      } else {
        sixOfStrips(a, 4, gap, p, c, ldc, k)
        sixOfStrips(a + strip + 8, 2, gap, p, c + 6 * ldc, ldc, k)
      }
    }
  if (rows == 0) return
  const tiles = (rows + 5) / 6
  const least = rows / tiles
  const larger = rows - least * tiles
  for (let row: u32 = 0, t: u32 = 0; row < rows; t++) {
    const count = least + <u32>(t < larger)
    const next: u32 = 4 - (row & 3)
    const to = isApart ? edge : c
    const step = isApart ? 32 : ldc
    // Fewer than four are the last ones of all, or all.
    if (count < 4)
      for (let i: u32 = 0; i < count; i++)
        tile1(a + i * lda + select<usize>(gap, 0, i >= next), ka, p, to + i * step, k, isAdded)
    else if (isAdded) addStripsOfTile(count, a, next, gap, p, c, ldc, k)
    else if (isApart) rowsOfTile(count, a, lda, ka, next, gap, p, edge, 32, k)
    else rowsOfTile(count, a, lda, ka, next, gap, p, c, ldc, k)
    if (isApart) placeColumns(edge, c, ldc, count, cols, add)
    row += count
    a += count * lda + select<usize>(gap, 0, count >= next) + select<usize>(gap, 0, count >= next + 4)
    c += count * ldc
  }
}
