import { Job } from './job'

/** Value of `next` while no tile may be taken: above every limit. */
const CLOSED = 1 << 30

/** Takes the next tile of a job; -1 when none is left. */
export function takeTile(job: Job): i32 {
  const tile = atomic.add<i32>(changetype<usize>(job) + offsetof<Job>('next'), 1)
  return tile < job.limit ? tile : -1
}

/** The first block of a tile. */
export function firstBlock(job: Job, tile: u32): u32 {
  const whole = min(tile, job.whole)
  return whole * job.tile + (tile - whole) * job.part
}

/** Stops a job at a value that its kernel cannot serve: no thread takes another tile. */
export function stop(job: Job): void {
  atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('failed'), 1)
  atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('next'), CLOSED)
}

/**
 * Says that a worker joins a job. A worker never sees half-written fields: the main thread opens a job after writing
 * all of it, and writes the next one when no worker is active.
 * @returns whether the job admits one more worker
 */
export function enter(job: Job): bool {
  atomic.add<i32>(changetype<usize>(job) + offsetof<Job>('active'), 1)
  return atomic.sub<i32>(changetype<usize>(job) + offsetof<Job>('admitted'), 1) > 0
}

/** Says that a worker has left a job, whether it was admitted or not. */
export function leave(job: Job): void {
  const active = changetype<usize>(job) + offsetof<Job>('active')
  if (atomic.sub<i32>(active, 1) == 1) atomic.notify(active, 1)
}
