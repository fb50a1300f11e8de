import { isDense, readAhead } from './ahead'
import { copyBlocks } from './blocks'
import { indexBytes, Job } from './job'
import { resolve } from './resolve'

/**
 * Positions that are resolved at once, where every row has its own; and the most that are kept for rows which share
 * them.
 */
const CHUNK: u32 = 2048
export const SHARED: u32 = 16384

/** `out[b, o, i] = data[b, o, indices[b, i]]` for the output blocks `from … to-1`. */
export function gatherRows(job: Job, scratch: usize, from: u32, to: u32): bool {
  const count = job.count
  const keep = job.outer > 1 && count <= SHARED
  const bytes = indexBytes(job)
  const rowBytes = job.rowStride * job.width
  let out = job.out + <usize>(from - job.origin) * job.width
  let kept: u32 = u32.MAX_VALUE
  let bad = false
  const ahead = keep && isDense(count, rowBytes)
  const end = job.data + <usize>((to - 1) / count + 1) * rowBytes
  let read: usize = 0
  for (let at = from; at < to;) {
    const row = at / count
    const batch = row / job.outer
    const start = at - row * count
    let length = min(count - start, to - at)
    let positions = scratch
    if (keep) {
      if (kept != batch) {
        bad = resolve(
          job.indices + <usize>(batch * count) * bytes,
          bool(job.wide),
          count,
          job.size,
          bool(job.wrap),
          scratch
        )
        kept = batch
      }
      positions += (<usize>start) << 2
    } else {
      length = min(length, CHUNK)
      const index = job.outer > 1 ? batch * count + start : at - job.origin
      bad = resolve(job.indices + <usize>index * bytes, bool(job.wide), length, job.size, bool(job.wrap), scratch)
    }
    if (bad && !job.zero) return true
    const data = job.data + <usize>row * rowBytes
    if (ahead && data + rowBytes > read) read = readAhead(data, data + rowBytes, end)
    copyBlocks(data, positions, length, out, job.width, bad)
    out += <usize>length * job.width
    at += length
  }
  return false
}
