import { copyBlocks } from './blocks'
import { indexBytes, Job } from './job'

/** Tuples that are resolved at once. */
const CHUNK: u32 = 256

/** GatherND: the output blocks `from … to-1`; `count` tuples belong to each batch. */
export function gatherTuples(job: Job, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(job) * <usize>job.components
  for (let at = from; at < to; at += CHUNK) {
    const chunk = min(CHUNK, to - at)
    const tuples = job.indices + <usize>(at - job.origin) * bytes
    writeBatches(at, chunk, job.count, scratch)
    const bad = job.wide
      ? resolveTuples<i64>(job, tuples, chunk, scratch)
      : resolveTuples<i32>(job, tuples, chunk, scratch)
    if (bad && !job.zero) return true
    copyBlocks(job.data, scratch, chunk, job.out + <usize>(at - job.origin) * job.width, job.width, bad)
  }
  return false
}

/** The batch of each of `length` tuples, the first of which is tuple `first`. */
function writeBatches(first: u32, length: u32, count: u32, to: usize): void {
  let batch = first / count
  let left = count - (first % count)
  for (let i: u32 = 0; i < length; i++) {
    store<u32>(to, batch)
    to += 4
    if (--left == 0) {
      left = count
      batch++
    }
  }
}

/**
 * Turns the batches at `to` and their tuples into the numbers of data blocks, one component after the other; -1 where a
 * component is out
 * of range.
 * @returns whether any is
 */
function resolveTuples<T>(job: Job, from: usize, count: u32, to: usize): bool {
  const step = <usize>job.components * sizeof<T>()
  const end = to + ((<usize>count) << 2)
  let size = changetype<usize>(job) + offsetof<Job>()
  let found = false
  for (let j = job.components; j > 0; j--) {
    found = appendComponent<T>(from, step, load<i32>(size), bool(job.wrap), to, end) || found
    from += sizeof<T>()
    size += 4
  }
  return found
}

/** `block * size + index`; -1 where the index is out of range or the block is -1 already. */
function appendComponent<T>(from: usize, step: usize, size: i32, wrap: bool, to: usize, end: usize): bool {
  const added = wrap ? <T>size : 0
  let found = false
  for (; to < end; to += 4) {
    const index = load<T>(from)
    const position = index + ((index >> (8 * sizeof<T>() - 1)) & added)
    const block = load<i32>(to)
    const out = sizeof<T>() == 8 ? <u64>position >= <u64>size : <u32>position >= <u32>size
    store<i32>(to, select<i32>(-1, block * size + <i32>position, i32(out) | i32(block < 0)))
    found = found || out
    from += step
  }
  return found
}
