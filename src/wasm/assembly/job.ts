/**
 * What a kernel is to do, as the main thread writes it into memory and every thread reads it; the fields are those of
 * ../jobs.ts, in their
 * order. The output is a list of blocks of `width` bytes, and a kernel computes any run of them.
 */
@unmanaged
export class Job {
  /** The next tile that nobody has taken. */
  next: i32
  /** Workers that may still join, and those that have joined. */
  seats: i32
  active: i32
  /** Set when an index is out of range. */
  bad: i32
  /** Tiles from here on are left. */
  limit: i32
  /** Blocks of a tile, and of all tiles together. */
  tile: u32
  blocks: u32
  kernel: i32
  data: usize
  indices: usize
  out: usize
  /** The block at `out` and, where each block has its own indices, at `indices`. */
  origin: u32
  width: usize
  /** Size of the axis. */
  size: i32
  /** Whether an index has 8 bytes, counts from the end when negative, gives zeros when out of range. */
  wide: i32
  wrap: i32
  zero: i32
  /** Blocks in a row of the output, or indices along the axis. */
  count: u32
  /** Rows that share their indices. */
  outer: u32
  /** Elements side by side that have an index each, where the axis is not the last one. */
  inner: u32
  /** Elements from one row of the data to the next, and from one position on the axis to the next. */
  rowStride: usize
  axisStride: usize
  /** Components of a tuple, whose sizes follow; columns of a panel. */
  components: i32
}

/** Bytes of an index. */
// @ts-ignore: decorator
@inline
export function indexBytes(job: Job): usize {
  return job.wide ? 8 : 4
}
