import { isEarlyV8 } from '../engine'
import { fetchLines } from '../f32/panels'
import { sumOfInts } from '../f32/simd'
import { interleaveHigh, interleaveLow, interleaveLowBytes } from '../interleave'
import { storeTransposed } from '../transpose4'
import { codeIn } from './code'
import { ByteProductArguments } from './product-arguments'
import { elementBytes, finishPanel } from './scale'

/*
 * Products of bytes by relaxed SIMD's dot product, which multiplies four bytes by four and adds the products to a sum.
 * Engines may take the second factor as int8 or as uint8, and may saturate what they add up; `dotKind` of ../../dots.ts
 * has asked which, and these functions are called only where the sums are exact. B is the first factor, always int8; A
 * is turned into codes of the type as which the engine takes the second, and its zero point with it.
 */

/** Rows of A that are computed together: twelve sums in registers, as the instruction takes five cycles. */
export const DOT_STRIP: u32 = 6
/** Bytes of four elements of the rows of a strip. */
export const STEP: usize = 24
/** Scratch memory: sums of up to 132 rows by a panel, eight a row; sums of the rows; the rows in strips. */
const ROW_SUMS: usize = 4224
const ROWS: usize = ROW_SUMS + 640
/** Panels that are fetched at once. */
const FETCHED: u32 = 4
/** Bytes of the column sums behind a panel. */
const SUMS: usize = 32

/** Bytes of a panel of eight columns of B, [ceil(k / 4)][8][4], and of the sums of the columns behind it, in int32. */
// @ts-ignore: decorator
@inline
function panelBytes(k: u32): usize {
  return ((<usize>((k + 3) >> 2)) << 5) + SUMS
}

/**
 * Adds the products of four bytes of `a` and four of `b`, which are 0 to 127, in each lane; their sums by two fit into
 * int16. For relaxed SIMD.
 */
// @ts-ignore: decorator
@inline
export function addDot(isEarly: bool, a: v128, b: v128, sums: v128): v128 {
  if (isEarly) return i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(i16x8.relaxed_dot_i8x16_i7x16_s(a, b)))
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, b, sums)
}

/** The sum of four bytes and their products with four others, each word in every lane; 0 where none is to be used. */
export function dot(a: i32, b: i32, sum: i32): i32 {
  if (!ASC_FEATURE_RELAXED_SIMD || isEarlyV8) return 0
  return i32x4.extract_lane(i32x4.relaxed_dot_i8x16_i7x16_add_s(i32x4.splat(a), i32x4.splat(b), i32x4.splat(sum)), 0)
}

/** Rows that are packed into all panels before the next ones, where rows lie one behind the other; a multiple of 4. */
const ROWS_TOGETHER: u32 = 64

/**
 * Packs panels `from … end - 1` of a matrix of bytes whose element (row, column) lies at
 * `row * rowStep + column * colStep`. Some rows of all panels come first, so that memory is read along the rows.
 * @param flip 128 for uint8, which turns a code into the int8 code that is smaller by 128; else 0
 */
export function packDotPanels(
  b: usize,
  rowStep: usize,
  colStep: usize,
  k: u32,
  n: u32,
  flip: u32,
  to: usize,
  from: u32,
  end: u32
): void {
  const bytes = panelBytes(k)
  for (let p = from; p < end; p++) memory.fill(to + (p + 1) * bytes - SUMS, 0, SUMS)
  const together = colStep == 1 ? ROWS_TOGETHER : k
  for (let i: u32 = 0; i < k; i += together, b += <usize>together * rowStep)
    for (let p = from; p < end; p++) {
      const cols = min<u32>(8, n - (p << 3))
      const panel = to + p * bytes
      packRows(
        b + ((<usize>p) << 3) * colStep,
        rowStep,
        colStep,
        min(together, k - i),
        cols,
        flip,
        panel + ((<usize>i) << 3),
        panel + bytes - SUMS
      )
    }
}

/**
 * Writes `k` rows of a panel, and adds them to the sums of its columns.
 * @param cols columns that there are; the others, and rows after the last, are 0
 */
function packRows(
  b: usize,
  rowStep: usize,
  colStep: usize,
  k: u32,
  cols: u32,
  flip: u32,
  to: usize,
  sums: usize
): void {
  const start = to
  let i: u32 = 0
  if (colStep == 1 && cols == 8) {
    const mask = i8x16.splat(<i8>flip)
    for (; i + 4 <= k; i += 4, to += 32, b += 4 * rowStep) {
      storeRows(
        to,
        mask,
        v128.load64_zero(b),
        v128.load64_zero(b + rowStep),
        v128.load64_zero(b + 2 * rowStep),
        v128.load64_zero(b + 3 * rowStep)
      )
    }
  } else if (rowStep == 1 && cols == 8)
    for (; i + 16 <= k; i += 16, to += 128, b += 16) {
      fourColumns(b, colStep, flip, to)
      fourColumns(b + (colStep << 2), colStep, flip, to + 16)
    }
  for (; i < k; i += 4, to += 32, b += 4 * rowStep) {
    v128.store(to, i64x2.splat(0))
    v128.store(to, i64x2.splat(0), 16)
    const rows = min<u32>(4, k - i)
    for (let j: u32 = 0; j < cols; j++)
      for (let r: u32 = 0; r < rows; r++)
        store<u8>(to + (j << 2) + r, load<u8>(b + <usize>j * colStep + <usize>r * rowStep) ^ <u8>flip)
  }
  let low = v128.load(sums)
  let high = v128.load(sums, 16)
  for (let at = start; at < to; at += 32) {
    low = i32x4.add(low, sumsOfFours(v128.load(at)))
    high = i32x4.add(high, sumsOfFours(v128.load(at, 16)))
  }
  v128.store(sums, low)
  v128.store(sums, high, 16)
}

