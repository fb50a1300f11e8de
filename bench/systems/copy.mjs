// What copying costs, with one thread: `bound`, the bytes that a row moves over the bandwidth of a copy that no cache
// holds; `same`, a
// copy of as many bytes, which a cache may hold.
import { answer, job, measure } from './measure.mjs'

const { bytes, ...options } = job()
const LARGE = 2 ** 26

function copy(size) {
  const source = new Uint8Array(size).fill(7)
  const target = new Uint8Array(size)
  return measure(() => {
    target.set(source)
    return target
  }, options)
}

// A copy of n bytes moves 2 n: it reads and writes them.
const same = await copy(Math.max(1, bytes / 2))
const large = await copy(LARGE)
const scaled = milliseconds => (milliseconds * bytes) / (2 * LARGE)
answer({ same, bound: { median: scaled(large.median), min: scaled(large.min) } })
