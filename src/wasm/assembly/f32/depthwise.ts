import { ConvArguments, copyLine } from './conv'
import { fma, splat } from './simd'
import { NONE, unarySpan } from './unary'

/** Long enough for whole vectors at the end of a line. */
// @ts-ignore: decorator
@inline
function paddedWidth(args: ConvArguments): usize {
  return <usize>((((args.outW + 3) & ~3) - 1) * args.sW + (args.kW - 1) * args.dW + 1 + 8)
}

/** Convolutions of one input channel each, two spatial axes: planes `from … to - 1`, counted over images and groups. */
export function depthwisePlanes(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const inH = args.inH
  const inW = args.inW
  const width = paddedWidth(args)
  const height = (args.outH - 1) * args.sH + (args.kH - 1) * args.dH + 1
  const lineBytes = width << 2
  const copied = (<usize>min(inW, <i32>width - args.pW)) << 2
  memory.fill(scratch, 0, <usize>height * lineBytes)
  for (let plane = from; plane < to; plane++) {
    const image = plane / args.groups
    const group = plane % args.groups
    const x = args.x + ((<usize>(image * args.groups + group) * (inH * inW)) << 2)
    const top = max(0, args.pH)
    const bottom = min(height, args.pH + inH)
    for (let line = top; line < bottom; line++) {
      copyLine(
        scratch + <usize>line * lineBytes + ((<usize>args.pW) << 2),
        x + ((<usize>((line - args.pH) * inW)) << 2),
        copied
      )
    }
    // Output channels of one input channel: the channel multiplier.
    for (let m: u32 = 0; m < args.m; m++) {
      const channel = group * args.m + m
      convolvePlane(
        args,
        scratch,
        lineBytes,
        args.w + ((<usize>channel * (args.kH * args.kW)) << 2),
        channel,
        args.y + ((<usize>(image * args.groups * args.m + channel) * (args.outH * args.outW)) << 2)
      )
    }
  }
}

/** Windows that are written out: how many taps wide and high, and the stride. */
const ANY: i32 = 0
const THREE: i32 = 1
const THREE_BY_TWO: i32 = 2
const FIVE: i32 = 3
const FIVE_BY_TWO: i32 = 4

function kindOf(args: ConvArguments): i32 {
  if (args.kH != args.kW || args.dH != 1 || args.dW != 1 || <u32>(args.sW - 1) > 1) return ANY
  if (args.kW == 3) return args.sW == 1 ? THREE : THREE_BY_TWO
  if (args.kW == 5) return args.sW == 1 ? FIVE : FIVE_BY_TWO
  return ANY
}

function convolvePlane(args: ConvArguments, x: usize, lineBytes: usize, w: usize, channel: u32, y: usize): void {
  const bias = splat(args.hasBias ? f32.load(args.bias + (channel << 2)) : 0)
  switch (kindOf(args)) {
    case THREE:
      convolveLines(THREE, args, x, lineBytes, w, bias, y)
      break
    case THREE_BY_TWO:
      convolveLines(THREE_BY_TWO, args, x, lineBytes, w, bias, y)
      break
    case FIVE:
      convolveLines(FIVE, args, x, lineBytes, w, bias, y)
      break
    case FIVE_BY_TWO:
      convolveLines(FIVE_BY_TWO, args, x, lineBytes, w, bias, y)
      break
    default:
      convolveLines(ANY, args, x, lineBytes, w, bias, y)
  }
  const bytes = (<usize>(args.outH * args.outW)) << 2
  if (args.activation != NONE) unarySpan(args.activation, y, y, bytes, args.p, args.q)
}

/** One loop for each kind of window: called with a constant, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function convolveLines(
  kind: i32,
  args: ConvArguments,
  x: usize,
  lineBytes: usize,
  w: usize,
  bias: v128,
  y: usize
): void {
  const outW = args.outW
  const left = outW & 3
  const step = (<usize>args.sW) << 4
  const lineStep = <usize>args.sH * lineBytes
  for (let line = 0; line < args.outH; line++, x += lineStep) {
    let at = x
    for (const end = y + ((<usize>(outW - left)) << 2); y < end; y += 16, at += step)
      v128.store(y, windowOf(kind, args, at, lineBytes, w, bias))
    if (left == 0) continue
    if (outW > 4) {
      // Some of the last four outputs are computed twice.
      const back = (<usize>(4 - left)) << 2
      v128.store(y - back, windowOf(kind, args, at - back * args.sW, lineBytes, w, bias))
    } else {
      const sum = windowOf(kind, args, at, lineBytes, w, bias)
      f32.store(y, f32x4.extract_lane(sum, 0))
      if (left > 1) f32.store(y, f32x4.extract_lane(sum, 1), 4)
      if (left > 2) f32.store(y, f32x4.extract_lane(sum, 2), 8)
    }
    y += (<usize>left) << 2
  }
}

/** Four outputs side by side. */
// @ts-ignore: decorator
@inline
function windowOf(kind: i32, args: ConvArguments, x: usize, line: usize, w: usize, bias: v128): v128 {
  if (kind == THREE) return threeByThree(x, line, w, bias)
  if (kind == THREE_BY_TWO) {
    const first = everyOther(x, w, bias)
    const second = everyOther(x + line, w + 12, splat(0))
    return f32x4.add(everyOther(x + 2 * line, w + 24, first), second)
  }
  if (kind == FIVE) {
    let s = fiveWide(x, w, bias)
    let t = fiveWide(x + line, w + 20, splat(0))
    s = fiveWide(x + 2 * line, w + 40, s)
    t = fiveWide(x + 3 * line, w + 60, t)
    return f32x4.add(fiveWide(x + 4 * line, w + 80, s), t)
  }
  if (kind == FIVE_BY_TWO) {
    let s = fiveOfEveryOther(x, w, bias)
    let t = fiveOfEveryOther(x + line, w + 20, splat(0))
    s = fiveOfEveryOther(x + 2 * line, w + 40, s)
    t = fiveOfEveryOther(x + 3 * line, w + 60, t)
    return f32x4.add(fiveOfEveryOther(x + 4 * line, w + 80, s), t)
  }
  return window(args, x, line, w, bias)
}

