import { interleaveHigh, interleaveLow, interleaveLowBytes } from '../interleave'
import { codeIn } from './code'
import { stripBytes, zeroOfRow } from './strips'
import { POINTS } from './winograd'

/**
 * Transforms up to four rows of weights, [channels][3][3] less their zero points, into a strip of each of 16 matrices,
 * which are `matrix` bytes apart. Rows that there are not, and a last channel without a partner, are 0.
 * @param zeros as `packByteStrip` takes them
 */
export function packByteWinograd(
  w: usize,
  channels: u32,
  rows: u32,
  isSigned: bool,
  zeros: usize,
  matrix: usize,
  to: usize
): void {
  const row = <usize>channels * 9
  let c: u32 = 0
  if (rows == 4) {
    const first = i32x4.shuffle(splatZero(zeros, 0), splatZero(zeros, 1), 0, 4, 0, 4)
    const second = i32x4.shuffle(splatZero(zeros, 2), splatZero(zeros, 3), 0, 4, 0, 4)
    const twice = i64x2.shuffle(first, second, 0, 2)
    for (; c + 2 <= channels; c += 2)
      transformPairs(w + <usize>c * 9, row, isSigned, twice, matrix, to + ((<usize>c) << 3))
  }
  if (c == channels) return
  const done = (<usize>c) << 3
  for (let point: usize = 0; point < POINTS; point++)
    memory.fill(to + point * matrix + done, 0, stripBytes(channels) - done)
  for (let r: u32 = 0; r < rows; r++) {
    const zero = zeroOfRow(zeros, r)
    const own = w + <usize>r * row
    for (let at = c; at < channels; at++) {
      const out = to + ((<usize>(at >> 1)) << 4) + (r << 2) + ((at & 1) << 1)
      transformOne(own + <usize>at * 9, isSigned, zero, matrix, out)
    }
  }
}

// @ts-ignore: decorator
@inline
function splatZero(zeros: usize, row: u32): v128 {
  return i16x8.splat(<i16>zeroOfRow(zeros, row))
}

/** The weights of one row and channel. */
function transformOne(w: usize, isSigned: bool, zero: i32, matrix: usize, to: usize): void {
  for (let i: usize = 0; i < 4; i++) {
    const a = rowOfG(i, codeIn(w, isSigned) - zero, codeIn(w + 3, isSigned) - zero, codeIn(w + 6, isSigned) - zero)
    const b = rowOfG(i, codeIn(w + 1, isSigned) - zero, codeIn(w + 4, isSigned) - zero, codeIn(w + 7, isSigned) - zero)
    const d = rowOfG(i, codeIn(w + 2, isSigned) - zero, codeIn(w + 5, isSigned) - zero, codeIn(w + 8, isSigned) - zero)
    for (let j: usize = 0; j < 4; j++) store<i16>(to + (i * 4 + j) * matrix, <i16>rowOfG(j, a, b, d))
  }
}

/**
 * The weights of four rows, `row` bytes apart, and two channels, side by side in eight lanes.
 * @param zeros of the rows, each twice
 */
function transformPairs(w: usize, row: usize, isSigned: bool, zeros: v128, matrix: usize, to: usize): void {
  const w1 = w + row
  const w2 = w1 + row
  const w3 = w2 + row
  const p0 = bothChannels(w)
  const p1 = bothChannels(w1)
  const p2 = bothChannels(w2)
  const p3 = bothChannels(w3)
  const lowA = interleaveLow(p0, p1)
  const lowB = interleaveLow(p2, p3)
  const highA = interleaveHigh(p0, p1)
  const highB = interleaveHigh(p2, p3)
  const t01 = i32x4.shuffle(lowA, lowB, 0, 4, 1, 5)
  const t23 = i32x4.shuffle(lowA, lowB, 2, 6, 3, 7)
  const t45 = i32x4.shuffle(highA, highB, 0, 4, 1, 5)
  const t67 = i32x4.shuffle(highA, highB, 2, 6, 3, 7)
  let last = v128.load8_lane(w, i64x2.splat(0), 0, 8)
  last = v128.load8_lane(w, last, 1, 17)
  last = v128.load8_lane(w1, last, 2, 8)
  last = v128.load8_lane(w1, last, 3, 17)
  last = v128.load8_lane(w2, last, 4, 8)
  last = v128.load8_lane(w2, last, 5, 17)
  last = v128.load8_lane(w3, last, 6, 8)
  last = v128.load8_lane(w3, last, 7, 17)
  const a0 = differences(t01, isSigned, zeros)
  const b0 = differences(i64x2.shuffle(t01, t01, 1, 0), isSigned, zeros)
  const d0 = differences(t23, isSigned, zeros)
  const a1 = differences(i64x2.shuffle(t23, t23, 1, 0), isSigned, zeros)
  const b1 = differences(t45, isSigned, zeros)
  const d1 = differences(i64x2.shuffle(t45, t45, 1, 0), isSigned, zeros)
  const a2 = differences(t67, isSigned, zeros)
  const b2 = differences(i64x2.shuffle(t67, t67, 1, 0), isSigned, zeros)
  const d2 = differences(last, isSigned, zeros)
  const aSum = i16x8.add(a0, a2)
  const bSum = i16x8.add(b0, b2)
  const dSum = i16x8.add(d0, d2)
  storeRow(i16x8.add(a0, a0), i16x8.add(b0, b0), i16x8.add(d0, d0), to, matrix)
  storeRow(i16x8.add(aSum, a1), i16x8.add(bSum, b1), i16x8.add(dSum, d1), to + 4 * matrix, matrix)
  storeRow(i16x8.sub(aSum, a1), i16x8.sub(bSum, b1), i16x8.sub(dSum, d1), to + 8 * matrix, matrix)
  storeRow(i16x8.add(a2, a2), i16x8.add(b2, b2), i16x8.add(d2, d2), to + 12 * matrix, matrix)
}

/** The first eight weights of two channels, in turn. */
// @ts-ignore: decorator
@inline
function bothChannels(w: usize): v128 {
  const first = v128.load64_zero(w)
  const second = v128.load64_zero(w, 9)
  return interleaveLowBytes(first, second)
}

/** The lower eight codes less their zero points. */
// @ts-ignore: decorator
@inline
function differences(codes: v128, isSigned: bool, zeros: v128): v128 {
  return i16x8.sub(isSigned ? i16x8.extend_low_i8x16_s(codes) : i16x8.extend_low_i8x16_u(codes), zeros)
}

/** A row by twice the transpose of G. */
// @ts-ignore: decorator
@inline
function storeRow(a: v128, b: v128, d: v128, to: usize, matrix: usize): void {
  const sum = i16x8.add(a, d)
  v128.store(to, i16x8.add(a, a))
  v128.store(to + matrix, i16x8.add(sum, b))
  v128.store(to + 2 * matrix, i16x8.sub(sum, b))
  v128.store(to + 3 * matrix, i16x8.add(d, d))
}

/** A row of twice G. */
function rowOfG(i: usize, a: i32, b: i32, c: i32): i32 {
  if (i == 0) return 2 * a
  if (i == 3) return 2 * c
  return i == 1 ? a + b + c : a - b + c
}
