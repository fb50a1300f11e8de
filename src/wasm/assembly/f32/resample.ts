import { fma, splat } from './simd'

/** Weighted sums of the rows of [outer][size][inner] along the middle axis, which become [outer][count][inner]. */
@unmanaged
export class RowsResampleArguments {
  x: usize
  /** For each index of the output, `taps` rows of the input, and their weights; the first weight of 0 ends a list. */
  indices: usize
  weights: usize
  y: usize
  size: u32
  count: u32
  inner: u32
  taps: u32
  /** Types of the elements of x and y, as numbered below. */
  from: i32
  to: i32
}

/** Weighted sums of elements of each line of [outer][size], which become `count` elements, `step` apart by the line. */
@unmanaged
export class LinesResampleArguments {
  x: usize
  /**
   * For each four elements of the output and each tap, the four elements of the input, and their weights; those of
   * weight 0 do not count.
   */
  indices: usize
  weights: usize
  y: usize
  size: u32
  count: u32
  step: u32
  taps: u32
  from: i32
  to: i32
}

const FLOAT32: i32 = 0
const UINT8: i32 = 1

// @ts-ignore: decorator
@inline
function shiftOf(isByte: bool): u32 {
  return isByte ? 0 : 2
}

/** Four bytes in 32-bit lanes as numbers. */
// @ts-ignore: decorator
@inline
function numbersOf(bytes: v128, isSigned: bool): v128 {
  return f32x4.convert_i32x4_s(isSigned ? i32x4.shr_s(i32x4.shl(bytes, 24), 24) : bytes)
}

// @ts-ignore: decorator
@inline
function four(isByte: bool, isSigned: bool, at: usize): v128 {
  if (!isByte) return v128.load(at)
  return numbersOf(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at))), isSigned)
}

/** An element in the first lane. */
// @ts-ignore: decorator
@inline
function single(isByte: bool, isSigned: bool, at: usize): v128 {
  return isByte ? numbersOf(i32x4.splat(<i32>load<u8>(at)), isSigned) : v128.load32_zero(at)
}

/** Rounds to integers, ties to even, and to the range of bytes; gives them in the first four lanes of one byte. */
// @ts-ignore: decorator
@inline
function bytesOf(v: v128, isSigned: bool): v128 {
  const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(v))
  const short = i16x8.narrow_i32x4_s(whole, whole)
  return isSigned ? i8x16.narrow_i16x8_s(short, short) : i8x16.narrow_i16x8_u(short, short)
}

// @ts-ignore: decorator
@inline
function storeFour(isByte: bool, isSigned: bool, at: usize, v: v128): void {
  if (isByte) v128.store32_lane(at, bytesOf(v, isSigned), 0)
  else v128.store(at, v)
}

// @ts-ignore: decorator
@inline
function storeSingle(isByte: bool, isSigned: bool, at: usize, v: v128): void {
  if (isByte) v128.store8_lane(at, bytesOf(v, isSigned), 0)
  else v128.store32_lane(at, v, 0)
}

/** Computes rows `from … to - 1` of the output. */
export function resampleRows(args: RowsResampleArguments, from: u32, to: u32): void {
  if (args.from == FLOAT32) {
    if (args.to == FLOAT32) rows(false, false, args, from, to)
    else rows(false, true, args, from, to)
  } else if (args.to == FLOAT32) rows(true, false, args, from, to)
  else rows(true, true, args, from, to)
}

// @ts-ignore: decorator
@inline
function rows(isByteFrom: bool, isByteTo: bool, args: RowsResampleArguments, from: u32, to: u32): void {
  const isSigned = max(args.from, args.to) > UINT8
  const taps = args.taps
  const xBytes = (<usize>args.inner) << shiftOf(isByteFrom)
  const yBytes = (<usize>args.inner) << shiftOf(isByteTo)
  for (let row = from; row < to; row++) {
    const i = row % args.count
    const table = (<usize>(i * taps)) << 2
    const indices = args.indices + table
    const weights = args.weights + table
    const x = args.x + <usize>((row / args.count) * args.size) * xBytes
    let count: u32 = 0
    while (count < taps && f32.load(weights + (count << 2)) != 0) count++
    const y = args.y + <usize>row * yBytes
    if (count <= 2) twoRows(isByteFrom, isByteTo, isSigned, indices, weights, count, x, xBytes, y, args.inner)
    else manyRows(isByteFrom, isByteTo, isSigned, indices, weights, count, x, xBytes, y, args.inner)
  }
}

