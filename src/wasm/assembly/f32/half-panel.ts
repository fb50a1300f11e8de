import { fma, splat } from './simd'

/**
 * Strips of A by four columns of B, whose rows are `step` bytes apart: what is left where the columns are no multiple
 * of eight. Two strips at once, so that a column that has been read serves eight rows.
 * @param strip bytes from one strip to the next
 * @param add whether to add to what is in C
 */
export function stripsByHalf(
  a: usize,
  strip: usize,
  p: usize,
  step: usize,
  c: usize,
  ldc: usize,
  strips: u32,
  k: usize,
  add: bool
): void {
  for (; strips > 1; strips -= 2, a += strip << 1, c += ldc << 3)
    halfTile(a, a + strip, p, step, c, c + (ldc << 2), ldc, k, add)
  // A strip that is alone is computed twice.
  if (strips > 0) halfTile(a, a, p, step, c, c, ldc, k, add)
}

// @ts-ignore: decorator
@inline
function halfTile(
  a: usize,
  b: usize,
  p: usize,
  step: usize,
  c: usize,
  d: usize,
  ldc: usize,
  k: usize,
  add: bool
): void {
  let c0 = splat(0)
  let c1 = c0
  let c2 = c0
  let c3 = c0
  let d0 = c0
  let d1 = c0
  let d2 = c0
  let d3 = c0
  for (const end = p + k * step; p < end; p += step, a += 16, b += 16) {
    const x = v128.load(p)
    c0 = fma(c0, v128.load32_splat(a), x)
    c1 = fma(c1, v128.load32_splat(a, 4), x)
    c2 = fma(c2, v128.load32_splat(a, 8), x)
    c3 = fma(c3, v128.load32_splat(a, 12), x)
    d0 = fma(d0, v128.load32_splat(b), x)
    d1 = fma(d1, v128.load32_splat(b, 4), x)
    d2 = fma(d2, v128.load32_splat(b, 8), x)
    d3 = fma(d3, v128.load32_splat(b, 12), x)
  }
  if (add) {
    c0 = f32x4.add(v128.load(c), c0)
    c1 = f32x4.add(v128.load(c + ldc), c1)
    c2 = f32x4.add(v128.load(c + 2 * ldc), c2)
    c3 = f32x4.add(v128.load(c + 3 * ldc), c3)
    d0 = f32x4.add(v128.load(d), d0)
    d1 = f32x4.add(v128.load(d + ldc), d1)
    d2 = f32x4.add(v128.load(d + 2 * ldc), d2)
    d3 = f32x4.add(v128.load(d + 3 * ldc), d3)
  }
  v128.store(c, c0)
  v128.store(c + ldc, c1)
  v128.store(c + 2 * ldc, c2)
  v128.store(c + 3 * ldc, c3)
  v128.store(d, d0)
  v128.store(d + ldc, d1)
  v128.store(d + 2 * ldc, d2)
  v128.store(d + 3 * ldc, d3)
}

/**
 * A strip, or three, by one column of a panel of eight. What is read of the column serves all of them.
 * @param strips one or three, a constant, since this is inlined
 * @param rows how many of the four sums of a strip that is alone go to C
 */
