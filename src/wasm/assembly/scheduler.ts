import { Job } from './job'

/** Value of `next` while no tile may be taken: above every limit. */
const CLOSED = 1 << 30

/** Takes the next tile of a job; -1 when none is left. */
// @ts-ignore: decorator
@inline
export function takeTile(job: Job): i32 {
  const tile = atomic.add<i32>(changetype<usize>(job) + offsetof<Job>('next'), 1)
  return tile < job.limit ? tile : -1
}

/** The first block of a tile. */
// @ts-ignore: decorator
@inline
export function firstBlock(job: Job, tile: u32): u32 {
  const whole = min(tile, job.whole)
  return whole * job.tile + (tile - whole) * job.part
}

/** Stops a job at a value that its kernel cannot serve: no thread takes another tile. */
// @ts-ignore: decorator
@inline
export function stop(job: Job): void {
  atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('failed'), 1)
  atomic.store<i32>(changetype<usize>(job) + offsetof<Job>('next'), CLOSED)
}

/**
 * Has a worker join a job. Only with a tile may it read other fields: the main thread opens a job after writing all of
 * it, and writes the next one when no worker is active. A worker that comes late may join while one is written.
 * @returns its first tile; -1 where the job admits no more workers or has no tile left, and the worker has left it
 */
export function enter(job: Job): i32 {
  atomic.add<i32>(changetype<usize>(job) + offsetof<Job>('active'), 1)
  const isAdmitted = atomic.sub<i32>(changetype<usize>(job) + offsetof<Job>('admitted'), 1) > 0
  const tile = isAdmitted ? takeTile(job) : -1
  if (tile < 0) leave(job)
  return tile
}

/** Says that a worker has left a job that it had joined. */
export function leave(job: Job): void {
  const active = changetype<usize>(job) + offsetof<Job>('active')
  if (atomic.sub<i32>(active, 1) == 1) atomic.notify(active, 1)
}
