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

/** By block what the zero point takes off, or -1 times the sum of A where each row has a zero point of its own. */
// @ts-ignore: decorator
@inline
function startsAt(args: CodedArguments, scratch: usize): usize {
  return scratch + (paddedOf(args) << 1)
}

/** By block the sum of A as numbers, then the unit of its integers. */
// @ts-ignore: decorator
@inline
function sumsAt(args: CodedArguments, scratch: usize): usize {
  return scratch + (paddedOf(args) << 2)
}

// @ts-ignore: decorator
@inline
function unitsAt(args: CodedArguments, scratch: usize): usize {
  return sumsAt(args, scratch) + ((<usize>args.blocks) << 2)
}

/** Rounds a row of A and writes it in the order of the chunks, 0 beyond its end. */
export function orderNibbles(args: CodedArguments, a: usize, scratch: usize): void {
  const last = unitsAt(args, scratch) + ((<usize>args.blocks) << 2)
  let to = scratch
  for (let block: u32 = 0, from: u32 = 0; from < args.k; block++) {
    const end = min(args.k, from + args.blockSize)
    const unit = largestOf(a + ((<usize>from) << 2), a + ((<usize>end) << 2)) / 127
    const inverse = splat(unit == 0 ? 0 : 1 / unit)
    let sums = i32x4.splat(0)
    for (; from < end; from += CHUNK, to += orderedBytes(CHUNK)) {
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
    const offset = (<usize>block) << 2
    store<i32>(startsAt(args, scratch) + offset, -sum * (args.zeroKind == 1 ? 1 : args.zero))
    f32.store(sumsAt(args, scratch) + offset, <f32>sum * unit)
    f32.store(unitsAt(args, scratch) + offset, unit)
  }
}

/** The largest magnitude of a list; NaN where one is NaN. */
export function largestOf(from: usize, end: usize): f32 {
  let most = splat(0)
  for (; from + 16 <= end; from += 16) most = f32x4.max(most, f32x4.abs(v128.load(from)))
  let largest = max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3))
  )
  for (; from < end; from += 4) largest = max(largest, abs(f32.load(from)))
  return largest
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

/** Adds the products of a chunk of codes. */
// @ts-ignore: decorator
@inline
function addChunk(sum: v128, w: usize, a0: v128, a1: v128, a2: v128, a3: v128): v128 {
  const v = v128.load(w)
  if (ASC_FEATURE_RELAXED_SIMD) {
    const low = i32x4.relaxed_dot_i8x16_i7x16_add_s(a0, v128.and(v, i8x16.splat(15)), sum)
    return i32x4.relaxed_dot_i8x16_i7x16_add_s(a1, v128.and(i16x8.shr_u(v, 4), i8x16.splat(15)), low)
  }
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.and(v, i16x8.splat(15)), a0))
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 4), a1))
  sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 8), a2))
  return i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.shr_u(v, 12), a3))
}

/** What the sum of a block begins with. */
// @ts-ignore: decorator
@inline
function startOf(args: CodedArguments, hasCodes: bool, start: v128, row: u32, block: u32): v128 {
  if (!hasCodes) return start
  return i32x4.mul(start, i32x4.splat(codeAt(args.zeros, row * args.zeroRow, block, 4)))
}

/** Adds the sums of a block, scaled by that of the weights and the unit of A. */
// @ts-ignore: decorator
@inline
function addScaled(total: v128, sums: v128, scale: usize, unit: v128): v128 {
  return fma(total, f32x4.convert_i32x4_s(sums), f32x4.mul(v128.load32_splat(scale), unit))
}

/**
 * Four rows of the weights at once, `apart` rows from one to the next: A is loaded once for all.
 * @param isShort whether a block is a chunk
 */
