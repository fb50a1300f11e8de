import { add8 } from './few-rows-tiles'
import { SPAN } from './gemm'
import { fma, splat, sumOf } from './simd'

/* Products whose A has one row and whose B is in no panels: it lies by rows or by columns. */

/** Adds up the rows of B, `bRow` bytes apart, each times an element of a row of A, for `cols` columns. */
export function rowByRows(a: usize, ka: usize, b: usize, bRow: usize, c: usize, cols: u32, k: usize): void {
  // At least once, so that C is written where k is 0, too.
  for (let from: usize = 0; from < k || from == 0; from += SPAN, a += SPAN * ka, b += SPAN * bRow)
    rowBySpan(a, ka, b, bRow, c, cols, min(k - from, SPAN), from > 0)
}

/**
 * {@link rowByRows} for a span of the depth.
 * @param add whether to add to what is in C
 */
function rowBySpan(a: usize, ka: usize, b: usize, bRow: usize, c: usize, cols: u32, k: usize, add: bool): void {
  let left = cols
  for (; left >= 16; left -= 16, b += 64, c += 64) {
    let c0 = splat(0)
    let c1 = c0
    let c2 = c0
    let c3 = c0
    let x = a
    let from = b
    for (let i: usize = 0; i < k; i++, x += ka, from += bRow) {
      const v = v128.load32_splat(x)
      c0 = fma(c0, v, v128.load(from))
      c1 = fma(c1, v, v128.load(from, 16))
      c2 = fma(c2, v, v128.load(from, 32))
      c3 = fma(c3, v, v128.load(from, 48))
    }
    add8(c, c0, c1, add)
    add8(c + 32, c2, c3, add)
  }
  for (; left >= 4; left -= 4, b += 16, c += 16) {
    let sum = splat(0)
    let x = a
    let from = b
    for (let i: usize = 0; i < k; i++, x += ka, from += bRow) sum = fma(sum, v128.load32_splat(x), v128.load(from))
    v128.store(c, add ? f32x4.add(v128.load(c), sum) : sum)
  }
  for (; left > 0; left--, b += 4, c += 4) {
    let sum: f32 = 0
    let x = a
    let from = b
    for (let i: usize = 0; i < k; i++, x += ka, from += bRow) sum += f32.load(x) * f32.load(from)
    f32.store(c, add ? f32.load(c) + sum : sum)
  }
}

/**
 * Dot products of a row of A with `cols` columns of B, whose elements lie one after the other, `bColumn` bytes apart.
 */
export function rowByColumns(a: usize, b: usize, bColumn: usize, c: usize, cols: u32, k: usize): void {
  const whole = (k & ~3) << 2
  const length = k << 2
  let left = cols
  for (; left >= 4; left -= 4, c += 16) {
    const b1 = b + bColumn
    const b2 = b1 + bColumn
    const b3 = b2 + bColumn
    let c0 = splat(0)
    let c1 = c0
    let c2 = c0
    let c3 = c0
    for (let i: usize = 0; i < whole; i += 16) {
      const x = v128.load(a + i)
      c0 = fma(c0, x, v128.load(b + i))
      c1 = fma(c1, x, v128.load(b1 + i))
      c2 = fma(c2, x, v128.load(b2 + i))
      c3 = fma(c3, x, v128.load(b3 + i))
    }
    let s0 = sumOf(c0)
    let s1 = sumOf(c1)
    let s2 = sumOf(c2)
    let s3 = sumOf(c3)
    for (let i = whole; i < length; i += 4) {
      const x = f32.load(a + i)
      s0 += x * f32.load(b + i)
      s1 += x * f32.load(b1 + i)
      s2 += x * f32.load(b2 + i)
      s3 += x * f32.load(b3 + i)
    }
    f32.store(c, s0)
    f32.store(c, s1, 4)
    f32.store(c, s2, 8)
    f32.store(c, s3, 12)
    b = b3 + bColumn
  }
  for (; left > 0; left--, b += bColumn, c += 4) {
    let sum = splat(0)
    for (let i: usize = 0; i < whole; i += 16) sum = fma(sum, v128.load(a + i), v128.load(b + i))
    let s = sumOf(sum)
    for (let i = whole; i < length; i += 4) s += f32.load(a + i) * f32.load(b + i)
    f32.store(c, s)
  }
}
