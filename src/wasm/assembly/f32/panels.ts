import { transpose4 } from '../transpose4'
import { splat } from './simd'

/**
 * Writes one panel [k][8] of a matrix whose element (row, column) lies at `row * rowStep + column * colStep`; columns
 * from `cols` on are 0.
 */
export function packPanel(b: usize, rowStep: usize, colStep: usize, k: usize, cols: u32, to: usize): void {
  if (colStep == 4 && cols == 8) {
    for (const end = to + (k << 5); to < end; to += 32, b += rowStep) {
      v128.store(to, v128.load(b))
      v128.store(to, v128.load(b, 16), 16)
    }
    return
  }
  if (rowStep == 4 && cols == 8) return packTransposed(b, colStep, k, to)
  if (cols < 8) memory.fill(to, 0, k << 5)
  for (let j: u32 = 0; j < cols; j++, b += colStep) {
    let from = b
    const last = to + (j << 2) + (k << 5)
    for (let at = to + (j << 2); at < last; at += 32, from += rowStep) f32.store(at, f32.load(from))
  }
}

/** {@link packPanel} for eight rows of length k, four elements of four rows at once. */
function packTransposed(b: usize, colStep: usize, k: usize, to: usize): void {
  const half = colStep << 2
  let i: usize = 0
  for (; i + 4 <= k; i += 4, b += 16, to += 128) {
    transpose4(b, colStep, to, 32)
    transpose4(b + half, colStep, to + 16, 32)
  }
  for (; i < k; i++, b += 4, to += 32) {
    let column = b
    for (let j: usize = 0; j < 32; j += 4, column += colStep) f32.store(to + j, f32.load(column))
  }
}

/** Packs `rows` rows of length k into strips [ceil(rows / 4)][k][4]; rows beyond the last are 0. */
export function packStrips(a: usize, rowStep: usize, kStep: usize, rows: u32, k: usize, to: usize): void {
  for (let m: u32 = 0; m < rows; m += 4, a += rowStep << 2) {
    const left = min<u32>(4, rows - m)
    let i: usize = 0
    if (left == 4 && kStep == 4) {
      for (; i + 4 <= k; i += 4, to += 64) transpose4(a + (i << 2), rowStep, to, 16)
    } else if (left == 4 && rowStep == 4) {
      for (; i < k; i++, to += 16) v128.store(to, v128.load(a + i * kStep))
    }
    for (; i < k; i++, to += 16) {
      const from = a + i * kStep
      for (let j: u32 = 0; j < 4; j++) f32.store(to + (j << 2), j < left ? f32.load(from + j * rowStep) : 0)
    }
  }
}

/** Rows that are packed into all panels before the next ones, where rows lie one behind the other. */
const ROWS_TOGETHER: usize = 16

/**
 * Packs panels `from … end - 1` of a matrix of n columns; a panel has eight. Some rows of all panels come first, so
 * that memory is read along the rows: panel by panel, half of each cache line and a page a row are read at a time,
 * which takes 2 to 4 times as long.
 */
export function packPanels(
  b: usize,
  rowStep: usize,
  colStep: usize,
  k: usize,
  n: u32,
  to: usize,
  from: u32,
  end: u32
): void {
  const together = colStep == 4 ? ROWS_TOGETHER : k
  for (let i: usize = 0; i < k; i += together, b += together * rowStep, to += together << 5)
    for (let p = from; p < end; p++) {
      const cols = min<u32>(8, n - (p << 3))
      packPanel(b + <usize>(p << 3) * colStep, rowStep, colStep, min(together, k - i), cols, to + ((<usize>p * k) << 5))
    }
}

/** Most bytes that are fetched at once: a quarter of the second cache of many processors. */
const MAX_FETCH: usize = 1 << 18

/**
 * Reads of each cache line something, so that the lines come from memory all at once: kernels that compute with what
 * they read, and loops that write too, wait for a few lines at a time. Of more than {@link MAX_FETCH} bytes the first
 * ones are read. In four streams, which memory gives faster than one.
 * @param to where 16 bytes go that nobody reads
 */
export function fetchLines(from: usize, bytes: usize, to: usize): void {
  const all = min(bytes, MAX_FETCH)
  const quarter = (all >> 8) << 6
  fetchFour(from, from + quarter, from + 2 * quarter, from + 3 * quarter, quarter, to)
  let any: u32 = 0
  for (let at: usize = 4 * quarter; at < all; at += 64) any |= load<u32>(from + at)
  store<u32>(to, any)
}

/** {@link fetchLines} for four streams of `bytes` bytes each, a multiple of 16. */
// @ts-ignore: decorator
@inline
export function fetchFour(a: usize, b: usize, c: usize, d: usize, bytes: usize, to: usize): void {
  let any = splat(0)
  const toB = b - a
  const toD = d - c
  for (const end = a + bytes; a < end; a += 64, c += 64)
    any = v128.or(any, v128.or(v128.or(v128.load(a), v128.load(a + toB)), v128.or(v128.load(c), v128.load(c + toD))))
  v128.store(to, any)
}
