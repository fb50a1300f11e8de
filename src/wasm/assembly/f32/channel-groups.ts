import { SILU } from './logistic'
import { fma, splat } from './simd'
import { unarySpan } from './unary'

/** Normalizes groups of channels, where the channels of a position lie side by side. */
@unmanaged
export class ChannelGroupsArguments {
  x: usize
  scale: usize
  bias: usize
  y: usize
  /** Positions of an instance, channels of a position. */
  positions: u32
  channels: u32
  /** Channels of a group, and of a block, which is some groups of an instance; the last of an instance may be fewer. */
  inGroup: u32
  width: u32
  epsilon: f32
  /** Whether the result is multiplied by its sigmoid. */
  activates: u32
}

/** Positions that are summed in float32; the sums of such spans are added in double precision. */
const SPAN: usize = 128

/**
 * Normalizes blocks `from … to - 1`, in two passes for the moments (see `findMoments` in rows.ts) and one for the
 * result.
 * @param scratch room for five lists, of a number for each channel of a block: sums and sums of squares in double
 *   precision, means, factors and shifts
 */
export function normalizeChannelGroups(args: ChannelGroupsArguments, scratch: usize, from: u32, to: u32): void {
  const perInstance = (args.channels + args.width - 1) / args.width
  for (let block = from; block < to; block++) {
    const first = (block % perInstance) * args.width
    const count = min(args.width, args.channels - first)
    const offset = (<usize>(block / perInstance) * args.positions * args.channels + first) << 2
    const squares = scratch + ((<usize>count) << 3)
    const means = squares + ((<usize>count) << 3)
    const factors = means + ((<usize>count) << 2)
    const shifts = factors + ((<usize>count) << 2)
    memory.fill(scratch, 0, <usize>count * 20)
    addSpans(false, args, args.x + offset, count, scratch, squares, means)
    findMeans(args, count, scratch, means)
    memory.fill(scratch, 0, (<usize>count) << 3)
    addSpans(true, args, args.x + offset, count, scratch, squares, means)
    findFactors(args, count, first, scratch, squares, factors, shifts)
    mapSpans(args, offset, count, means, factors, shifts)
  }
}

/** Adds the differences from the means, at first zeros, to `sums`, and where asked for their squares to `squares`. */
// @ts-ignore: decorator
@inline
function addSpans(
  withSquares: bool,
  args: ChannelGroupsArguments,
  x: usize,
  count: u32,
  sums: usize,
  squares: usize,
  means: usize
): void {
  const step = (<usize>args.channels) << 2
  for (let start: usize = 0; start < args.positions; start += SPAN) {
    const begin = x + start * step
    const end = x + min(<usize>args.positions, start + SPAN) * step
    let c: usize = 0
    for (; c + 4 <= count; c += 4) {
      const at = c << 2
      addSpan(
        false,
        withSquares,
        begin + at,
        end + at,
        step,
        v128.load(means + at),
        sums + (c << 3),
        squares + (c << 3)
      )
    }
    for (; c < count; c++) {
      const at = c << 2
      addSpan(
        true,
        withSquares,
        begin + at,
        end + at,
        step,
        v128.load32_splat(means + at),
        sums + (c << 3),
        squares + (c << 3)
      )
    }
  }
}

/** {@link addSpans} for four channels, or for one, at positions `step` bytes apart. */
// @ts-ignore: decorator
@inline
function addSpan(
  isOne: bool,
  withSquares: bool,
  x: usize,
  end: usize,
  step: usize,
  mean: v128,
  sums: usize,
  squares: usize
): void {
  let a = splat(0)
  let s = splat(0)
  for (; x != end; x += step) {
    const d = f32x4.sub(isOne ? v128.load32_splat(x) : v128.load(x), mean)
    a = f32x4.add(a, d)
    if (withSquares) s = fma(s, d, d)
  }
  addWide(isOne, sums, a)
  if (withSquares) addWide(isOne, squares, s)
}

