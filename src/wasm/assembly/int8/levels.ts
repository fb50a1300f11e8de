/** FakeQuantize of lines. */
@unmanaged
export class LevelsArguments {
  x: usize
  /**
   * float64, eight for each channel: the limit from which levels are counted, the distance to the other one, levels in
   * one unit, the width of a level of results, the limits of results (low, high), the least and the most number that
   * have a level. They are made before, since V8 works out again in each turn of a loop what it has no room to keep.
   */
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
      roundSpan(args.x + at, args.to + at, size, args.limits + (channel << 6), <f64>(args.levels - 1))
      start += size
    }
  }
}

/** How far a number may be from its level, in steps, for a product by a reciprocal to tell the level. */
const NEAR: f64 = 0.499999

/** In double precision, as the reference: where a number may lie between two levels, by a quotient as there. */
function roundSpan(x: usize, to: usize, n: u32, limits: usize, steps: f64): void {
  const low = v128.load64_splat(limits)
  const span = v128.load64_splat(limits, 8)
  const scale = v128.load64_splat(limits, 16)
  const step = v128.load64_splat(limits, 24)
  const outLow = v128.load64_splat(limits, 32)
  const outHigh = v128.load64_splat(limits, 40)
  const least = v128.load64_splat(limits, 48)
  const most = v128.load64_splat(limits, 56)
  const vectors = to + ((<usize>n & ~1) << 2)
  const end = to + ((<usize>n) << 2)
  // With the condition behind the body: V8 moves nothing out of a loop that may have no pass.
  do {
    const isWhole = to < vectors
    const v = f64x2.promote_low_f32x4(isWhole ? v128.load64_zero(x) : v128.load32_zero(x))
    const shifted = f64x2.sub(v, low)
    const counted = f64x2.mul(shifted, scale)
    let level = f64x2.nearest(counted)
    if (i64x2.bitmask(f64x2.lt(f64x2.abs(f64x2.sub(counted, level)), f64x2.splat(NEAR))) != 3)
      level = f64x2.nearest(f64x2.mul(f64x2.div(shifted, span), f64x2.splat(steps)))
    let y = f64x2.add(f64x2.mul(level, step), outLow)
    y = v128.bitselect(outHigh, y, f64x2.gt(v, most))
    y = v128.bitselect(outLow, y, f64x2.le(v, least))
    const result = f32x4.demote_f64x2_zero(y)
    if (isWhole) v128.store64_lane(to, result, 0)
    else v128.store32_lane(to, result, 0)
    x += 8
    to += 8
  } while (to < end)
}
