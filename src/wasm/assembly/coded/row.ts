import { fma, splat, sumOf } from '../f32/simd'
import { interleaveHigh, interleaveHighBytes, interleaveLow, interleaveLowBytes } from '../interleave'
import { CodedArguments, FLOATS2, FLOATS3, NAMES, NUMBERS, scaleAt, zeroAt, zeroNumber } from './arguments'
import { addFloats } from './floats'

/**
 * One row of A by rows of the weights, which are widened in registers. A lies in the order in which codes come out of
 * chunks of 16 bytes: shifting a chunk of 4-bit codes gives the even ones, then the odd ones. It is float32, or where
 * the call permits integers of 16 bits, with a scale for each block; their products are summed exactly.
 */

/** Bytes of the table in planes: the lowest byte of each value, then the next one … */
const PLANES: usize = 64

/** Bytes of a row of A in the order of the chunks. */
// @ts-ignore: decorator
@inline
export function orderedBytes(args: CodedArguments): usize {
  const perChunk: u32 = 128 / args.bits
  return <usize>((args.k + perChunk - 1) / perChunk) * (perChunk << 2)
}

/** Scales of the blocks of A, where it is integers. */
// @ts-ignore: decorator
@inline
function ownScales(args: CodedArguments, scratch: usize): usize {
  return scratch + PLANES + orderedBytes(args) + ((<usize>args.blocks) << 2)
}

/** Writes a row of A in the order of the chunks, 0 beyond its end, then its sum over each block. */
export function orderRow(args: CodedArguments, a: usize, scratch: usize): void {
  if (args.isWhole) scaleBlocks(args, a, ownScales(args, scratch))
  const perByte: u32 = 8 / args.bits
  const perChunk: u32 = perByte << 4
  let to = scratch + PLANES
  for (let from: u32 = 0; from < args.k; from += perChunk) {
    for (let group: u32 = 0; group < perByte; group++) {
      const first = from + (group ^ args.isHighFirst)
      if (args.isWhole) {
        const scale = f32.load(ownScales(args, scratch) + ((<usize>(from / args.blockSize)) << 2))
        const inverse: f32 = scale == 0 ? 0 : 1 / scale
        for (let i: u32 = 0; i < 16; i++, to += 2) store<i16>(to, wholeAt(args, a, first + i * perByte, inverse))
      } else for (let i: u32 = 0; i < 16; i++, to += 4) f32.store(to, numberAt(args, a, first + i * perByte))
    }
  }
  if (args.zeroKind == NUMBERS) sumBlocks(args, a, scratch)
}

// @ts-ignore: decorator
@inline
function numberAt(args: CodedArguments, a: usize, i: u32): f32 {
  return i < args.k ? f32.load(a + ((<usize>i) << 2)) : 0
}

/** An element of A in units of its block's scale, which is 0 for a block of zeros. */
// @ts-ignore: decorator
@inline
function wholeAt(args: CodedArguments, a: usize, i: u32, inverse: f32): i16 {
  return <i16>nearest<f32>(numberAt(args, a, i) * inverse)
}

/** The scales by which the largest magnitude of a block becomes 127. */
function scaleBlocks(args: CodedArguments, a: usize, to: usize): void {
  for (let from: u32 = 0; from < args.k; to += 4) {
    const end = min(args.k, from + args.blockSize)
    let largest: f32 = 0
    for (; from < end; from++) largest = max(largest, abs(f32.load(a + ((<usize>from) << 2))))
    f32.store(to, largest / 127)
  }
}

