import { exponential, exponentials } from './exponential'
import { log, maxOf, splat, sumOf } from './simd'

/** Softmax along the middle axis of [outer][n][inner]. */
@unmanaged
export class SoftmaxArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** Whether the result is the logarithm: LogSoftmax. */
  isLog: u32
}

/** Columns of a block where the axis is not the last: a cache line. */
const COLUMNS: u32 = 16

/** Blocks `from … to - 1`: rows where `inner` is 1, else panels of 16 columns, those of an outer index side by side. */
export function softmax(args: SoftmaxArguments, from: u32, to: u32): void {
  const isLog = args.isLog != 0
  if (args.inner == 1) {
    const bytes = (<usize>args.n) << 2
    const whole = bytes & ~15
    for (let row = from; row < to; row++) {
      const x = args.x + row * bytes
      const y = args.y + row * bytes
      if (isLog) logSoftmaxRow(x, y, bytes, whole)
      else softmaxRow(x, y, bytes, whole)
    }
    return
  }
  const panels = (args.inner + COLUMNS - 1) / COLUMNS
  for (let block = from; block < to; block++) {
    const first = (block % panels) * COLUMNS
    const at = (<usize>((block / panels) * args.n * args.inner + first)) << 2
    const count = min(COLUMNS, args.inner - first)
    let column: u32 = 0
    for (; column + 4 <= count; column += 4) softmaxColumns(false, args, at + ((<usize>column) << 2))
    for (; column < count; column++) softmaxColumns(true, args, at + ((<usize>column) << 2))
  }
}

/**
 * e^(x - max) / sum over `bytes` bytes, of which `whole` are whole vectors. A row that holds NaN, Infinity, or
 * -Infinity alone becomes NaN, as the definition gives it.
 */
export function softmaxRow(x: usize, y: usize, bytes: usize, whole: usize): void {
  const base = splat(highestOf(x, bytes, whole))
  let sum: f32 = whole == 0 ? 0 : sumOf(exponentials(x, y, whole, base))
  let at = whole
  for (; at < bytes; at += 4) {
    const e = f32x4.extract_lane(exponential(f32x4.sub(v128.load32_splat(x + at), base)), 0)
    f32.store(y + at, e)
    sum += e
  }
  const factor = splat(1 / sum)
  for (at = 0; at < whole; at += 16) v128.store(y + at, f32x4.mul(v128.load(y + at), factor))
  for (; at < bytes; at += 4) f32.store(y + at, f32.load(y + at) / sum)
}

/** (x - max) - log(sum of e^(x - max)). */
function logSoftmaxRow(x: usize, y: usize, bytes: usize, whole: usize): void {
  const base = splat(highestOf(x, bytes, whole))
  let sums = splat(0)
  let more = sums
  let at: usize = 0
  for (; at + 32 <= whole; at += 32) {
    sums = f32x4.add(sums, exponential(f32x4.sub(v128.load(x + at), base)))
    more = f32x4.add(more, exponential(f32x4.sub(v128.load(x + at, 16), base)))
  }
  for (; at < whole; at += 16) sums = f32x4.add(sums, exponential(f32x4.sub(v128.load(x + at), base)))
  let sum = sumOf(f32x4.add(sums, more))
  for (; at < bytes; at += 4) {
    sum += f32x4.extract_lane(exponential(f32x4.sub(v128.load32_splat(x + at), base)), 0)
  }
  const shift = log(splat(sum))
  for (at = 0; at < whole; at += 16) v128.store(y + at, f32x4.sub(f32x4.sub(v128.load(x + at), base), shift))
  for (; at < bytes; at += 4) {
    f32.store(y + at, f32x4.extract_lane(f32x4.sub(f32x4.sub(v128.load32_splat(x + at), base), shift), 0))
  }
}

/** The highest element; NaN where one is NaN. */
// @ts-ignore: decorator
@inline
function highestOf(x: usize, bytes: usize, whole: usize): f32 {
  let v = splat(-Infinity)
  for (let at: usize = 0; at < whole; at += 16) v = f32x4.max(v, v128.load(x + at))
  let highest = maxOf(v)
  for (let at = whole; at < bytes; at += 4) highest = max(highest, f32.load(x + at))
  return highest
}

/** Softmax down four columns, or down one, at `offset` bytes. */
// @ts-ignore: decorator
@inline
function softmaxColumns(isOne: bool, args: SoftmaxArguments, offset: usize): void {
  const step = (<usize>args.inner) << 2
  const x = args.x + offset
  const y = args.y + offset
  const end = x + args.n * step
  const down = y - x
  let base = splat(-Infinity)
  for (let p = x; p < end; p += step) base = f32x4.max(base, isOne ? v128.load32_splat(p) : v128.load(p))
  let sums = splat(0)
  if (args.isLog) {
    for (let p = x; p < end; p += step) {
      sums = f32x4.add(sums, exponential(f32x4.sub(isOne ? v128.load32_splat(p) : v128.load(p), base)))
    }
    const shift = log(sums)
    for (let p = x; p < end; p += step) {
      const v = f32x4.sub(f32x4.sub(isOne ? v128.load32_splat(p) : v128.load(p), base), shift)
      if (isOne) f32.store(p + down, f32x4.extract_lane(v, 0))
      else v128.store(p + down, v)
    }
    return
  }
  for (let p = x; p < end; p += step) {
    const e = exponential(f32x4.sub(isOne ? v128.load32_splat(p) : v128.load(p), base))
    sums = f32x4.add(sums, e)
    if (isOne) f32.store(p + down, f32x4.extract_lane(e, 0))
    else v128.store(p + down, e)
  }
  const factor = f32x4.div(splat(1), sums)
  for (let p = x; p < end; p += step) {
    const v = f32x4.mul(isOne ? v128.load32_splat(p + down) : v128.load(p + down), factor)
    if (isOne) f32.store(p + down, f32x4.extract_lane(v, 0))
    else v128.store(p + down, v)
  }
}
