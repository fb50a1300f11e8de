import { fma, splat, sumOfInts } from '../f32/simd'
import { codeAt, CodedArguments } from './arguments'
import { storeTransposed } from '../transpose4'
import { CHUNK, eightBytesOf, eightOf, largestOf, maskOf, orderedBytes, untangle } from './nibble-order'

/**
 * Many rows of A, rounded to integers of 8 bits block by block as in nibble-order.ts, by weights in 4 bits. Codes of eight
 * rows of weights, which are eight columns of C, are put into a panel: each of its lanes has codes of one column, so
 * that what a block adds to four columns is scaled at once. Four rows of A lie interleaved, and share what is read of
 * the panel.
 */

/** Columns of a panel. */
const COLUMNS: u32 = 8
/** Bytes of a chunk in a row of codes. */
const CODED: usize = 16
/**
 * Bytes of a chunk of a panel: 16 times a pair of codes of each column in 16 bits, or for relaxed SIMD eight times four
 * codes in bytes; then scales, then zero points.
 */
const SCALES: usize = 512
const ZEROS: usize = SCALES + 32
const PANEL: usize = ZEROS + 32
/** Chunks that are put into a panel at once: they stay in the first cache beside those of four rows of A. */
const SLICE: u32 = 8
/**
 * Bytes of a block of four rows of A: what zero points take off, or -1 times their sums where each row of the weights
 * has zero points of its own; their units; zeros, with which sums begin that go on with a block.
 */
const BLOCK: usize = 48
const UNITS: usize = 16
const NOTHING: usize = 32
/** Bytes of four rows of a panel of C. */
const RESULT: usize = 128
/** Bytes of scratch memory for rows of A; more rows are taken in turn. */
const ROOM: usize = 1 << 20

/** Computes columns `column … column + cols - 1` of C for some rows of A. */
export function manyByNibbles(
  args: CodedArguments,
  a: usize,
  column: u32,
  cols: u32,
  rows: u32,
  scratch: usize,
  c: usize
): void {
  const chunks = chunksOf(args)
  const bytes = <usize>chunks * ofChunk() + <usize>args.blocks * BLOCK
  const most: u32 = 4 * max<u32>(1, <u32>(ROOM / (bytes + RESULT)))
  for (let row: u32 = 0; row < rows; row += most) {
    const count: u32 = min(most, rows - row)
    const fours = (count + 3) >> 2
    const results = scratch + <usize>fours * bytes
    const panel = results + <usize>fours * RESULT
    for (let i: u32 = 0; i < 4 * fours; i++) {
      // Rows that fill the last four up repeat the last row.
      const from = a + ((<usize>(row + min(i, count - 1)) * args.k) << 2)
      orderRow(args, from, scratch + <usize>(i >> 2) * bytes, (<usize>(i & 3)) << 2, panel)
    }
    for (let j: u32 = 0; j < cols; j += COLUMNS) {
      memory.fill(results, 0, <usize>fours * RESULT)
      const width = min(COLUMNS, cols - j)
      for (let from: u32 = 0; from < chunks; from += SLICE) {
        const end = min(chunks, from + SLICE)
        fillPanel(args, column + j, width, from, end, panel)
        for (let i: u32 = 0; i < fours; i++) {
          const four = scratch + i * bytes
          const to = results + i * RESULT
          if (args.zeroKind == 1) codedSlice(args, four, from, end, panel, to)
          else plainSlice(args, four, from, end, panel, to)
        }
      }
      const to = c + ((<usize>row * args.n + j) << 2)
      for (let i: u32 = 0; i < count; i++)
        memory.copy(to + ((<usize>i * args.n) << 2), results + ((<usize>i) << 5), (<usize>width) << 2)
    }
  }
}

/** Bytes of a chunk of four rows of A. */
// @ts-ignore: decorator
@inline
function ofChunk(): usize {
  return orderedBytes(4 * CHUNK)
}

// @ts-ignore: decorator
@inline
function chunksOf(args: CodedArguments): u32 {
  return (args.k + CHUNK - 1) / CHUNK
}

