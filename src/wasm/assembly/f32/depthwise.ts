import { ConvArguments } from './conv'
import { anyWindows } from './depthwise-any'
import { planeByTwo } from './depthwise-by-two'
import { planeInPlace } from './depthwise-in-place'
import { copyPart, finishPlane, paddedWidth } from './padded'
import { fma, splat } from './simd'
import { CLIP } from './unary'

/** Convolutions of one input channel each: those `from … to - 1`, counted over images and groups. */
export function depthwisePlanes(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const kind = kindOf(args)
  if (isInPlace(args, kind)) return planesInPlace(args, kind == THREE_BY_TWO, scratch, from, to)
  const depth = (args.outD - 1) * args.sD + (args.kD - 1) * args.dD + 1
  const height = (args.outH - 1) * args.sH + (args.kH - 1) * args.dH + 1
  const lineBytes = paddedWidth(args) << 2
  const planeBytes = <usize>height * lineBytes
  const inBytes = (<usize>(args.inH * args.inW)) << 2
  const outBytes = (<usize>(args.outH * args.outW)) << 2
  const weightBytes = (<usize>(args.kD * args.kH * args.kW)) << 2
  memory.fill(scratch, 0, <usize>depth * planeBytes)
  for (let volume = from; volume < to; volume++) {
    const last = min(depth, args.pD + args.inD)
    let x = args.x + <usize>volume * args.inD * inBytes
    for (let d = args.pD; d < last; d++, x += inBytes)
      copyPart(args, scratch + <usize>d * planeBytes, lineBytes, height, x, -args.pH, -args.pW)
    const group = volume % args.groups
    // Output channels of one input channel: the channel multiplier.
    for (let m: u32 = 0; m < args.m; m++) {
      const channel = group * args.m + m
      const w = args.w + <usize>channel * weightBytes
      let y = args.y + <usize>(volume * args.m + m) * args.outD * outBytes
      let at = scratch
      for (let d = 0; d < args.outD; d++, at += args.sD * planeBytes, y += outBytes)
        convolvePlane(kind, args, at, lineBytes, planeBytes, w, channel, y)
    }
  }
}

/** Whether planes are read where they lie, without a padded copy. */
function isInPlace(args: ConvArguments, kind: i32): bool {
  if (args.pH != 1 || args.pW != 1 || args.pD != 0 || args.inD != 1 || args.outD != 1) return false
  if (kind == THREE_BY_TWO) return args.inH == 2 * args.outH && args.inW == 2 * args.outW
  return kind == THREE && args.outH == args.inH && args.outW == args.inW && args.inW > 4
}

function planesInPlace(args: ConvArguments, isByTwo: bool, zeros: usize, from: u32, to: u32): void {
  const row = (<usize>args.inW) << 2
  const bytes = row * args.inH
  const outBytes = (<usize>(args.outH * args.outW)) << 2
  // What is added comes before the bounds.
  const clips = args.activation == CLIP && !args.hasResidual
  const low = splat(clips ? args.p : -Infinity)
  const high = splat(clips ? args.q : Infinity)
  memory.fill(zeros, 0, row)
  for (let plane = from; plane < to; plane++) {
    const x = args.x + plane * bytes
    for (let m: u32 = 0; m < args.m; m++) {
      const channel = (plane % args.groups) * args.m + m
      const bias = splat(args.hasBias ? f32.load(args.bias + (channel << 2)) : 0)
      const w = args.w + <usize>channel * 36
      const y = args.y + (<usize>plane * args.m + m) * outBytes
      if (isByTwo) planeByTwo(x, zeros, row, args.outH, w, bias, low, high, y)
      else planeInPlace(x, zeros, row, args.inH, w, bias, low, high, y)
      if (!clips) finishPlane(args, y, outBytes)
    }
  }
}

/** Windows that are written out, by their taps and stride, and others. */
const ANY: i32 = 0
const THREE: i32 = 1
const THREE_BY_TWO: i32 = 2
const FIVE: i32 = 3
const FIVE_BY_TWO: i32 = 4

function kindOf(args: ConvArguments): i32 {
  if (
    args.kD != 1 ||
    args.kH != args.kW ||
    args.dH != 1 ||
    args.dW != 1 ||
    <u32>(args.sW - 1) > 1 ||
    args.sH != args.sW
  )
    return ANY
  if (args.outW < 4 || args.outH < 2) return ANY
  if (args.kW == 3) return args.sW == 1 ? THREE : THREE_BY_TWO
  if (args.kW == 5) return args.sW == 1 ? FIVE : FIVE_BY_TWO
  return ANY
}

