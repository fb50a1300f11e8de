import { splat } from './simd'

/** Pooling over two spatial axes, a band of output lines of a plane at a time. */
@unmanaged
export class PoolArguments {
  x: usize
  /** Means only: numbers whose product, of an output line's and a column's, a sum is divided by. */
  lineCounts: usize
  columnCounts: usize
  y: usize
  isMax: u32
  inH: i32; inW: i32
  kH: i32; kW: i32
  sH: i32; sW: i32
  dH: i32; dW: i32
  pH: i32; pW: i32
  outH: i32; outW: i32
  /** Output lines of a band. */
  band: i32
}

/** Elements of a padded line; the last vectors read a little beyond the last window. */
// @ts-ignore: decorator
@inline
function paddedWidth(args: PoolArguments): i32 {
  return ((((args.outW + 3) & ~3) - 1) * args.sW + (args.kW - 1) * args.dW + 1 + 8 + 3) & ~3
}

/**
 * Pools bands `from … to - 1`, those of a plane side by side. The input lines of a band are copied with their padding
 * into scratch memory, which takes `(band - 1) * sH + (kH - 1) * dH + 2` lines of {@link paddedWidth} elements. Each
 * output line is pooled down the columns first, into the last of these lines, and then along the line.
 */
export function poolPlanes(args: PoolArguments, scratch: usize, from: u32, to: u32): void {
  if (args.isMax) poolBands(true, args, scratch, from, to)
  else poolBands(false, args, scratch, from, to)
}

// @ts-ignore: decorator
@inline
function poolBands(isMax: bool, args: PoolArguments, scratch: usize, from: u32, to: u32): void {
  const none = splat(isMax ? -Infinity : 0)
  const width = paddedWidth(args), lineBytes = <usize>width << 2
  const taps = (args.kH - 1) * args.dH + 1
  const combined = scratch + <usize>((args.band - 1) * args.sH + taps) * lineBytes
  for (let at = scratch; at < combined; at += 16) v128.store(at, none)
  const copied = <usize>max(0, min(args.inW, width - args.pW)) << 2
  const bands = <u32>((args.outH + args.band - 1) / args.band)
  const inPlane = <usize>(args.inH * args.inW) << 2, outPlane = <usize>(args.outH * args.outW) << 2
  for (let block = from; block < to; block++) {
    const plane = block / bands, top = <i32>(block % bands) * args.band
    const lines = min(args.band, args.outH - top)
    const x = args.x + plane * inPlane, begin = top * args.sH - args.pH
    for (let i = 0, height = (lines - 1) * args.sH + taps; i < height; i++) {
      const line = begin + i, start = scratch + i * lineBytes + (<usize>args.pW << 2)
      if (line >= 0 && line < args.inH) copySpan(start, x + (<usize>(line * args.inW) << 2), copied)
      else for (let at: usize = 0; at < copied; at += 4) f32.store(start + at, isMax ? -Infinity : 0)
    }
    let y = args.y + plane * outPlane + (<usize>(top * args.outW) << 2)
    for (let line = 0; line < lines; line++, y += <usize>args.outW << 2) {
      let first = scratch + <usize>(line * args.sH) * lineBytes
      if (args.kH > 1) {
        const step = lineBytes * args.dH, below = step * args.kH
        for (let at: usize = 0; at < lineBytes; at += 16) {
          let v = v128.load(first + at)
          for (let p = step; p < below; p += step) {
            const e = v128.load(first + at + p)
            v = isMax ? f32x4.max(v, e) : f32x4.add(v, e)
          }
          v128.store(combined + at, v)
        }
        first = combined
      }
      poolLine(isMax, args, first, y, isMax ? 1 : f32.load(args.lineCounts + (<usize>(top + line) << 2)))
    }
  }
}

// @ts-ignore: decorator
@inline
function copySpan(to: usize, from: usize, bytes: usize): void {
  const whole = bytes & ~15
  let at: usize = 0
  for (; at < whole; at += 16) v128.store(to + at, v128.load(from + at))
  for (; at < bytes; at += 4) f32.store(to + at, f32.load(from + at))
}

// @ts-ignore: decorator
@inline
function poolLine(isMax: bool, args: PoolArguments, x: usize, y: usize, count: f32): void {
  const step = args.sW, dilation = <usize>args.dW << 2
  for (let at = 0; at < args.outW; at += 4, y += 16) {
    let v = splat(isMax ? -Infinity : 0)
    let p = x + (<usize>(at * step) << 2)
    for (let j = 0; j < args.kW; j++, p += dilation) {
      const e = step == 1
        ? v128.load(p)
        : step == 2 ? i32x4.shuffle(v128.load(p), v128.load(p, 16), 0, 2, 4, 6) : everyNth(p, <usize>step << 2)
      v = isMax ? f32x4.max(v, e) : f32x4.add(v, e)
    }
    const left = args.outW - at
    if (left >= 4) {
      if (!isMax) v = f32x4.div(v, f32x4.mul(splat(count), v128.load(args.columnCounts + (<usize>at << 2))))
      v128.store(y, v)
    } else for (let i = 0; i < left; i++) {
      const one = f32x4.extract_lane(v, 0)
      f32.store(y + (<usize>i << 2), isMax ? one : one / (count * f32.load(args.columnCounts + (<usize>(at + i) << 2))))
      v = i8x16.shuffle(v, v, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
    }
  }
}

// @ts-ignore: decorator
@inline
function everyNth(at: usize, bytes: usize): v128 {
  const two = f32x4.replace_lane(v128.load32_splat(at), 1, f32.load(at + bytes))
  return f32x4.replace_lane(f32x4.replace_lane(two, 2, f32.load(at + 2 * bytes)), 3, f32.load(at + 3 * bytes))
}
