import { Job } from './job'

/** Types of elements, as `Job.wide` has them here. */
const FLOAT32 = 0
const INT32 = 1
const INT64 = 2

/**
 * GatherTree: the batches `from … to-1`. `data` are the ids `[count, batches, inner]` (time, batch, beam), `indices`
 * the parents, and
 * `axisStride` and `rowStride` the places of the lengths and of the end token.
 */
export function gatherBeams(job: Job, from: u32, to: u32): bool {
  if (job.wide == FLOAT32) return followAll<f32>(job, from, to)
  if (job.wide == INT32) return followAll<i32>(job, from, to)
  if (job.wide == INT64) return followAll<i64>(job, from, to)
  return followAll<f64>(job, from, to)
}

function followAll<T>(job: Job, from: u32, to: u32): bool {
  const steps = job.count
  const beams = job.inner
  const row = <usize>(job.blocks * beams) * sizeof<T>()
  const end = load<T>(job.rowStride)
  for (let batch = from; batch < to; batch++) {
    const length = load<T>(job.axisStride + <usize>batch * sizeof<T>())
    // Compared as it is: a length may be no number, or a very large one.
    const most = length >= <T>steps ? steps : length >= <T>1 ? <u32>length : 0
    for (let beam: u32 = 0; beam < beams; beam++) {
      if (follow<T>(job, <usize>(batch * beams) * sizeof<T>(), beam, most, row, end)) return true
    }
  }
  return false
}

/**
 * One beam back from its last step to the first, then forward to where it ends; `start` is the place of beam 0 in step
 * 0.
 */
function follow<T>(job: Job, start: usize, beam: u32, length: u32, row: usize, end: T): bool {
  const steps = job.count
  const own = <usize>beam * sizeof<T>()
  for (let time = length; time < steps; time++) store<T>(job.out + start + <usize>time * row + own, end)
  let from = own
  for (let time = length; time > 0;) {
    time--
    const at = start + <usize>time * row
    store<T>(job.out + at + own, load<T>(job.data + at + from))
    if (time == 0) break
    const parent = load<T>(job.indices + at + from)
    if (!(parent >= <T>0 && parent < <T>job.inner)) return true
    const whole = <u32>parent
    if (<T>whole != parent) return true
    from = <usize>whole * sizeof<T>()
  }
  let time: u32 = 0
  while (time < length && load<T>(job.out + start + <usize>time * row + own) != end) time++
  for (time++; time < length; time++) store<T>(job.out + start + <usize>time * row + own, end)
  return false
}
