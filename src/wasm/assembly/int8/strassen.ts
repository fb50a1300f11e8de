import { panelBytes, PART, widenPanel } from './panels'
import { STRIP_SUMS, stripsByPanel, sumsOfStrip, widenStrip } from './strips'

/*
 * Strassen's algorithm as Winograd wrote it: rows, columns and depth of a product are halved, and of the quarters of
 * both matrices seven products are made instead of eight:
 *
 *   S1 = A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2
 *   T1 = B12 - B11, T2 = B22 - T1, T3 = B22 - B12, T4 = T2 - B21
 *   P1 = A11 B11, P2 = A12 B21, P3 = S4 B22, P4 = A22 T4, P5 = S1 T1, P6 = S2 T2, P7 = S3 T3
 *   C11 = P1 + P2, C12 = P1 + P6 + P5 + P3, C21 = P1 + P6 + P7 - P4, C22 = P1 + P6 + P7 + P5
 *
 * It is exact: what is added grows to 4 * 255 and fits into int16, and sums in int32 wrap in between, which does not
 * matter as long as the result fits.
 */

/** Quarters of A and what is made of them, in the order in which they lie. */
const A11: usize = 0
const A12: usize = 1
const A22: usize = 2
const S1: usize = 3
const S2: usize = 4
const S3: usize = 5
const S4: usize = 6

/** Strips of a quarter of so many rows. */
// @ts-ignore: decorator
@inline
function stripsOfQuarter(rows: u32): usize {
  return <usize>((rows + 7) >> 3)
}

/** Bytes of four rows of a quarter of depth `k / 2`, as int16. */
// @ts-ignore: decorator
@inline
function stripOfQuarter(k: u32): usize {
  return (<usize>k) << 2
}

/**
 * Widens rows of bytes to int16, less a zero point, as quarters in strips, and adds these up.
 * @param k a multiple of four
 * @param sums where those of the rows go; 0: nowhere
 */
export function widenQuarters(
  a: usize,
  rowStep: usize,
  step: usize,
  rows: u32,
  k: u32,
  isSigned: bool,
  zero: i32,
  to: usize,
  sums: usize
): void {
  const strips = stripsOfQuarter(rows)
  const strip = stripOfQuarter(k)
  const quarter = strips * strip
  const half = k >> 1
  for (let s: usize = 0; s < strips << 1; s++) {
    const row = (<u32>s) << 2
    const isUpper = s < strips
    const at = (isUpper ? s : s - strips) * strip
    const left = to + (isUpper ? A11 : S3) * quarter + at
    const right = to + (isUpper ? A12 : A22) * quarter + at
    if (row >= rows) {
      memory.fill(left, 0, strip)
      memory.fill(right, 0, strip)
      continue
    }
    const from = a + <usize>row * rowStep
    widenStrip(from, rowStep, step, min(4, rows - row), half, isSigned, zero, left)
    widenStrip(from + <usize>half * step, rowStep, step, min(4, rows - row), half, isSigned, zero, right)
    if (sums)
      v128.store(sums + (row << 2), i32x4.add(sumsOfStrip(left, left + strip), sumsOfStrip(right, right + strip)))
  }
  addQuarters(to, quarter)
}

/** S1 to S4; A21 lies where S3 goes. */
function addQuarters(to: usize, quarter: usize): void {
  for (const end = to + quarter; to < end; to += 16) {
    const a11 = v128.load(to + A11 * quarter)
    const a21 = v128.load(to + S3 * quarter)
    const s1 = i16x8.add(a21, v128.load(to + A22 * quarter))
    const s2 = i16x8.sub(s1, a11)
    v128.store(to + S1 * quarter, s1)
    v128.store(to + S2 * quarter, s2)
    v128.store(to + S3 * quarter, i16x8.sub(a11, a21))
    v128.store(to + S4 * quarter, i16x8.sub(v128.load(to + A12 * quarter), s2))
  }
}

/** Bytes of the sums of a quarter by a panel. */
// @ts-ignore: decorator
@inline
function sumsOfQuarter(rows: u32): usize {
  return stripsOfQuarter(rows) * STRIP_SUMS
}

/** Bytes of the sums that {@link twoPanels} writes for one panel. */
// @ts-ignore: decorator
@inline
export function sumsOfPanel(rows: u32): usize {
  return sumsOfQuarter(rows) << 1
}

/**
 * Rows that have been widened by {@link widenQuarters}, by two panels that lie behind each other.
 * @param wide memory for a part of a panel, widened, and for the sums of a strip
 * @param to where the sums go, eight a row, those by the second panel behind those by the first; seven quarters of them
 */
