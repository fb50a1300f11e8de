import { widenPanel } from './few-halves'
import { EDGE, placeColumns, rowsByPanel } from './gemm'
import { fetchFour, fetchLines, packStrips } from './panels'
import { maxOf, splat } from './simd'

/*
 * Strassen's algorithm, slab by slab of the depth: rows, columns and depth are halved, and of the quarters of both
 * matrices seven products are made instead of eight:
 *
 *   P1 = (A11 + A22) (B11 + B22), P2 = (A21 + A22) B11, P3 = A11 (B12 - B22), P4 = A22 (B21 - B11),
 *   P5 = (A11 + A12) B22, P6 = (A21 - A11) (B11 + B12), P7 = (A12 - A22) (B21 + B22)
 *   C11 = P1 + P4 - P5 + P7, C12 = P3 + P5, C21 = P2 + P4, C22 = P1 - P2 + P3 + P6
 *
 * Winograd's form has three additions less, but multiplies sums of three and four quarters, where this has at most two:
 * sums of random numbers err 1.3 times as much there.
 *
 * Rounding errors grow with the depth of a sum only, since sums of slabs are added last. They are a share of the
 * largest numbers of both rows and both panels that are added up. So where one has much larger numbers than the other,
 * or Infinity or NaN, products are made as defined.
 */

/** Quarters of A and what is made of them, in the order in which they lie: as the first factors of P1 to P7. */
const A11_A22: usize = 0
const A21_A22: usize = 1
const A11: usize = 2
const A22: usize = 3
const A11_A12: usize = 4
const A21_A11: usize = 5
const A12_A22: usize = 6

/** Most by which the largest number of a row or panel may be beyond that of the other. */
const MAX_RATIO: f32 = 16
/** What is made of two panels: as many halves of a panel. */
const PANEL_SUMS: usize = 5
/** Bytes of the words that say of which slabs the rows are even: for 16; of 64 rows 13 fit into the scratch memory. */
const EVEN_BYTES: usize = 64

/**
 * `rows` rows of A by panels of B into C, of which `cols` columns are written. What is in C is overwritten.
 * @param b the panels, each `k` deep
 * @param panelKind what they hold, as in MatrixArguments; 16 bits are widened, two panels at a time
 * @param slab depth of a slab; it and `k` are multiples of four
 * @param keeps whether what is made of the rows stays in the scratch memory for all slabs, not for one
 * @param areMade whether it is there, since other panels have been multiplied by these rows
 */
export function rowsByStrassen(
  a: usize,
  aRow: usize,
  aElement: usize,
  b: usize,
  panelKind: u32,
  c: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  k: u32,
  slab: u32,
  keeps: bool,
  areMade: bool,
  scratch: usize
): void {
  const strips = <usize>((rows + 7) >> 3)
  const upper = min(rows, (<u32>strips) << 2)
  const t = scratch + EDGE
  const size = strips << 7
  const isNarrow = panelKind != 0
  const shift: usize = isNarrow ? 4 : 5
  const panelBytes = (<usize>k) << shift
  const wide = t + PANEL_SUMS * ((<usize>slab) << 4)
  const sums = wide + (isNarrow ? (<usize>slab) << 6 : 0)
  // A word for each slab that is kept, which says whether its rows are even; then the quarters.
  let even = sums + 7 * size
  const ofSlab = 7 * strips * ((<usize>slab) << 3)
  let quarters = even + EVEN_BYTES
  const plain = quarters + ofSlab * (keeps ? (k + slab - 1) / slab : 1)
  for (let k0: u32 = 0; k0 < k; k0 += slab) {
    const depth = <usize>min(slab, k - k0)
    const half = depth >> 1
    const from = a + <usize>k0 * aElement
    const isAdded = k0 > 0
    let inStrips = false
    let panel = b + ((<usize>k0) << shift)
    let to = c
    if (!areMade) store<u32>(even, packQuarters(from, aRow, aElement, rows, half, strips, quarters))
    const areEven = load<u32>(even) != 0
    for (let column: u32 = 0; column < cols; column += 16, panel += 2 * panelBytes, to += 64) {
      const left = min(16, cols - column)
      const step = isNarrow ? depth << 5 : panelBytes
      let first = panel
      if (isNarrow) {
        first = wide
        widenFetched(panel, wide, depth, panelKind == 2, scratch)
        if (left > 8) widenFetched(panel + panelBytes, wide + step, depth, panelKind == 2, scratch)
      }
      if (areEven && left > 8 && addPanels(first, first + step, half, t)) {
        twoPanels(quarters, strips, half, first, first + step, t, sums, scratch)
        place(sums, size, to, cRow, rows, upper, left, isAdded)
        continue
      }
      if (!inStrips) packStrips(from, aRow, aElement, rows, depth, plain)
      inStrips = true
      asDefined(plain, first, step, to, cRow, rows, left, depth, isAdded, scratch)
    }
    if (!keeps) continue
    even += 4
    quarters += ofSlab
  }
}