// @ts-ignore: decorator
@inline
function fourRows(isShort: bool, args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  const step = <usize>apart * args.rowBytes
  const scaleStep = (<usize>apart * args.blocks) << 2
  const hasCodes = args.zeroKind == 1
  let a = scratch
  let starts = startsAt(args, scratch)
  let units = unitsAt(args, scratch)
  let w0 = args.codes + <usize>row * args.rowBytes
  let w1 = w0 + step
  let w2 = w1 + step
  let w3 = w2 + step
  let f0 = args.scales + ((<usize>row * args.blocks) << 2)
  let f1 = f0 + scaleStep
  let f2 = f1 + scaleStep
  let f3 = f2 + scaleStep
  let t0 = splat(0)
  let t1 = t0
  let t2 = t0
  let t3 = t0
  const endOfA = scratch + orderedBytes(paddedOf(args))
  const ofBlock = orderedBytes(args.blockSize)
  const ofChunk = orderedBytes(CHUNK)
  for (let block: u32 = 0; a < endOfA; block++, starts += 4, units += 4, f0 += 4, f1 += 4, f2 += 4, f3 += 4) {
    const start = v128.load32_zero(starts)
    const unit = v128.load32_splat(units)
    let s0 = startOf(args, hasCodes, start, row, block)
    let s1 = startOf(args, hasCodes, start, row + apart, block)
    let s2 = startOf(args, hasCodes, start, row + 2 * apart, block)
    let s3 = startOf(args, hasCodes, start, row + 3 * apart, block)
    const end = isShort ? a + ofChunk : min(endOfA, a + ofBlock)
    do {
      const a0 = v128.load(a)
      const a1 = v128.load(a, 16)
      const a2 = loadThird(a)
      const a3 = loadFourth(a)
      s0 = addChunk(s0, w0, a0, a1, a2, a3)
      s1 = addChunk(s1, w1, a0, a1, a2, a3)
      s2 = addChunk(s2, w2, a0, a1, a2, a3)
      s3 = addChunk(s3, w3, a0, a1, a2, a3)
      a += ofChunk
      w0 += CODED
      w1 += CODED
      w2 += CODED
      w3 += CODED
    } while (!isShort && a < end)
    t0 = addScaled(t0, s0, f0, unit)
    t1 = addScaled(t1, s1, f1, unit)
    t2 = addScaled(t2, s2, f2, unit)
    t3 = addScaled(t3, s3, f3, unit)
  }
  const cStep = (<usize>apart) << 2
  f32.store(c, sumOf(t0))
  f32.store(c + cStep, sumOf(t1))
  f32.store(c + 2 * cStep, sumOf(t2))
  f32.store(c + 3 * cStep, sumOf(t3))
}

function shortBlocks(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourRows(true, args, row, apart, scratch, c)
}

function longBlocks(args: CodedArguments, row: u32, apart: u32, scratch: usize, c: usize): void {
  fourRows(false, args, row, apart, scratch, c)
}

function oneRow(args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  let a = scratch
  let w = args.codes + <usize>row * args.rowBytes
  let scale = args.scales + ((<usize>row * args.blocks) << 2)
  let total = splat(0)
  const endOfA = scratch + orderedBytes(paddedOf(args))
  for (let block: u32 = 0; a < endOfA; block++, scale += 4) {
    const offset = (<usize>block) << 2
    const start = v128.load32_zero(startsAt(args, scratch) + offset)
    let sum = startOf(args, args.zeroKind == 1, start, row, block)
    const end = min(endOfA, a + orderedBytes(args.blockSize))
    for (; a < end; a += orderedBytes(CHUNK), w += CODED)
      sum = addChunk(sum, w, v128.load(a), v128.load(a, 16), loadThird(a), loadFourth(a))
    total = addScaled(total, sum, scale, v128.load32_splat(unitsAt(args, scratch) + offset))
  }
  f32.store(c, sumOf(total))
}

/** Takes off what zero points that are numbers add. */
function subtractNumbers(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  const sums = sumsAt(args, scratch)
  for (; row < end; row++, c += 4) {
    let correction: f32 = 0
    for (let block: u32 = 0; block < args.blocks; block++) {
      const number = scaleAt(args, row, block) * zeroNumber(args, row, block)
      correction += number * f32.load(sums + ((<usize>block) << 2))
    }
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
    if (isShort) shortBlocks(args, row + i, ofStream, scratch, to)
    else longBlocks(args, row + i, ofStream, scratch, to)
  }
  for (let i = ofStream << 2; row + i < end; i++) oneRow(args, row + i, scratch, c + ((<usize>i) << 2))
  if (args.zeroKind == 2) subtractNumbers(args, row, end, scratch, c)
}
