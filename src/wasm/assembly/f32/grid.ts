import { LinesResampleArguments, resampleLines } from './resample'

/** Samples of planes at points: x is [batches][channels][depth][height][width], y [batches][channels][points]. */
@unmanaged
export class GridArguments {
  x: usize
  /** Two or three coordinates of each point, that along the width first; -1 and 1 are the edges. */
  grid: usize
  y: usize
  channels: u32
  height: u32
  width: u32
  points: u32
  /** Chunks of points of a batch. */
  chunks: u32
  /** What is beyond the edges, as numbered below. */
  padding: i32
  /** Whether -1 and 1 are the centres of the outermost elements, not their outer edges. */
  isAligned: u32
  /** Whether points beyond the edges are moved; else their neighbours are, one by one. */
  moves: u32
  /** 0: there is no such axis, and points have two coordinates. */
  depth: u32
}

export const ZEROS: i32 = 0
export const BORDER: i32 = 1
const REFLECTION: i32 = 2

/**
 * Points of two coordinates whose neighbours and weights are worked out before the planes are summed, and half as many
 * of three, which have twice the neighbours; the selector knows it.
 */
const CHUNK: u32 = 1024
/** Coordinates beyond which a call is left to the reference. */
export const MAX_COORDINATE: f32 = 1073741824

/** Where in the scratch memory the neighbours along both axes, the arguments of the sums and the tables are. */
const COLUMN: usize = 32
const SUMS: usize = 64
const SLAB: usize = 128
const INDICES: usize = 256
const WEIGHTS: usize = INDICES + 16 * <usize>CHUNK

/**
 * Computes chunks `from … to - 1`, counted over all batches: the tables of a chunk, then weighted sums of lines.
 * @returns whether it stopped at a coordinate that it cannot serve
 */
export function sampleGrid(args: GridArguments, scratch: usize, from: u32, to: u32): bool {
  const isDeep = args.depth != 0
  const plane = planeOf(args)
  const chunkPoints = isDeep ? CHUNK / 2 : CHUNK
  const pointBytes: usize = isDeep ? 12 : 8
  const taps: usize = isDeep ? 8 : 4
  const sums = changetype<LinesResampleArguments>(scratch + SUMS)
  sums.indices = scratch + INDICES
  sums.weights = scratch + WEIGHTS
  sums.size = plane
  sums.step = args.points
  sums.taps = <u32>taps
  sums.from = 0
  sums.to = 0
  for (let chunk = from; chunk < to; chunk++) {
    const batch = <usize>(chunk / args.chunks)
    const first = (chunk % args.chunks) * chunkPoints
    const count = min(chunkPoints, args.points - first)
    let point = args.grid + (batch * args.points + first) * pointBytes
    for (let i: u32 = 0; i < count; i++, point += pointBytes) {
      if (findNeighbours(args, scratch, load<f32>(point, 4), args.height)) return true
      if (findNeighbours(args, scratch + COLUMN, load<f32>(point), args.width)) return true
      const entry = scratch + INDICES + entryOf(i, taps)
      if (!isDeep) {
        storeTaps(args, scratch, entry, 0, 1)
        continue
      }
      if (findNeighbours(args, scratch + SLAB, load<f32>(point, 8), args.depth)) return true
      storeTaps(args, scratch, entry, load<u32>(scratch + SLAB), load<f64>(scratch + SLAB, 8))
      storeTaps(args, scratch, entry + 64, load<u32>(scratch + SLAB, 4), load<f64>(scratch + SLAB, 16))
    }
    // The lanes of the last four points that are none.
    for (let i = count; (i & 3) != 0; i++) {
      const entry = scratch + INDICES + entryOf(i, taps)
      for (let tap: usize = 0; tap < taps << 4; tap += 16) {
        store<u32>(entry + tap, 0)
        store<f32>(entry + tap + (WEIGHTS - INDICES), 0)
      }
    }
    sums.x = args.x + ((batch * args.channels * plane) << 2)
    sums.y = args.y + ((batch * args.channels * args.points + first) << 2)
    sums.count = count
    resampleLines(sums, 0, args.channels)
  }
  return false
}

