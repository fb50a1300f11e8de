import { sumOfInts } from '../f32/simd'
import { interleaveLowBytes } from '../interleave'
import { storeNarrowTransposed } from '../transpose4'
import { codeIn } from './code'

/**
 * Bytes of one panel: eight columns of B as pairs of rows, [ceil(k / 2)][8][2], so that one instruction multiplies and
 * adds a pair. A last row without a partner is paired with 0.
 */
// @ts-ignore: decorator
@inline
export function panelBytes(k: u32): usize {
  return (<usize>((k + 1) & ~1)) << 3
}

/**
 * Writes one panel of a matrix of bytes whose element (row, column) lies at `row * rowStep + column * colStep`.
 * @param cols columns that there are; the others are 0
 * @param flip 128 for uint8, which turns a code into the int8 code that is smaller by 128; else 0
 */
export function packBytes(b: usize, rowStep: usize, colStep: usize, k: u32, cols: u32, flip: u32, to: usize): void {
  let i: u32 = 0
  if (colStep == 1 && cols == 8) {
    const mask = i8x16.splat(<i8>flip)
    for (; i + 2 <= k; i += 2, to += 16, b += 2 * rowStep) {
      const even = v128.load64_zero(b)
      const odd = v128.load64_zero(b + rowStep)
      v128.store(to, v128.xor(mask, interleaveLowBytes(even, odd)))
    }
  } else if (rowStep == 1 && cols == 8) {
    const mask = i8x16.splat(<i8>flip)
    const half = colStep << 2
    for (; i + 16 <= k; i += 16, to += 128, b += 16)
      storeNarrowTransposed(
        v128.xor(mask, v128.load(b)),
        v128.xor(mask, v128.load(b + colStep)),
        v128.xor(mask, v128.load(b + 2 * colStep)),
        v128.xor(mask, v128.load(b + 3 * colStep)),
        v128.xor(mask, v128.load(b + half)),
        v128.xor(mask, v128.load(b + half + colStep)),
        v128.xor(mask, v128.load(b + half + 2 * colStep)),
        v128.xor(mask, v128.load(b + half + 3 * colStep)),
        to,
        16
      )
  }
  for (; i < k; i += 2, to += 16, b += 2 * rowStep) {
    const hasOdd = i + 1 < k
    for (let j: u32 = 0; j < 8; j++) {
      const at = b + <usize>j * colStep
      store<u8>(to + 2 * j, j < cols ? load<u8>(at) ^ <u8>flip : 0)
      store<u8>(to + 2 * j, hasOdd && j < cols ? load<u8>(at + rowStep) ^ <u8>flip : 0, 1)
    }
  }
}

/**
 * Bytes of a panel that are widened together: widened they stay, beside what they are multiplied by, in a cache of 32
 * KiB.
 */
export const PART: usize = 8192

/** Widens `bytes` of a panel, a multiple of 16, to int16. */
export function widenPanel(panel: usize, bytes: usize, to: usize): void {
  for (const end = panel + bytes; panel < end; panel += 16, to += 32) {
    v128.store(to, v128.load8x8_s(panel))
    v128.store(to, v128.load8x8_s(panel, 8), 16)
  }
}

/** Rows that are packed into all panels before the next ones, where rows lie one behind the other; an even number. */
const ROWS_TOGETHER: u32 = 32

/**
 * Packs panels `from … end - 1` of a matrix of n columns. Some rows of all panels come first, so that memory is read
 * along the rows.
 */
export function packBytePanels(
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
  const together = colStep == 1 ? ROWS_TOGETHER : k
  for (let i: u32 = 0; i < k; i += together, b += <usize>together * rowStep, to += panelBytes(together))
    for (let p = from; p < end; p++) {
      const cols = min<u32>(8, n - (p << 3))
      packBytes(b + ((<usize>p) << 3) * colStep, rowStep, colStep, min(together, k - i), cols, flip, to + p * bytes)
    }
}

/**
 * Widens a row of bytes to int16, minus a zero point, and pads it with 0 to an even length.
 * @returns the sum of what is written
 */
export function widenRow(a: usize, step: usize, k: u32, isSigned: bool, zero: i32, to: usize): i32 {
  const point = i16x8.splat(<i16>zero)
  let sums = i32x4.splat(0)
  let i: u32 = 0
  if (step == 1) {
    for (; i + 8 <= k; i += 8, a += 8, to += 16) {
      const codes = isSigned ? v128.load8x8_s(a) : v128.load8x8_u(a)
      const numbers = i16x8.sub(codes, point)
      v128.store(to, numbers)
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(numbers))
    }
  }
  let sum = sumOfInts(sums)
  for (; i < k; i++, a += step, to += 2) {
    const number = codeIn(a, isSigned) - zero
    store<i16>(to, <i16>number)
    sum += number
  }
  if (k & 1) store<i16>(to, 0)
  return sum
}
