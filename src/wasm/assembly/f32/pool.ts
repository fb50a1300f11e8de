import { splat } from './simd'

/** Pooling over two spatial axes, plane by plane. */
@unmanaged
export class PoolArguments {
  x: usize
  /** Means only: a factor for each line and for each column of the output. */
  lineFactors: usize
  columnFactors: usize
  y: usize
  isMax: u32
  inH: i32; inW: i32
  kH: i32; kW: i32
  sH: i32; sW: i32
  dH: i32; dW: i32
  pH: i32; pW: i32
  outH: i32; outW: i32
}

// @ts-ignore: decorator
@inline
function paddedWidth(args: PoolArguments): usize {
  return <usize>((((args.outW + 3) & ~3) - 1) * args.sW + (args.kW - 1) * args.dW + 1 + 8)
}

/** Pools planes `from … to - 1`. */
export function poolPlanes(args: PoolArguments, scratch: usize, from: u32, to: u32): void {
  const isMax = args.isMax != 0
  const lineBytes = paddedWidth(args) << 2
  const height = (args.outH - 1) * args.sH + (args.kH - 1) * args.dH + 1
  const size = <usize>height * lineBytes
  for (let at: usize = 0; at < size; at += 4) f32.store(scratch + at, isMax ? -Infinity : 0)
  const bottom = min(height, args.pH + args.inH)
  const copied = <usize>min(args.inW, <i32>(lineBytes >> 2) - args.pW) << 2
  for (let plane = from; plane < to; plane++) {
    const x = args.x + (<usize>plane * (args.inH * args.inW) << 2)
    for (let line = args.pH; line < bottom; line++) {
      memory.copy(scratch + <usize>line * lineBytes + (<usize>args.pW << 2), x + (<usize>((line - args.pH) * args.inW) << 2), copied)
    }
    let y = args.y + (<usize>plane * (args.outH * args.outW) << 2)
    for (let line = 0; line < args.outH; line++, y += <usize>args.outW << 2) {
      const start = scratch + <usize>(line * args.sH) * lineBytes
      if (isMax) poolLine(true, args, start, lineBytes, y, 0)
      else poolLine(false, args, start, lineBytes, y, f32.load(args.lineFactors + (<usize>line << 2)))
    }
  }
}

// @ts-ignore: decorator
@inline
function poolLine(isMax: bool, args: PoolArguments, x: usize, lineBytes: usize, y: usize, factor: f32): void {
  const step = args.sW, dilation = <usize>args.dW << 2
  for (let at = 0; at < args.outW; at += 4, y += 16) {
    let v = splat(isMax ? -Infinity : 0)
    let line = x + (<usize>(at * step) << 2)
    for (let i = 0; i < args.kH; i++, line += lineBytes * args.dH) {
      let p = line
      for (let j = 0; j < args.kW; j++, p += dilation) {
        const e = step == 1 ? v128.load(p) : step == 2 ? i32x4.shuffle(v128.load(p), v128.load(p, 16), 0, 2, 4, 6) : everyNth(p, <usize>step << 2)
        v = isMax ? f32x4.max(v, e) : f32x4.add(v, e)
      }
    }
    const left = args.outW - at
    if (!isMax) v = f32x4.mul(v, splat(factor))
    if (left >= 4) {
      if (!isMax) v = f32x4.mul(v, v128.load(args.columnFactors + (<usize>at << 2)))
      v128.store(y, v)
    } else for (let i = 0; i < left; i++) {
      const one = i == 0 ? f32x4.extract_lane(v, 0) : i == 1 ? f32x4.extract_lane(v, 1) : f32x4.extract_lane(v, 2)
      f32.store(y + <usize>(i << 2), isMax ? one : one * f32.load(args.columnFactors + (<usize>(at + i) << 2)))
    }
  }
}

// @ts-ignore: decorator
@inline
function everyNth(at: usize, bytes: usize): v128 {
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.replace_lane(v128.load32_splat(at), 1, f32.load(at + bytes)), 2, f32.load(at + 2 * bytes)), 3, f32.load(at + 3 * bytes))
}