/** Four rows of eight columns, in the lower halves. */
// @ts-ignore: decorator
@inline
export function storeRows(panel: usize, mask: v128, r0: v128, r1: v128, r2: v128, r3: v128): void {
  storeFours(panel, mask, interleaveLowBytes(r0, r1), interleaveLowBytes(r2, r3))
}

/** @param low the first two of four rows, element by element in turn; `high` has the others */
// @ts-ignore: decorator
@inline
export function storeFours(panel: usize, mask: v128, low: v128, high: v128): void {
  v128.store(panel, v128.xor(mask, interleaveLow(low, high)))
  v128.store(panel, v128.xor(mask, interleaveHigh(low, high)), 16)
}

/** Sixteen rows of four columns, which lie one behind the other: four words of four bytes of each. */
// @ts-ignore: decorator
@inline
function fourColumns(b: usize, colStep: usize, flip: u32, to: usize): void {
  const mask = i8x16.splat(<i8>flip)
  storeTransposed(
    v128.xor(mask, v128.load(b)),
    v128.xor(mask, v128.load(b + colStep)),
    v128.xor(mask, v128.load(b + 2 * colStep)),
    v128.xor(mask, v128.load(b + 3 * colStep)),
    to,
    32
  )
}

// @ts-ignore: decorator
@inline
function sumsOfFours(codes: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(codes))
}

/** `dots` of the arguments where the engine takes second factors as int8. */
const SIGNED: u32 = 2

/** 128 where codes are turned into those of the type as which the engine takes second factors; else 0. */
// @ts-ignore: decorator
@inline
export function flipOfDots(isSigned: bool, dots: u32): u32 {
  return isSigned == (dots == SIGNED) ? 0 : 128
}

/** A zero point, turned as its codes are. */
// @ts-ignore: decorator
@inline
export function zeroOfDots(zero: i32, isSigned: bool, dots: u32): i32 {
  return isSigned == (dots == SIGNED) ? zero : isSigned ? zero + 128 : zero - 128
}

function zeroOf(args: ByteProductArguments): i32 {
  const isSigned = args.isSigned != 0
  return zeroOfDots(codeIn(args.aZero, isSigned), isSigned, args.dots)
}

/** Puts rows of A into strips, [ceil(k / 4)][6][4], and their sums, less zero points, in front. */
export function packDotRows(args: ByteProductArguments, a: usize, rows: u32, scratch: usize): void {
  const k = args.k
  const flip = flipOfDots(args.isSigned != 0, args.dots)
  const isSigned = args.dots == SIGNED
  const strip = <usize>((k + 3) >> 2) * STEP
  const zero = zeroOf(args) * k
  for (let r: u32 = 0; r < rows; r++, a += args.aRow) {
    const to = scratch + ROWS + (r / DOT_STRIP) * strip + ((r % DOT_STRIP) << 2)
    store<i32>(scratch + ROW_SUMS + (r << 2), spreadRow(a, args.aElement, k, flip, isSigned, to) - zero)
  }
}

/**
 * Puts a row of k bytes, `step` bytes apart, into a strip, four by four. A last four is filled up with 0.
 * @param flip 128 where codes are turned into those of the other type; else 0
 * @param isSigned whether they are int8 then
 * @returns their sum
 */
export function spreadRow(row: usize, step: usize, k: u32, flip: u32, isSigned: bool, to: usize): i32 {
  const mask = i8x16.splat(<i8>flip)
  let sums = i32x4.splat(0)
  let i: u32 = 0
  if (step == 1) {
    for (; i + 16 <= k; i += 16, to += 4 * STEP) {
      const codes = v128.xor(v128.load(row + i), mask)
      const pairs = isSigned ? i16x8.extadd_pairwise_i8x16_s(codes) : i16x8.extadd_pairwise_i8x16_u(codes)
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(pairs))
      v128.store32_lane(to, codes, 0)
      v128.store32_lane(to, codes, 1, STEP)
      v128.store32_lane(to, codes, 2, 2 * STEP)
      v128.store32_lane(to, codes, 3, 3 * STEP)
    }
  }
  let sum = sumOfInts(sums)
  for (; i < k; i += 4, to += STEP) {
    store<u32>(to, 0)
    for (let j: u32 = 0; j < min<u32>(4, k - i); j++) {
      store<u8>(to + j, load<u8>(row + <usize>(i + j) * step) ^ <u8>flip)
      sum += codeIn(to + j, isSigned)
    }
  }
  return sum
}

