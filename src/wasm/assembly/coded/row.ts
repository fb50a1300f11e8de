import { fma, splat, sumOf } from '../f32/simd'
import { CodedArguments, FLOAT32, floatAt, scaleAt, zeroAt } from './arguments'

/**
 * One row of A by rows of the weights, which are widened in registers. A lies in the order in which codes come out of
 * chunks of 16 bytes: shifting a chunk of 4-bit codes gives the even ones, then the odd ones.
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

/** Scratch memory of {@link rowByCoded}. */
// @ts-ignore: decorator
@inline
export function rowScratch(args: CodedArguments): usize {
  return PLANES + orderedBytes(args) + ((<usize>args.blocks) << 2)
}

/** Writes a row of A in the order of the chunks, 0 beyond its end, then its sum over each block. */
export function orderRow(args: CodedArguments, a: usize, to: usize): void {
  const perByte: u32 = 8 / args.bits
  const perChunk: u32 = perByte << 4
  to += PLANES
  for (let from: u32 = 0; from < args.k; from += perChunk) {
    for (let group: u32 = 0; group < perByte; group++) {
      const first = from + (group ^ args.isHighFirst)
      for (let i: u32 = 0; i < 16; i++, to += 4) {
        const at = first + i * perByte
        f32.store(to, at < args.k ? f32.load(a + ((<usize>at) << 2)) : 0)
      }
    }
  }
  if (args.zeroKind != 2) return
  for (let from: u32 = 0; from < args.k; to += 4) {
    const end = min(args.k, from + args.blockSize)
    let sum: f32 = 0
    for (; from < end; from++) sum += f32.load(a + ((<usize>from) << 2))
    f32.store(to, sum)
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
function add16(sum: v128, codes: v128, a: usize): v128 {
  const low = i16x8.extend_low_i8x16_s(codes)
  const high = i16x8.extend_high_i8x16_s(codes)
  return add8(add8(sum, low, a), high, a + 32)
}

// @ts-ignore: decorator
@inline
function add8(sum: v128, numbers: v128, a: usize): v128 {
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
  let low = i8x16.shuffle(b0, b1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
  let high = i8x16.shuffle(b2, b3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
  sum = fma(sum, i16x8.shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11), v128.load(a))
  sum = fma(sum, i16x8.shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15), v128.load(a, 16))
  low = i8x16.shuffle(b0, b1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
  high = i8x16.shuffle(b2, b3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
  sum = fma(sum, i16x8.shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11), v128.load(a, 32))
  return fma(sum, i16x8.shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15), v128.load(a, 48))
}

/** What codes of a chunk are. */
const NAMED: u32 = 0

/**
 * A chunk of weights times its part of A.
 * @param kind bits of a code, or {@link NAMED}
 * @param zero bytes, or for 8-bit codes 16-bit numbers
 */
// @ts-ignore: decorator
@inline
function addChunk(kind: u32, sum: v128, w: usize, a: usize, signs: v128, zero: v128, planes: usize): v128 {
  const v = v128.xor(v128.load(w), signs)
  if (kind == NAMED) {
    sum = addNamed(sum, v128.and(v, i8x16.splat(15)), planes, a)
    return addNamed(sum, i8x16.shr_u(v, 4), planes, a + 64)
  }
  if (kind == 4) {
    sum = add16(sum, i8x16.sub(v128.and(v, i8x16.splat(15)), zero), a)
    return add16(sum, i8x16.sub(i8x16.shr_u(v, 4), zero), a + 64)
  }
  if (kind == 2) {
    const mask = i8x16.splat(3)
    sum = add16(sum, i8x16.sub(v128.and(v, mask), zero), a)
    sum = add16(sum, i8x16.sub(v128.and(i8x16.shr_u(v, 2), mask), zero), a + 64)
    sum = add16(sum, i8x16.sub(v128.and(i8x16.shr_u(v, 4), mask), zero), a + 128)
    return add16(sum, i8x16.sub(i8x16.shr_u(v, 6), zero), a + 192)
  }
  sum = add8(sum, i16x8.sub(i16x8.extend_low_i8x16_u(v), zero), a)
  return add8(sum, i16x8.sub(i16x8.extend_high_i8x16_u(v), zero), a + 32)
}

// @ts-ignore: decorator
@inline
function zeroOf(kind: u32, args: CodedArguments, row: u32, block: u32): v128 {
  const zero = zeroAt(args, row, block)
  return kind == 8 ? i16x8.splat(<i16>zero) : i8x16.splat(<i8>zero)
}

/** Four rows of the weights at once: a core reads several streams faster than one, and A is read once for all. */
// @ts-ignore: decorator
@inline
function fourRows(kind: u32, args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  const perChunk: u32 = kind == NAMED ? 32 : 128 / kind
  const signs = i8x16.splat(<i8>args.flip)
  const step = <usize>args.rowBytes
  const hasNumbers = args.zeroKind == 2
  let a = scratch + PLANES
  const sums = a + orderedBytes(args)
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
    for (; done < end; done++, w += 16, a += perChunk << 2) {
      s0 = addChunk(kind, s0, w, a, signs, z0, scratch)
      s1 = addChunk(kind, s1, w + step, a, signs, z1, scratch)
      s2 = addChunk(kind, s2, w + 2 * step, a, signs, z2, scratch)
      s3 = addChunk(kind, s3, w + 3 * step, a, signs, z3, scratch)
    }
    const f0 = scaleAt(args, row, block)
    const f1 = scaleAt(args, row + 1, block)
    const f2 = scaleAt(args, row + 2, block)
    const f3 = scaleAt(args, row + 3, block)
    t0 = fma(t0, s0, splat(f0))
    t1 = fma(t1, s1, splat(f1))
    t2 = fma(t2, s2, splat(f2))
    t3 = fma(t3, s3, splat(f3))
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
function oneRow(kind: u32, args: CodedArguments, row: u32, scratch: usize, c: usize): void {
  const perChunk: u32 = kind == NAMED ? 32 : 128 / kind
  const signs = i8x16.splat(<i8>args.flip)
  let a = scratch + PLANES
  const sums = a + orderedBytes(args)
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
    for (; done < end; done++, w += 16, a += perChunk << 2) sum = addChunk(kind, sum, w, a, signs, zero, scratch)
    const scale = scaleAt(args, row, block)
    total = fma(total, sum, splat(scale))
    if (args.zeroKind == 2) correction += scale * zeroNumber(args, row, block) * f32.load(sums + ((<usize>block) << 2))
  }
  f32.store(c, sumOf(total) - correction)
}

// @ts-ignore: decorator
@inline
function zeroNumber(args: CodedArguments, row: u32, block: u32): f32 {
  return floatAt(args.zeros, row * args.blocks + block, args.scaleKind)
}

function rowsOf4(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(4, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(4, args, row, scratch, c)
}

function rowsOf2(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(2, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(2, args, row, scratch, c)
}

function rowsOf8(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(8, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(8, args, row, scratch, c)
}

function namedRows(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  for (; row + 4 <= end; row += 4, c += 16) fourRows(NAMED, args, row, scratch, c)
  for (; row < end; row++, c += 4) oneRow(NAMED, args, row, scratch, c)
}

/** One row of A, in the order of the chunks, by rows `row … end - 1` of the weights. */
export function rowByCoded(args: CodedArguments, row: u32, end: u32, scratch: usize, c: usize): void {
  if (args.hasTable) namedRows(args, row, end, scratch, c)
  else if (args.bits == 4) rowsOf4(args, row, end, scratch, c)
  else if (args.bits == 2) rowsOf2(args, row, end, scratch, c)
  else rowsOf8(args, row, end, scratch, c)
}
