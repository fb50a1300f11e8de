import { splat, sumOfInts } from '../f32/simd'
import { storeTransposed } from '../transpose4'
import { CodedArguments } from './arguments'

/**
 * The order in which products with codes of 4 bits read a row of A, rounded to integers of 8 bits block by block. A
 * chunk of 16 bytes of codes is taken as eight numbers of 16 bits, each of which holds four codes: to shift it makes
 * numbers that need be neither widened nor masked, since A makes up for the codes above. So of 32 elements of A every
 * fourth comes first, then those behind them. Codes are unsigned and keep their zero point: what it takes off is known
 * beforehand, and a sum begins with it. Sums of a block are exact.
 *
 * Relaxed SIMD multiplies 16 bytes at once. The second of them have 7 bits at most, and two products with them stay
 * within 16 bits, so that all engines give the same. A is then in bytes: of 32 elements the even ones, then the others.
 */

/** Elements of a chunk, and its bytes in the rows of the weights. */
export const CHUNK: u32 = 32
export const CODED: usize = 16

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
export const HEAD: usize = 16
export const UNIT: usize = 4
export const SUM: usize = 8

/** Bytes of a block with its head. */
// @ts-ignore: decorator
@inline
export function blockBytes(args: CodedArguments): usize {
  return HEAD + orderedBytes(args.blockSize)
}

/** The end of A, where the last block may be short. */
// @ts-ignore: decorator
@inline
export function endOf(args: CodedArguments, scratch: usize): usize {
  return scratch + <usize>args.blocks * HEAD + orderedBytes(paddedOf(args))
}

/** Behind A four integers for each block, then as many floats, then the units of all blocks. */
// @ts-ignore: decorator
@inline
export function factorsAt(args: CodedArguments, scratch: usize): usize {
  return endOf(args, scratch) + ((<usize>args.blocks + 1) << 4)
}

// @ts-ignore: decorator
@inline
export function unitsAt(args: CodedArguments, scratch: usize): usize {
  return factorsAt(args, scratch) + ((<usize>args.blocks) << 4)
}

/** Rounds a row of A and writes it in the order of the chunks, 0 beyond its end. */
export function orderNibbles(args: CodedArguments, a: usize, scratch: usize): void {
  const isShort = args.blockSize == CHUNK
  let units = unitsAt(args, scratch)
  const last = units + ((<usize>args.blocks) << 2)
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
      sums = i32x4.add(sums, orderChunk(isShort, at, inverse, to))
    }
    from = end
    const sum = sumOfInts(sums)
    store<i32>(head, -sum * zero)
    f32.store(head, unit, UNIT)
    f32.store(units, unit)
    units += 4
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

/** Takes 16 times the one before it off the second of each four, too: for numbers none of which is masked. */
// @ts-ignore: decorator
@inline
function untangleAll(p: v128): v128 {
  const before = i16x8.shuffle(i16x8.splat(0), p, 0, 1, 8, 9, 10, 11, 12, 13)
  return i16x8.sub(p, i16x8.shl(before, 4))
}

/** Writes 32 elements as integers, untangled, and gives four sums of them. */
// @ts-ignore: decorator
@inline
function orderChunk(isShort: bool, a: usize, inverse: v128, to: usize): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return orderBytes(a, inverse, to)
  const p0 = eightOf(a, inverse)
  const p1 = eightOf(a + 32, inverse)
  const p2 = eightOf(a + 64, inverse)
  const p3 = eightOf(a + 96, inverse)
  if (isShort) storeTransposed(untangleAll(p0), untangleAll(p1), untangleAll(p2), untangleAll(p3), to, 16)
  else storeTransposed(untangle(p0), untangle(p1), untangle(p2), untangle(p3), to, 16)
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

/** Ones in place of the first code of a number; not known to compilers, which would make them anew each time. */
// @ts-ignore: decorator
@inline
export function maskOf(args: CodedArguments): v128 {
  const mask = (1 << args.bits) - 1
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.splat(<i8>mask) : i16x8.splat(<i16>mask)
}

/**
 * What sums of four rows begin with that have zero points of their own: four integers for each block, behind A. Rows of
 * zero points begin with a byte, as those of MatMulNBits do.
 */
export function placeStarts(args: CodedArguments, row: u32, apart: u32, scratch: usize): void {
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
