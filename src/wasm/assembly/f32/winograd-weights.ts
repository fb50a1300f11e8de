import { splat } from './simd'
import { ROOT_OF_HALF, ROOT_OF_TWO } from './winograd-group'

/** Bytes of a cache line: four channels of a strip. */
const LINE: usize = 64

/**
 * Transforms strips `from … end - 1` of weights [m][channels][3][3] into 36 or 16 matrices in strips,
 * [36 | 16][ceil(m / 4)][channels][4]. Strips beyond m are 0. Matrices are often a power of two bytes apart, so that
 * lines of all of them share a set of the cache: each line is written once, as a whole.
 * @param scratch memory for a line of each matrix
 * @param side outputs of a tile along an axis, 4 or 2
 */
export function winogradWeights(
  w: usize,
  m: u32,
  channels: u32,
  to: usize,
  from: u32,
  end: u32,
  scratch: usize,
  side: u32
): void {
  const matrix = (<usize>((m + 3) >> 2) * channels) << 4
  const row = <usize>channels * 36
  w += <usize>(from << 2) * row
  to += (<usize>from * channels) << 4
  for (let strip = from; strip < end; strip++, w += row << 2) {
    const left = m - (strip << 2)
    let g = w
    let c: u32 = 0
    for (; c + 4 <= channels; c += 4, to += LINE) {
      for (let i: usize = 0; i < LINE; i += 16, g += 36) transformStrip(g, row, left, scratch + i, LINE, side)
      writeLines(scratch, to, matrix, (side + 2) * (side + 2))
    }
    for (; c < channels; c++, g += 36, to += 16) transformStrip(g, row, left, to, matrix, side)
  }
}

/** Writes the lines that lie one after the other into matrices. */
function writeLines(from: usize, to: usize, matrix: usize, points: usize): void {
  for (const end = from + points * LINE; from < end; from += LINE, to += matrix) {
    v128.store(to, v128.load(from))
    v128.store(to, v128.load(from, 16), 16)
    v128.store(to, v128.load(from, 32), 32)
    v128.store(to, v128.load(from, 48), 48)
  }
}

/**
 * G g G' of the 3 x 3 weights g of a strip of output channels.
 * @param row bytes from one output channel to the next
 * @param left output channels; those beyond four are of other strips
 */
function transformStrip(g: usize, row: usize, left: u32, to: usize, matrix: usize, side: u32): void {
  const g1 = g + row
  const g2 = g1 + row
  const g3 = g2 + row
  const zero = splat(0)
  let a = v128.load(g)
  let b = left > 1 ? v128.load(g1) : zero
  let c = left > 2 ? v128.load(g2) : zero
  let d = left > 3 ? v128.load(g3) : zero
  const a0 = i64x2.shuffle(lows(a, b), lows(c, d), 0, 2)
  const a1 = i64x2.shuffle(lows(a, b), lows(c, d), 1, 3)
  const a2 = i64x2.shuffle(highs(a, b), highs(c, d), 0, 2)
  const b0 = i64x2.shuffle(highs(a, b), highs(c, d), 1, 3)
  a = v128.load(g, 16)
  b = left > 1 ? v128.load(g1, 16) : zero
  c = left > 2 ? v128.load(g2, 16) : zero
  d = left > 3 ? v128.load(g3, 16) : zero
  const b1 = i64x2.shuffle(lows(a, b), lows(c, d), 0, 2)
  const b2 = i64x2.shuffle(lows(a, b), lows(c, d), 1, 3)
  const c0 = i64x2.shuffle(highs(a, b), highs(c, d), 0, 2)
  const c1 = i64x2.shuffle(highs(a, b), highs(c, d), 1, 3)
  let c2 = v128.load32_zero(g, 32)
  if (left > 1) c2 = v128.load32_lane(g1, c2, 1, 32)
  if (left > 2) c2 = v128.load32_lane(g2, c2, 2, 32)
  if (left > 3) c2 = v128.load32_lane(g3, c2, 3, 32)
  putPair(
    to,
    matrix,
    side,
    lower(a0),
    lower(a1),
    lower(a2),
    lower(b0),
    lower(b1),
    lower(b2),
    lower(c0),
    lower(c1),
    lower(c2)
  )
  to += 8
  putPair(
    to,
    matrix,
    side,
    upper(a0),
    upper(a1),
    upper(a2),
    upper(b0),
    upper(b1),
    upper(b2),
    upper(c0),
    upper(c1),
    upper(c2)
  )
}

