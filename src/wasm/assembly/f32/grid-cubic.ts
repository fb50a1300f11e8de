import { BORDER, coordinateOf, elementAt, GridArguments, MAX_COORDINATE, reflected, ZEROS } from './grid'
import { fma, splat } from './simd'

/** Points whose neighbours and weights are worked out before the planes are summed; the selector knows it. */
const CHUNK: u32 = 256
/** Bytes of a point: where its four rows begin in a plane, the weights of the rows, those of the columns. */
const POINT: usize = 48
const ROW_WEIGHTS: usize = 16
const COLUMN_WEIGHTS: usize = 32

/** Where in the scratch memory the neighbours of a point along both axes are, and what is known of the points. */
const COLUMNS: usize = 64
const POINTS: usize = 128
/** Bytes of the four neighbours along an axis; their weights, as doubles, follow. */
const PLACES: usize = 16

/** Elements beyond the edges from which on all neighbours lie outside. */
const REACH: f64 = 2
/** The parameter of the cubic convolution. */
const A: f64 = -0.75

/**
 * Computes chunks `from … to - 1`, counted over all batches, by cubic convolution: a point reads four elements side by
 * side of each of four rows, whose weighted sum is multiplied by the weights of the columns.
 * @returns whether it stopped at a coordinate that it cannot serve
 */
export function sampleCubic(args: GridArguments, scratch: usize, from: u32, to: u32): bool {
  const plane = (<usize>args.height * <usize>args.width) << 2
  const step = (<usize>args.points) << 2
  for (let chunk = from; chunk < to; chunk++) {
    const batch = <usize>(chunk / args.chunks)
    const first = (chunk % args.chunks) * CHUNK
    const count = min(CHUNK, args.points - first)
    const grid = args.grid + ((batch * args.points + first) << 3)
    for (let i: u32 = 0; i < count; i++) {
      if (!findTaps(args, scratch, grid + ((<usize>i) << 3))) return true
      storePoint(args, scratch, scratch + POINTS + <usize>i * POINT)
    }
    // The lanes of the last four points that are none.
    const rest = (0 - count) & 3
    memory.fill(scratch + POINTS + <usize>count * POINT, 0, <usize>rest * POINT)
    let x = args.x + batch * args.channels * plane
    let y = args.y + batch * args.channels * step + ((<usize>first) << 2)
    for (let channel: u32 = 0; channel < args.channels; channel++, x += plane, y += step) {
      samplePlane(args, scratch, grid, count, x, y)
    }
  }
  return false
}

/** Samples of one plane at the points of a chunk, four at a time. */
// @ts-ignore: decorator
@inline
function samplePlane(args: GridArguments, scratch: usize, grid: usize, count: u32, x: usize, y: usize): void {
  let point = scratch + POINTS
  for (let i: u32 = 0; i < count; i += 4, point += 4 * POINT, grid += 32, y += 16) {
    const p = productsOf(x, point)
    const q = productsOf(x, point + POINT)
    const r = productsOf(x, point + 2 * POINT)
    const s = productsOf(x, point + 3 * POINT)
    const pq = f32x4.add(v128.shuffle<f32>(p, q, 0, 4, 1, 5), v128.shuffle<f32>(p, q, 2, 6, 3, 7))
    const rs = f32x4.add(v128.shuffle<f32>(r, s, 0, 4, 1, 5), v128.shuffle<f32>(r, s, 2, 6, 3, 7))
    const sums = f32x4.add(v128.shuffle<f32>(pq, rs, 0, 1, 4, 5), v128.shuffle<f32>(pq, rs, 2, 3, 6, 7))
    const lanes = min<u32>(4, count - i)
    if (!i32x4.all_true(f32x4.eq(f32x4.sub(sums, sums), splat(0)))) {
      for (let lane: u32 = 0; lane < lanes; lane++) {
        findTaps(args, scratch, grid + ((<usize>lane) << 3))
        f32.store(y + ((<usize>lane) << 2), sumInOrder(args, scratch, x))
      }
    } else if (lanes == 4) v128.store(y, sums)
    else {
      v128.store32_lane(y, sums, 0)
      if (lanes > 1) v128.store32_lane(y, sums, 1, 4)
      if (lanes > 2) v128.store32_lane(y, sums, 2, 8)
    }
  }
}

/** The weighted sum of the four rows of a point, column by column, times the weights of the columns. */
// @ts-ignore: decorator
@inline
function productsOf(x: usize, point: usize): v128 {
  let sum = f32x4.mul(v128.load32_splat(point, ROW_WEIGHTS), v128.load(x + <usize>load<u32>(point)))
  sum = fma(sum, v128.load32_splat(point, ROW_WEIGHTS + 4), v128.load(x + <usize>load<u32>(point, 4)))
  sum = fma(sum, v128.load32_splat(point, ROW_WEIGHTS + 8), v128.load(x + <usize>load<u32>(point, 8)))
  sum = fma(sum, v128.load32_splat(point, ROW_WEIGHTS + 12), v128.load(x + <usize>load<u32>(point, 12)))
  return f32x4.mul(sum, v128.load(point, COLUMN_WEIGHTS))
}

/**
 * The sum of the sixteen elements of a point, one by one. It is taken where the sum of {@link samplePlane} is no finite
 * number: elements of weight 0 do not count, though infinity times 0 is NaN, and one that is read twice, at an edge,
 * may be infinite with weights of both signs.
 */
