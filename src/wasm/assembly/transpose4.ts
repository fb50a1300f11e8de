import { interleaveHigh, interleaveLow } from './interleave'

/** Four elements of four rows, `step` bytes apart, as four rows `apart` bytes apart. */
// @ts-ignore: decorator
@inline
export function transpose4(from: usize, step: usize, to: usize, apart: usize): void {
  const a = v128.load(from)
  const b = v128.load(from + step)
  const c = v128.load(from + 2 * step)
  const d = v128.load(from + 3 * step)
  storeTransposed(a, b, c, d, to, apart)
}

/** Writes the columns of four vectors of four elements as four rows `apart` bytes apart. */
// @ts-ignore: decorator
@inline
export function storeTransposed(a: v128, b: v128, c: v128, d: v128, to: usize, apart: usize): void {
  const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const cd0 = i32x4.shuffle(c, d, 0, 4, 1, 5)
  const cd1 = i32x4.shuffle(c, d, 2, 6, 3, 7)
  v128.store(to, i64x2.shuffle(ab0, cd0, 0, 2))
  v128.store(to + apart, i64x2.shuffle(ab0, cd0, 1, 3))
  v128.store(to + 2 * apart, i64x2.shuffle(ab1, cd1, 0, 2))
  v128.store(to + 3 * apart, i64x2.shuffle(ab1, cd1, 1, 3))
}

/** Writes the columns of eight vectors of eight elements of two bytes as eight rows `apart` bytes apart. */
// @ts-ignore: decorator
@inline
export function storeNarrowTransposed(
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  g: v128,
  h: v128,
  to: usize,
  apart: usize
): void {
  storeTransposed(interleaveLow(a, b), interleaveLow(c, d), interleaveLow(e, f), interleaveLow(g, h), to, apart)
  storeTransposed(
    interleaveHigh(a, b),
    interleaveHigh(c, d),
    interleaveHigh(e, f),
    interleaveHigh(g, h),
    to + 4 * apart,
    apart
  )
}
