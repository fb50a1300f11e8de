import { isEarlyV8 } from '../engine'
import { fma, splat } from '../f32/simd'
import { addDot } from '../int8/dots'
import { CodedArguments, CODES, NUMBERS, ONE } from './arguments'
import {
  HEAD,
  maskOf,
  MINUS_SUM,
  orderedBytes,
  orderRow,
  rowBytes,
  startOf,
  TOGETHER,
  UNIT,
  wideZeros,
  withNumbers
} from './nibble-order'

/** Few rows of A by weights in 4 bits that are packed; see nibble-order.ts. */

/** Puts rows of A into order, one after the other, and a chunk behind them. */
export function orderRows(args: CodedArguments, a: usize, rows: u32, scratch: usize): void {
  const bytes = rowBytes(args)
  const spare = scratch + rows * bytes
  for (let i: u32 = 0; i < rows; i++, a += (<usize>args.k) << 2, scratch += bytes)
    orderRow(4, args, a, scratch, 0, spare)
}

/** Adds the products of eight codes in each lane by those elements of a row of A that they belong to. */
// @ts-ignore: decorator
@inline
function addEight(isEarly: bool, sums: v128, w: usize, mask: v128, x0: v128, x1: v128, x2: v128, x3: v128): v128 {
  const v = v128.load(w)
  if (ASC_FEATURE_RELAXED_SIMD) {
    sums = addDot(isEarly, x0, v128.and(v, mask), sums)
    return addDot(isEarly, x1, v128.and(i16x8.shr_u(v, 4), mask), sums)
  }
  sums = i32x4.add(sums, i32x4.dot_i16x8_s(v, x0))
  sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.shr_s(v, 4), x1))
  sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.shr_s(v, 8), x2))
  return i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.shr_s(v, 12), x3))
}

/** The third and the fourth group of A, which has two for relaxed SIMD. */
// @ts-ignore: decorator
@inline
function loadUpper(a: usize): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i32x4.splat(0) : v128.load32_splat(a)
}

/**
 * Adds the sums of a block, scaled by those of the weights and the unit of A.
 * @param minus -1 times the sum of the block of A
 * @param zeros numbers that are zero points
 */
// @ts-ignore: decorator
@inline
function addScaled(kind: u32, total: v128, s: v128, minus: v128, zeros: usize, scales: usize, unit: v128): v128 {
  const sums = kind == NUMBERS ? withNumbers(s, minus, v128.load(zeros)) : f32x4.convert_i32x4_s(s)
  return fma(total, sums, f32x4.mul(v128.load(scales), unit))
}

/**
 * Sixteen columns of C: four groups of four, `apart` groups from one to the next, since a core reads several streams
 * faster than one.
 * @param kind of zero points: {@link ONE}, {@link CODES} or {@link NUMBERS}
 * @param isEarly a constant, since this is inlined: {@link isEarlyV8}
 */
