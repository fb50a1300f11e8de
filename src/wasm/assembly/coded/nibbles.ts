import { fma, splat, sumOf } from '../f32/simd'
import { codeAt, CodedArguments, scaleAt, zeroNumber } from './arguments'
import { blockBytes, CHUNK, CODED, endOf, HEAD, maskOf, orderedBytes, placeStarts, SUM, UNIT } from './nibble-order'
import { codedSums, plainSums, sixteens } from './nibble-sums'

/** One row of A, in the order of nibble-order.ts, by rows of weights in 4 bits. */

/** The third and the fourth vector of a chunk of A, which has two for relaxed SIMD. */
// @ts-ignore: decorator
@inline
function loadThird(a: usize): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i32x4.splat(0) : v128.load(a, 32)
}

// @ts-ignore: decorator
@inline
function loadFourth(a: usize): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i32x4.splat(0) : v128.load(a, 48)
}

/** Adds the products of a chunk of codes. */
// @ts-ignore: decorator
@inline
function addChunk(sum: v128, v: v128, mask: v128, a0: v128, a1: v128, a2: v128, a3: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) {
    const low = i32x4.relaxed_dot_i8x16_i7x16_add_s(a0, v128.and(v, mask), sum)
    return i32x4.relaxed_dot_i8x16_i7x16_add_s(a1, v128.and(i16x8.shr_u(v, 4), mask), low)
  }
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.and(v, mask), a0))
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 4), a1))
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 8), a2))
  return i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 12), a3))
}

/** Adds the sums of a block, scaled by that of the weights and the unit of A. */
// @ts-ignore: decorator
@inline
function addScaled(total: v128, sums: v128, scale: v128, unit: v128): v128 {
  return fma(total, f32x4.convert_i32x4_s(sums), f32x4.mul(scale, unit))
}

/**
 * Four rows of the weights at once, `apart` rows from one to the next: A is loaded once for all.
 * @param isShort whether a block is a chunk
 * @param hasCodes whether each row has zero points of its own
 */
// @ts-ignore: decorator
@inline
function fourRows(
  isShort: bool,
  hasCodes: bool,
  args: CodedArguments,
  row: u32,
  apart: u32,
  scratch: usize,
  c: usize
): void {
  const step = <usize>apart * args.rowBytes
  const scaleStep = (<usize>apart * args.blocks) << 2
  const mask = maskOf(args)
  let a = scratch
  let w0 = args.codes + <usize>row * args.rowBytes
  let w1 = w0 + step
  let w2 = w1 + step
  let w3 = w2 + step
  let f = args.scales + ((<usize>row * args.blocks) << 2)
  let t0 = splat(0)
  let t1 = t0
  let t2 = t0
  let t3 = t0
  const endOfA = endOf(args, scratch)
  const ofBlock = blockBytes(args)
  for (let z = endOfA; a < endOfA; z += 16, f += 4) {
    const unit = v128.load32_splat(a, UNIT)
    let s0 = v128.load32_zero(hasCodes ? z : a)
    let s1 = hasCodes ? v128.load32_zero(z, 4) : s0
    let s2 = hasCodes ? v128.load32_zero(z, 8) : s0
    let s3 = hasCodes ? v128.load32_zero(z, 12) : s0
    const end: usize = isShort ? 0 : min(endOfA, a + ofBlock)
    a += HEAD
    do {
      const a0 = v128.load(a)
      const a1 = v128.load(a, 16)
      const a2 = loadThird(a)
      const a3 = loadFourth(a)
      s0 = addChunk(s0, v128.load(w0), mask, a0, a1, a2, a3)
      s1 = addChunk(s1, v128.load(w1), mask, a0, a1, a2, a3)
      s2 = addChunk(s2, v128.load(w2), mask, a0, a1, a2, a3)
      s3 = addChunk(s3, v128.load(w3), mask, a0, a1, a2, a3)
      a += orderedBytes(CHUNK)
      w0 += CODED
      w1 += CODED
      w2 += CODED
      w3 += CODED
    } while (!isShort && a < end)
    t0 = addScaled(t0, s0, v128.load32_splat(f), unit)
    t1 = addScaled(t1, s1, v128.load32_splat(f + scaleStep), unit)
    t2 = addScaled(t2, s2, v128.load32_splat(f + 2 * scaleStep), unit)
    t3 = addScaled(t3, s3, v128.load32_splat(f + 3 * scaleStep), unit)
  }
  const cStep = (<usize>apart) << 2
  f32.store(c, sumOf(t0))
  f32.store(c + cStep, sumOf(t1))
  f32.store(c + 2 * cStep, sumOf(t2))
  f32.store(c + 3 * cStep, sumOf(t3))
}

