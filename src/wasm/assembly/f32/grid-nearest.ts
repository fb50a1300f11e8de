import { coordinateOf, elementAt, GridArguments, MAX_COORDINATE, planeOf, ZEROS } from './grid'

/** Points whose elements are found before the planes are read; the selector knows it. */
const CHUNK: u32 = 1024

/**
 * Computes chunks `from … to - 1`, counted over all batches: the elements nearest to points, ties to the even index.
 * @returns whether it stopped at a coordinate that it cannot serve
 */
export function sampleNearest(args: GridArguments, scratch: usize, from: u32, to: u32): bool {
  const plane = (<usize>planeOf(args)) << 2
  const pointBytes: usize = args.depth != 0 ? 12 : 8
  const step = (<usize>args.points) << 2
  for (let chunk = from; chunk < to; chunk++) {
    const batch = <usize>(chunk / args.chunks)
    const first = (chunk % args.chunks) * CHUNK
    const bytes = (<usize>min(CHUNK, args.points - first)) << 2
    let point = args.grid + (batch * args.points + first) * pointBytes
    for (let at = scratch, end = scratch + bytes; at < end; at += 4, point += pointBytes) {
      const row = coordinateOf(args, load<f32>(point, 4), args.height)
      const column = coordinateOf(args, load<f32>(point), args.width)
      if (!(abs(row) < MAX_COORDINATE) || !(abs(column) < MAX_COORDINATE)) return true
      let offset = offsetOf(args, nearest(<f64>row), nearest(<f64>column))
      if (args.depth != 0) {
        const slab = coordinateOf(args, load<f32>(point, 8), args.depth)
        if (!(abs(slab) < MAX_COORDINATE)) return true
        offset = offset < 0 ? offset : inSlab(args, nearest(<f64>slab), offset)
      }
      store<i32>(at, offset)
    }
    let x = args.x + batch * args.channels * plane
    let y = args.y + batch * args.channels * step + ((<usize>first) << 2)
    for (let channel: u32 = 0; channel < args.channels; channel++, x += plane, y += step) {
      for (let at: usize = 0; at < bytes; at += 4) {
        const offset = load<i32>(scratch + at)
        store<u32>(y + at, offset < 0 ? 0 : load<u32>(x + <usize>offset))
      }
    }
  }
  return false
}

/** Bytes from the beginning of a plane to an element; -1 for zero padding. */
// @ts-ignore: decorator
@inline
function offsetOf(args: GridArguments, row: f64, column: f64): i32 {
  const bottom = <f64>(args.height - 1)
  const right = <f64>(args.width - 1)
  if (row >= 0 && row <= bottom && column >= 0 && column <= right)
    return <i32>((<u32>row * args.width + <u32>column) << 2)
  if (args.padding == ZEROS) return -1
  return <i32>((elementAt(args, row, bottom) * args.width + elementAt(args, column, right)) << 2)
}

/** The same of an element of a slab, from its beginning in the slab. */
// @ts-ignore: decorator
@inline
function inSlab(args: GridArguments, slab: f64, offset: i32): i32 {
  const last = <f64>(args.depth - 1)
  const isInside = slab >= 0 && slab <= last
  if (!isInside && args.padding == ZEROS) return -1
  const bytes = (args.height * args.width) << 2
  return <i32>((isInside ? <u32>slab : elementAt(args, slab, last)) * bytes) + offset
}
