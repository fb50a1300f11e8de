import { loadSome } from '../f32/simd'

/** FakeQuantize of lines. */
@unmanaged
export class LevelsArguments {
  x: usize
  /** float64, four for each channel: the limits of numbers, low and high, and those of results. */
  limits: usize
  to: usize
  /** Elements of a block, and of all. */
  line: u32
  count: u32
  /** Elements of a channel that lie side by side, and channels, which are taken in turn. */
  inner: u32
  channels: u32
  levels: u32
}

export function roundToLevels(args: LevelsArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    let start = from * args.line
    for (const end = min(start + args.line, args.count); start < end;) {
      const size = min(end - start, args.inner - (start % args.inner))
      const channel = <usize>((start / args.inner) % args.channels)
      const at = (<usize>start) << 2
      roundSpan(args.x + at, args.to + at, size, args.limits + (channel << 5), <f64>(args.levels - 1))
      start += size
    }
  }
}

/** How far a number may be from its level, in steps, for a product by a reciprocal to tell the level. */
const NEAR: f64 = 0.499999

/** In double precision, as the reference computes: a quotient is rounded as there where it lies between two levels. */
function roundSpan(x: usize, to: usize, n: u32, limits: usize, steps: f64): void {
  const low = v128.load64_splat(limits)
  const high = v128.load64_splat(limits, 8)
  const outLow = v128.load64_splat(limits, 16)
  const outHigh = v128.load64_splat(limits, 24)
  const least = f64x2.min(low, high)
  const most = f64x2.max(low, high)
  const span = f64x2.sub(high, low)
  const last = f64x2.splat(steps)
  const scale = f64x2.div(last, span)
  const range = f64x2.sub(outHigh, outLow)
  const near = f64x2.splat(NEAR)
  const vectors = to + ((<usize>n & ~1) << 2)
  for (const end = to + ((<usize>n) << 2); to < end; x += 8, to += 8) {
    const isWhole = to < vectors
    const v = f64x2.promote_low_f32x4(isWhole ? v128.load64_zero(x) : loadSome(x, false))
    const shifted = f64x2.sub(v, low)
    const steps = f64x2.mul(shifted, scale)
    let level = f64x2.nearest(steps)
    if (!i64x2.all_true(f64x2.lt(f64x2.abs(f64x2.sub(steps, level)), near)))
      level = f64x2.nearest(f64x2.mul(f64x2.div(shifted, span), last))
    let y = f64x2.add(f64x2.mul(f64x2.div(level, last), range), outLow)
    y = v128.bitselect(outHigh, y, f64x2.gt(v, most))
    y = v128.bitselect(outLow, y, f64x2.le(v, least))
    const result = f32x4.demote_f64x2_zero(y)
    if (isWhole) v128.store64_lane(to, result, 0)
    else v128.store32_lane(to, result, 0)
  }
}
