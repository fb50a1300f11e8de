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
  inH: i32
  inW: i32
  kH: i32
  kW: i32
  sH: i32
  sW: i32
  dH: i32
  dW: i32
  pH: i32
  pW: i32
  outH: i32
  outW: i32
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
  if (!args.isMax) return poolBands(MEAN, args, scratch, from, to)
  fillLowest(args, scratch)
  for (let block = from; block < to; block++) {
    if (highestOfBand(args, scratch, block)) continue
    poolBands(KEYS, args, scratch, block, block + 1)
    fillLowest(args, scratch)
  }
}

/** How elements are combined: sums, or the highest, of keys, which know NaN, or of numbers. */
const MEAN: i32 = 0
const KEYS: i32 = 1
const HIGH: i32 = 2

/** Fills the line into which {@link highestOfBand} combines others, whose ends are padding. */
// @ts-ignore: decorator
@inline
function fillLowest(args: PoolArguments, scratch: usize): void {
  const end = scratch + ((<usize>paddedWidth(args)) << 2)
  for (let at = scratch; at < end; at += 16) v128.store(at, splat(-Infinity))
}

/**
 * The highest elements of the windows of a band, whose lines are combined where they lie.
 * @returns false where there may be NaN, which the instructions for floats pass over
 */
function highestOfBand(args: PoolArguments, scratch: usize, block: u32): bool {
  const bands = <u32>((args.outH + args.band - 1) / args.band)
  const plane = block / bands
  const top = <i32>(block % bands) * args.band
  const end = min(top + args.band, args.outH)
  const x = args.x + ((<usize>plane * args.inH * args.inW) << 2)
  let y = args.y + (((<usize>plane * args.outH + top) * args.outW) << 2)
  const copied = (<usize>max(0, min(args.inW, paddedWidth(args) - args.pW))) << 2
  // Lines whose columns stay apart are written at once.
  const isDirect = args.kW == 1 && args.sW == 1 && args.pW == 0 && args.outW == args.inW
  const combined = scratch + ((<usize>args.pW) << 2)
  let sums = splat(0)
  for (let line = top; line < end; line++, y += (<usize>args.outW) << 2) {
    let first = line * args.sH - args.pH
    let rows = args.kH
    while (rows > 0 && first < 0) {
      first += args.dH
      rows--
    }
    while (rows > 0 && first + (rows - 1) * args.dH >= args.inH) rows--
    const step = (<usize>(args.dH * args.inW)) << 2
    const to = isDirect ? y : combined
    if (rows > 0) sums = highestOfLines(x + ((<usize>first * args.inW) << 2), step, rows, to, copied, sums)
    else for (let at: usize = 0; at < copied; at += 4) f32.store(to + at, -Infinity)
    if (!isDirect) poolLine(HIGH, args, scratch, y, 1)
  }
  return !v128.any_true(f32x4.ne(sums, sums))
}

/**
 * Writes the highest of `rows` lines, `step` bytes apart.
 * @returns `sums` with all elements added to it: NaN where one of them is
 */
function highestOfLines(x: usize, step: usize, rows: i32, to: usize, bytes: usize, sums: v128): v128 {
  const end = to + (bytes & ~15)
  if (rows == 2) {
    for (; to < end; x += 16, to += 16) {
      const v = v128.load(x)
      const w = v128.load(x + step)
      sums = f32x4.add(sums, f32x4.add(v, w))
      v128.store(to, higher(v, w))
    }
  } else {
    for (; to < end; x += 16, to += 16) {
      let v = v128.load(x)
      let sum = v
      for (let i = 1, at = x + step; i < rows; i++, at += step) {
        const w = v128.load(at)
        sum = f32x4.add(sum, w)
        v = higher(v, w)
      }
      sums = f32x4.add(sums, sum)
      v128.store(to, v)
    }
  }
  for (let rest = bytes & 15; rest > 0; rest -= 4, x += 4, to += 4) {
    let v = v128.load32_splat(x)
    sums = f32x4.add(sums, v)
    for (let i = 1, at = x + step; i < rows; i++, at += step) {
      const w = v128.load32_splat(at)
      sums = f32x4.add(sums, w)
      v = higher(v, w)
    }
    v128.store32_lane(to, v, 0)
  }
  return sums
}

