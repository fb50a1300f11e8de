/** Where the highest elements of windows are that MaxPool has found: their positions, counted over all planes. */
@unmanaged
export class HighestArguments {
  x: usize
  /** The highest elements. */
  highest: usize
  /** Their positions, of int64 or int32. */
  y: usize
  /** Lengths over depth, height and width. */
  inD: i32
  inH: i32
  inW: i32
  kD: i32
  kH: i32
  kW: i32
  sD: i32
  sH: i32
  sW: i32
  dD: i32
  dH: i32
  dW: i32
  pD: i32
  pH: i32
  pW: i32
  outD: i32
  outH: i32
  outW: i32
  isWide: u32
  /** Planes after which positions count from 0 again. */
  period: u32
}

/** Finds the first of the highest elements of each window, the first NaN where it is NaN, of planes `from … to - 1`. */
export function findHighest(args: HighestArguments, from: u32, to: u32): void {
  const inPlane = <usize>(args.inD * args.inH * args.inW)
  const outPlane = <usize>(args.outD * args.outH * args.outW)
  for (let plane = from; plane < to; plane++) {
    const start = <i64>(plane % args.period) * <i64>inPlane
    const x = args.x + ((plane * inPlane) << 2)
    let at = plane * outPlane
    for (let d = 0; d < args.outD; d++)
      for (let h = 0; h < args.outH; h++) {
        for (let w = 0; w < args.outW;) {
          const highest = args.highest + ((at + w) << 2)
          if (areInside(args, w)) {
            storeFour(args, at + w, start, findFour(args, x, v128.load(highest), d, h, w))
            w += 4
          } else {
            storeOne(args, at + w, start, find(args, x, f32.load(highest), d, h, w))
            w++
          }
        }
        at += args.outW
      }
  }
}

// @ts-ignore: decorator
@inline
function storeOne(args: HighestArguments, at: usize, start: i64, element: i32): void {
  const position = start + <i64>element
  if (args.isWide) store<i64>(args.y + (at << 3), position)
  else store<i32>(args.y + (at << 2), <i32>position)
}

// @ts-ignore: decorator
@inline
function storeFour(args: HighestArguments, at: usize, start: i64, elements: v128): void {
  if (args.isWide) {
    const first = i64x2.splat(start)
    v128.store(args.y + (at << 3), i64x2.add(first, i64x2.extend_low_i32x4_s(elements)))
    v128.store(args.y + (at << 3), i64x2.add(first, i64x2.extend_high_i32x4_s(elements)), 16)
  } else v128.store(args.y + (at << 2), i32x4.add(i32x4.splat(<i32>start), elements))
}

/**
 * Whether four windows from `w` on, one or two columns apart, read no padding and all that is read lies in the line.
 */
// @ts-ignore: decorator
@inline
function areInside(args: HighestArguments, w: i32): bool {
  if (args.sW > 2 || w + 4 > args.outW) return false
  const first = w * args.sW - args.pW
  return first >= 0 && first + (args.kW - 1) * args.dW + 4 * args.sW <= args.inW
}

/** {@link find} of four windows that lie side by side: the taps in reverse order, so that the first stays. */
// @ts-ignore: decorator
@inline
function findFour(args: HighestArguments, x: usize, highest: v128, d: i32, h: i32, w: i32): v128 {
  const top = d * args.sD - args.pD
  const line = h * args.sH - args.pH
  const column = w * args.sW - args.pW
  const lanes = i32x4.mul(i32x4.splat(args.sW), i32x4(0, 1, 2, 3))
  let found = i32x4.splat(-1)
  for (let kd = args.kD - 1; kd >= 0; kd--) {
    const i = top + kd * args.dD
    if (<u32>i >= <u32>args.inD) continue
    for (let kh = args.kH - 1; kh >= 0; kh--) {
      const j = line + kh * args.dH
      if (<u32>j >= <u32>args.inH) continue
      const row = (i * args.inH + j) * args.inW + column
      for (let k = (args.kW - 1) * args.dW; k >= 0; k -= args.dW) {
        const at = x + ((<usize>(row + k)) << 2)
        let v = v128.load(at)
        if (args.sW == 2) v = i32x4.shuffle(v, v128.load(at, 16), 0, 2, 4, 6)
        const isHighest = v128.or(f32x4.eq(v, highest), f32x4.ne(v, v))
        found = v128.bitselect(i32x4.add(i32x4.splat(row + k), lanes), found, isHighest)
      }
    }
  }
  return found
}

/** The first tap at or after the beginning of an axis. */
// @ts-ignore: decorator
@inline
function firstInside(start: i32, dilation: i32): i32 {
  return start >= 0 ? start : dilation == 1 ? 0 : start + ((dilation - 1 - start) / dilation) * dilation
}

// @ts-ignore: decorator
@inline
function find(args: HighestArguments, x: usize, highest: f32, d: i32, h: i32, w: i32): i32 {
  const top = d * args.sD - args.pD
  const line = h * args.sH - args.pH
  const column = w * args.sW - args.pW
  const endD = min(args.inD, top + (args.kD - 1) * args.dD + 1)
  const endH = min(args.inH, line + (args.kH - 1) * args.dH + 1)
  const endW = min(args.inW, column + (args.kW - 1) * args.dW + 1)
  const firstH = firstInside(line, args.dH)
  const firstW = firstInside(column, args.dW)
  for (let i = firstInside(top, args.dD); i < endD; i += args.dD)
    for (let j = firstH; j < endH; j += args.dH) {
      const row = (i * args.inH + j) * args.inW
      for (let k = firstW; k < endW; k += args.dW) {
        const value = f32.load(x + ((<usize>(row + k)) << 2))
        if (value == highest || value != value) return row + k
      }
    }
  return -1
}