/** What {@link transformStrip} makes of two output channels, in float64: each element is rounded once. */
function putPair(
  to: usize,
  matrix: usize,
  side: u32,
  a0: v128,
  a1: v128,
  a2: v128,
  b0: v128,
  b1: v128,
  b2: v128,
  c0: v128,
  c1: v128,
  c2: v128
): void {
  if (side == 2) {
    const four = 4 * matrix
    putRowOfTwo(to, matrix, a0, a1, a2)
    putRowOfTwo(to + four, matrix, halfSum(a0, b0, c0), halfSum(a1, b1, c1), halfSum(a2, b2, c2))
    putRowOfTwo(to + 2 * four, matrix, halfLess(a0, b0, c0), halfLess(a1, b1, c1), halfLess(a2, b2, c2))
    putRowOfTwo(to + 3 * four, matrix, c0, c1, c2)
    return
  }
  const six = 6 * matrix
  putRowOfFour(to, matrix, a0, a1, a2)
  putRowOfFour(to + six, matrix, second(a0, b0, c0), second(a1, b1, c1), second(a2, b2, c2))
  putRowOfFour(to + 2 * six, matrix, third(a0, b0, c0), third(a1, b1, c1), third(a2, b2, c2))
  putRowOfFour(to + 3 * six, matrix, fourth(a0, b0, c0), fourth(a1, b1, c1), fourth(a2, b2, c2))
  putRowOfFour(to + 4 * six, matrix, fifth(a0, b0, c0), fifth(a1, b1, c1), fifth(a2, b2, c2))
  putRowOfFour(to + 5 * six, matrix, c0, c1, c2)
}

/** A row of the transformed weights by F(2, 3): its elements are in four matrices. */
function putRowOfTwo(to: usize, matrix: usize, a: v128, b: v128, c: v128): void {
  put(to, a)
  put(to + matrix, halfSum(a, b, c))
  put(to + 2 * matrix, halfLess(a, b, c))
  put(to + 3 * matrix, c)
}

/** A row of the transformed weights by F(4, 3): its elements are in six matrices. */
function putRowOfFour(to: usize, matrix: usize, a: v128, b: v128, c: v128): void {
  put(to, a)
  put(to + matrix, second(a, b, c))
  put(to + 2 * matrix, third(a, b, c))
  put(to + 3 * matrix, fourth(a, b, c))
  put(to + 4 * matrix, fifth(a, b, c))
  put(to + 5 * matrix, c)
}

// @ts-ignore: decorator
@inline
function put(to: usize, v: v128): void {
  v128.store64_lane(to, f32x4.demote_f64x2_zero(v), 0)
}

// @ts-ignore: decorator
@inline
function lower(v: v128): v128 {
  return f64x2.promote_low_f32x4(v)
}

// @ts-ignore: decorator
@inline
function upper(v: v128): v128 {
  return f64x2.promote_low_f32x4(i64x2.shuffle(v, v, 1, 1))
}

// @ts-ignore: decorator
@inline
function lows(a: v128, b: v128): v128 {
  return i32x4.shuffle(a, b, 0, 4, 1, 5)
}

// @ts-ignore: decorator
@inline
function highs(a: v128, b: v128): v128 {
  return i32x4.shuffle(a, b, 2, 6, 3, 7)
}

// @ts-ignore: decorator
@inline
function times(v: v128, factor: f64): v128 {
  return f64x2.mul(v, f64x2.splat(factor))
}

/** Rows 1 and 2 of G of F(2, 3) times (a, b, c); row 0 is a, row 3 is c. */
// @ts-ignore: decorator
@inline
function halfSum(a: v128, b: v128, c: v128): v128 {
  return times(f64x2.add(f64x2.add(a, c), b), 0.5)
}

// @ts-ignore: decorator
@inline
function halfLess(a: v128, b: v128, c: v128): v128 {
  return times(f64x2.sub(f64x2.add(a, c), b), 0.5)
}

/**
 * Rows 1 to 4 of G of F(4, 3) times (a, b, c), those of the roots of 1/2 and of 2 with both signs (see
 * ./winograd-group.ts); row 0 is a, row 5 is c.
 */
// @ts-ignore: decorator
@inline
function second(a: v128, b: v128, c: v128): v128 {
  return f64x2.sub(inner(a, c), times(b, INNER))
}

// @ts-ignore: decorator
@inline
function third(a: v128, b: v128, c: v128): v128 {
  return f64x2.add(inner(a, c), times(b, INNER))
}

// @ts-ignore: decorator
@inline
function fourth(a: v128, b: v128, c: v128): v128 {
  return f64x2.add(outer(a, c), times(b, OUTER))
}

// @ts-ignore: decorator
@inline
function fifth(a: v128, b: v128, c: v128): v128 {
  return f64x2.sub(outer(a, c), times(b, OUTER))
}

/**
 * Two thirds of the root of 1/2, and a sixth of the root of 2: a third over the roots as the other transforms have
 * them, so that what these were rounded by cancels out.
 */
const INNER: f64 = 1.0 / (3.0 * <f64>ROOT_OF_HALF)
const OUTER: f64 = 1.0 / (3.0 * <f64>ROOT_OF_TWO)

// @ts-ignore: decorator
@inline
function inner(a: v128, c: v128): v128 {
  return times(f64x2.add(f64x2.add(a, a), c), -1.0 / 3)
}

// @ts-ignore: decorator
@inline
function outer(a: v128, c: v128): v128 {
  return times(f64x2.add(times(a, 0.5), c), 1.0 / 3)
}