/** Adds four numbers, or the first of them, to numbers in double precision. */
// @ts-ignore: decorator
@inline
function addWide(isOne: bool, at: usize, v: v128): void {
  if (isOne) {
    f64.store(at, f64.load(at) + <f64>f32x4.extract_lane(v, 0))
    return
  }
  const high = i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
  v128.store(at, f64x2.add(v128.load(at), f64x2.promote_low_f32x4(v)))
  v128.store(at, f64x2.add(v128.load(at, 16), f64x2.promote_low_f32x4(high)), 16)
}

/** The mean of each group, rounded, for each of its channels. */
function findMeans(args: ChannelGroupsArguments, count: u32, sums: usize, means: usize): void {
  const n = <f64>args.positions * <f64>args.inGroup
  for (let group: u32 = 0; group < count; group += args.inGroup) {
    const mean = <f32>(totalOf(sums, group, args.inGroup) / n)
    for (let c = group; c < group + args.inGroup; c++) f32.store(means + ((<usize>c) << 2), mean)
  }
}

/**
 * What differences from the means are multiplied by, and what is added to the products: the bias, less what rounding
 * took from the means.
 */
function findFactors(
  args: ChannelGroupsArguments,
  count: u32,
  first: u32,
  sums: usize,
  squares: usize,
  factors: usize,
  shifts: usize
): void {
  const n = <f64>args.positions * <f64>args.inGroup
  for (let group: u32 = 0; group < count; group += args.inGroup) {
    const rest = totalOf(sums, group, args.inGroup) / n
    // Rounding may leave a little below zero; max keeps NaN.
    const variance = max<f64>(0, totalOf(squares, group, args.inGroup) / n - rest * rest)
    const inverse = 1 / sqrt<f64>(variance + <f64>args.epsilon)
    for (let c = group; c < group + args.inGroup; c++) {
      const at = (<usize>c) << 2
      const given = ((<usize>first) << 2) + at
      const factor = <f64>f32.load(args.scale + given) * inverse
      f32.store(factors + at, <f32>factor)
      f32.store(shifts + at, <f32>(<f64>f32.load(args.bias + given) - rest * factor))
    }
  }
}

function totalOf(list: usize, first: u32, count: u32): f64 {
  let total: f64 = 0
  for (let c = first; c < first + count; c++) total += f64.load(list + ((<usize>c) << 3))
  return total
}

/**
 * Writes `(x - mean) * factor + shift` of the channels of a block, activated where that is asked for: four channels of
 * a span at a time, so that what they are scaled by stays in registers.
 */
function mapSpans(
  args: ChannelGroupsArguments,
  offset: usize,
  count: u32,
  means: usize,
  factors: usize,
  shifts: usize
): void {
  const step = (<usize>args.channels) << 2
  const activates = args.activates != 0
  for (let start: usize = 0; start < args.positions; start += SPAN) {
    const begin = offset + start * step
    const end = offset + min(<usize>args.positions, start + SPAN) * step
    let at: usize = 0
    for (const whole = (<usize>(count & ~3)) << 2; at < whole; at += 16) {
      const m = v128.load(means + at)
      const k = v128.load(factors + at)
      const b = v128.load(shifts + at)
      for (let p = begin + at; p < end + at; p += step) {
        const v = fma(b, f32x4.sub(v128.load(args.x + p), m), k)
        v128.store(args.y + p, v)
      }
    }
    for (const all = (<usize>count) << 2; at < all; at += 4) {
      const m = v128.load32_splat(means + at)
      const k = v128.load32_splat(factors + at)
      const b = v128.load32_splat(shifts + at)
      for (let p = begin + at; p < end + at; p += step) {
        const v = fma(b, f32x4.sub(v128.load32_splat(args.x + p), m), k)
        f32.store(args.y + p, f32x4.extract_lane(v, 0))
      }
    }
    if (!activates) continue
    for (let y = args.y + begin; y < args.y + end; y += step) unarySpan(SILU, y, y, (<usize>count) << 2, 0, 0)
  }
}
