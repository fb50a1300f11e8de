import { ConvArguments } from './conv'
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
      memory.copy(
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

function convolvePlane(args: ConvArguments, x: usize, lineBytes: usize, w: usize, channel: u32, y: usize): void {
  const bias = splat(args.hasBias ? f32.load(args.bias + (channel << 2)) : 0)
  const outW = args.outW
  const isThree = args.kH == 3 && args.kW == 3 && args.dH == 1 && args.dW == 1
  for (let line = 0; line < args.outH; line++) {
    const from = x + <usize>(line * args.sH) * lineBytes
    for (let at = 0; at < outW; at += 4, y += 16) {
      const start = from + ((<usize>(at * args.sW)) << 2)
      let sum: v128
      if (isThree && args.sW == 1) sum = threeByThree(start, lineBytes, w, bias)
      else sum = window(args, start, lineBytes, w, bias)
      const left = outW - at
      if (left >= 4) v128.store(y, sum)
      else {
        f32.store(y, f32x4.extract_lane(sum, 0))
        if (left > 1) f32.store(y, f32x4.extract_lane(sum, 1), 4)
        if (left > 2) f32.store(y, f32x4.extract_lane(sum, 2), 8)
        y -= <usize>(16 - (left << 2))
      }
    }
    const bytes = (<usize>outW) << 2
    if (args.activation != NONE) unarySpan(args.activation, y - bytes, y - bytes, bytes, args.p, args.q)
  }
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
