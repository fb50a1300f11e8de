import { fma, splat, sumOf, sumOfInts } from '../f32/simd'
import { storeTransposed } from '../transpose4'
import { codeAt, CodedArguments, scaleAt, zeroNumber } from './arguments'

/**
 * One row of A, rounded to integers of 8 bits block by block, by rows of weights in 4 bits. A chunk of 16 bytes is taken
 * as eight numbers of 16 bits, each of which holds four codes: to shift it makes numbers that need be neither widened
 * nor masked, since A makes up for the codes above. A lies in this order: of 32 elements every fourth, then those behind
 * them. Codes are unsigned and keep their zero point: what it takes off is known beforehand, and a sum begins with it.
 * Sums of a block are exact.
 *
 * Relaxed SIMD multiplies 16 bytes at once. The second of them have 7 bits at most, and two products with them stay
 * within 16 bits, so that all engines give the same. A is then in bytes: of 32 elements the even ones, then the others.
 */

/** Elements of a chunk, and its bytes in the rows of the weights. */
export const CHUNK: u32 = 32
const CODED: usize = 16

/** Bytes of elements of A: 16 bits each, 8 for relaxed SIMD. */
// @ts-ignore: decorator
@inline
export function orderedBytes(count: usize): usize {
  return ASC_FEATURE_RELAXED_SIMD ? count : count << 1
}

/** Elements of A with those of the last chunk. */
// @ts-ignore: decorator
@inline
function paddedOf(args: CodedArguments): usize {
  return (<usize>args.k + CHUNK - 1) & ~(<usize>(CHUNK - 1))
}

/**
 * In front of the chunks of a block: what the zero point takes off, or -1 times the sum of A where each row has a zero
 * point of its own; the unit of its integers; and the sum of A as numbers. One pointer leads to all that is read of A:
 * a loop with more of them than there are registers takes half as long again.
 */
const HEAD: usize = 16
const UNIT: usize = 4
const SUM: usize = 8

/** Bytes of a block with its head. */
// @ts-ignore: decorator
@inline
function blockBytes(args: CodedArguments): usize {
  return HEAD + orderedBytes(args.blockSize)
}

/** The end of A, where the last block may be short. */
// @ts-ignore: decorator
@inline
function endOf(args: CodedArguments, scratch: usize): usize {
  return scratch + <usize>args.blocks * HEAD + orderedBytes(paddedOf(args))
}

/** Rounds a row of A and writes it in the order of the chunks, 0 beyond its end. */
export function orderNibbles(args: CodedArguments, a: usize, scratch: usize): void {
  const last = endOf(args, scratch)
  const zero = args.zeroKind == 1 ? 1 : args.zero
  for (let from: u32 = 0, to = scratch; from < args.k;) {
    const end = min(args.k, from + args.blockSize)
    const unit = largestOf(a + ((<usize>from) << 2), a + ((<usize>end) << 2)) / 127
    const inverse = splat(unit == 0 ? 0 : 1 / unit)
    const head = to
    let sums = i32x4.splat(0)
    for (to += HEAD; from < end; from += CHUNK, to += orderedBytes(CHUNK)) {
      let at = a + ((<usize>from) << 2)
      if (end - from < CHUNK) {
        memory.fill(last, 0, CHUNK << 2)
        memory.copy(last, at, (<usize>(end - from)) << 2)
        at = last
      }
      sums = i32x4.add(sums, orderChunk(at, inverse, to))
    }
    from = end
    const sum = sumOfInts(sums)
    store<i32>(head, -sum * zero)
    f32.store(head, unit, UNIT)
    f32.store(head, <f32>sum * unit, SUM)
  }
}

/** The largest magnitude of a list; NaN where one is NaN. Bits of magnitudes are in the order of these, NaN last. */
export function largestOf(from: usize, end: usize): f32 {
  let most = i32x4.splat(0)
  for (; from + 16 <= end; from += 16) most = i32x4.max_u(most, i32x4.shl(v128.load(from), 1))
  let largest = max(
    max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1)),
    max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3))
  )
  for (; from < end; from += 4) largest = max(largest, load<u32>(from) << 1)
  return reinterpret<f32>(largest >> 1)
}

/** Added to a number of few bits, it leaves the nearest whole number in the low bits of the sum. */
const MAGIC: f32 = 12582912.0

/** Eight elements as integers, the first of each four beside that of the other four, then the second … */
// @ts-ignore: decorator
@inline
export function eightOf(a: usize, inverse: v128): v128 {
  const low = f32x4.add(f32x4.mul(v128.load(a), inverse), splat(MAGIC))
  const high = f32x4.add(f32x4.mul(v128.load(a, 16), inverse), splat(MAGIC))
  return i16x8.shuffle(low, high, 0, 8, 2, 10, 4, 12, 6, 14)
}

