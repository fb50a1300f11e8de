import { indexBytes, Job } from './job'
import { resolve } from './resolve'

/** Positions that are resolved at once. */
const CHUNK: u32 = 256

/**
 * GatherElements: output elements `from … to-1`, where element `[o, i, c]` of `[…, count, inner]` is read at
 * `o * rowStride + position * axisStride + c`.
 */
export function gatherElements(job: Job, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(job)
  const stride = job.axisStride * job.width
  const step = job.inner > 1 ? job.width : 0
  const length = job.inner > 1 ? job.inner : job.count
  let out = job.out + <usize>(from - job.origin) * job.width
  for (let at = from; at < to;) {
    const chunk = min(CHUNK, to - at)
    const bad = resolve(job.indices + <usize>(at - job.origin) * bytes, bool(job.wide), chunk, job.size, bool(job.wrap), scratch)
    if (bad && !job.zero) return true
    for (let done: u32 = 0; done < chunk;) {
      const line = (at + done) / length
      const start = at + done - line * length
      const part = min(length - start, chunk - done)
      const outer = job.inner > 1 ? line / job.count : line
      pick(job.data + (<usize>outer * job.rowStride) * job.width + <usize>start * step, stride, step, scratch + (<usize>done << 2), part, out, job.width, bad)
      out += <usize>part * job.width
      done += part
    }
    at += chunk
  }
  return false
}

/** Bytes of a panel that is packed. */
export const PANEL: usize = 262144

/**
 * GatherElements where the axis is not the last one: panels `from … to-1`, which are runs of `columns` columns of an outer slice. A panel of
 * the data is packed first, since a column of it, with a whole row between its elements, would find no place in the cache.
 */
export function gatherColumns(job: Job, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(job)
  const columns = <u32>job.components
  const panels = (job.inner + columns - 1) / columns
  const packed = scratch + (<usize>CHUNK << 2)
  for (let panel = from; panel < to; panel++) {
    const outer = panel / panels
    const first = (panel - outer * panels) * columns
    const width = min(columns, job.inner - first)
    const line = <usize>width * job.width
    pack(job.data + (<usize>outer * job.rowStride + first) * job.width, job.axisStride * job.width, packed, line, job.size)
    let at = outer * job.count * job.inner + first
    for (let i: u32 = 0; i < job.count; i++) {
      const bad = resolve(job.indices + <usize>at * bytes, bool(job.wide), width, job.size, bool(job.wrap), scratch)
      if (bad && !job.zero) return true
      pick(packed, line, job.width, scratch, width, job.out + <usize>at * job.width, job.width, bad)
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

/** `out[i] = data[positions[i] * stride + i * step]`, all in bytes, for elements of `width` bytes. */
function pick(data: usize, stride: usize, step: usize, positions: usize, count: u32, out: usize, width: usize, holes: bool): void {
  if (holes) pickWithHoles(data, stride, step, positions, count, out, width)
  else if (width == 4) pickUnits<u32>(data, stride, step, positions, count, out)
  else if (width == 8) pickUnits<u64>(data, stride, step, positions, count, out)
  else if (width == 2) pickUnits<u16>(data, stride, step, positions, count, out)
  else if (width == 1) pickUnits<u8>(data, stride, step, positions, count, out)
  else pickUnits<v128>(data, stride, step, positions, count, out)
}

function pickUnits<T>(data: usize, stride: usize, step: usize, positions: usize, count: u32, out: usize): void {
  const end = positions + (<usize>(count & ~3) << 2)
  const steps = 4 * step
  let second = data + step
  let third = second + step
  let fourth = third + step
  while (positions < end) {
    const a = load<T>(data + <usize>load<u32>(positions) * stride)
    const b = load<T>(second + <usize>load<u32>(positions, 4) * stride)
    const c = load<T>(third + <usize>load<u32>(positions, 8) * stride)
    const d = load<T>(fourth + <usize>load<u32>(positions, 12) * stride)
    store<T>(out, a)
    store<T>(out, b, sizeof<T>())
    store<T>(out, c, 2 * sizeof<T>())
    store<T>(out, d, 3 * sizeof<T>())
    data += steps
    second += steps
    third += steps
    fourth += steps
    positions += 16
    out += 4 * sizeof<T>()
  }
  for (let i = count & 3; i > 0; i--) {
    store<T>(out, load<T>(data + <usize>load<u32>(positions) * stride))
    data += step
    positions += 4
    out += sizeof<T>()
  }
}

function pickWithHoles(data: usize, stride: usize, step: usize, positions: usize, count: u32, out: usize, width: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const position = load<i32>(positions)
    if (position < 0) memory.fill(out, 0, width)
    else pick(data + <usize>position * stride, 0, 0, positions, 1, out, width, false)
    data += step
    positions += 4
    out += width
  }
}
