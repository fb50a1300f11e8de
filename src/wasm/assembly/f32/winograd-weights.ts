/** Of a tile of F(4x4, 3x3), see ./winograd.ts. */
const POINTS: usize = 36

/**
 * Transforms weights [m][channels][3][3] into 36 matrices in strips, [36][ceil(m / 4)][channels][4]. Strips beyond m
 * are 0. Sums are in double precision, for two output channels at a time.
 */
export function winogradWeights(w: usize, m: u32, channels: u32, to: usize): void {
  const strips = (m + 3) >> 2
  const matrix = (<usize>strips * channels) << 4
  const row = <usize>channels * 36
  if ((m & 3) != 0) memory.fill(to, 0, POINTS * matrix)
  for (let o: u32 = 0; o < m; o += 4, w += row << 2) {
    const left = m - o
    let from = w
    for (let c: u32 = 0; c < channels; c++, from += 36, to += 16) {
      transformPair(from, left > 1 ? row : 0, to, matrix)
      if (left > 2) transformPair(from + 2 * row, left > 3 ? row : 0, to + 8, matrix)
    }
  }
}

/**
 * G g G' of the 3 x 3 weights g of two output channels.
 * @param row bytes from the first to the second; 0: there is only the first
 */
function transformPair(g: usize, row: usize, to: usize, matrix: usize): void {
  const a0 = pairOf(g, row)
  const a1 = pairOf(g + 4, row)
  const a2 = pairOf(g + 8, row)
  const b0 = pairOf(g + 12, row)
  const b1 = pairOf(g + 16, row)
  const b2 = pairOf(g + 20, row)
  const c0 = pairOf(g + 24, row)
  const c1 = pairOf(g + 28, row)
  const c2 = pairOf(g + 32, row)
  const six = 6 * matrix
  putRow(to, matrix, times(a0, 1.0 / 4), times(a1, 1.0 / 4), times(a2, 1.0 / 4))
  putRow(to + six, matrix, second(a0, b0, c0), second(a1, b1, c1), second(a2, b2, c2))
  putRow(to + 2 * six, matrix, third(a0, b0, c0), third(a1, b1, c1), third(a2, b2, c2))
  putRow(to + 3 * six, matrix, fourth(a0, b0, c0), fourth(a1, b1, c1), fourth(a2, b2, c2))
  putRow(to + 4 * six, matrix, fifth(a0, b0, c0), fifth(a1, b1, c1), fifth(a2, b2, c2))
  putRow(to + 5 * six, matrix, c0, c1, c2)
}

// @ts-ignore: decorator
@inline
function pairOf(g: usize, row: usize): v128 {
  const first = f64x2.splat(<f64>f32.load(g))
  return f64x2.replace_lane(first, 1, row != 0 ? <f64>f32.load(g + row) : 0)
}

/** A row of the transformed weights: its elements are in six matrices. */
function putRow(to: usize, matrix: usize, a: v128, b: v128, c: v128): void {
  put(to, times(a, 1.0 / 4))
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
function times(v: v128, factor: f64): v128 {
  return f64x2.mul(v, f64x2.splat(factor))
}

/** Rows 1 to 4 of G times (a, b, c); row 0 is a / 4, row 5 is c. */
// @ts-ignore: decorator
@inline
function second(a: v128, b: v128, c: v128): v128 {
  return times(f64x2.add(f64x2.add(a, b), c), -1.0 / 6)
}

// @ts-ignore: decorator
@inline
function third(a: v128, b: v128, c: v128): v128 {
  return times(f64x2.sub(f64x2.sub(b, a), c), 1.0 / 6)
}

// @ts-ignore: decorator
@inline
function fourth(a: v128, b: v128, c: v128): v128 {
  return f64x2.add(outer(a, c), times(b, 1.0 / 12))
}

// @ts-ignore: decorator
@inline
function fifth(a: v128, b: v128, c: v128): v128 {
  return f64x2.sub(outer(a, c), times(b, 1.0 / 12))
}

// @ts-ignore: decorator
@inline
function outer(a: v128, c: v128): v128 {
  return f64x2.add(times(a, 1.0 / 24), times(c, 1.0 / 6))
}
