import { clip, fma, splat } from './simd'

/** Columns at the left end of a line, between both ends, and at the right end. */
const LEFT: i32 = 0
const MIDDLE: i32 = 1
const RIGHT: i32 = 2

/**
 * A plane of windows of 3 x 3 taps that is as large as its input, of five columns and two lines at least. The input is
 * read in place: what would lie in the padding is a line of zeros, or moved into vectors at the ends of lines. Two
 * lines of outputs at once, four outputs of each. At the end of a line, and of the plane, outputs are computed twice.
 * @param zeros a line of zeros
 * @param row bytes of a line
 */
export function planeInPlace(
  x: usize,
  zeros: usize,
  row: usize,
  lines: i32,
  w: usize,
  bias: v128,
  low: v128,
  high: v128,
  y: usize
): void {
  const w0 = v128.load32_splat(w)
  const w1 = v128.load32_splat(w, 4)
  const w2 = v128.load32_splat(w, 8)
  const w3 = v128.load32_splat(w, 12)
  const w4 = v128.load32_splat(w, 16)
  const w5 = v128.load32_splat(w, 20)
  const w6 = v128.load32_splat(w, 24)
  const w7 = v128.load32_splat(w, 28)
  const w8 = v128.load32_splat(w, 32)
  const last = row - 16
  for (let i = 0; ; i = min(i + 2, lines - 2)) {
    let a1 = x + <usize>i * row
    let a2 = a1 + row
    let a0 = i == 0 ? zeros : a1 - row
    let a3 = i + 2 == lines ? zeros : a2 + row
    let to = y + <usize>i * row
    const end = to + last
    fourColumns(LEFT, a0, a1, a2, a3, w0, w1, w2, w3, w4, w5, w6, w7, w8, bias, low, high, to, row)
    a0 += 12
    a1 += 12
    a2 += 12
    a3 += 12
    for (to += 16; to < end; to += 16) {
      fourColumns(MIDDLE, a0, a1, a2, a3, w0, w1, w2, w3, w4, w5, w6, w7, w8, bias, low, high, to, row)
      a0 += 16
      a1 += 16
      a2 += 16
      a3 += 16
    }
    const back = to - end
    a0 -= back
    a1 -= back
    a2 -= back
    a3 -= back
    fourColumns(RIGHT, a0, a1, a2, a3, w0, w1, w2, w3, w4, w5, w6, w7, w8, bias, low, high, end, row)
    if (i == lines - 2) break
  }
}

/**
 * Four outputs of two lines, which read four lines of the input, from the column before them on or, at the left end,
 * from their own.
 */
// @ts-ignore: decorator
@inline
function fourColumns(
  side: i32,
  a0: usize,
  a1: usize,
  a2: usize,
  a3: usize,
  w0: v128,
  w1: v128,
  w2: v128,
  w3: v128,
  w4: v128,
  w5: v128,
  w6: v128,
  w7: v128,
  w8: v128,
  bias: v128,
  low: v128,
  high: v128,
  to: usize,
  row: usize
): void {
  let v = before(side, a0)
  let s = f32x4.mul(w0, v)
  v = middle(side, a0)
  s = fma(s, w1, v)
  v = behind(side, a0)
  s = fma(s, w2, v)
  v = before(side, a1)
  s = fma(s, w3, v)
  let t = f32x4.mul(w0, v)
  v = middle(side, a1)
  s = fma(s, w4, v)
  t = fma(t, w1, v)
  v = behind(side, a1)
  s = fma(s, w5, v)
  t = fma(t, w2, v)
  v = before(side, a2)
  s = fma(s, w6, v)
  t = fma(t, w3, v)
  v = middle(side, a2)
  s = fma(s, w7, v)
  t = fma(t, w4, v)
  v = behind(side, a2)
  s = fma(s, w8, v)
  t = fma(t, w5, v)
  v128.store(to, clip(f32x4.add(s, bias), low, high))
  t = fma(t, w6, before(side, a3))
  t = fma(t, w7, middle(side, a3))
  t = fma(t, w8, behind(side, a3))
  v128.store(to + row, clip(f32x4.add(t, bias), low, high))
}

/** The column before each of four. */
// @ts-ignore: decorator
@inline
function before(side: i32, a: usize): v128 {
  return side == LEFT ? i32x4.shuffle(splat(0), v128.load(a), 3, 4, 5, 6) : v128.load(a)
}

// @ts-ignore: decorator
@inline
function middle(side: i32, a: usize): v128 {
  return side == LEFT ? v128.load(a) : v128.load(a, 4)
}

// @ts-ignore: decorator
@inline
function behind(side: i32, a: usize): v128 {
  if (side == RIGHT) return i32x4.shuffle(v128.load(a, 4), splat(0), 1, 2, 3, 4)
  return side == LEFT ? v128.load(a, 4) : v128.load(a, 8)
}
