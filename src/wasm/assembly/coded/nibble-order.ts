import { fma, splat, sumOfInts } from '../f32/simd'
import { storeTransposed } from '../transpose4'
import { CodedArguments, ONE } from './arguments'

/**
 * Products with codes of 4 bits and rows of A that are rounded to integers of 8 bits, block by block. The weights are
 * packed: words of four rows, eight codes each, lie beside each other, so that a vector has eight codes of each of four
 * columns of C, and what a block adds to these is scaled at once. Scales lie in fours, too, zero points as well: codes
 * in bytes, numbers as they are.
 *
 * A half of a word has four codes. To shift it makes numbers that need be neither widened nor masked, since A makes up
 * for the codes above. The uppermost code of each half lacks 8, so that the half is the number as a signed one; what
 * codes and zero points lack and add is known beforehand, and a sum begins with it. Sums of a block are exact.
 *
 * Relaxed SIMD multiplies 16 bytes at once. The second of them have 7 bits at most, and two products with them stay
 * within 16 bits, so that all engines give the same. Codes lack nothing there, and A is in bytes.
 */

/** Rows of the weights whose words lie beside each other. */
export const TOGETHER: u32 = 4
/** Elements of a chunk, and its bytes in the rows of the weights. */
export const CHUNK: u32 = 32
export const CODED: usize = 16

/** Bytes of elements of A: 16 bits each, 8 for relaxed SIMD. */
// @ts-ignore: decorator
@inline
export function orderedBytes(count: usize): usize {
  return ASC_FEATURE_RELAXED_SIMD ? count : count << 1
}

/** Chunks of a row. */
// @ts-ignore: decorator
@inline
export function chunksOf(args: CodedArguments): u32 {
  return (args.k + CHUNK - 1) / CHUNK
}

/**
 * What is known of a block of A, as words: what its sums begin with, where all zero points are one; the unit of its
 * integers; -1 times their sum, and what codes lack times those, for zero points that differ.
 */
export const UNIT: usize = 1
export const MINUS_SUM: usize = 2
const LACKING: usize = 3
export const WORDS: usize = 4

/**
 * Bytes of what is known of a block in front of its chunks: one pointer leads to all that is read of A, since a loop
 * with more of them than there are registers takes half as long again.
 */
export const HEAD: usize = WORDS << 2

/** Bytes of a row of A in order. */
// @ts-ignore: decorator
@inline
export function rowBytes(args: CodedArguments): usize {
  return <usize>args.blocks * HEAD + orderedBytes(<usize>chunksOf(args) * CHUNK)
}

/**
 * Rounds a row of A and writes it in the order of the codes, 0 beyond its end: groups of 4 bytes, `apart` bytes from
 * one to the next, of which a group belongs to the codes of a word that the same shift brings down.
 * @param apart 4: what is known of a block lies in front of it; else, `apart` bytes from word to word, at `known`
 * @param spare memory for a chunk
 */
// @ts-ignore: decorator
@inline
export function orderRow(apart: usize, args: CodedArguments, a: usize, to: usize, known: usize, spare: usize): void {
  const zero = args.zeroKind == ONE ? args.zero : 0
  for (let from: u32 = 0; from < args.k;) {
    if (apart == 4) {
      known = to
      to += HEAD
    }
    const end = min(args.k, from + args.blockSize)
    const unit = largestOf(a + ((<usize>from) << 2), a + ((<usize>end) << 2)) / 127
    const inverse = splat(unit == 0 ? 0 : 1 / unit)
    let sums = i32x4.splat(0)
    for (; from < end; from += CHUNK) {
      let at = a + ((<usize>from) << 2)
      if (end - from < CHUNK) {
        memory.fill(spare, 0, CHUNK << 2)
        memory.copy(spare, at, (<usize>(end - from)) << 2)
        at = spare
      }
      for (const last = at + (CHUNK << 2); at < last; at += 32, to += apart * orderedBytes(2)) {
        const eight = ASC_FEATURE_RELAXED_SIMD
          ? storeBytes(apart, at, inverse, to)
          : storeHalves(apart, at, inverse, to)
        sums = i32x4.add(sums, eight)
      }
    }
    from = end
    const sum = sumOfInts(sums)
    const lacking = ASC_FEATURE_RELAXED_SIMD ? 0 : i32x4.extract_lane(sums, 3) << 3
    store<i32>(known, lacking - sum * zero)
    f32.store(known + UNIT * apart, unit)
    store<i32>(known + MINUS_SUM * apart, -sum)
    store<i32>(known + LACKING * apart, lacking)
    if (apart != 4) known += WORDS * apart
  }
}

