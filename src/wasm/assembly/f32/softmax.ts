import { exponential, exponentialsBy, singlesBy, sumsBy } from './exponential'
import { log } from './logarithm'
import { highestLane, loadSome, splat, storeSome, sumOf } from './simd'

/** Softmax, and what is made of the same exponentials, along the middle axis of [outer][n][inner]. */
@unmanaged
export class SoftmaxArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** 0: Softmax; 1: its logarithm; 2: the logarithm of the sum of exponentials, one number a line, of float64 alone. */
  kind: u32
}

/** Columns of a block where the axis is not the last: a cache line. */
const COLUMNS: u32 = 16

/** Blocks `from … to - 1`: rows where `inner` is 1, else panels of 16 columns, those of an outer index side by side. */
export function softmax(args: SoftmaxArguments, from: u32, to: u32): void {
  const isLog = args.kind != 0
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
    for (; column + 4 <= count; column += 4) softmaxColumns(true, args, at + ((<usize>column) << 2))
    for (; column < count; column++) softmaxColumns(false, args, at + ((<usize>column) << 2))
  }
}

/**
 * e^(x - max) / sum over `bytes` bytes, of which `whole` are whole vectors. A row that holds NaN, Infinity, or
 * -Infinity alone becomes NaN, as the definition gives it.
 */
function softmaxRow(x: usize, y: usize, bytes: usize, whole: usize): void {
  const base = splat(highestOf(x, bytes, whole))
  let sum: f32 = whole == 0 ? 0 : sumOf(exponentialsBy(16, x, y, whole, base))
  sum += sumOfRest(true, x, y, bytes, whole, base)
  const factor = splat(1 / sum)
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(y + at, f32x4.mul(v128.load(y + at), factor))
  for (; at < bytes; at += 4) f32.store(y + at, f32.load(y + at) / sum)
}

/** (x - max) - log(sum of e^(x - max)). */
function logSoftmaxRow(x: usize, y: usize, bytes: usize, whole: usize): void {
  const base = splat(highestOf(x, bytes, whole))
  let sum: f32 = whole == 0 ? 0 : sumOf(sumsBy(16, x, whole, base))
  sum += sumOfRest(false, x, y, bytes, whole, base)
  const shift = log(splat(sum))
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(y + at, f32x4.sub(f32x4.sub(v128.load(x + at), base), shift))
  for (; at < bytes; at += 4) {
    f32.store(y + at, f32x4.extract_lane(f32x4.sub(f32x4.sub(v128.load32_splat(x + at), base), shift), 0))
  }
}

/** The sum of e^(x - base) over the elements after the whole vectors. */
// @ts-ignore: decorator
@inline
function sumOfRest(stores: bool, x: usize, y: usize, bytes: usize, whole: usize, base: v128): f32 {
  let sum: f32 = 0
  for (let at = whole; at < bytes; at += 4) {
    const e = f32x4.extract_lane(exponential(f32x4.sub(v128.load32_splat(x + at), base)), 0)
    if (stores) f32.store(y + at, e)
    sum += e
  }
  return sum
}

/** The highest element. NaN is passed over: the sum of exponentials is NaN then. */
// @ts-ignore: decorator
@inline
function highestOf(x: usize, bytes: usize, whole: usize): f32 {
  let highest = highestLane(x, whole)
  for (let at = whole; at < bytes; at += 4) highest = f32.load(x + at) > highest ? f32.load(x + at) : highest
  return highest
}

/** Softmax down four columns, or down one, at `offset` bytes. */
// @ts-ignore: decorator
@inline
function softmaxColumns(isWhole: bool, args: SoftmaxArguments, offset: usize): void {
  const step = (<usize>args.inner) << 2
  const x = args.x + offset
  const y = args.y + offset
  const bytes = args.n * step
  const isLog = args.kind != 0
  let base = splat(-Infinity)
  for (let at: usize = 0; at < bytes; at += step) base = f32x4.pmax(base, loadSome(x + at, isWhole))
  let sums: v128
  if (!isWhole) sums = singlesBy(step, !isLog, x, y, bytes, base)
  else if (isLog) sums = sumsBy(step, x, bytes, base)
  else sums = exponentialsBy(step, x, y, bytes, base)
  if (isLog) {
    const shift = log(sums)
    for (let at: usize = 0; at < bytes; at += step)
      storeSome(y + at, f32x4.sub(f32x4.sub(loadSome(x + at, isWhole), base), shift), isWhole)
    return
  }
  const factor = f32x4.div(splat(1), sums)
  for (let at: usize = 0; at < bytes; at += step)
    storeSome(y + at, f32x4.mul(loadSome(y + at, isWhole), factor), isWhole)
}