// @ts-ignore: decorator
@inline
function threeByThree(x: usize, line: usize, w: usize, bias: v128): v128 {
  const a = x + line
  const b = a + line
  let s = fma(bias, v128.load32_splat(w), v128.load(x))
  let t = f32x4.mul(v128.load32_splat(w, 12), v128.load(a))
  s = fma(s, v128.load32_splat(w, 4), v128.load(x, 4))
  t = fma(t, v128.load32_splat(w, 16), v128.load(a, 4))
  s = fma(s, v128.load32_splat(w, 8), v128.load(x, 8))
  t = fma(t, v128.load32_splat(w, 20), v128.load(a, 8))
  s = fma(s, v128.load32_splat(w, 24), v128.load(b))
  t = fma(t, v128.load32_splat(w, 28), v128.load(b, 4))
  s = fma(s, v128.load32_splat(w, 32), v128.load(b, 8))
  return f32x4.add(s, t)
}

/** Adds a line of three taps for every other element. */
// @ts-ignore: decorator
@inline
function everyOther(x: usize, w: usize, sum: v128): v128 {
  const a = v128.load(x)
  const b = v128.load(x, 16)
  const c = i32x4.shuffle(v128.load(x, 8), v128.load(x, 24), 0, 2, 4, 6)
  sum = fma(sum, v128.load32_splat(w), i32x4.shuffle(a, b, 0, 2, 4, 6))
  sum = fma(sum, v128.load32_splat(w, 4), i32x4.shuffle(a, b, 1, 3, 5, 7))
  return fma(sum, v128.load32_splat(w, 8), c)
}

/** Adds a line of five taps. */
// @ts-ignore: decorator
@inline
function fiveWide(x: usize, w: usize, sum: v128): v128 {
  sum = fma(sum, v128.load32_splat(w), v128.load(x))
  sum = fma(sum, v128.load32_splat(w, 4), v128.load(x, 4))
  sum = fma(sum, v128.load32_splat(w, 8), v128.load(x, 8))
  sum = fma(sum, v128.load32_splat(w, 12), v128.load(x, 12))
  return fma(sum, v128.load32_splat(w, 16), v128.load(x, 16))
}

/** Adds a line of five taps for every other element. */
// @ts-ignore: decorator
@inline
function fiveOfEveryOther(x: usize, w: usize, sum: v128): v128 {
  const a = v128.load(x)
  const b = v128.load(x, 16)
  const c = v128.load(x, 8)
  const d = v128.load(x, 24)
  sum = fma(sum, v128.load32_splat(w), i32x4.shuffle(a, b, 0, 2, 4, 6))
  sum = fma(sum, v128.load32_splat(w, 4), i32x4.shuffle(a, b, 1, 3, 5, 7))
  sum = fma(sum, v128.load32_splat(w, 8), i32x4.shuffle(c, d, 0, 2, 4, 6))
  sum = fma(sum, v128.load32_splat(w, 12), i32x4.shuffle(c, d, 1, 3, 5, 7))
  return fma(sum, v128.load32_splat(w, 16), i32x4.shuffle(b, v128.load(x, 32), 0, 2, 4, 6))
}

/** Four outputs side by side of any window. */
function window(args: ConvArguments, x: usize, line: usize, w: usize, bias: v128): v128 {
  let sum = bias
  const step = args.sW
  const dilation = (<usize>args.dW) << 2
  for (let i = 0; i < args.kH; i++, x += line * args.dH) {
    let at = x
    for (let j = 0; j < args.kW; j++, w += 4, at += dilation) {
      let v: v128
      if (step == 1) v = v128.load(at)
      else if (step == 2) v = i32x4.shuffle(v128.load(at), v128.load(at, 16), 0, 2, 4, 6)
      else {
        const bytes = (<usize>step) << 2
        v = f32x4.replace_lane(
          f32x4.replace_lane(
            f32x4.replace_lane(v128.load32_splat(at), 1, f32.load(at + bytes)),
            2,
            f32.load(at + 2 * bytes)
          ),
          3,
          f32.load(at + 3 * bytes)
        )
      }
      sum = fma(sum, v128.load32_splat(w), v)
    }
  }
  return sum
}