function convolvePlane(
  kind: i32,
  args: ConvArguments,
  x: usize,
  lineBytes: usize,
  planeBytes: usize,
  w: usize,
  channel: u32,
  y: usize
): void {
  const bias = splat(args.hasBias ? f32.load(args.bias + (channel << 2)) : 0)
  const row = (<usize>args.outW) << 2
  switch (kind) {
    case THREE:
      threeByThree(1, x, lineBytes, 4, w, bias, y, row, args.outH)
      break
    case THREE_BY_TWO:
      threeByThree(2, x, lineBytes, lineBytes >> 1, w, bias, y, row, args.outH)
      break
    case FIVE:
      if (args.outH > 3) fourLinesByFive(x, lineBytes, w, bias, y, row, args.outH)
      else fiveByFive(1, x, lineBytes, 4, w, bias, y, row, args.outH)
      break
    case FIVE_BY_TWO:
      fiveByFive(2, x, lineBytes, lineBytes >> 1, w, bias, y, row, args.outH)
      break
    default:
      anyWindows(args, x, lineBytes, planeBytes, lineBytes / args.sW, w, bias, y)
  }
  finishPlane(args, y, row * args.outH)
}

/**
 * A plane of windows of 3 x 3 taps: two lines of outputs at once, four outputs of each. At the end of a line, and of
 * the plane, outputs are computed twice.
 * @param second where the second of two elements side by side lies behind the first one
 */
// @ts-ignore: decorator
@inline
function threeByThree(
  stride: usize,
  x: usize,
  line: usize,
  second: usize,
  w: usize,
  bias: v128,
  y: usize,
  row: usize,
  lines: i32
): void {
  const third: usize = stride == 1 ? 8 : 4
  const w0 = v128.load32_splat(w)
  const w1 = v128.load32_splat(w, 4)
  const w2 = v128.load32_splat(w, 8)
  const w3 = v128.load32_splat(w, 12)
  const w4 = v128.load32_splat(w, 16)
  const w5 = v128.load32_splat(w, 20)
  const w6 = v128.load32_splat(w, 24)
  const w7 = v128.load32_splat(w, 28)
  const w8 = v128.load32_splat(w, 32)
  const last = row - 16
  for (let i = 0; ; i = min(i + 2, lines - 2)) {
    const from = x + <usize>i * stride * line
    const to = y + <usize>i * row
    for (let at: usize = 0; ; at = min(at + 16, last)) {
      let a = from + at
      let v = v128.load(a)
      let s = f32x4.mul(w0, v)
      let t = splat(0)
      v = v128.load(a + second)
      s = fma(s, w1, v)
      v = v128.load(a + third)
      s = fma(s, w2, v)
      a += line
      v = v128.load(a)
      s = fma(s, w3, v)
      if (stride == 1) t = fma(t, w0, v)
      v = v128.load(a + second)
      s = fma(s, w4, v)
      if (stride == 1) t = fma(t, w1, v)
      v = v128.load(a + third)
      s = fma(s, w5, v)
      if (stride == 1) t = fma(t, w2, v)
      a += line
      v = v128.load(a)
      s = fma(s, w6, v)
      t = fma(t, stride == 1 ? w3 : w0, v)
      v = v128.load(a + second)
      s = fma(s, w7, v)
      t = fma(t, stride == 1 ? w4 : w1, v)
      v = v128.load(a + third)
      s = fma(s, w8, v)
      t = fma(t, stride == 1 ? w5 : w2, v)
      v128.store(to + at, f32x4.add(s, bias))
      if (stride == 2) {
        a += line
        t = fma(t, w3, v128.load(a))
        t = fma(t, w4, v128.load(a + second))
        t = fma(t, w5, v128.load(a + third))
      }
      a += line
      t = fma(t, w6, v128.load(a))
      t = fma(t, w7, v128.load(a + second))
      t = fma(t, w8, v128.load(a + third))
      v128.store(to + row + at, f32x4.add(t, bias))
      if (at == last) break
    }
    if (i == lines - 2) break
  }
}

