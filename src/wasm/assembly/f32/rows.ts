import { expNegative, fma, maxOf, splat, sumOf } from './simd'

/** Functions of whole rows of n elements. Scale and bias are by element of a row. */
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
}

/** Softmax of rows `from … to - 1`: e^(x - max) / sum. */
export function softmaxRows(args: RowsArguments, from: u32, to: u32): void {
  const bytes = <usize>args.n << 2, whole = bytes & ~15
  for (let row = from; row < to; row++) softmaxRow(args.x + row * bytes, args.y + row * bytes, bytes, whole)
}

export function softmaxRow(x: usize, y: usize, bytes: usize, whole: usize): void {
  let v = splat(-Infinity)
  for (let at: usize = 0; at < whole; at += 16) v = f32x4.max(v, v128.load(x + at))
  let highest = maxOf(v)
  for (let at = whole; at < bytes; at += 4) highest = max(highest, f32.load(x + at))
  // A row of -Infinity alone would give NaN as e^(-Infinity + Infinity), which is what the definition gives, too.
  const base = splat(highest)
  let sums = splat(0), more = sums
  let at: usize = 0
  for (; at + 32 <= whole; at += 32) {
    const e = exponential(f32x4.sub(v128.load(x + at), base)), f = exponential(f32x4.sub(v128.load(x + at, 16), base))
    v128.store(y + at, e); v128.store(y + at, f, 16)
    sums = f32x4.add(sums, e); more = f32x4.add(more, f)
  }
  for (; at < whole; at += 16) { const e = exponential(f32x4.sub(v128.load(x + at), base)); v128.store(y + at, e); sums = f32x4.add(sums, e) }
  let sum = sumOf(f32x4.add(sums, more))
  for (; at < bytes; at += 4) { const e = f32x4.extract_lane(exponential(f32x4.sub(v128.load32_splat(x + at), base)), 0); f32.store(y + at, e); sum += e }
  const factor = splat(1 / sum)
  for (at = 0; at < whole; at += 16) v128.store(y + at, f32x4.mul(v128.load(y + at), factor))
  for (; at < bytes; at += 4) f32.store(y + at, f32.load(y + at) / sum)
}

/** e^x for x <= 0 where NaN stays NaN. */
// @ts-ignore: decorator
@inline
function exponential(x: v128): v128 {
  return v128.or(expNegative(x), f32x4.ne(x, x))
}

/** Layer normalization of rows: (x - mean) / sqrt(variance + epsilon) * scale + bias; mean and variance in two passes. */
export function layerNormRows(args: RowsArguments, from: u32, to: u32): void {
  const bytes = <usize>args.n << 2, whole = bytes & ~15
  for (let row = from; row < to; row++) {
    const x = withSkip(args, row * bytes, bytes, whole), y = args.y + row * bytes
    let s0 = splat(0), s1 = s0
    let at: usize = 0
    for (; at + 32 <= whole; at += 32) { s0 = f32x4.add(s0, v128.load(x + at)); s1 = f32x4.add(s1, v128.load(x + at, 16)) }
    for (; at < whole; at += 16) s0 = f32x4.add(s0, v128.load(x + at))
    let sum = sumOf(f32x4.add(s0, s1))
    for (; at < bytes; at += 4) sum += f32.load(x + at)
    const mean = sum / <f32>args.n
    const m = splat(mean)
    s0 = splat(0); s1 = s0
    for (at = 0; at + 32 <= whole; at += 32) {
      const d = f32x4.sub(v128.load(x + at), m), e = f32x4.sub(v128.load(x + at, 16), m)
      s0 = fma(s0, d, d); s1 = fma(s1, e, e)
    }
    for (; at < whole; at += 16) { const d = f32x4.sub(v128.load(x + at), m); s0 = fma(s0, d, d) }
    let squares = sumOf(f32x4.add(s0, s1))
    for (; at < bytes; at += 4) { const d = f32.load(x + at) - mean; squares += d * d }
    scaleRow(args, x, y, bytes, whole, mean, 1 / sqrt<f32>(squares / <f32>args.n + args.epsilon))
  }
}

/** Root mean square normalization of rows: x / sqrt(mean(x^2) + epsilon) * scale + bias. */
export function rmsNormRows(args: RowsArguments, from: u32, to: u32): void {
  const bytes = <usize>args.n << 2, whole = bytes & ~15
  for (let row = from; row < to; row++) {
    const x = withSkip(args, row * bytes, bytes, whole), y = args.y + row * bytes
    let s0 = splat(0), s1 = s0
    let at: usize = 0
    for (; at + 32 <= whole; at += 32) {
      const d = v128.load(x + at), e = v128.load(x + at, 16)
      s0 = fma(s0, d, d); s1 = fma(s1, e, e)
    }
    for (; at < whole; at += 16) { const d = v128.load(x + at); s0 = fma(s0, d, d) }
    let squares = sumOf(f32x4.add(s0, s1))
    for (; at < bytes; at += 4) { const d = f32.load(x + at); squares += d * d }
    scaleRow(args, x, y, bytes, whole, 0, 1 / sqrt<f32>(squares / <f32>args.n + args.epsilon))
  }
}

/** Where the row to normalize lies: x itself, or the sum of x and skip, which is written first. */
function withSkip(args: RowsArguments, offset: usize, bytes: usize, whole: usize): usize {
  const x = args.x + offset
  if (!args.hasSkip) return x
  const skip = args.skip + offset, sum = args.sum + offset
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(sum + at, f32x4.add(v128.load(x + at), v128.load(skip + at)))
  for (; at < bytes; at += 4) f32.store(sum + at, f32.load(x + at) + f32.load(skip + at))
  return sum
}

function scaleRow(args: RowsArguments, x: usize, y: usize, bytes: usize, whole: usize, mean: f32, factor: f32): void {
  const m = splat(mean), k = splat(factor), scale = args.scale, bias = args.bias
  const hasScale = args.hasScale != 0, hasBias = args.hasBias != 0
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