/** The higher of numbers; of zeros 0 is higher than -0. `f32x4.max`, which knows NaN, is about eight instructions. */
// @ts-ignore: decorator
@inline
function higher(a: v128, b: v128): v128 {
  return v128.and(f32x4.pmax(a, b), f32x4.pmax(b, a))
}

// @ts-ignore: decorator
@inline
function poolBands(mode: i32, args: PoolArguments, scratch: usize, from: u32, to: u32): void {
  const isMax = mode != MEAN
  const none = i32x4.splat(isMax ? LOWEST : 0)
  const width = paddedWidth(args)
  const lineBytes = (<usize>width) << 2
  const taps = (args.kH - 1) * args.dH + 1
  const combined = scratch + <usize>((args.band - 1) * args.sH + taps) * lineBytes
  for (let at = scratch; at < combined; at += 16) v128.store(at, none)
  const copied = (<usize>max(0, min(args.inW, width - args.pW))) << 2
  const bands = <u32>((args.outH + args.band - 1) / args.band)
  const inPlane = (<usize>(args.inH * args.inW)) << 2
  const outPlane = (<usize>(args.outH * args.outW)) << 2
  for (let block = from; block < to; block++) {
    const plane = block / bands
    const top = <i32>(block % bands) * args.band
    const lines = min(args.band, args.outH - top)
    const x = args.x + plane * inPlane
    const begin = top * args.sH - args.pH
    for (let i = 0, height = (lines - 1) * args.sH + taps; i < height; i++) {
      const line = begin + i
      const start = scratch + i * lineBytes + ((<usize>args.pW) << 2)
      if (line >= 0 && line < args.inH) copySpan(isMax, start, x + ((<usize>(line * args.inW)) << 2), copied)
      else for (let at: usize = 0; at < copied; at += 4) i32.store(start + at, isMax ? LOWEST : 0)
    }
    let y = args.y + plane * outPlane + ((<usize>(top * args.outW)) << 2)
    for (let line = 0; line < lines; line++, y += (<usize>args.outW) << 2) {
      let first = scratch + <usize>(line * args.sH) * lineBytes
      if (args.kH > 1) {
        combineLines(isMax, first, lineBytes * args.dH, args.kH, combined, lineBytes)
        first = combined
      }
      poolLine(mode, args, first, y, isMax ? 1 : f32.load(args.lineCounts + ((<usize>(top + line)) << 2)))
    }
  }
}

/** Key of -Infinity. */
const LOWEST: i32 = <i32>0x807fffff

/**
 * Integers in the order of float32 numbers, above which NaN stands: `i32x4.max_s` is one instruction, and `f32x4.max`
 * about ten. Applied again it gives the numbers back.
 */
// @ts-ignore: decorator
@inline
function keys(x: v128): v128 {
  return v128.xor(x, i32x4.shr_u(i32x4.shr_s(x, 31), 1))
}

/** Numbers in which no NaN is negative. */
// @ts-ignore: decorator
@inline
function positiveNaN(x: v128): v128 {
  return v128.andnot(x, v128.and(f32x4.ne(x, x), splat(-0.0)))
}

/** Copies numbers as sums take them, or as keys of which the highest is taken. */
// @ts-ignore: decorator
@inline
function copySpan(isMax: bool, to: usize, from: usize, bytes: usize): void {
  const whole = bytes & ~15
  let at: usize = 0
  for (; at < whole; at += 16) {
    const v = v128.load(from + at)
    v128.store(to + at, isMax ? keys(positiveNaN(v)) : v)
  }
  for (; at < bytes; at += 4) {
    const v = v128.load32_splat(from + at)
    i32.store(to + at, i32x4.extract_lane(isMax ? keys(positiveNaN(v)) : v, 0))
  }
}

// @ts-ignore: decorator
@inline
function combine(isMax: bool, a: v128, b: v128): v128 {
  return isMax ? i32x4.max_s(a, b) : f32x4.add(a, b)
}

/** Combines `rows` lines, `step` bytes apart: 64 bytes of all of them at a time, which stay in registers. */
// @ts-ignore: decorator
@inline
function combineLines(isMax: bool, x: usize, step: usize, rows: i32, to: usize, bytes: usize): void {
  const end = to + bytes
  for (; to + 64 <= end; x += 64, to += 64) {
    let a = v128.load(x)
    let b = v128.load(x, 16)
    let c = v128.load(x, 32)
    let d = v128.load(x, 48)
    for (let i = 1, at = x + step; i < rows; i++, at += step) {
      a = combine(isMax, a, v128.load(at))
      b = combine(isMax, b, v128.load(at, 16))
      c = combine(isMax, c, v128.load(at, 32))
      d = combine(isMax, d, v128.load(at, 48))
    }
    v128.store(to, a)
    v128.store(to, b, 16)
    v128.store(to, c, 32)
    v128.store(to, d, 48)
  }
  for (; to < end; x += 16, to += 16) {
    let v = v128.load(x)
    for (let i = 1, at = x + step; i < rows; i++, at += step) v = combine(isMax, v, v128.load(at))
    v128.store(to, v)
  }
}