/** The sums of the blocks of A, as it is ordered: rounded where it is integers. */
function sumBlocks(args: CodedArguments, a: usize, scratch: usize): void {
  const sums = scratch + PLANES + orderedBytes(args)
  let from: u32 = 0
  for (let block: u32 = 0; from < args.k; block++) {
    const end = min(args.k, from + args.blockSize)
    const scale = args.isWhole ? f32.load(ownScales(args, scratch) + ((<usize>block) << 2)) : 1
    const inverse: f32 = scale == 0 ? 0 : 1 / scale
    let sum: f32 = 0
    for (; from < end; from++) sum += args.isWhole ? <f32>wholeAt(args, a, from, inverse) : numberAt(args, a, from)
    f32.store(sums + ((<usize>block) << 2), sum * scale)
  }
}

/** Splits the table of values into planes. */
export function splitTable(args: CodedArguments, to: usize): void {
  for (let plane: usize = 0; plane < 4; plane++)
    for (let i: usize = 0; i < 16; i++) store<u8>(to + (plane << 4) + i, load<u8>(args.table + (i << 2) + plane))
}

/** Sixteen numbers times as many of A, added to sums. */
// @ts-ignore: decorator
@inline
function add16(whole: bool, sum: v128, codes: v128, a: usize): v128 {
  const low = i16x8.extend_low_i8x16_s(codes)
  const high = i16x8.extend_high_i8x16_s(codes)
  return add8(whole, add8(whole, sum, low, a), high, a + (whole ? 16 : 32))
}

// @ts-ignore: decorator
@inline
function add8(whole: bool, sum: v128, numbers: v128, a: usize): v128 {
  if (whole) return i32x4.add(sum, i32x4.dot_i16x8_s(numbers, v128.load(a)))
  sum = fma(sum, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(numbers)), v128.load(a))
  return fma(sum, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(numbers)), v128.load(a, 16))
}

/** Sixteen values of a table, which lies in planes, times as many of A. */
// @ts-ignore: decorator
@inline
function addNamed(sum: v128, codes: v128, planes: usize, a: usize): v128 {
  const b0 = i8x16.swizzle(v128.load(planes), codes)
  const b1 = i8x16.swizzle(v128.load(planes, 16), codes)
  const b2 = i8x16.swizzle(v128.load(planes, 32), codes)
  const b3 = i8x16.swizzle(v128.load(planes, 48), codes)
  let low = interleaveLowBytes(b0, b1)
  let high = interleaveLowBytes(b2, b3)
  sum = fma(sum, interleaveLow(low, high), v128.load(a))
  sum = fma(sum, interleaveHigh(low, high), v128.load(a, 16))
  low = interleaveHighBytes(b0, b1)
  high = interleaveHighBytes(b2, b3)
  sum = fma(sum, interleaveLow(low, high), v128.load(a, 32))
  return fma(sum, interleaveHigh(low, high), v128.load(a, 48))
}

/** What codes of a chunk are: names, or 8-bit floats with 3 or 2 bits of mantissa; else integers of so many bits. */
const NAMED: u32 = 0
const E4M3: u32 = 43
const E5M2: u32 = 52

/** Codes of a chunk. */
// @ts-ignore: decorator
@inline
function codesIn(kind: u32): u32 {
  return kind == NAMED ? 32 : kind == E4M3 || kind == E5M2 ? 16 : 128 / kind
}

/**
 * A chunk of weights times its part of A.
 * @param kind bits of a code, {@link NAMED}, {@link E4M3} or {@link E5M2}
 * @param zero bytes, or for 8-bit codes 16-bit numbers
 */