/** The sum of up to two rows. */
// @ts-ignore: decorator
@inline
function twoRows(
  isByteFrom: bool,
  isByteTo: bool,
  isSigned: bool,
  indices: usize,
  weights: usize,
  count: u32,
  x: usize,
  bytes: usize,
  y: usize,
  inner: u32
): void {
  if (count == 0) {
    memory.fill(y, 0, (<usize>inner) << shiftOf(isByteTo))
    return
  }
  let a = x + <usize>load<u32>(indices) * bytes
  const end = y + ((<usize>inner) << shiftOf(isByteTo))
  const whole = y + ((<usize>(inner & ~3)) << shiftOf(isByteTo))
  const xStep: usize = 4 << shiftOf(isByteFrom)
  const yStep: usize = 4 << shiftOf(isByteTo)
  const p = v128.load32_splat(weights)
  if (count == 1) {
    for (; y < whole; a += xStep, y += yStep)
      storeFour(isByteTo, isSigned, y, f32x4.mul(p, four(isByteFrom, isSigned, a)))
    for (; y < end; a += xStep >> 2, y += yStep >> 2)
      storeSingle(isByteTo, isSigned, y, f32x4.mul(p, single(isByteFrom, isSigned, a)))
    return
  }
  const q = v128.load32_splat(weights + 4)
  let b = x + <usize>load<u32>(indices, 4) * bytes
  for (; y < whole; a += xStep, b += xStep, y += yStep) {
    const v = f32x4.mul(p, four(isByteFrom, isSigned, a))
    storeFour(isByteTo, isSigned, y, fma(v, q, four(isByteFrom, isSigned, b)))
  }
  for (; y < end; a += xStep >> 2, b += xStep >> 2, y += yStep >> 2) {
    const v = f32x4.mul(p, single(isByteFrom, isSigned, a))
    storeSingle(isByteTo, isSigned, y, fma(v, q, single(isByteFrom, isSigned, b)))
  }
}

// @ts-ignore: decorator
@inline
function manyRows(
  isByteFrom: bool,
  isByteTo: bool,
  isSigned: bool,
  indices: usize,
  weights: usize,
  count: u32,
  x: usize,
  bytes: usize,
  y: usize,
  inner: u32
): void {
  const xShift = shiftOf(isByteFrom)
  const yShift = shiftOf(isByteTo)
  const end = (<usize>count) << 2
  let j: u32 = 0
  for (; j + 16 <= inner; j += 16) {
    let a = splat(0)
    let b = a
    let c = a
    let d = a
    const at = x + ((<usize>j) << xShift)
    for (let t: usize = 0; t < end; t += 4) {
      const w = v128.load32_splat(weights + t)
      const p = at + <usize>load<u32>(indices + t) * bytes
      a = fma(a, w, four(isByteFrom, isSigned, p))
      b = fma(b, w, four(isByteFrom, isSigned, p + (4 << xShift)))
      c = fma(c, w, four(isByteFrom, isSigned, p + (8 << xShift)))
      d = fma(d, w, four(isByteFrom, isSigned, p + (12 << xShift)))
    }
    const to = y + ((<usize>j) << yShift)
    storeFour(isByteTo, isSigned, to, a)
    storeFour(isByteTo, isSigned, to + (4 << yShift), b)
    storeFour(isByteTo, isSigned, to + (8 << yShift), c)
    storeFour(isByteTo, isSigned, to + (12 << yShift), d)
  }
  while (j < inner) {
    const isWhole = j + 4 <= inner
    let a = splat(0)
    const at = x + ((<usize>j) << xShift)
    for (let t: usize = 0; t < end; t += 4) {
      const p = at + <usize>load<u32>(indices + t) * bytes
      const v = isWhole ? four(isByteFrom, isSigned, p) : single(isByteFrom, isSigned, p)
      a = fma(a, v128.load32_splat(weights + t), v)
    }
    const to = y + ((<usize>j) << yShift)
    if (isWhole) storeFour(isByteTo, isSigned, to, a)
    else storeSingle(isByteTo, isSigned, to, a)
    j += isWhole ? 4 : 1
  }
}

