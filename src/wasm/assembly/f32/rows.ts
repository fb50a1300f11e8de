import { fma, splat, sumOf } from './simd'

/** Normalizes rows of n elements. Scale and bias are by element of a row. */
@unmanaged
export class RowsArguments {
  x: usize
  scale: usize
  bias: usize
  /** Added to x first: SkipLayerNormalization. The sum is written into `sum`. */
  skip: usize
  y: usize
  sum: usize
  n: u32
  hasScale: u32
  hasBias: u32
  hasSkip: u32
  epsilon: f32
  /** What a difference from the mean is divided by: see DEVIATION and the others below. Layer normalization only. */
  divisor: u32
}

/** sqrt(variance + epsilon) */
const DEVIATION: u32 = 0
/** sqrt(variance) + epsilon */
const DEVIATION_OUTSIDE: u32 = 1
/** 1: only the mean is subtracted. */
const NONE: u32 = 2

/** Bytes that are summed in float32; the sums of such spans are added in double precision. */
const SPAN: usize = 4096

/**
 * Results of {@link findMoments}: the mean, rounded, what rounding took from it, and the variance. Each thread has an
 * instance of its own, and so its own results.
 */
let foundMean: f32 = 0
let foundRest: f64 = 0
let foundVariance: f64 = 0

/**
 * Finds mean and variance of elements side by side by two passes. The first mean is rounded; the second pass sums the
 * differences from it, too, by which mean and variance are corrected. So equal elements have variance 0.
 */
function findMoments(x: usize, bytes: usize): void {
  const n = <f64>(bytes >> 2)
  let total: f64 = 0
  for (let start: usize = 0; start < bytes; start += SPAN) {
    const end = min(bytes, start + SPAN)
    const whole = end & ~15
    let a = splat(0)
    let b = a
    let at = start
    for (; at + 32 <= whole; at += 32) {
      a = f32x4.add(a, v128.load(x + at))
      b = f32x4.add(b, v128.load(x + at, 16))
    }
    for (; at < whole; at += 16) a = f32x4.add(a, v128.load(x + at))
    total += <f64>sumOf(f32x4.add(a, b))
    for (; at < end; at += 4) total += <f64>f32.load(x + at)
  }
  const mean = <f32>(total / n)
  const m = splat(mean)
  let rest: f64 = 0
  let squares: f64 = 0
  for (let start: usize = 0; start < bytes; start += SPAN) {
    const end = min(bytes, start + SPAN)
    const whole = end & ~15
    let a = splat(0)
    let b = a
    let s = a
    let t = a
    let at = start
    for (; at + 32 <= whole; at += 32) {
      const d = f32x4.sub(v128.load(x + at), m)
      const e = f32x4.sub(v128.load(x + at, 16), m)
      a = f32x4.add(a, d)
      b = f32x4.add(b, e)
      s = fma(s, d, d)
      t = fma(t, e, e)
    }
    for (; at < whole; at += 16) {
      const d = f32x4.sub(v128.load(x + at), m)
      a = f32x4.add(a, d)
      s = fma(s, d, d)
    }
    rest += <f64>sumOf(f32x4.add(a, b))
    squares += <f64>sumOf(f32x4.add(s, t))
    for (; at < end; at += 4) {
      const d = <f64>(f32.load(x + at) - mean)
      rest += d
      squares += d * d
    }
  }
  rest /= n
  // An infinite mean has no differences to be corrected by.
  const isFinite = rest - rest == 0
  foundMean = isFinite ? <f32>(<f64>mean + rest) : mean
  foundRest = isFinite ? <f64>mean + rest - <f64>foundMean : 0
  // Rounding may leave a little below zero; max keeps NaN.
  foundVariance = max<f64>(0, squares / n - rest * rest)
}

/**
 * The square of what rounding may take from a mean, in units of the variance: more where a mean is some tens of
 * deviations away from 0. To take the rest away as well takes a further pass over the row.
 */