// @ts-ignore: decorator
@inline
function addChunk(kind: u32, whole: bool, sum: v128, w: usize, a: usize, signs: v128, zero: v128, planes: usize): v128 {
  const group: usize = whole ? 32 : 64
  if (kind == E4M3) return addFloats(3, sum, v128.load(w), planes, a)
  if (kind == E5M2) return addFloats(2, sum, v128.load(w), planes, a)
  const v = v128.xor(v128.load(w), signs)
  if (kind == NAMED) {
    sum = addNamed(sum, v128.and(v, i8x16.splat(15)), planes, a)
    return addNamed(sum, i8x16.shr_u(v, 4), planes, a + 64)
  }
  if (kind == 4) {
    sum = add16(whole, sum, i8x16.sub(v128.and(v, i8x16.splat(15)), zero), a)
    return add16(whole, sum, i8x16.sub(i8x16.shr_u(v, 4), zero), a + group)
  }
  if (kind == 2) {
    const mask = i8x16.splat(3)
    sum = add16(whole, sum, i8x16.sub(v128.and(v, mask), zero), a)
    sum = add16(whole, sum, i8x16.sub(v128.and(i8x16.shr_u(v, 2), mask), zero), a + group)
    sum = add16(whole, sum, i8x16.sub(v128.and(i8x16.shr_u(v, 4), mask), zero), a + 2 * group)
    return add16(whole, sum, i8x16.sub(i8x16.shr_u(v, 6), zero), a + 3 * group)
  }
  sum = add8(whole, sum, i16x8.sub(i16x8.extend_low_i8x16_u(v), zero), a)
  return add8(whole, sum, i16x8.sub(i16x8.extend_high_i8x16_u(v), zero), a + (group >> 1))
}

// @ts-ignore: decorator
@inline
function zeroOf(kind: u32, args: CodedArguments, row: u32, block: u32): v128 {
  const zero = zeroAt(args, row, block)
  return kind == 8 ? i16x8.splat(<i16>zero) : i8x16.splat(<i8>zero)
}

/** Adds the sums of a block, scaled by that of the weights and that of A. */
// @ts-ignore: decorator
@inline
function addScaled(whole: bool, total: v128, sums: v128, scale: f32, own: f32): v128 {
  return whole ? fma(total, f32x4.convert_i32x4_s(sums), splat(scale * own)) : fma(total, sums, splat(scale))
}

/** Four rows of the weights at once: a core reads several streams faster than one, and A is read once for all. */
// @ts-ignore: decorator
@inline
function fourRows(kind: u32, whole: bool, args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  const perChunk = codesIn(kind)
  const signs = i8x16.splat(<i8>args.flip)
  const step = <usize>args.rowBytes
  const hasNumbers = args.zeroKind == NUMBERS
  let a = scratch + PLANES
  const sums = a + orderedBytes(args)
  const units = ownScales(args, scratch)
  const planes = kind == E4M3 || kind == E5M2 ? args.table : scratch
  let w = args.codes + <usize>row * step
  let t0 = splat(0)
  let t1 = t0
  let t2 = t0
  let t3 = t0
  let corrections = splat(0)
  const chunks = (args.k + perChunk - 1) / perChunk
  const perBlock = args.blockSize / perChunk
  let block: u32 = 0
  for (let done: u32 = 0; done < chunks; block++) {
    const z0 = zeroOf(kind, args, row, block)
    const z1 = zeroOf(kind, args, row + 1, block)
    const z2 = zeroOf(kind, args, row + 2, block)
    const z3 = zeroOf(kind, args, row + 3, block)
    let s0 = splat(0)
    let s1 = s0
    let s2 = s0
    let s3 = s0
    const end = min(chunks, done + perBlock)
    for (; done < end; done++, w += 16, a += perChunk << (whole ? 1 : 2)) {
      s0 = addChunk(kind, whole, s0, w, a, signs, z0, planes)
      s1 = addChunk(kind, whole, s1, w + step, a, signs, z1, planes)
      s2 = addChunk(kind, whole, s2, w + 2 * step, a, signs, z2, planes)
      s3 = addChunk(kind, whole, s3, w + 3 * step, a, signs, z3, planes)
    }
    const f0 = scaleAt(args, row, block)
    const f1 = scaleAt(args, row + 1, block)
    const f2 = scaleAt(args, row + 2, block)
    const f3 = scaleAt(args, row + 3, block)
    const own = whole ? f32.load(units + ((<usize>block) << 2)) : 1
    t0 = addScaled(whole, t0, s0, f0, own)
    t1 = addScaled(whole, t1, s1, f1, own)
    t2 = addScaled(whole, t2, s2, f2, own)
    t3 = addScaled(whole, t3, s3, f3, own)
    if (hasNumbers) {
      let numbers = splat(f0 * zeroNumber(args, row, block))
      numbers = f32x4.replace_lane(numbers, 1, f1 * zeroNumber(args, row + 1, block))
      numbers = f32x4.replace_lane(numbers, 2, f2 * zeroNumber(args, row + 2, block))
      numbers = f32x4.replace_lane(numbers, 3, f3 * zeroNumber(args, row + 3, block))
      corrections = fma(corrections, numbers, v128.load32_splat(sums + ((<usize>block) << 2)))
    }
  }
  let result = splat(sumOf(t0))
  result = f32x4.replace_lane(result, 1, sumOf(t1))
  result = f32x4.replace_lane(result, 2, sumOf(t2))
  result = f32x4.replace_lane(result, 3, sumOf(t3))
  v128.store(c, f32x4.sub(result, corrections))
}