/** Computes lines `from … to - 1` of the output. */
export function resampleLines(args: LinesResampleArguments, from: u32, to: u32): void {
  if (args.from == FLOAT32) {
    if (args.to == FLOAT32) lines(false, false, args, from, to)
    else lines(false, true, args, from, to)
  } else if (args.to == FLOAT32) lines(true, false, args, from, to)
  else lines(true, true, args, from, to)
}

// @ts-ignore: decorator
@inline
function lines(isByteFrom: bool, isByteTo: bool, args: LinesResampleArguments, from: u32, to: u32): void {
  const isSigned = max(args.from, args.to) > UINT8
  const step = (<usize>args.taps) << 4
  const xBytes = (<usize>args.size) << shiftOf(isByteFrom)
  const yBytes = (<usize>args.count) << shiftOf(isByteTo)
  const wholeBytes = (<usize>(args.count & ~3)) << shiftOf(isByteTo)
  const yStep: usize = 4 << shiftOf(isByteTo)
  for (let line = from; line < to; line++) {
    const x = args.x + <usize>line * xBytes
    let y = args.y + ((<usize>(line * args.step)) << shiftOf(isByteTo))
    const end = y + yBytes
    const whole = y + wholeBytes
    let indices = args.indices
    let weights = args.weights
    while (y < end) {
      let sum = weighted(isByteFrom, isSigned, x, indices, v128.load(weights))
      for (const stop = weights + step; (weights += 16), (indices += 16), weights < stop;)
        sum = f32x4.add(sum, weighted(isByteFrom, isSigned, x, indices, v128.load(weights)))
      if (y < whole) {
        storeFour(isByteTo, isSigned, y, sum)
        y += yStep
      } else {
        for (; y < end; y += yStep >> 2) {
          storeSingle(isByteTo, isSigned, y, sum)
          sum = i8x16.shuffle(sum, sum, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
        }
      }
    }
  }
}

/** Four elements of a line with their weights; 0 where a weight is, since infinity times 0 would be NaN. */
// @ts-ignore: decorator
@inline
function weighted(isByte: bool, isSigned: bool, x: usize, indices: usize, weights: v128): v128 {
  const v = gathered(isByte, isSigned, x, indices)
  return f32x4.mul(weights, isByte ? v : v128.and(v, f32x4.ne(weights, splat(0))))
}

/** Four elements of a line, wherever they lie. */
// @ts-ignore: decorator
@inline
function gathered(isByte: bool, isSigned: bool, x: usize, indices: usize): v128 {
  const a = <usize>load<u32>(indices)
  const b = <usize>load<u32>(indices, 4)
  const c = <usize>load<u32>(indices, 8)
  const d = <usize>load<u32>(indices, 12)
  if (isByte) {
    let bytes = i32x4.splat(<i32>load<u8>(x + a))
    bytes = i32x4.replace_lane(bytes, 1, <i32>load<u8>(x + b))
    bytes = i32x4.replace_lane(bytes, 2, <i32>load<u8>(x + c))
    return numbersOf(i32x4.replace_lane(bytes, 3, <i32>load<u8>(x + d)), isSigned)
  }
  let v = v128.load32_zero(x + (a << 2))
  v = v128.load32_lane(x + (b << 2), v, 1)
  v = v128.load32_lane(x + (c << 2), v, 2)
  return v128.load32_lane(x + (d << 2), v, 3)
}