/** Rows that {@link packDotRows} has put into the scratch memory, by panels `from … to - 1` of B. */
export function dotPanels(args: ByteProductArguments, c: usize, from: u32, to: u32, rows: u32, scratch: usize): void {
  const bytes = panelBytes(args.k)
  const strip = <usize>((args.k + 3) >> 2) * STEP
  const zero = i32x4.splat(zeroOf(args))
  for (let p = from; p < to; p++) {
    const panel = args.b + p * bytes
    const end = panel + bytes - SUMS
    if (rows > DOT_STRIP && (p - from) % FETCHED == 0) fetchLines(panel, min(FETCHED, to - p) * bytes, scratch)
    const low = i32x4.neg(i32x4.mul(zero, v128.load(end)))
    const high = i32x4.neg(i32x4.mul(zero, v128.load(end, 16)))
    let at = scratch
    let a = scratch + ROWS
    for (let i: u32 = 0; i < rows; i += DOT_STRIP, a += strip, at += DOT_STRIP << 5) {
      if (rows - i > 2) sixRows(a, panel, end, low, high, at)
      else twoRows(a, panel, end, low, high, at)
    }
    const column = p << 3
    const cols = min<u32>(8, args.n - column)
    finishPanel(args, scratch, scratch + ROW_SUMS, rows, column, cols, c + column * elementBytes(args))
  }
}

/** The first two rows of a strip by a panel: even and odd steps apart, as they would wait for each other's sums. */
function twoRows(a: usize, p: usize, end: usize, low: v128, high: v128, to: usize): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return
  let c00 = low
  let c01 = high
  let c10 = low
  let c11 = high
  let d00 = i32x4.splat(0)
  let d01 = d00
  let d10 = d00
  let d11 = d00
  for (; p + 32 < end; p += 64, a += 2 * STEP) {
    c00 = dots(p, v128.load32_splat(a), c00)
    c01 = dots(p + 16, v128.load32_splat(a), c01)
    c10 = dots(p, v128.load32_splat(a, 4), c10)
    c11 = dots(p + 16, v128.load32_splat(a, 4), c11)
    d00 = dots(p + 32, v128.load32_splat(a, STEP), d00)
    d01 = dots(p + 48, v128.load32_splat(a, STEP), d01)
    d10 = dots(p + 32, v128.load32_splat(a, STEP + 4), d10)
    d11 = dots(p + 48, v128.load32_splat(a, STEP + 4), d11)
  }
  if (p < end) {
    d00 = dots(p, v128.load32_splat(a), d00)
    d01 = dots(p + 16, v128.load32_splat(a), d01)
    d10 = dots(p, v128.load32_splat(a, 4), d10)
    d11 = dots(p + 16, v128.load32_splat(a, 4), d11)
  }
  v128.store(to, i32x4.add(c00, d00))
  v128.store(to, i32x4.add(c01, d01), 16)
  v128.store(to, i32x4.add(c10, d10), 32)
  v128.store(to, i32x4.add(c11, d11), 48)
}

// @ts-ignore: decorator
@inline
function dots(p: usize, x: v128, sums: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i32x4.relaxed_dot_i8x16_i7x16_add_s(v128.load(p), x, sums) : sums
}

/** A strip by a panel. */
function sixRows(a: usize, p: usize, end: usize, low: v128, high: v128, to: usize): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return
  let c00 = low
  let c01 = high
  let c10 = low
  let c11 = high
  let c20 = low
  let c21 = high
  let c30 = low
  let c31 = high
  let c40 = low
  let c41 = high
  let c50 = low
  let c51 = high
  for (; p < end; p += 32, a += STEP) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c00)
    c01 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c01)
    x = v128.load32_splat(a, 4)
    c10 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c10)
    c11 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c11)
    x = v128.load32_splat(a, 8)
    c20 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c20)
    c21 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c21)
    x = v128.load32_splat(a, 12)
    c30 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c30)
    c31 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c31)
    x = v128.load32_splat(a, 16)
    c40 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c40)
    c41 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c41)
    x = v128.load32_splat(a, 20)
    c50 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b0, x, c50)
    c51 = i32x4.relaxed_dot_i8x16_i7x16_add_s(b1, x, c51)
  }
  storeRow(to, c00, c01)
  storeRow(to + 32, c10, c11)
  storeRow(to + 64, c20, c21)
  storeRow(to + 96, c30, c31)
  storeRow(to + 128, c40, c41)
  storeRow(to + 160, c50, c51)
}

// @ts-ignore: decorator
@inline
export function storeRow(to: usize, low: v128, high: v128): void {
  v128.store(to, low)
  v128.store(to, high, 16)
}