/**
 * Takes 16 times the one before it off the third and the fourth of each four. {@link addChunk} shifts codes down without
 * masking them, so that a number has the next codes of its four above its own: times its element of A, these add 16 times
 * that element by the next code, 256 times by the one after it.
 */
// @ts-ignore: decorator
@inline
export function untangle(p: v128): v128 {
  const before = i16x8.shuffle(i16x8.splat(0), p, 0, 1, 2, 3, 10, 11, 12, 13)
  return i16x8.sub(p, i16x8.shl(before, 4))
}

/** Eight elements as bytes: the even ones in the first lane, the others in the second; then the same once more. */
// @ts-ignore: decorator
@inline
export function eightBytesOf(a: usize, inverse: v128): v128 {
  const low = f32x4.add(f32x4.mul(v128.load(a), inverse), splat(MAGIC))
  const high = f32x4.add(f32x4.mul(v128.load(a, 16), inverse), splat(MAGIC))
  return i8x16.shuffle(low, high, 0, 8, 16, 24, 4, 12, 20, 28, 0, 8, 16, 24, 4, 12, 20, 28)
}

/** Writes 32 elements as integers, untangled, and gives four sums of them. */
// @ts-ignore: decorator
@inline
function orderChunk(a: usize, inverse: v128, to: usize): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return orderBytes(a, inverse, to)
  const p0 = eightOf(a, inverse)
  const p1 = eightOf(a + 32, inverse)
  const p2 = eightOf(a + 64, inverse)
  const p3 = eightOf(a + 96, inverse)
  storeTransposed(untangle(p0), untangle(p1), untangle(p2), untangle(p3), to, 16)
  const sums = i16x8.add(i16x8.add(p0, p1), i16x8.add(p2, p3))
  return i32x4.extadd_pairwise_i16x8_s(sums)
}

// @ts-ignore: decorator
@inline
function orderBytes(a: usize, inverse: v128, to: usize): v128 {
  const p01 = i32x4.shuffle(eightBytesOf(a, inverse), eightBytesOf(a + 32, inverse), 0, 4, 1, 5)
  const p23 = i32x4.shuffle(eightBytesOf(a + 64, inverse), eightBytesOf(a + 96, inverse), 0, 4, 1, 5)
  const even = i64x2.shuffle(p01, p23, 0, 2)
  const odd = i64x2.shuffle(p01, p23, 1, 3)
  v128.store(to, even)
  v128.store(to, odd, 16)
  const sums = i16x8.add(i16x8.extadd_pairwise_i8x16_s(even), i16x8.extadd_pairwise_i8x16_s(odd))
  return i32x4.extadd_pairwise_i16x8_s(sums)
}

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

/** Ones in place of the first code of a number; not known to compilers, which would make them anew each time. */
// @ts-ignore: decorator
@inline
export function maskOf(args: CodedArguments): v128 {
  const mask = (1 << args.bits) - 1
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.splat(<i8>mask) : i16x8.splat(<i16>mask)
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

/**
 * What sums of four rows begin with that have zero points of their own: four integers for each block, behind A. Rows of
 * zero points begin with a byte, as those of MatMulNBits do.
 */
function placeStarts(args: CodedArguments, row: u32, apart: u32, scratch: usize): void {
  const step = blockBytes(args)
  for (let i: u32 = 0; i < 4; i++) {
    let zeros = args.zeros + (((row + i * apart) * args.zeroRow) >> 3)
    let to = endOf(args, scratch) + ((<usize>i) << 2)
    // A last block without a second one has a start after it that nobody reads.
    for (let block: u32 = 0, a = scratch; block < args.blocks; block += 2, a += 2 * step, to += 32, zeros++) {
      const two = <i32>load<u8>(zeros)
      store<i32>(to, load<i32>(a) * (two & 15))
      store<i32>(to, load<i32>(a + step) * (two >> 4), 16)
    }
  }
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
      sum = addChunk(sum, v128.load(w), mask, v128.load(a), v128.load(a, 16), loadThird(a), loadFourth(a))
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
    if (args.zeroKind == 1) codedBlocks(args, row + i, ofStream, scratch, to)
    else if (isShort) shortBlocks(args, row + i, ofStream, scratch, to)
    else longBlocks(args, row + i, ofStream, scratch, to)
  }
  for (let i = ofStream << 2; row + i < end; i++) oneRow(args, row + i, scratch, c + ((<usize>i) << 2))
  if (args.zeroKind == 2) subtractNumbers(args, row, end, scratch, c)
}