function shortBlocks(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourRows(true, false, args, row, apart, scratch, c)
}

function longBlocks(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourRows(false, false, args, row, apart, scratch, c)
}

/** {@link fourRows} where each row has zero points of its own. */
function codedBlocks(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  placeStarts(args, row, apart, scratch)
  fourRows(false, true, args, row, apart, scratch, c)
}

function oneRow(args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  const mask = maskOf(args)
  let a = scratch
  let w = args.codes + <usize>row * args.rowBytes
  let scale = args.scales + ((<usize>row * args.blocks) << 2)
  let total = splat(0)
  const endOfA = endOf(args, scratch)
  for (let block: u32 = 0; a < endOfA; block++, scale += 4) {
    const unit = v128.load32_splat(a, UNIT)
    let sum = v128.load32_zero(a)
    if (args.zeroKind == 1) sum = i32x4.mul(sum, i32x4.splat(codeAt(args.zeros, row * args.zeroRow, block, 4)))
    const end = min(endOfA, a + blockBytes(args))
    for (a += HEAD; a < end; a += orderedBytes(CHUNK), w += CODED)
      if (!ASC_FEATURE_RELAXED_SIMD && args.blockSize == CHUNK)
        sum = i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(sixteens(v128.load(w), a)))
      else sum = addChunk(sum, v128.load(w), mask, v128.load(a), v128.load(a, 16), loadThird(a), loadFourth(a))
    total = addScaled(total, sum, v128.load32_splat(scale), unit)
  }
  f32.store(c, sumOf(total))
}

/** Takes off what zero points that are numbers add. */
function subtractNumbers(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row < end; row++, c += 4) {
    let correction: f32 = 0
    for (let block: u32 = 0, a = scratch; block < args.blocks; block++, a += blockBytes(args))
      correction += scaleAt(args, row, block) * zeroNumber(args, row, block) * f32.load(a, SUM)
    f32.store(c, f32.load(c) - correction)
  }
}

/**
 * The row of A that has been ordered by rows `row … end - 1` of the weights, in four streams: each is a run of rows,
 * since streams that begin anew with every fourth row are read more slowly.
 */
export function rowByNibbles(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  const ofStream = (end - row) >> 2
  const isShort = args.blockSize == CHUNK
  for (let i: u32 = 0; i < ofStream; i++) {
    const to = c + ((<usize>i) << 2)
    if (isShort && !ASC_FEATURE_RELAXED_SIMD) {
      if (args.zeroKind == 1) codedSums(args, row + i, ofStream, scratch, to)
      else plainSums(args, row + i, ofStream, scratch, to)
    } else if (args.zeroKind == 1) codedBlocks(args, row + i, ofStream, scratch, to)
    else if (isShort) shortBlocks(args, row + i, ofStream, scratch, to)
    else longBlocks(args, row + i, ofStream, scratch, to)
  }
  for (let i = ofStream << 2; row + i < end; i++) oneRow(args, row + i, scratch, c + ((<usize>i) << 2))
  if (args.zeroKind == 2) subtractNumbers(args, row, end, scratch, c)
}
