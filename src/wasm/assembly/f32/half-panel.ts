import { fma, splat } from './simd'

/**
 * Strips of A by a panel of four columns, [k][4]: what is left where the columns are no multiple of eight. Two strips
 * at once, so that a column that has been read serves eight rows.
 */
export function stripsByHalf(a: usize, p: usize, c: usize, ldc: usize, strips: u32, k: usize): void {
  const strip = k << 4
  for (; strips > 1; strips -= 2, a += strip << 1, c += ldc << 3) halfTile(a, a + strip, p, c, c + (ldc << 2), ldc, k)
  // A strip that is alone is computed twice.
  if (strips > 0) halfTile(a, a, p, c, c, ldc, k)
}

// @ts-ignore: decorator
@inline
function halfTile(a: usize, b: usize, p: usize, c: usize, d: usize, ldc: usize, k: usize): void {
  let c0 = splat(0)
  let c1 = c0
  let c2 = c0
  let c3 = c0
  let d0 = c0
  let d1 = c0
  let d2 = c0
  let d3 = c0
  for (const end = p + (k << 4); p < end; p += 16, a += 16, b += 16) {
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
  v128.store(c, c0)
  v128.store(c + ldc, c1)
  v128.store(c + 2 * ldc, c2)
  v128.store(c + 3 * ldc, c3)
  v128.store(d, d0)
  v128.store(d + ldc, d1)
  v128.store(d + 2 * ldc, d2)
  v128.store(d + 3 * ldc, d3)
}