export function twoPanels(a: usize, rows: u32, k: u32, panel: usize, wide: usize, to: usize): void {
  const size = sumsOfQuarter(rows)
  const half = panelBytes(k) >> 1
  for (let from: usize = 0; from < half; from += PART) {
    const part = min(PART, half - from)
    const b11 = panel + from
    const b21 = b11 + half
    const b12 = b21 + half
    const b22 = b12 + half
    widenPanel(b11, part, wide)
    quarterByPanel(a, A11, rows, k, from, part, wide, to)
    widenPanel(b21, part, wide)
    quarterByPanel(a, A12, rows, k, from, part, wide, to + size)
    widenPanel(b22, part, wide)
    quarterByPanel(a, S4, rows, k, from, part, wide, to + 2 * size)
    subtractPanel(b12, part, wide)
    quarterByPanel(a, S3, rows, k, from, part, wide, to + 6 * size)
    addPanel(b11, part, wide)
    quarterByPanel(a, S2, rows, k, from, part, wide, to + 5 * size)
    subtractPanel(b21, part, wide)
    quarterByPanel(a, A22, rows, k, from, part, wide, to + 3 * size)
    widenPanel(b12, part, wide)
    subtractPanel(b11, part, wide)
    quarterByPanel(a, S1, rows, k, from, part, wide, to + 4 * size)
  }
  for (const end = to + size; to < end; to += 16) combine(to, size)
}

/** Makes a vector of each of C11, C21, C12 and C22 of those of P1 to P7, where P1 to P4 are; `size` bytes apart. */
// @ts-ignore: decorator
@inline
function combine(p1: usize, size: usize): void {
  const first = v128.load(p1)
  const fifth = v128.load(p1 + 4 * size)
  const u2 = i32x4.add(first, v128.load(p1 + 5 * size))
  const u3 = i32x4.add(u2, v128.load(p1 + 6 * size))
  const upperRight = i32x4.add(i32x4.add(u2, fifth), v128.load(p1 + 2 * size))
  v128.store(p1, i32x4.add(first, v128.load(p1 + size)))
  v128.store(p1 + size, i32x4.sub(u3, v128.load(p1 + 3 * size)))
  v128.store(p1 + 2 * size, upperRight)
  v128.store(p1 + 3 * size, i32x4.add(u3, fifth))
}

/** {@link twoPanels} for a panel that is alone: four products, with A21 = A11 - S3. */
export function onePanel(a: usize, rows: u32, k: u32, panel: usize, wide: usize, to: usize): void {
  const size = sumsOfQuarter(rows)
  const half = panelBytes(k) >> 1
  for (let from: usize = 0; from < half; from += PART) {
    const part = min(PART, half - from)
    widenPanel(panel + from, part, wide)
    quarterByPanel(a, A11, rows, k, from, part, wide, to)
    quarterByPanel(a, S3, rows, k, from, part, wide, to + size)
    widenPanel(panel + half + from, part, wide)
    quarterByPanel(a, A12, rows, k, from, part, wide, to + 2 * size)
    quarterByPanel(a, A22, rows, k, from, part, wide, to + 3 * size)
  }
  for (const end = to + size; to < end; to += 16) {
    const p1 = v128.load(to)
    const c21 = i32x4.add(i32x4.sub(p1, v128.load(to + size)), v128.load(to + 3 * size))
    v128.store(to, i32x4.add(p1, v128.load(to + 2 * size)))
    v128.store(to + size, c21)
  }
}

/** A quarter by a part of a panel; the sums are written, or added where it is not the first part. */
function quarterByPanel(
  a: usize,
  which: usize,
  rows: u32,
  k: u32,
  from: usize,
  part: usize,
  wide: usize,
  to: usize
): void {
  const strip = stripOfQuarter(k)
  const strips = stripsOfQuarter(rows)
  const sums = from > 0 ? wide + 2 * PART : 0
  stripsByPanel(a + which * strips * strip + from, strip, strips, wide, 2 * part, to, sums)
}

// @ts-ignore: decorator
@inline
function addPanel(panel: usize, bytes: usize, to: usize): void {
  for (const end = panel + bytes; panel < end; panel += 8, to += 16)
    v128.store(to, i16x8.add(v128.load(to), v128.load8x8_s(panel)))
}

// @ts-ignore: decorator
@inline
function subtractPanel(panel: usize, bytes: usize, to: usize): void {
  for (const end = panel + bytes; panel < end; panel += 8, to += 16)
    v128.store(to, i16x8.sub(v128.load(to), v128.load8x8_s(panel)))
}