/** Widens `depth` lines of a panel of 16 bits, all of which are read before. */
function widenFetched(panel: usize, to: usize, depth: usize, isBrain: bool, scratch: usize): void {
  fetchLines(panel, depth << 4, scratch)
  widenPanel(panel, to, (<u32>depth) << 3, isBrain)
}

/** Strips of rows, `depth` deep, by panels that are `step` bytes apart. */
function asDefined(
  strips: usize,
  panel: usize,
  step: usize,
  c: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  depth: usize,
  add: bool,
  scratch: usize
): void {
  for (let column: u32 = 0; column < cols; column += 8, panel += step)
    rowsByPanel(
      strips,
      4,
      16,
      depth << 4,
      panel,
      c + (column << 2),
      cRow,
      rows,
      min(8, cols - column),
      depth,
      add,
      scratch
    )
}

/**
 * Quarters of rows of A in strips, and what is made of them; rows beyond the last are 0.
 * @returns whether both of all rows that are added up have numbers of about the same size
 */
function packQuarters(a: usize, aRow: usize, aElement: usize, rows: u32, half: usize, strips: usize, to: usize): bool {
  const strip = half << 4
  const quarter = strips * strip
  const lanes = i32x4(0, 1, 2, 3)
  let areEven = i32x4.splat(-1)
  for (let s: usize = 0; s < strips; s++, to += strip) {
    // A12 and A21 are not kept; what is made of them goes where they lie.
    packStrip(a, aRow, aElement, s << 2, rows, half, to + A11 * quarter, to + A12_A22 * quarter)
    packStrip(a, aRow, aElement, (s + strips) << 2, rows, half, to + A21_A11 * quarter, to + A22 * quarter)
    let upper = splat(0)
    let lower = upper
    for (let at = to; at < to + strip; at += 16) {
      const a11 = v128.load(at + A11 * quarter)
      const a12 = v128.load(at + A12_A22 * quarter)
      const a21 = v128.load(at + A21_A11 * quarter)
      const a22 = v128.load(at + A22 * quarter)
      v128.store(at + A11_A22 * quarter, f32x4.add(a11, a22))
      v128.store(at + A21_A22 * quarter, f32x4.add(a21, a22))
      v128.store(at + A11_A12 * quarter, f32x4.add(a11, a12))
      v128.store(at + A21_A11 * quarter, f32x4.sub(a21, a11))
      v128.store(at + A12_A22 * quarter, f32x4.sub(a12, a22))
      upper = larger(larger(upper, a11), a12)
      lower = larger(larger(lower, a21), a22)
    }
    // Rows that there are not are as large as any.
    const isLast = i32x4.ge_s(lanes, i32x4.splat(<i32>rows - <i32>((s + strips) << 2)))
    areEven = v128.and(areEven, v128.or(areLike(upper, lower), isLast))
  }
  return i32x4.all_true(areEven)
}

/** The larger of a number that is not negative and another's magnitude; NaN counts as larger than all numbers. */
// @ts-ignore: decorator
@inline
function larger(a: v128, b: v128): v128 {
  return i32x4.max_s(a, f32x4.abs(b))
}

/** Whether of the numbers in each lane, none of which is negative, neither is much larger than the other. */
// @ts-ignore: decorator
@inline
function areLike(a: v128, b: v128): v128 {
  const ratio = splat(MAX_RATIO)
  // Of larger ones, sums might be Infinity. NaN compares as not less.
  const areModest = f32x4.lt(f32x4.max(a, b), splat(1e37))
  return v128.and(areModest, v128.and(f32x4.le(a, f32x4.mul(b, ratio)), f32x4.le(b, f32x4.mul(a, ratio))))
}

/** Four rows from `row` on, as two strips. */
// @ts-ignore: decorator
@inline
function packStrip(
  a: usize,
  aRow: usize,
  aElement: usize,
  row: usize,
  rows: u32,
  half: usize,
  left: usize,
  right: usize
): void {
  if (<u32>row >= rows) {
    memory.fill(left, 0, half << 4)
    memory.fill(right, 0, half << 4)
    return
  }
  const from = a + row * aRow
  const count = min<u32>(4, rows - <u32>row)
  packStrips(from, aRow, aElement, count, half, left)
  packStrips(from + half * aElement, aRow, aElement, count, half, right)
}

/**
 * What is made of the quarters of two panels: B11 + B22, B12 - B22, B21 - B11, B11 + B12 and B21 + B22.
 * @returns whether both panels have numbers of about the same size
 */