/**
 * Rounds a row of A and writes it as one of four: pairs of elements of each in turn, which are four apart; four bytes,
 * which are two apart, for relaxed SIMD.
 * @param lane bytes before its first pair
 * @param spare memory for a chunk
 */
function orderRow(args: CodedArguments, a: usize, to: usize, lane: usize, spare: usize): void {
  let known = to + <usize>chunksOf(args) * ofChunk() + lane
  to += lane
  const zero = args.zeroKind == 1 ? 1 : args.zero
  for (let from: u32 = 0; from < args.k; known += BLOCK) {
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
      for (let i = 0; i < 4; i++, at += 32, to += orderedBytes(32))
        sums = i32x4.add(sums, ASC_FEATURE_RELAXED_SIMD ? storeBytes(at, inverse, to) : storeEight(at, inverse, to))
    }
    from = end
    const sum = sumOfInts(sums)
    store<i32>(known, -sum * zero)
    f32.store(known, unit, UNITS)
    store<i32>(known, 0, NOTHING)
  }
}

/** Writes eight elements, a pair in each 16 bytes, and gives four sums of them. */
// @ts-ignore: decorator
@inline
function storeEight(a: usize, inverse: v128, to: usize): v128 {
  const eight = eightOf(a, inverse)
  const pairs = untangle(eight)
  v128.store32_lane(to, pairs, 0)
  v128.store32_lane(to, pairs, 1, 16)
  v128.store32_lane(to, pairs, 2, 32)
  v128.store32_lane(to, pairs, 3, 48)
  return i32x4.extadd_pairwise_i16x8_s(eight)
}

/** The same for relaxed SIMD: four bytes in each 16. */
// @ts-ignore: decorator
@inline
function storeBytes(a: usize, inverse: v128, to: usize): v128 {
  const eight = eightBytesOf(a, inverse)
  v128.store32_lane(to, eight, 0)
  v128.store32_lane(to, eight, 1, 16)
  const sums = i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(eight))
  return i64x2.replace_lane(sums, 1, 0)
}

/** Puts chunks `from … end - 1` of rows of weights into a panel; columns that are not there repeat the last. */
function fillPanel(args: CodedArguments, row: u32, rows: u32, from: u32, end: u32, panel: usize): void {
  const perBlock = args.blockSize / CHUNK
  const mask = maskOf(args)
  const ofEight = orderedBytes(64)
  const offset = <usize>from * CODED
  const hasCodes = args.zeroKind == 1
  for (let half: u32 = 0; half < COLUMNS; half += 4) {
    const r0 = row + min(half, rows - 1)
    const r1 = row + min(half + 1, rows - 1)
    const r2 = row + min(half + 2, rows - 1)
    const r3 = row + min(half + 3, rows - 1)
    let w0 = args.codes + offset + <usize>r0 * args.rowBytes
    let w1 = args.codes + offset + <usize>r1 * args.rowBytes
    let w2 = args.codes + offset + <usize>r2 * args.rowBytes
    let w3 = args.codes + offset + <usize>r3 * args.rowBytes
    let to = panel + ((<usize>half) << 2)
    for (let chunk = from; chunk < end; chunk++, to += PANEL) {
      const a = v128.load(w0)
      const b = v128.load(w1)
      const c = v128.load(w2)
      const d = v128.load(w3)
      const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
      const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
      const cd0 = i32x4.shuffle(c, d, 0, 4, 1, 5)
      const cd1 = i32x4.shuffle(c, d, 2, 6, 3, 7)
      storeCodes(i64x2.shuffle(ab0, cd0, 0, 2), mask, to)
      storeCodes(i64x2.shuffle(ab0, cd0, 1, 3), mask, to + ofEight)
      storeCodes(i64x2.shuffle(ab1, cd1, 0, 2), mask, to + 2 * ofEight)
      storeCodes(i64x2.shuffle(ab1, cd1, 1, 3), mask, to + 3 * ofEight)
      w0 += CODED
      w1 += CODED
      w2 += CODED
      w3 += CODED
      if (!hasCodes) continue
      const block = chunk / perBlock
      storeZero(args, r0, block, to + ZEROS)
      storeZero(args, r1, block, to + ZEROS + 4)
      storeZero(args, r2, block, to + ZEROS + 8)
      storeZero(args, r3, block, to + ZEROS + 12)
    }
    to = panel + ((<usize>half) << 2)
    if (perBlock == 1) fillScales(args, r0, r1, r2, r3, from, end, to + SCALES)
    else {
      fillBlocks(args, r0, from, end, to + SCALES)
      fillBlocks(args, r1, from, end, to + SCALES + 4)
      fillBlocks(args, r2, from, end, to + SCALES + 8)
      fillBlocks(args, r3, from, end, to + SCALES + 12)
    }
  }
}