/** The largest magnitude of a list; NaN where one is NaN. Bits of magnitudes are in the order of these, NaN last. */
function largestOf(from: usize, end: usize): f32 {
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

/**
 * Writes eight elements as four groups, each an element of the first four and that of the other four, and gives the
 * sums of the groups.
 *
 * Codes are shifted down without being masked, so that a number has the next codes of its half above its own: times its
 * element of A, these add 16 times that element by the next code, 256 times by the one after it, and so on. So each
 * element has 16 times the one before it taken off.
 */
// @ts-ignore: decorator
@inline
function storeHalves(apart: usize, a: usize, inverse: v128, to: usize): v128 {
  const low = f32x4.add(f32x4.mul(v128.load(a), inverse), splat(MAGIC))
  const high = f32x4.add(f32x4.mul(v128.load(a, 16), inverse), splat(MAGIC))
  const eight = i16x8.shuffle(low, high, 0, 8, 2, 10, 4, 12, 6, 14)
  const before = i16x8.shuffle(i16x8.splat(0), eight, 0, 1, 8, 9, 10, 11, 12, 13)
  const groups = i16x8.sub(eight, i16x8.shl(before, 4))
  if (apart == 4) v128.store(to, groups)
  else {
    v128.store32_lane(to, groups, 0)
    v128.store32_lane(to + apart, groups, 1)
    v128.store32_lane(to + 2 * apart, groups, 2)
    v128.store32_lane(to + 3 * apart, groups, 3)
  }
  return i32x4.extadd_pairwise_i16x8_s(eight)
}

/** The same for relaxed SIMD: the even elements are one group, the others the second one. */
// @ts-ignore: decorator
@inline
function storeBytes(apart: usize, a: usize, inverse: v128, to: usize): v128 {
  const low = f32x4.add(f32x4.mul(v128.load(a), inverse), splat(MAGIC))
  const high = f32x4.add(f32x4.mul(v128.load(a, 16), inverse), splat(MAGIC))
  const eight = i8x16.shuffle(low, high, 0, 8, 16, 24, 4, 12, 20, 28, 0, 8, 16, 24, 4, 12, 20, 28)
  if (apart == 4) v128.store64_lane(to, eight, 0)
  else {
    v128.store32_lane(to, eight, 0)
    v128.store32_lane(to + apart, eight, 1)
  }
  const sums = i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(eight))
  return i64x2.replace_lane(sums, 1, 0)
}

/** Ones in place of a code; not known to compilers, which would make them anew each time. */
// @ts-ignore: decorator
@inline
export function maskOf(args: CodedArguments): v128 {
  const mask = (1 << args.bits) - 1
  return i8x16.splat(<i8>mask)
}

/** What sums of a block by four columns begin with that have zero points of their own. */
// @ts-ignore: decorator
@inline
export function startOf(known: usize, apart: usize, zeros: v128): v128 {
  const sums = i32x4.mul(v128.load32_splat(known + MINUS_SUM * apart), zeros)
  return i32x4.add(sums, v128.load32_splat(known + LACKING * apart))
}

/** Sums of a block by four columns as floats, less what zero points that are numbers take off. */
// @ts-ignore: decorator
@inline
export function withNumbers(sums: v128, minus: v128, zeros: v128): v128 {
  return fma(f32x4.convert_i32x4_s(sums), minus, zeros)
}

/** The zero points of a block of four rows. */
// @ts-ignore: decorator
@inline
export function zerosAt(args: CodedArguments, group: u32, block: u32): v128 {
  return wideZeros(args.zeros + ((<usize>group * args.blocks + block) << 2))
}

// @ts-ignore: decorator
@inline
export function wideZeros(at: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at)))
}

/** Groups of four rows whose words are put beside each other: the codes of the weights, or their scales. */
@unmanaged
export class InterleavedArguments {
  /** Where they are, and where they go: the same memory, or other memory. */
  from: usize
  to: usize
  /** Words of a row. */
  words: u32
  /** Whether they are codes, the uppermost of which are to lack 8. */
  isCoded: u32
}

/**
 * Puts the words of the rows of groups `from … end - 1` beside each other.
 * @param spare memory for four rows
 */
export function interleave(args: InterleavedArguments, spare: usize, from: u32, end: u32): void {
  const bytes = (<usize>args.words) << 2
  // As a signed number, a half is less by 16 times what the highest bit of its uppermost code stands for.
  const flip = i16x8.splat(!ASC_FEATURE_RELAXED_SIMD && args.isCoded ? <i16>0x8000 : 0)
  let source = args.from + from * TOGETHER * bytes
  let to = args.to + from * TOGETHER * bytes
  for (let group = from; group < end; group++, source += TOGETHER * bytes) {
    memory.copy(spare, source, TOGETHER * bytes)
    let at = spare
    for (const last = spare + (bytes & ~15); at < last; at += 16, to += 64) {
      const a = v128.xor(v128.load(at), flip)
      const b = v128.xor(v128.load(at + bytes), flip)
      const c = v128.xor(v128.load(at + 2 * bytes), flip)
      const d = v128.xor(v128.load(at + 3 * bytes), flip)
      storeTransposed(a, b, c, d, to, 16)
    }
    for (const all = spare + bytes; at < all; at += 4)
      for (let i: usize = 0; i < TOGETHER; i++, to += 4) store<u32>(to, load<u32>(at + i * bytes))
  }
}