function sumInOrder(args: GridArguments, scratch: usize, x: usize): f32 {
  let sum: f64 = 0
  for (let row: usize = 0; row < 4; row++) {
    const line = x + ((<usize>load<u32>(scratch + (row << 2)) * args.width) << 2)
    const rowWeight = load<f64>(scratch + PLACES + (row << 3))
    for (let column: usize = 0; column < 4; column++) {
      const weight = rowWeight * load<f64>(scratch + COLUMNS + PLACES + (column << 3))
      if (weight == 0) continue
      sum += weight * <f64>load<f32>(line + ((<usize>load<u32>(scratch + COLUMNS + (column << 2))) << 2))
    }
  }
  return <f32>sum
}

/** Writes where the rows of a point begin, at the first of four columns that have all its neighbours, and weights. */
// @ts-ignore: decorator
@inline
function storePoint(args: GridArguments, scratch: usize, point: usize): void {
  const columns = scratch + COLUMNS
  const a = load<u32>(columns)
  const b = load<u32>(columns, 4)
  const c = load<u32>(columns, 8)
  const d = load<u32>(columns, 12)
  const weights = weightsOf(columns)
  let start = a
  // Neighbours that padding has moved are no further apart than three columns either.
  if (d - a == 3) v128.store(point, weights, COLUMN_WEIGHTS)
  else {
    start = min(min(min(a, b), min(c, d)), args.width - 4)
    v128.store(point, splat(0), COLUMN_WEIGHTS)
    addWeight(point, a - start, f32x4.extract_lane(weights, 0))
    addWeight(point, b - start, f32x4.extract_lane(weights, 1))
    addWeight(point, c - start, f32x4.extract_lane(weights, 2))
    addWeight(point, d - start, f32x4.extract_lane(weights, 3))
  }
  const rows = i32x4.mul(v128.load(scratch), i32x4.splat(args.width))
  v128.store(point, i32x4.shl(i32x4.add(rows, i32x4.splat(start)), 2))
  v128.store(point, weightsOf(scratch), ROW_WEIGHTS)
}

/** The weights of the four neighbours along an axis. */
// @ts-ignore: decorator
@inline
function weightsOf(taps: usize): v128 {
  const first = f32x4.demote_f64x2_zero(v128.load(taps, PLACES))
  return i32x4.shuffle(first, f32x4.demote_f64x2_zero(v128.load(taps, PLACES + 16)), 0, 1, 4, 5)
}

// @ts-ignore: decorator
@inline
function addWeight(point: usize, column: u32, weight: f32): void {
  const at = point + ((<usize>column) << 2)
  f32.store(at, f32.load(at, COLUMN_WEIGHTS) + weight, COLUMN_WEIGHTS)
}

/** Writes the neighbours of a point along both axes. @returns whether its coordinates can be served */
function findTaps(args: GridArguments, scratch: usize, point: usize): bool {
  return (
    findTapsAlong(args, scratch, load<f32>(point, 4), args.height) &&
    findTapsAlong(args, scratch + COLUMNS, load<f32>(point), args.width)
  )
}

/** Writes the four elements around a coordinate (integers) and their weights (doubles): 0 for padding. */
// @ts-ignore: decorator
@inline
function findTapsAlong(args: GridArguments, to: usize, given: f32, size: u32): bool {
  const coordinate = coordinateOf(args, given, size)
  if (!(abs(coordinate) < MAX_COORDINATE)) return false
  const last = <f64>(size - 1)
  let at = <f64>coordinate
  if (args.padding == BORDER) at = min<f64>(last + REACH, max<f64>(-REACH, at))
  else if (args.moves != 0 && args.padding != ZEROS) at = reflected(args, at, last)
  const start = floor(at) - 1
  const middle = f64x2.replace_lane(f64x2.splat(at - (start + 1)), 1, start + 2 - at)
  const outer = f64x2.replace_lane(f64x2.splat(at - start), 1, start + 3 - at)
  const weights = near(middle)
  const small = far(outer)
  v128.store(to, i64x2.shuffle(small, weights, 0, 2), PLACES)
  v128.store(to, i64x2.shuffle(weights, small, 1, 3), PLACES + 16)
  if (start >= 0 && start + 3 <= last) v128.store(to, i32x4.add(i32x4.splat(<i32>start), i32x4(0, 1, 2, 3)))
  else for (let tap: usize = 0; tap < 4; tap++) storeOuterTap(args, to, tap, start + <f64>tap, last)
  return true
}

/** Writes a neighbour where not all four lie inside. */
// @ts-ignore: decorator
@inline
function storeOuterTap(args: GridArguments, to: usize, tap: usize, place: f64, last: f64): void {
  store<u32>(to + (tap << 2), elementAt(args, place, last))
  if (args.padding == ZEROS && (place < 0 || place > last)) store<f64>(to + PLACES + (tap << 3), 0)
}

/** Weights by distances of up to 1. */
// @ts-ignore: decorator
@inline
function near(d: v128): v128 {
  const slope = f64x2.sub(f64x2.mul(f64x2.splat(A + 2), d), f64x2.splat(A + 3))
  return f64x2.add(f64x2.mul(f64x2.mul(slope, d), d), f64x2.splat(1))
}

/** Weights by distances from 1 to 2. */
// @ts-ignore: decorator
@inline
function far(d: v128): v128 {
  const square = f64x2.add(f64x2.mul(f64x2.sub(d, f64x2.splat(5)), d), f64x2.splat(8))
  return f64x2.sub(f64x2.mul(f64x2.mul(square, d), f64x2.splat(A)), f64x2.splat(4 * A))
}
