import { isDense, readAhead } from './ahead'
import { ElementsArguments, indexBytes } from './arguments'

/**
 * GatherElements: output elements `from … to-1`, where element `[o, i, c]` of `[…, count, inner]` is read at
 * `o * outerStride + position * axisStride + c`.
 */
export function gatherElements(args: ElementsArguments, from: u32, to: u32): bool {
  const bytes = indexBytes(args)
  const stride = args.axisStride * args.width
  const step = args.inner > 1 ? args.width : 0
  const length = args.inner > 1 ? args.inner : args.count
  const lineBytes = <usize>args.size * args.width
  const ahead = args.inner == 1 && args.axisStride == 1 && isDense(length, lineBytes)
  let out = args.out + <usize>from * args.width
  let indices = args.indices + <usize>from * bytes
  for (let at = from; at < to;) {
    const line = at / length
    const start = at - line * length
    const part = min(length - start, to - at)
    const outer = args.inner > 1 ? line / args.count : line
    const data = args.data + <usize>outer * args.outerStride * args.width + <usize>start * step
    if (ahead) readAhead(data, data + lineBytes, data + lineBytes)
    if (pick(args, data, stride, step, indices, part, out)) return true
    indices += <usize>part * bytes
    out += <usize>part * args.width
    at += part
  }
  return false
}

/**
 * GatherElements where the axis is not the last one: panels `from … to-1`, each of which is `columns` adjacent columns
 * of an outer slice. A panel of the data is packed first: the elements of a column lie a whole row apart, so each would
 * take a cache line of its own.
 */
export function gatherColumns(args: ElementsArguments, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(args)
  const columns = args.columns
  const panels = (args.inner + columns - 1) / columns
  for (let panel = from; panel < to; panel++) {
    const outer = panel / panels
    const first = (panel - outer * panels) * columns
    const width = min(columns, args.inner - first)
    const line = <usize>width * args.width
    pack(
      args.data + (<usize>outer * args.outerStride + first) * args.width,
      args.axisStride * args.width,
      scratch,
      line,
      args.size
    )
    let at = outer * args.count * args.inner + first
    for (let i: u32 = 0; i < args.count; i++) {
      if (
        pick(
          args,
          scratch,
          line,
          args.width,
          args.indices + <usize>at * bytes,
          width,
          args.out + <usize>at * args.width
        )
      )
        return true
      at += args.inner
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
 * @returns whether an index is out of range and the policy forbids that
 */
function pick(
  args: ElementsArguments,
  data: usize,
  stride: usize,
  step: usize,
  indices: usize,
  count: u32,
  out: usize
): bool {
  const bad = args.wide
    ? pickBy<i64>(args, data, stride, step, indices, count, out)
    : pickBy<i32>(args, data, stride, step, indices, count, out)
  if (!bad) return false
  if (args.zero) pickWithHoles(args, data, stride, step, indices, count, out)
  return !args.zero
}

function pickBy<I>(
  args: ElementsArguments,
  data: usize,
  stride: usize,
  step: usize,
  indices: usize,
  count: u32,
  out: usize
): bool {
  const size = args.size
  const added = args.wrap ? size : 0
  if (args.width == 4) return pickUnits<I, u32>(size, added, data, stride, step, indices, count, out)
  if (args.width == 8) return pickUnits<I, u64>(size, added, data, stride, step, indices, count, out)
  if (args.width == 2) return pickUnits<I, u16>(size, added, data, stride, step, indices, count, out)
  if (args.width == 1) return pickUnits<I, u8>(size, added, data, stride, step, indices, count, out)
  return pickUnits<I, v128>(size, added, data, stride, step, indices, count, out)
}

/**
 * {@link pick} with any index out of range moved into it: a branch for each four indices takes longer. Computes the
 * addresses of four elements by SIMD.
 */
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
  if (size == 0) return count > 0
  const last = i32x4.splat(size - 1)
  const addeds = i32x4.splat(added)
  const strides = i32x4.splat(<i32>stride)
  const steps = i32x4.splat(<i32>step)
  const stride4 = i32x4.shl(steps, 2)
  let bases = i32x4.add(i32x4.splat(<i32>data), i32x4.mul(steps, i32x4(0, 1, 2, 3)))
  let bad = i32x4.splat(0)
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
    const inRange = i32x4.min_u(positions, last)
    bad = v128.or(bad, v128.xor(inRange, positions))
    if (sizeof<I>() == 8) bad = v128.or(bad, v128.xor(high, sign))
    const addresses = i32x4.add(i32x4.mul(inRange, strides), bases)
    // Two addresses at a time: to shift one out of a word takes less than a lane of its own.
    const first = i64x2.extract_lane(addresses, 0)
    const second = i64x2.extract_lane(addresses, 1)
    store<T>(out, load<T>(<usize>first))
    store<T>(out, load<T>(<usize>(<u64>first >> 32)), sizeof<T>())
    store<T>(out, load<T>(<usize>second), 2 * sizeof<T>())
    store<T>(out, load<T>(<usize>(<u64>second >> 32)), 3 * sizeof<T>())
    bases = i32x4.add(bases, stride4)
    indices += 4 * sizeof<I>()
    out += 4 * sizeof<T>()
  }
  if (v128.any_true(bad)) return true
  data += <usize>(count & ~3) * step
  for (let i = count & 3; i > 0; i--) {
    const index = <i64>load<I>(indices)
    const position = index + ((index >> 63) & <i64>added)
    if (<u64>position >= <u64>size) return true
    store<T>(out, load<T>(data + <usize>position * stride))
    data += step
    indices += sizeof<I>()
    out += sizeof<T>()
  }
  return false
}

/** {@link pick} for indices some of which are out of range and give zeros. */
function pickWithHoles(
  args: ElementsArguments,
  data: usize,
  stride: usize,
  step: usize,
  indices: usize,
  count: u32,
  out: usize
): void {
  for (let i: u32 = 0; i < count; i++) {
    const position = args.wide ? positionAt<i64>(args, indices) : positionAt<i32>(args, indices)
    if (<u64>position >= <u64>args.size) memory.fill(out, 0, args.width)
    else memory.copy(out, data + <usize>position * stride, args.width)
    data += step
    indices += indexBytes(args)
    out += args.width
  }
}

/** The position that an index means; it may be out of range. */
function positionAt<I>(args: ElementsArguments, indices: usize): i64 {
  const index = <i64>load<I>(indices)
  return index + (args.wrap ? (index >> 63) & <i64>args.size : 0)
}
