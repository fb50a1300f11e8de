import { isDense, readAhead } from './ahead'
import { indexBytes, Job } from './job'

/**
 * GatherElements: output elements `from … to-1`, where element `[o, i, c]` of `[…, count, inner]` is read at
 * `o * rowStride + position * axisStride + c`.
 */
export function gatherElements(job: Job, from: u32, to: u32): bool {
  const bytes = indexBytes(job)
  const stride = job.axisStride * job.width
  const step = job.inner > 1 ? job.width : 0
  const length = job.inner > 1 ? job.inner : job.count
  const lineBytes = <usize>job.size * job.width
  const ahead = job.inner == 1 && job.axisStride == 1 && isDense(length, lineBytes)
  let out = job.out + <usize>(from - job.origin) * job.width
  let indices = job.indices + <usize>(from - job.origin) * bytes
  for (let at = from; at < to;) {
    const line = at / length
    const start = at - line * length
    const part = min(length - start, to - at)
    const outer = job.inner > 1 ? line / job.count : line
    const data = job.data + <usize>outer * job.rowStride * job.width + <usize>start * step
    if (ahead) readAhead(data, data + lineBytes, data + lineBytes)
    if (pick(job, data, stride, step, indices, part, out)) return true
    indices += <usize>part * bytes
    out += <usize>part * job.width
    at += part
  }
  return false
}

/**
 * GatherElements where the axis is not the last one: panels `from … to-1`, which are runs of `columns` columns of an
 * outer slice. A panel of
 * the data is packed first, since a column of it, with a whole row between its elements, would find no place in the
 * cache.
 */
export function gatherColumns(job: Job, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(job)
  const columns = <u32>job.components
  const panels = (job.inner + columns - 1) / columns
  for (let panel = from; panel < to; panel++) {
    const outer = panel / panels
    const first = (panel - outer * panels) * columns
    const width = min(columns, job.inner - first)
    const line = <usize>width * job.width
    pack(
      job.data + (<usize>outer * job.rowStride + first) * job.width,
      job.axisStride * job.width,
      scratch,
      line,
      job.size
    )
    let at = outer * job.count * job.inner + first
    for (let i: u32 = 0; i < job.count; i++) {
      if (pick(job, scratch, line, job.width, job.indices + <usize>at * bytes, width, job.out + <usize>at * job.width))
        return true
      at += job.inner
    }
  }
  return false
}

function pack(data: usize, stride: usize, to: usize, line: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    let at: usize = 0
    for (; at + 16 <= line; at += 16) v128.store(to + at, v128.load(data + at))
    for (; at < line; at++) store<u8>(to + at, load<u8>(data + at))
    data += stride
    to += line
  }
}

/**
 * `out[i] = data[indices[i] * stride + i * step]`, strides in bytes.
 * @returns whether an index is out of range, and that does not give zeros
 */
function pick(job: Job, data: usize, stride: usize, step: usize, indices: usize, count: u32, out: usize): bool {
  const bad = job.wide
    ? pickBy<i64>(job, data, stride, step, indices, count, out)
    : pickBy<i32>(job, data, stride, step, indices, count, out)
  if (!bad) return false
  if (job.zero) pickWithHoles(job, data, stride, step, indices, count, out)
  return !job.zero
}

function pickBy<I>(job: Job, data: usize, stride: usize, step: usize, indices: usize, count: u32, out: usize): bool {
  const size = job.size
  const added = job.wrap ? size : 0
  if (job.width == 4) return pickUnits<I, u32>(size, added, data, stride, step, indices, count, out)
  if (job.width == 8) return pickUnits<I, u64>(size, added, data, stride, step, indices, count, out)
  if (job.width == 2) return pickUnits<I, u16>(size, added, data, stride, step, indices, count, out)
  if (job.width == 1) return pickUnits<I, u8>(size, added, data, stride, step, indices, count, out)
  return pickUnits<I, v128>(size, added, data, stride, step, indices, count, out)
}

/** {@link pick} as long as no index is out of range: four indices at a time are checked and turned into addresses. */
function pickUnits<I, T>(
  size: i32,
  added: i32,
  data: usize,
  stride: usize,
  step: usize,
  indices: usize,
  count: u32,
  out: usize
): bool {
  const sizes = i32x4.splat(size)
  const addeds = i32x4.splat(added)
  const strides = i32x4.splat(<i32>stride)
  const steps = i32x4.splat(<i32>step)
  const turn = i32x4.shl(steps, 2)
  let bases = i32x4.add(i32x4.splat(<i32>data), i32x4.mul(steps, i32x4(0, 1, 2, 3)))
  const end = indices + <usize>(count & ~3) * sizeof<I>()
  while (indices < end) {
    let low = v128.load(indices)
    let high = low
    if (sizeof<I>() == 8) {
      const second = v128.load(indices, 16)
      high = v128.shuffle<i32>(low, second, 1, 3, 5, 7)
      low = v128.shuffle<i32>(low, second, 0, 2, 4, 6)
    }
    const sign = i32x4.shr_s(low, 31)
    const positions = i32x4.add(low, v128.and(sign, addeds))
    let bad = i32x4.ge_u(positions, sizes)
    if (sizeof<I>() == 8) bad = v128.or(bad, v128.xor(high, sign))
    if (v128.any_true(bad)) return true
    const addresses = i32x4.add(i32x4.mul(positions, strides), bases)
    store<T>(out, load<T>(<usize>i32x4.extract_lane(addresses, 0)))
    store<T>(out, load<T>(<usize>i32x4.extract_lane(addresses, 1)), sizeof<T>())
    store<T>(out, load<T>(<usize>i32x4.extract_lane(addresses, 2)), 2 * sizeof<T>())
    store<T>(out, load<T>(<usize>i32x4.extract_lane(addresses, 3)), 3 * sizeof<T>())
    bases = i32x4.add(bases, turn)
    indices += 4 * sizeof<I>()
    out += 4 * sizeof<T>()
  }
  data += <usize>(count & ~3) * step
  for (let i = count & 3; i > 0; i--) {
    const index = <i64>load<I>(indices)
    const position = index + ((index >> 63) & (<i64>added))
    if (<u64>position >= <u64>size) return true
    store<T>(out, load<T>(data + <usize>position * stride))
    data += step
    indices += sizeof<I>()
    out += sizeof<T>()
  }
  return false
}

/** {@link pick} where an index that is out of range gives zeros. */
function pickWithHoles(
  job: Job,
  data: usize,
  stride: usize,
  step: usize,
  indices: usize,
  count: u32,
  out: usize
): void {
  for (let i: u32 = 0; i < count; i++) {
    const position = job.wide ? positionAt<i64>(job, indices) : positionAt<i32>(job, indices)
    if (<u64>position >= <u64>job.size) memory.fill(out, 0, job.width)
    else memory.copy(out, data + <usize>position * stride, job.width)
    data += step
    indices += indexBytes(job)
    out += job.width
  }
}

/** The position that an index names, which may be out of range. */
function positionAt<I>(job: Job, indices: usize): i64 {
  const index = <i64>load<I>(indices)
  return index + (job.wrap ? (index >> 63) & (<i64>job.size) : 0)
}