// @ts-ignore: decorator
@inline
function join(mode: i32, a: v128, b: v128): v128 {
  return mode == HIGH ? higher(a, b) : combine(mode == KEYS, a, b)
}

// @ts-ignore: decorator
@inline
function poolLine(mode: i32, args: PoolArguments, x: usize, y: usize, count: f32): void {
  if (args.sW == 1) alongLine(mode, 1, args, x, y, count)
  else if (args.sW == 2) alongLine(mode, 2, args, x, y, count)
  else alongLine(mode, 0, args, x, y, count)
}

/** @param step the stride where it is 1 or 2, else 0 */
// @ts-ignore: decorator
@inline
function alongLine(mode: i32, step: i32, args: PoolArguments, x: usize, y: usize, count: f32): void {
  const isMax = mode != MEAN
  const stride = (<usize>args.sW) << 2
  const dilation = (<usize>args.dW) << 2
  const taps = args.kW
  const columns = args.outW
  let at = 0
  if (step == 1)
    for (; at + 16 <= columns; at += 16, x += 64, y += 64) {
      let a = v128.load(x)
      let b = v128.load(x, 16)
      let c = v128.load(x, 32)
      let d = v128.load(x, 48)
      for (let j = 1, p = x + dilation; j < taps; j++, p += dilation) {
        a = join(mode, a, v128.load(p))
        b = join(mode, b, v128.load(p, 16))
        c = join(mode, c, v128.load(p, 32))
        d = join(mode, d, v128.load(p, 48))
      }
      storePooled(mode, args, y, a, at, count)
      storePooled(mode, args, y + 16, b, at + 4, count)
      storePooled(mode, args, y + 32, c, at + 8, count)
      storePooled(mode, args, y + 48, d, at + 12, count)
    }
  for (; at < columns; at += 4, x += stride << 2, y += 16) {
    let v = four(step, x, stride)
    if (taps > 1) v = join(mode, v, four(step, x + dilation, stride))
    if (taps > 2) v = join(mode, v, four(step, x + 2 * dilation, stride))
    for (let j = 3; j < taps; j++) v = join(mode, v, four(step, x + j * dilation, stride))
    const left = columns - at
    if (left >= 4) storePooled(mode, args, y, v, at, count)
    else {
      if (mode == KEYS) v = keys(v)
      for (let i = 0; i < left; i++) {
        const one = f32x4.extract_lane(v, 0)
        f32.store(
          y + ((<usize>i) << 2),
          isMax ? one : one / (count * f32.load(args.columnCounts + ((<usize>(at + i)) << 2)))
        )
        v = i8x16.shuffle(v, v, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
      }
    }
  }
}

/** Stores what has been combined for the windows of columns `at … at + 3`. */
// @ts-ignore: decorator
@inline
function storePooled(mode: i32, args: PoolArguments, y: usize, v: v128, at: i32, count: f32): void {
  if (mode == KEYS) v = keys(v)
  if (mode == MEAN) v = f32x4.div(v, f32x4.mul(splat(count), v128.load(args.columnCounts + ((<usize>at) << 2))))
  v128.store(y, v)
}

/** Four elements that are `stride` bytes apart. */
// @ts-ignore: decorator
@inline
function four(step: i32, at: usize, stride: usize): v128 {
  if (step == 1) return v128.load(at)
  if (step == 2) return i32x4.shuffle(v128.load(at), v128.load(at, 16), 0, 2, 4, 6)
  return everyNth(at, stride)
}

// @ts-ignore: decorator
@inline
function everyNth(at: usize, bytes: usize): v128 {
  const two = i32x4.replace_lane(v128.load32_splat(at), 1, i32.load(at + bytes))
  return i32x4.replace_lane(i32x4.replace_lane(two, 2, i32.load(at + 2 * bytes)), 3, i32.load(at + 3 * bytes))
}