/** {@link threeByThree} for 5 x 5 taps. */
// @ts-ignore: decorator
@inline
function fiveByFive(
  stride: usize,
  x: usize,
  line: usize,
  second: usize,
  w: usize,
  bias: v128,
  y: usize,
  row: usize,
  lines: i32
): void {
  const last = row - 16
  const down = stride * line
  for (let i = 0; ; i = min(i + 2, lines - 2)) {
    const from = x + <usize>i * down
    const to = y + <usize>i * row
    for (let at: usize = 0; ; at = min(at + 16, last)) {
      let s = splat(0)
      let t = s
      let a = from + at
      for (let v = w; v < w + 100; v += 20, a += line) {
        let u = v128.load32_splat(v)
        s = fma(s, u, v128.load(a))
        t = fma(t, u, v128.load(a + down))
        u = v128.load32_splat(v, 4)
        s = fma(s, u, v128.load(a + second))
        t = fma(t, u, v128.load(a + down + second))
        u = v128.load32_splat(v, 8)
        s = fma(s, u, v128.load(a + (stride == 1 ? 8 : 4)))
        t = fma(t, u, v128.load(a + down + (stride == 1 ? 8 : 4)))
        u = v128.load32_splat(v, 12)
        s = fma(s, u, v128.load(a + second + (stride == 1 ? 8 : 4)))
        t = fma(t, u, v128.load(a + down + second + (stride == 1 ? 8 : 4)))
        u = v128.load32_splat(v, 16)
        s = fma(s, u, v128.load(a + (stride == 1 ? 16 : 8)))
        t = fma(t, u, v128.load(a + down + (stride == 1 ? 16 : 8)))
      }
      v128.store(to + at, f32x4.add(s, bias))
      v128.store(to + row + at, f32x4.add(t, bias))
      if (at == last) break
    }
    if (i == lines - 2) break
  }
}

/**
 * {@link fiveByFive} with a stride of 1, four lines of outputs at once: what is loaded of five weights serves twice as
 * many sums. Without fused multiply-add sums begin with the bias, though so they err more where it is large: to add it
 * at last takes 1.45 times as long, since V8 then runs out of registers.
 */
function fourLinesByFive(x: usize, line: usize, w: usize, bias: v128, y: usize, row: usize, lines: i32): void {
  const last = row - 16
  for (let i = 0; ; i = min(i + 4, lines - 4)) {
    const from = x + <usize>i * line
    const to = y + <usize>i * row
    for (let at: usize = 0; ; at = min(at + 16, last)) {
      let s0 = ASC_FEATURE_RELAXED_SIMD ? splat(0) : bias
      let s1 = s0
      let s2 = s0
      let s3 = s0
      let a = from + at
      for (let v = w; v < w + 100; v += 20, a += line) {
        const w0 = v128.load32_splat(v)
        const w1 = v128.load32_splat(v, 4)
        const w2 = v128.load32_splat(v, 8)
        const w3 = v128.load32_splat(v, 12)
        const w4 = v128.load32_splat(v, 16)
        s0 = fiveTaps(s0, a, w0, w1, w2, w3, w4)
        let b = a + line
        s1 = fiveTaps(s1, b, w0, w1, w2, w3, w4)
        b += line
        s2 = fiveTaps(s2, b, w0, w1, w2, w3, w4)
        s3 = fiveTaps(s3, b + line, w0, w1, w2, w3, w4)
      }
      const out = to + at
      v128.store(out, ASC_FEATURE_RELAXED_SIMD ? f32x4.add(s0, bias) : s0)
      v128.store(out + row, ASC_FEATURE_RELAXED_SIMD ? f32x4.add(s1, bias) : s1)
      v128.store(out + 2 * row, ASC_FEATURE_RELAXED_SIMD ? f32x4.add(s2, bias) : s2)
      v128.store(out + 3 * row, ASC_FEATURE_RELAXED_SIMD ? f32x4.add(s3, bias) : s3)
      if (at == last) break
    }
    if (i == lines - 4) break
  }
}

/** Five elements side by side, of four windows. */
// @ts-ignore: decorator
@inline
function fiveTaps(sum: v128, a: usize, w0: v128, w1: v128, w2: v128, w3: v128, w4: v128): v128 {
  sum = fma(sum, w0, v128.load(a))
  sum = fma(sum, w1, v128.load(a, 4))
  sum = fma(sum, w2, v128.load(a, 8))
  sum = fma(sum, w3, v128.load(a, 12))
  return fma(sum, w4, v128.load(a, 16))
}
