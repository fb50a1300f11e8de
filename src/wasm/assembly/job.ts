/**
 * The header of a job: what the scheduler shares with the threads that compute it. The main thread writes it; the order
 * of the fields is that of `HEADER` in ../workspace.ts. A job is a list of output blocks, which threads take tile by
 * tile; what a block is, and where the arrays lie, only the kernel's arguments say.
 */
@unmanaged
export class Job {
  /** The next tile that no thread has taken. */
  next: i32
  /** Workers that may still join, and workers that compute tiles now. */
  admitted: i32
  active: i32
  /** Set when a kernel has stopped at a value that it cannot serve, such as an index out of range. */
  failed: i32
  /** Threads take the tiles below this one. */
  limit: i32
  /** Blocks of a tile, and of the whole job. */
  tile: u32
  blocks: u32
  /** Tiles of so many blocks; those after them have `part`. */
  whole: u32
  part: u32
  /** Number of the kernel; see `run` in index.ts. */
  kernel: i32
  /** Address of the kernel's arguments. */
  args: usize
  /** Number of the module that has the kernel; workers read it. */
  module: i32
}