// @ts-ignore: decorator
@inline
function oneRow(kind: u32, whole: bool, args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  const perChunk = codesIn(kind)
  const signs = i8x16.splat(<i8>args.flip)
  let a = scratch + PLANES
  const sums = a + orderedBytes(args)
  const units = ownScales(args, scratch)
  const planes = kind == E4M3 || kind == E5M2 ? args.table : scratch
  let w = args.codes + <usize>row * args.rowBytes
  let total = splat(0)
  let correction: f32 = 0
  const chunks = (args.k + perChunk - 1) / perChunk
  const perBlock = args.blockSize / perChunk
  let block: u32 = 0
  for (let done: u32 = 0; done < chunks; block++) {
    const zero = zeroOf(kind, args, row, block)
    let sum = splat(0)
    const end = min(chunks, done + perBlock)
    for (; done < end; done++, w += 16, a += perChunk << (whole ? 1 : 2))
      sum = addChunk(kind, whole, sum, w, a, signs, zero, planes)
    const scale = scaleAt(args, row, block)
    const own = whole ? f32.load(units + ((<usize>block) << 2)) : 1
    total = addScaled(whole, total, sum, scale, own)
    if (args.zeroKind == NUMBERS)
      correction += scale * zeroNumber(args, row, block) * f32.load(sums + ((<usize>block) << 2))
  }
  f32.store(c, sumOf(total) - correction)
}

function rowsOf4(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(4, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(4, false, args, row, scratch, c)
}

function rowsOf2(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(2, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(2, false, args, row, scratch, c)
}

function integersOf2(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(2, true, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(2, true, args, row, scratch, c)
}

function rowsOf8(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(8, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(8, false, args, row, scratch, c)
}

function integersOf8(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(8, true, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(8, true, args, row, scratch, c)
}

function namedRows(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(NAMED, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(NAMED, false, args, row, scratch, c)
}

function rowsOfE4M3(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(E4M3, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(E4M3, false, args, row, scratch, c)
}

function rowsOfE5M2(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(E5M2, false, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(E5M2, false, args, row, scratch, c)
}

/** One row of A, in the order of the chunks, by rows `row … end - 1` of the weights. */
export function rowByCoded(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  if (args.codeKind == NAMES) namedRows(args, row, end, scratch, c)
  else if (args.codeKind == FLOATS3) rowsOfE4M3(args, row, end, scratch, c)
  else if (args.codeKind == FLOATS2) rowsOfE5M2(args, row, end, scratch, c)
  else if (args.isWhole) {
    if (args.bits == 2) integersOf2(args, row, end, scratch, c)
    else integersOf8(args, row, end, scratch, c)
  } else if (args.bits == 4) rowsOf4(args, row, end, scratch, c)
  else if (args.bits == 2) rowsOf2(args, row, end, scratch, c)
  else rowsOf8(args, row, end, scratch, c)
}
