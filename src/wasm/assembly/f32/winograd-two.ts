import { Tile } from './winograd-group'

/** The transforms of Winograd's F(2x2, 3x3), tiles of 2 x 2 outputs from 4 x 4 inputs; see ./winograd-group.ts. */

/** Four sums along an axis of a tile. */
// @ts-ignore: decorator
@inline
function store4(to: usize, step: usize, d0: v128, d1: v128, d2: v128, d3: v128): void {
  v128.store(to, f32x4.sub(d0, d2))
  v128.store(to + step, f32x4.add(d1, d2))
  v128.store(to + 2 * step, f32x4.sub(d2, d1))
  v128.store(to + 3 * step, f32x4.sub(d1, d3))
}

/** B^T d down the columns of four lines. */
export function mixLinesTwo(lines: usize, to: usize, wide: usize): void {
  for (const end = lines + wide; lines < end; lines += 16, to += 16)
    store4(
      to,
      wide,
      v128.load(lines),
      v128.load(lines + wide),
      v128.load(lines + 2 * wide),
      v128.load(lines + 3 * wide)
    )
}

/** d B along a line, for four tiles: a vector has one element of each tile. */
// @ts-ignore: decorator
@inline
export function mixTilesTwo(line: usize, to: usize, step: usize): void {
  const a = v128.load(line)
  const b = v128.load(line, 16)
  const next = v128.load(line, 32)
  const d0 = i32x4.shuffle(a, b, 0, 2, 4, 6)
  const d1 = i32x4.shuffle(a, b, 1, 3, 5, 7)
  store4(to, step, d0, d1, i32x4.shuffle(d0, next, 1, 2, 3, 4), i32x4.shuffle(d1, next, 1, 2, 3, 5))
}

/** {@link mixTilesTwo} for tiles of several rows, whose lines begin at four places. */
// @ts-ignore: decorator
@inline
export function mixApartTwo(l0: usize, l1: usize, l2: usize, l3: usize, to: usize, step: usize): void {
  const a = v128.load(l0)
  const b = v128.load(l1)
  const g = v128.load(l2)
  const h = v128.load(l3)
  const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const gh0 = i32x4.shuffle(g, h, 0, 4, 1, 5)
  const gh1 = i32x4.shuffle(g, h, 2, 6, 3, 7)
  store4(
    to,
    step,
    i64x2.shuffle(ab0, gh0, 0, 2),
    i64x2.shuffle(ab0, gh0, 1, 3),
    i64x2.shuffle(ab1, gh1, 0, 2),
    i64x2.shuffle(ab1, gh1, 1, 3)
  )
}

/** A^T m A of four tiles, whose products lie at `points` and `matrix` bytes apart: 2 x 2 outputs of a channel each. */
export function unmixTwo(points: usize, matrix: usize, bias: v128, tile: usize, y: usize, outW: i32): void {
  const a0 = v128.load(points)
  const a1 = v128.load(points + matrix)
  const a2 = v128.load(points + 2 * matrix)
  const a3 = v128.load(points + 3 * matrix)
  points += 4 * matrix
  const b0 = v128.load(points)
  const b1 = v128.load(points + matrix)
  const b2 = v128.load(points + 2 * matrix)
  const b3 = v128.load(points + 3 * matrix)
  points += 4 * matrix
  const c0 = v128.load(points)
  const c1 = v128.load(points + matrix)
  const c2 = v128.load(points + 2 * matrix)
  const c3 = v128.load(points + 3 * matrix)
  points += 4 * matrix
  putLine(tile, 0, y, bias, plus(a0, b0, c0), plus(a1, b1, c1), plus(a2, b2, c2), plus(a3, b3, c3))
  const d0 = v128.load(points)
  const d1 = v128.load(points + matrix)
  const d2 = v128.load(points + 2 * matrix)
  const d3 = v128.load(points + 3 * matrix)
  y += (<usize>outW) << 2
  putLine(tile, 1, y, bias, less(b0, c0, d0), less(b1, c1, d1), less(b2, c2, d2), less(b3, c3, d3))
}

/** The two sums along an axis of four products. */
// @ts-ignore: decorator
@inline
function plus(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.add(a, b), c)
}

// @ts-ignore: decorator
@inline
function less(b: v128, c: v128, d: v128): v128 {
  return f32x4.sub(f32x4.sub(b, c), d)
}

/** m A of a line of four tiles, into line `i` of their outputs. */
// @ts-ignore: decorator
@inline
function putLine(tile: usize, i: i32, y: usize, bias: v128, a: v128, b: v128, c: v128, d: v128): void {
  const even = f32x4.add(plus(a, b, c), bias)
  const odd = f32x4.add(less(b, c, d), bias)
  putPair(tile, i, y, i32x4.shuffle(even, odd, 0, 4, 1, 5))
  putPair(tile + 2 * offsetof<Tile>(), i, y, i32x4.shuffle(even, odd, 2, 6, 3, 7))
}

/** Stores line `i` of two tiles. */
// @ts-ignore: decorator
@inline
function putPair(tile: usize, i: i32, y: usize, v: v128): void {
  putTwo(tile, i, y, v)
  putTwo(tile + offsetof<Tile>(), i, y, i64x2.shuffle(v, v, 1, 1))
}

/** Stores line `i` of a tile, as far as it lies in the plane. */
// @ts-ignore: decorator
@inline
function putTwo(tile: usize, i: i32, y: usize, v: v128): void {
  if (i >= changetype<Tile>(tile).lines) return
  const at = y + changetype<Tile>(tile).to
  if (changetype<Tile>(tile).columns > 1) v128.store64_lane(at, v, 0)
  else f32.store(at, f32x4.extract_lane(v, 0))
}