// @ts-ignore: decorator
@inline
function columnTile(
  strips: u32,
  a: usize,
  strip: usize,
  p: usize,
  c: usize,
  ldc: usize,
  rows: u32,
  k: usize,
  add: bool
): void {
  // Four sums of each row, so that an addition need not wait for the one before.
  let s0 = splat(0)
  let t0 = s0
  let u0 = s0
  let v0 = s0
  let s1 = s0
  let t1 = s0
  let u1 = s0
  let v1 = s0
  let s2 = s0
  let t2 = s0
  let u2 = s0
  let v2 = s0
  let a1 = a + strip
  let a2 = a1 + strip
  for (const end = a + ((k & ~3) << 4); a < end; a += 64, p += 128) {
    let x = v128.load32_splat(p)
    s0 = fma(s0, x, v128.load(a))
    if (strips > 1) s1 = fma(s1, x, v128.load(a1))
    if (strips > 1) s2 = fma(s2, x, v128.load(a2))
    x = v128.load32_splat(p, 32)
    t0 = fma(t0, x, v128.load(a, 16))
    if (strips > 1) t1 = fma(t1, x, v128.load(a1, 16))
    if (strips > 1) t2 = fma(t2, x, v128.load(a2, 16))
    x = v128.load32_splat(p, 64)
    u0 = fma(u0, x, v128.load(a, 32))
    if (strips > 1) u1 = fma(u1, x, v128.load(a1, 32))
    if (strips > 1) u2 = fma(u2, x, v128.load(a2, 32))
    x = v128.load32_splat(p, 96)
    v0 = fma(v0, x, v128.load(a, 48))
    if (strips > 1) v1 = fma(v1, x, v128.load(a1, 48))
    if (strips > 1) v2 = fma(v2, x, v128.load(a2, 48))
    a1 += 64
    a2 += 64
  }
  for (const end = p + ((k & 3) << 5); p < end; a += 16, p += 32) {
    const x = v128.load32_splat(p)
    s0 = fma(s0, x, v128.load(a))
    if (strips > 1) s1 = fma(s1, x, v128.load(a1))
    if (strips > 1) s2 = fma(s2, x, v128.load(a2))
    a1 += 16
    a2 += 16
  }
  putStrip(c, ldc, f32x4.add(f32x4.add(s0, t0), f32x4.add(u0, v0)), rows, add)
  if (strips > 1) putStrip(c + (ldc << 2), ldc, f32x4.add(f32x4.add(s1, t1), f32x4.add(u1, v1)), 4, add)
  if (strips > 1) putStrip(c + (ldc << 3), ldc, f32x4.add(f32x4.add(s2, t2), f32x4.add(u2, v2)), 4, add)
}

function stripByColumn(a: usize, p: usize, c: usize, ldc: usize, rows: u32, k: usize, add: bool): void {
  columnTile(1, a, 0, p, c, ldc, rows, k, add)
}

function threeByColumn(a: usize, strip: usize, p: usize, c: usize, ldc: usize, k: usize, add: bool): void {
  columnTile(3, a, strip, p, c, ldc, 4, k, add)
}

// @ts-ignore: decorator
@inline
function putStrip(c: usize, ldc: usize, sums: v128, rows: u32, add: bool): void {
  put(c, f32x4.extract_lane(sums, 0), add)
  if (rows > 1) put(c + ldc, f32x4.extract_lane(sums, 1), add)
  if (rows > 2) put(c + 2 * ldc, f32x4.extract_lane(sums, 2), add)
  if (rows > 3) put(c + 3 * ldc, f32x4.extract_lane(sums, 3), add)
}

// @ts-ignore: decorator
@inline
function put(c: usize, sum: f32, add: bool): void {
  f32.store(c, add ? f32.load(c) + sum : sum)
}

/**
 * Strips of A, `strip` bytes apart, by the first `cols` columns (1 to 7) of a panel of eight: four at once, and others
 * one by one, for which a vector has four rows, three strips at once where there are so many.
 */
export function stripsByColumns(
  a: usize,
  strip: usize,
  p: usize,
  c: usize,
  ldc: usize,
  rows: u32,
  cols: u32,
  k: usize,
  add: bool
): void {
  const whole = rows >> 2
  if (cols > 3) stripsByHalf(a, strip, p, 32, c, ldc, whole, k, add)
  const first: usize = cols > 3 ? 4 : 0
  // Without fused multiply-add convolutions have no twelve rows at once.
  for (; ASC_FEATURE_RELAXED_SIMD && rows >= 12; rows -= 12, a += 3 * strip, c += 12 * ldc)
    for (let column = first; column < cols; column++)
      threeByColumn(a, strip, p + (column << 2), c + (column << 2), ldc, k, add)
  for (let i: u32 = 0; i < rows; i += 4, a += strip, c += ldc << 2)
    for (let column: usize = i + 4 <= rows ? first : 0; column < cols; column++)
      stripByColumn(a, p + (column << 2), c + (column << 2), ldc, min<u32>(4, rows - i), k, add)
}