const MAX_REST: f64 = 1e-12

/** Layer normalization of rows: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
export function layerNormRows(args: RowsArguments, from: u32, to: u32): void {
  const bytes = (<usize>args.n) << 2
  const whole = bytes & ~15
  const epsilon = <f64>args.epsilon
  for (let row = from; row < to; row++) {
    const x = withSkip(args, row * bytes, bytes, whole)
    findMoments(x, bytes)
    let divisor: f64 = 1
    if (args.divisor == DEVIATION) divisor = sqrt<f64>(foundVariance + epsilon)
    else if (args.divisor == DEVIATION_OUTSIDE) divisor = sqrt<f64>(foundVariance) + epsilon
    const y = args.y + row * bytes
    const factor = <f32>(1 / divisor)
    if (foundRest * foundRest > MAX_REST * foundVariance) {
      mapSpan(x, y, bytes, foundMean, factor, <f32>(-foundRest / divisor))
      scaleRow(args, y, y, bytes, whole, 0, 1)
    } else scaleRow(args, x, y, bytes, whole, foundMean, factor)
  }
}

/** Root mean square normalization of rows: x / sqrt(mean(x^2) + epsilon) * scale + bias. */
export function rmsNormRows(args: RowsArguments, from: u32, to: u32): void {
  const bytes = (<usize>args.n) << 2
  const whole = bytes & ~15
  for (let row = from; row < to; row++) {
    const x = withSkip(args, row * bytes, bytes, whole)
    const squares = sumOfSquares(x, bytes) / <f64>args.n
    scaleRow(args, x, args.y + row * bytes, bytes, whole, 0, <f32>(1 / sqrt<f64>(squares + <f64>args.epsilon)))
  }
}

function sumOfSquares(x: usize, bytes: usize): f64 {
  let total: f64 = 0
  for (let start: usize = 0; start < bytes; start += SPAN) {
    const end = min(bytes, start + SPAN)
    const whole = end & ~15
    let a = splat(0)
    let b = a
    let at = start
    for (; at + 32 <= whole; at += 32) {
      const d = v128.load(x + at)
      const e = v128.load(x + at, 16)
      a = fma(a, d, d)
      b = fma(b, e, e)
    }
    for (; at < whole; at += 16) {
      const d = v128.load(x + at)
      a = fma(a, d, d)
    }
    total += <f64>sumOf(f32x4.add(a, b))
    for (; at < end; at += 4) {
      const d = <f64>f32.load(x + at)
      total += d * d
    }
  }
  return total
}

/** Where the row to normalize lies: x itself, or the sum of x and skip, which is written first. */
function withSkip(args: RowsArguments, offset: usize, bytes: usize, whole: usize): usize {
  const x = args.x + offset
  if (!args.hasSkip) return x
  const skip = args.skip + offset
  const sum = args.sum + offset
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(sum + at, f32x4.add(v128.load(x + at), v128.load(skip + at)))
  for (; at < bytes; at += 4) f32.store(sum + at, f32.load(x + at) + f32.load(skip + at))
  return sum
}

function scaleRow(args: RowsArguments, x: usize, y: usize, bytes: usize, whole: usize, mean: f32, factor: f32): void {
  const m = splat(mean)
  const k = splat(factor)
  const scale = args.scale
  const bias = args.bias
  const hasScale = args.hasScale != 0
  const hasBias = args.hasBias != 0
  let at: usize = 0
  for (; at < whole; at += 16) {
    let v = f32x4.mul(f32x4.sub(v128.load(x + at), m), k)
    if (hasScale) v = f32x4.mul(v, v128.load(scale + at))
    if (hasBias) v = f32x4.add(v, v128.load(bias + at))
    v128.store(y + at, v)
  }
  for (; at < bytes; at += 4) {
    let v = (f32.load(x + at) - mean) * factor
    if (hasScale) v *= f32.load(scale + at)
    if (hasBias) v += f32.load(bias + at)
    f32.store(y + at, v)
  }
}