function addPanels(b11: usize, b12: usize, half: usize, to: usize): bool {
  const bytes = half << 5
  fetchFour(b11, b11 + bytes, b12, b12 + bytes, bytes, to)
  const end = b11 + bytes
  let left = splat(0)
  let right = left
  for (; b11 < end; b11 += 16, to += 16) {
    const x11 = v128.load(b11)
    const x12 = v128.load(b12)
    const x21 = v128.load(b11 + bytes)
    const x22 = v128.load(b12 + bytes)
    v128.store(to, f32x4.add(x11, x22))
    v128.store(to + bytes, f32x4.sub(x12, x22))
    v128.store(to + 2 * bytes, f32x4.sub(x21, x11))
    v128.store(to + 3 * bytes, f32x4.add(x11, x12))
    v128.store(to + 4 * bytes, f32x4.add(x21, x22))
    left = larger(larger(left, x11), x21)
    right = larger(larger(right, x12), x22)
    b12 += 16
  }
  return i32x4.all_true(areLike(splat(maxOf(left)), splat(maxOf(right))))
}

/** P1 to P7 of quarters of A and two panels, of which {@link addPanels} has made `t`. */
function twoPanels(
  a: usize,
  strips: usize,
  half: usize,
  b11: usize,
  b12: usize,
  t: usize,
  sums: usize,
  scratch: usize
): void {
  const bytes = half << 5
  const size = strips << 7
  quarterByPanel(a, A11_A22, strips, half, t, sums, scratch)
  quarterByPanel(a, A21_A22, strips, half, b11, sums + size, scratch)
  quarterByPanel(a, A11, strips, half, t + bytes, sums + 2 * size, scratch)
  quarterByPanel(a, A22, strips, half, t + 2 * bytes, sums + 3 * size, scratch)
  quarterByPanel(a, A11_A12, strips, half, b12 + bytes, sums + 4 * size, scratch)
  quarterByPanel(a, A21_A11, strips, half, t + 3 * bytes, sums + 5 * size, scratch)
  quarterByPanel(a, A12_A22, strips, half, t + 4 * bytes, sums + 6 * size, scratch)
}

/** A quarter, or what is made of quarters, by half of a panel; eight sums a row. */
function quarterByPanel(
  a: usize,
  which: usize,
  strips: usize,
  half: usize,
  panel: usize,
  to: usize,
  scratch: usize
): void {
  const strip = half << 4
  rowsByPanel(a + which * strips * strip, 4, 16, strip, panel, to, 32, (<u32>strips) << 2, 8, half, false, scratch)
}

/**
 * Makes C11, C21, C12 and C22 of P1 to P7, whose rows have eight sums each, and writes them to C, or adds them to it.
 * @param upper rows of C11 and C12
 * @param cols columns of C, nine to sixteen
 */
function place(sums: usize, size: usize, c: usize, cRow: usize, rows: u32, upper: u32, cols: u32, add: bool): void {
  const isEdge = cols < 16
  const addRight = add && !isEdge
  const lower = upper * cRow
  let row = sums
  let left = c
  for (let r: u32 = 0; r < upper; r++, row += 32, left += cRow) {
    // What has no place in C stays among the sums.
    const isLast = r + upper >= rows
    const c21 = isLast ? row + size : left + lower
    const c12 = isEdge ? row + 2 * size : left + 32
    const c22 = isEdge || isLast ? row + 3 * size : left + lower + 32
    combine(row, size, left, c21, c12, c22, add, addRight)
    combine(row + 16, size, left + 16, c21 + 16, c12 + 16, c22 + 16, add, addRight)
  }
  if (!isEdge) return
  placeColumns(sums + 2 * size, c + 32, cRow, upper, cols - 8, add)
  placeColumns(sums + 3 * size, c + lower + 32, cRow, rows - upper, cols - 8, add)
}

/**
 * Makes a vector of each of C11, C21, C12 and C22 of those of P1 to P7, which lie `size` bytes apart.
 * @param addLeft whether C11 and C21 are added to what is there
 * @param addRight whether C12 and C22 are
 */
// @ts-ignore: decorator
@inline
function combine(
  p1: usize,
  size: usize,
  c11: usize,
  c21: usize,
  c12: usize,
  c22: usize,
  addLeft: bool,
  addRight: bool
): void {
  const first = v128.load(p1)
  const second = v128.load(p1 + size)
  const third = v128.load(p1 + 2 * size)
  const fourth = v128.load(p1 + 3 * size)
  const fifth = v128.load(p1 + 4 * size)
  const upperLeft = f32x4.add(f32x4.add(first, v128.load(p1 + 6 * size)), f32x4.sub(fourth, fifth))
  const lowerRight = f32x4.add(f32x4.add(first, v128.load(p1 + 5 * size)), f32x4.sub(third, second))
  write(c11, upperLeft, addLeft)
  write(c21, f32x4.add(second, fourth), addLeft)
  write(c12, f32x4.add(third, fifth), addRight)
  write(c22, lowerRight, addRight)
}

// @ts-ignore: decorator
@inline
function write(to: usize, sums: v128, add: bool): void {
  v128.store(to, add ? f32x4.add(v128.load(to), sums) : sums)
}