/** Elements of a channel. */
// @ts-ignore: decorator
@inline
export function planeOf(args: GridArguments): u32 {
  return max(args.depth, 1) * args.height * args.width
}

/** Bytes before the first of the taps of a point: the same taps of four points lie side by side. */
// @ts-ignore: decorator
@inline
function entryOf(point: u32, taps: usize): usize {
  return (<usize>point >> 2) * (taps << 4) + ((point & 3) << 2)
}

/** Writes the four neighbours of a point in a slab of a weight, and their weights. */
// @ts-ignore: decorator
@inline
function storeTaps(args: GridArguments, scratch: usize, entry: usize, slab: u32, share: f64): void {
  for (let row: usize = 0; row < 2; row++) {
    const start = (slab * args.height + load<u32>(scratch + (row << 2))) * args.width
    const weight = share * load<f64>(scratch + (row << 3), 8)
    for (let column: usize = 0; column < 2; column++, entry += 16) {
      store<u32>(entry, start + load<u32>(scratch + COLUMN + (column << 2)))
      store<f32>(entry, <f32>(weight * load<f64>(scratch + COLUMN + (column << 3), 8)), WEIGHTS - INDICES)
    }
  }
}

/**
 * Writes the two elements around a coordinate along an axis (two integers), and their weights (two doubles): 0 for
 * padding.
 * @returns whether the coordinate is too large, or no number
 */
function findNeighbours(args: GridArguments, to: usize, given: f32, size: u32): bool {
  const coordinate = coordinateOf(args, given, size)
  if (!(abs(coordinate) < MAX_COORDINATE)) return true
  let at = <f64>coordinate
  const last = <f64>(size - 1)
  if (args.moves != 0) {
    if (args.padding == BORDER) at = min<f64>(last, max<f64>(0, at))
    else if (args.padding != ZEROS) at = reflected(args, at, last)
  }
  const start = floor(at)
  storeNeighbour(args, to, to + 8, start, at, last)
  storeNeighbour(args, to + 4, to + 16, start + 1, at, last)
  return false
}

/** Where along an axis of `size` elements a number of the grid lies, in elements. */
// @ts-ignore: decorator
@inline
export function coordinateOf(args: GridArguments, given: f32, size: u32): f32 {
  return args.isAligned != 0 ? (given + 1) * 0.5 * <f32>(size - 1) : ((given + 1) * <f32>size - 1) * 0.5
}

/** Reflects a coordinate at the edges until it lies between them. */
// @ts-ignore: decorator
@inline
export function reflected(args: GridArguments, at: f64, last: f64): f64 {
  const low: f64 = args.isAligned != 0 ? 0 : -0.5
  const high = last - low
  if (at >= low && at <= high) return at
  const span = high - low
  if (span <= 0) return low
  const distance = abs(at - low)
  // Exact, since the quotient is below 2^31; it may have been rounded up.
  let rest = distance - floor(distance / (2 * span)) * (2 * span)
  if (rest < 0) rest += 2 * span
  return low + (rest <= span ? rest : 2 * span - rest)
}

/** The element that is read at a whole coordinate; for zero padding, which the caller looks for, one at the edge. */
// @ts-ignore: decorator
@inline
export function elementAt(args: GridArguments, place: f64, last: f64): u32 {
  const moved = args.padding == REFLECTION ? reflected(args, place, last) : place
  return <u32>min<f64>(last, max<f64>(0, moved))
}

// @ts-ignore: decorator
@inline
function storeNeighbour(args: GridArguments, index: usize, weight: usize, place: f64, at: f64, last: f64): void {
  const isInside = place >= 0 && place <= last
  store<u32>(index, <u32>min<f64>(last, max<f64>(0, place)))
  store<f64>(weight, isInside || args.padding != ZEROS ? max<f64>(0, 1 - abs(place - at)) : 0)
}