/** Normalizes groups of channels, or channels by given statistics. */
@unmanaged
export class GroupsArguments {
  x: usize
  scale: usize
  bias: usize
  /** Given statistics of each channel; not read by {@link normalizeGroups}. */
  mean: usize
  variance: usize
  y: usize
  /** Elements of a channel, channels of a group, groups of an instance. */
  inner: u32
  channels: u32
  groups: u32
  epsilon: f32
}

/** Group normalization of groups `from … to - 1`; scale and bias are by channel. */
export function normalizeGroups(args: GroupsArguments, from: u32, to: u32): void {
  const plane = (<usize>args.inner) << 2
  const bytes = plane * args.channels
  for (let group = from; group < to; group++) {
    let offset = group * bytes
    findMoments(args.x + offset, bytes)
    const mean = foundMean
    const rest = foundRest
    const inverse = 1 / sqrt<f64>(foundVariance + <f64>args.epsilon)
    const first = (group % args.groups) * args.channels
    for (let c = first; c < first + args.channels; c++, offset += plane) {
      const factor = <f64>f32.load(args.scale + (c << 2)) * inverse
      const shift = <f32>(<f64>f32.load(args.bias + (c << 2)) - rest * factor)
      mapSpan(args.x + offset, args.y + offset, plane, mean, <f32>factor, shift)
    }
  }
}

/** Batch normalization by given statistics: channels `from … to - 1` of all instances. */
export function normalizeChannels(args: GroupsArguments, from: u32, to: u32): void {
  const plane = (<usize>args.inner) << 2
  for (let at = from; at < to; at++) {
    const c = (at % args.channels) << 2
    const offset = at * plane
    const divisor = sqrt<f64>(<f64>f32.load(args.variance + c) + <f64>args.epsilon)
    const factor = <f32>(<f64>f32.load(args.scale + c) / divisor)
    mapSpan(args.x + offset, args.y + offset, plane, f32.load(args.mean + c), factor, f32.load(args.bias + c))
  }
}

/**
 * Batch normalization by given statistics of rows that have one element of each channel: rows `from … to - 1`.
 * @param scratch room for a factor of each channel
 */
export function normalizeChannelRows(args: GroupsArguments, scratch: usize, from: u32, to: u32): void {
  const bytes = (<usize>args.channels) << 2
  for (let c: usize = 0; c < bytes; c += 4) {
    const divisor = sqrt<f64>(<f64>f32.load(args.variance + c) + <f64>args.epsilon)
    f32.store(scratch + c, <f32>(<f64>f32.load(args.scale + c) / divisor))
  }
  const whole = bytes & ~15
  for (let at = from; at < to; at++) {
    const x = args.x + at * bytes
    const y = args.y + at * bytes
    let c: usize = 0
    for (; c < whole; c += 16) {
      const centered = f32x4.sub(v128.load(x + c), v128.load(args.mean + c))
      v128.store(y + c, fma(v128.load(args.bias + c), centered, v128.load(scratch + c)))
    }
    for (; c < bytes; c += 4)
      f32.store(y + c, (f32.load(x + c) - f32.load(args.mean + c)) * f32.load(scratch + c) + f32.load(args.bias + c))
  }
}

/** (x - mean) * factor + bias of elements side by side. */
// @ts-ignore: decorator
@inline
function mapSpan(x: usize, y: usize, bytes: usize, mean: f32, factor: f32, bias: f32): void {
  const m = splat(mean)
  const k = splat(factor)
  const b = splat(bias)
  const whole = bytes & ~15
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(y + at, fma(b, f32x4.sub(v128.load(x + at), m), k))
  for (; at < bytes; at += 4) f32.store(y + at, (f32.load(x + at) - mean) * factor + bias)
}