// @ts-ignore: decorator
@inline
function fourGroups(kind: u32, isEarly: bool, args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  const step = <usize>apart * TOGETHER * args.rowBytes
  const scaleStep = ((<usize>apart) << 4) * args.blocks
  const mask = maskOf(args)
  let w0 = args.codes + <usize>group * TOGETHER * args.rowBytes
  let w1 = w0 + step
  let w2 = w1 + step
  let w3 = w2 + step
  let f = args.scales + ((<usize>group) << 4) * args.blocks
  let t0 = splat(0)
  let t1 = t0
  let t2 = t0
  let t3 = t0
  const ofBlock = HEAD + orderedBytes(args.blockSize)
  for (const end = a + rowBytes(args); a < end; f += 16) {
    const unit = v128.load32_splat(a, UNIT << 2)
    let s0 = v128.load32_splat(a)
    let s1 = s0
    let s2 = s0
    let s3 = s0
    const minus = f32x4.convert_i32x4_s(v128.load32_splat(a, MINUS_SUM << 2))
    if (kind == CODES) {
      // A quarter of the bytes of the scales, so many bytes from one to the next as floats are.
      const z = args.zeros + ((f - args.scales) >> 2)
      s0 = startOf(a, 4, wideZeros(z))
      s1 = startOf(a, 4, wideZeros(z + (scaleStep >> 2)))
      s2 = startOf(a, 4, wideZeros(z + (scaleStep >> 1)))
      s3 = startOf(a, 4, wideZeros(z + 3 * (scaleStep >> 2)))
    }
    const stop = min(end, a + ofBlock)
    for (a += HEAD; a < stop; a += orderedBytes(8)) {
      const x0 = v128.load32_splat(a)
      const x1 = v128.load32_splat(a, 4)
      const x2 = loadUpper(a + 8)
      const x3 = loadUpper(a + 12)
      s0 = addEight(isEarly, s0, w0, mask, x0, x1, x2, x3)
      s1 = addEight(isEarly, s1, w1, mask, x0, x1, x2, x3)
      s2 = addEight(isEarly, s2, w2, mask, x0, x1, x2, x3)
      s3 = addEight(isEarly, s3, w3, mask, x0, x1, x2, x3)
      w0 += 16
      w1 += 16
      w2 += 16
      w3 += 16
    }
    // Numbers that are zero points lie as scales do.
    const z = f + (args.zeros - args.scales)
    t0 = addScaled(kind, t0, s0, minus, z, f, unit)
    t1 = addScaled(kind, t1, s1, minus, z + scaleStep, f + scaleStep, unit)
    t2 = addScaled(kind, t2, s2, minus, z + 2 * scaleStep, f + 2 * scaleStep, unit)
    t3 = addScaled(kind, t3, s3, minus, z + 3 * scaleStep, f + 3 * scaleStep, unit)
  }
  const cStep = (<usize>apart) << 4
  v128.store(c, t0)
  v128.store(c + cStep, t1)
  v128.store(c + 2 * cStep, t2)
  v128.store(c + 3 * cStep, t3)
}

function plainGroups(args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  fourGroups(ONE, false, args, group, apart, a, c)
}

function codedGroups(args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  fourGroups(CODES, false, args, group, apart, a, c)
}

function numberedGroups(args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  fourGroups(NUMBERS, false, args, group, apart, a, c)
}

function earlyGroups(kind: u32, args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  fourGroups(kind, true, args, group, apart, a, c)
}

/** Columns `column … column + cols - 1`, of which the first is one of a group, of some rows of A that are in order. */
export function rowsByNibbles(args: CodedArguments, column: u32, cols: u32, rows: u32, scratch: usize, c: usize): void {
  const bytes = rowBytes(args)
  const spare = scratch + rows * bytes
  const first = column / TOGETHER
  const groups = cols / TOGETHER
  // Streams that begin anew with every fourth group are read more slowly than those that go on.
  const ofStream = groups >> 2
  for (let row: u32 = 0; row < rows; row++, scratch += bytes, c += (<usize>args.n) << 2) {
    for (let i: u32 = 0; i < ofStream; i++) groupsAt(args, first + i, ofStream, scratch, c + ((<usize>i) << 4))
    // What is left of a job's columns: all four are the same group.
    for (let i = ofStream << 2; i < groups; i++) groupsAt(args, first + i, 0, scratch, c + ((<usize>i) << 4))
    if (cols % TOGETHER == 0) continue
    groupsAt(args, first + groups, 0, scratch, spare)
    memory.copy(c + ((<usize>groups) << 4), spare, (<usize>(cols % TOGETHER)) << 2)
  }
}

// @ts-ignore: decorator
@inline
function groupsAt(args: CodedArguments, group: u32, apart: u32, a: usize, c: usize): void {
  if (ASC_FEATURE_RELAXED_SIMD && isEarlyV8) earlyGroups(args.zeroKind, args, group, apart, a, c)
  else if (args.zeroKind == CODES) codedGroups(args, group, apart, a, c)
  else if (args.zeroKind == NUMBERS) numberedGroups(args, group, apart, a, c)
  else plainGroups(args, group, apart, a, c)
}