/** Puts scales of four rows into a panel, where a block is a chunk. */
function fillScales(args: CodedArguments, r0: u32, r1: u32, r2: u32, r3: u32, from: u32, end: u32, to: usize): void {
  const scales = args.scales + ((<usize>from) << 2)
  let s0 = scales + ((<usize>r0 * args.blocks) << 2)
  let s1 = scales + ((<usize>r1 * args.blocks) << 2)
  let s2 = scales + ((<usize>r2 * args.blocks) << 2)
  let s3 = scales + ((<usize>r3 * args.blocks) << 2)
  for (; from + 4 <= end; from += 4, to += 4 * PANEL) {
    storeTransposed(v128.load(s0), v128.load(s1), v128.load(s2), v128.load(s3), to, PANEL)
    s0 += 16
    s1 += 16
    s2 += 16
    s3 += 16
  }
  for (; from < end; from++, to += PANEL) {
    f32.store(to, f32.load(s0))
    f32.store(to, f32.load(s1), 4)
    f32.store(to, f32.load(s2), 8)
    f32.store(to, f32.load(s3), 12)
    s0 += 4
    s1 += 4
    s2 += 4
    s3 += 4
  }
}

/** Puts the scales of a row into a panel: to each chunk that of its block. */
function fillBlocks(args: CodedArguments, row: u32, from: u32, end: u32, to: usize): void {
  const perBlock = args.blockSize / CHUNK
  const scales = args.scales + ((<usize>row * args.blocks) << 2)
  for (let block = from / perBlock; from < end; block++) {
    const scale = load<u32>(scales + ((<usize>block) << 2))
    for (const next = min(end, (block + 1) * perBlock); from < next; from++, to += PANEL) store<u32>(to, scale)
  }
}

// @ts-ignore: decorator
@inline
function storeZero(args: CodedArguments, row: u32, block: u32, to: usize): void {
  store<u32>(to, codeAt(args.zeros, row * args.zeroRow, block, 4))
}

/** Eight codes of four columns as four pairs, with higher codes above them: see `untangle`. For relaxed SIMD as bytes. */
// @ts-ignore: decorator
@inline
function storeCodes(v: v128, mask: v128, to: usize): void {
  if (ASC_FEATURE_RELAXED_SIMD) {
    v128.store(to, v128.and(v, mask))
    v128.store(to, v128.and(i16x8.shr_u(v, 4), mask), 32)
    return
  }
  v128.store(to, v128.and(v, mask))
  v128.store(to, i16x8.shr_u(v, 4), 32)
  v128.store(to, i16x8.shr_u(v, 8), 64)
  v128.store(to, i16x8.shr_u(v, 12), 96)
}

/** Adds products of codes of four columns by those elements of a row of A that they belong to. */
// @ts-ignore: decorator
@inline
function addDots(sums: v128, codes: v128, x: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD
    ? i32x4.relaxed_dot_i8x16_i7x16_add_s(x, codes, sums)
    : i32x4.add(sums, i32x4.dot_i16x8_s(codes, x))
}

/** What the sums of a row of A by four columns begin with, where a block begins. */
// @ts-ignore: decorator
@inline
function startOf(hasCodes: bool, known: usize, zeros: usize): v128 {
  const start = v128.load32_splat(known)
  return hasCodes ? i32x4.mul(start, v128.load(zeros)) : start
}

/**
 * Adds the products of chunks `from … end - 1` of four rows of A and a panel to four rows of a panel of C.
 * @param hasCodes whether each row of the weights has zero points of its own
 */
// @ts-ignore: decorator
@inline
function addSlice(hasCodes: bool, args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  const perBlock = args.blockSize / CHUNK
  let known = a + <usize>chunksOf(args) * ofChunk() + <usize>(from / perBlock) * BLOCK
  let left = perBlock - (from % perBlock)
  a += <usize>from * ofChunk()
  for (const last = panel + <usize>(end - from) * PANEL; panel < last; known += BLOCK) {
    // Zero points are taken off with the first chunk of a block: a block may be continued in the next slice.
    const begin = left == perBlock ? known : known + NOTHING
    const zeros = panel + ZEROS
    let s0 = startOf(hasCodes, begin, zeros)
    let s1 = startOf(hasCodes, begin + 4, zeros)
    let s2 = startOf(hasCodes, begin + 8, zeros)
    let s3 = startOf(hasCodes, begin + 12, zeros)
    let t0 = startOf(hasCodes, begin, zeros + 16)
    let t1 = startOf(hasCodes, begin + 4, zeros + 16)
    let t2 = startOf(hasCodes, begin + 8, zeros + 16)
    let t3 = startOf(hasCodes, begin + 12, zeros + 16)
    const scales = panel + SCALES
    for (const stop = min(last, panel + <usize>left * PANEL); panel < stop; panel += PANEL) {
      let w = panel
      for (const next = a + ofChunk(); a < next; a += 32, w += 64) {
        let low = v128.load(w)
        let high = v128.load(w, 16)
        let x = v128.load32_splat(a)
        s0 = addDots(s0, low, x)
        t0 = addDots(t0, high, x)
        x = v128.load32_splat(a, 4)
        s1 = addDots(s1, low, x)
        t1 = addDots(t1, high, x)
        x = v128.load32_splat(a, 8)
        s2 = addDots(s2, low, x)
        t2 = addDots(t2, high, x)
        x = v128.load32_splat(a, 12)
        s3 = addDots(s3, low, x)
        t3 = addDots(t3, high, x)
        low = v128.load(w, 32)
        high = v128.load(w, 48)
        x = v128.load32_splat(a, 16)
        s0 = addDots(s0, low, x)
        t0 = addDots(t0, high, x)
        x = v128.load32_splat(a, 20)
        s1 = addDots(s1, low, x)
        t1 = addDots(t1, high, x)
        x = v128.load32_splat(a, 24)
        s2 = addDots(s2, low, x)
        t2 = addDots(t2, high, x)
        x = v128.load32_splat(a, 28)
        s3 = addDots(s3, low, x)
        t3 = addDots(t3, high, x)
      }
    }
    const low = v128.load(scales)
    const high = v128.load(scales, 16)
    addRow(c, s0, t0, low, high, v128.load32_splat(known, UNITS))
    addRow(c + 32, s1, t1, low, high, v128.load32_splat(known, UNITS + 4))
    addRow(c + 64, s2, t2, low, high, v128.load32_splat(known, UNITS + 8))
    addRow(c + 96, s3, t3, low, high, v128.load32_splat(known, UNITS + 12))
    left = perBlock
  }
}

function plainSlice(args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(false, args, a, from, end, panel, c)
}

function codedSlice(args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(true, args, a, from, end, panel, c)
}

/** Adds sums of a block, scaled, to a row of a panel of C. */
// @ts-ignore: decorator
@inline
function addRow(c: usize, s: v128, t: v128, low: v128, high: v128, unit: v128): void {
  v128.store(c, fma(v128.load(c), f32x4.convert_i32x4_s(s), f32x4.mul(low, unit)))
  v128.store(c, fma(v128.load(c, 16), f32x4.convert_i32x4_s(t), f32x4.mul(high, unit)), 16)
}
