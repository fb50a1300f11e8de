import { isEarlyV8 } from '../engine'
import { fma } from '../f32/simd'
import { addDot } from '../int8/dots'
import { haveRows } from '../remembered'
import { CodedArguments, CODES, NUMBERS, ONE } from './arguments'
import {
  CHUNK,
  chunksOf,
  CODED,
  maskOf,
  MINUS_SUM,
  orderedBytes,
  orderRow,
  startOf,
  TOGETHER,
  UNIT,
  withNumbers,
  WORDS,
  zerosAt
} from './nibble-order'

/**
 * Many rows of A, rounded to integers of 8 bits block by block, by weights in 4 bits that are packed; see
 * nibble-order.ts. Codes of eight columns of C are shifted once for all rows of A and put into a panel. Four rows of A
 * lie interleaved, and share what is read of the panel.
 */

/** Columns of a panel. */
const COLUMNS: u32 = 8
/**
 * Bytes of a chunk of a panel: 16 times a pair of codes of each column in 16 bits, or for relaxed SIMD eight times four
 * codes in bytes; then scales, then zero points.
 */
const SCALES: usize = 512
const ZEROS: usize = SCALES + 32
const PANEL: usize = ZEROS + 32
/** Chunks that are put into a panel at once: they stay in the first cache beside those of four rows of A. */
const SLICE: u32 = 8
/** Bytes of four rows of what is known of a block of A; behind all blocks zeros, with which sums begin that go on. */
const APART: usize = 16
const BLOCK: usize = WORDS * APART
/** Bytes of four rows of a panel of C. */
const RESULT: usize = 128
/** Bytes of scratch memory for rows of A; more rows are taken in turn. */
const ROOM: usize = 1 << 20

/**
 * Computes columns `column … column + cols - 1` of C for some rows of A.
 * @param block the number of the rows among those of the job
 */
export function manyByNibbles(
  args: CodedArguments,
  a: usize,
  block: u32,
  column: u32,
  cols: u32,
  rows: u32,
  scratch: usize,
  c: usize
): void {
  const bytes = bytesOfFour(args)
  const most: u32 = 4 * max<u32>(1, <u32>(ROOM / (bytes + RESULT)))
  const areAll = rows <= most
  for (let row: u32 = 0; row < rows; row += most) {
    const count: u32 = min(most, rows - row)
    if (!haveRows(block) || !areAll) orderFours(args, a + ((<usize>row * args.k) << 2), count, scratch)
    byPanels(args, column, cols, count, scratch, c + ((<usize>row * args.n) << 2))
  }
}

/** Bytes of four rows of A: chunks, what is known of blocks, zeros. */
// @ts-ignore: decorator
@inline
function bytesOfFour(args: CodedArguments): usize {
  return <usize>chunksOf(args) * ofChunk() + (<usize>args.blocks + 1) * BLOCK
}

/** Bytes of a chunk of four rows of A. */
// @ts-ignore: decorator
@inline
function ofChunk(): usize {
  return orderedBytes(4 * CHUNK)
}

/** Puts rows of A into order, four by four: those that fill the last four up repeat the last row. */
function orderFours(args: CodedArguments, a: usize, count: u32, to: usize): void {
  const bytes = bytesOfFour(args)
  const fours = (count + 3) >> 2
  const known = <usize>chunksOf(args) * ofChunk()
  for (let i: u32 = 0; i < 4 * fours; i++) {
    const four = to + <usize>(i >> 2) * bytes
    const lane = (<usize>(i & 3)) << 2
    const from = a + ((<usize>min(i, count - 1) * args.k) << 2)
    orderRow(APART, args, from, four + lane, four + known + lane, to + fours * bytes)
    memory.fill(four + bytes - BLOCK, 0, BLOCK)
  }
}

function byPanels(args: CodedArguments, column: u32, cols: u32, rows: u32, scratch: usize, c: usize): void {
  const bytes = bytesOfFour(args)
  const chunks = chunksOf(args)
  const fours = (rows + 3) >> 2
  const results = scratch + fours * bytes
  const panel = results + fours * RESULT
  for (let j: u32 = 0; j < cols; j += COLUMNS) {
    memory.fill(results, 0, fours * RESULT)
    const width = min(COLUMNS, cols - j)
    for (let from: u32 = 0; from < chunks; from += SLICE) {
      const end = min(chunks, from + SLICE)
      fillPanel(args, column + j, from, end, panel)
      for (let i: u32 = 0; i < fours; i++) {
        const four = scratch + i * bytes
        const to = results + i * RESULT
        if (ASC_FEATURE_RELAXED_SIMD && isEarlyV8) earlySlice(args.zeroKind, args, four, from, end, panel, to)
        else if (args.zeroKind == CODES) codedSlice(args, four, from, end, panel, to)
        else if (args.zeroKind == NUMBERS) numberedSlice(args, four, from, end, panel, to)
        else plainSlice(args, four, from, end, panel, to)
      }
    }
    const to = c + ((<usize>j) << 2)
    for (let i: u32 = 0; i < rows; i++)
      memory.copy(to + ((<usize>i * args.n) << 2), results + ((<usize>i) << 5), (<usize>width) << 2)
  }
}

/**
 * Puts chunks `from … end - 1` of two groups of rows of weights into a panel; a group that is not there is the last.
 */
function fillPanel(args: CodedArguments, column: u32, from: u32, end: u32, panel: usize): void {
  const perBlock = args.blockSize / CHUNK
  const mask = maskOf(args)
  const groups = (args.n + TOGETHER - 1) / TOGETHER
  for (let half: u32 = 0; half < 2; half++) {
    const group = min(groups - 1, column / TOGETHER + half)
    let w = args.codes + <usize>group * TOGETHER * args.rowBytes + <usize>from * TOGETHER * CODED
    let to = panel + ((<usize>half) << 4)
    for (let chunk = from; chunk < end; chunk++, to += PANEL) {
      for (let at = to; at < to + 4 * orderedBytes(64); at += orderedBytes(64), w += 16)
        storeCodes(v128.load(w), mask, at)
      const block = chunk / perBlock
      const ofBlock = (<usize>group * args.blocks + block) << 4
      v128.store(to, v128.load(args.scales + ofBlock), SCALES)
      if (args.zeroKind == CODES) v128.store(to, zerosAt(args, group, block), ZEROS)
      else if (args.zeroKind == NUMBERS) v128.store(to, v128.load(args.zeros + ofBlock), ZEROS)
    }
  }
}

/** Eight codes of four columns as four pairs, with higher codes above them. For relaxed SIMD as bytes. */
// @ts-ignore: decorator
@inline
function storeCodes(v: v128, mask: v128, to: usize): void {
  if (ASC_FEATURE_RELAXED_SIMD) {
    v128.store(to, v128.and(v, mask))
    v128.store(to, v128.and(i16x8.shr_u(v, 4), mask), 32)
    return
  }
  v128.store(to, v)
  v128.store(to, i16x8.shr_s(v, 4), 32)
  v128.store(to, i16x8.shr_s(v, 8), 64)
  v128.store(to, i16x8.shr_s(v, 12), 96)
}

/** Adds products of codes of four columns by those elements of a row of A that they belong to. */
// @ts-ignore: decorator
@inline
function addDots(isEarly: bool, sums: v128, codes: v128, x: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? addDot(isEarly, x, codes, sums) : i32x4.add(sums, i32x4.dot_i16x8_s(codes, x))
}

/** What the sums of a row of A by four columns begin with, where a block begins. */
// @ts-ignore: decorator
@inline
function startFor(kind: u32, known: usize, zeros: usize): v128 {
  return kind == CODES ? startOf(known, APART, v128.load(zeros)) : v128.load32_splat(known)
}

/**
 * Adds the products of chunks `from … end - 1` of four rows of A and a panel to four rows of a panel of C.
 * @param kind of zero points: {@link ONE}, {@link CODES} or {@link NUMBERS}
 * @param isEarly a constant, since this is inlined: {@link isEarlyV8}
 */
// @ts-ignore: decorator
@inline
function addSlice(
  kind: u32,
  isEarly: bool,
  args: CodedArguments,
  a: usize,
  from: u32,
  end: u32,
  panel: usize,
  c: usize
): void {
  const perBlock = args.blockSize / CHUNK
  const blocks = a + <usize>chunksOf(args) * ofChunk()
  const nothing = blocks + <usize>args.blocks * BLOCK
  let known = blocks + <usize>(from / perBlock) * BLOCK
  let left = perBlock - (from % perBlock)
  a += <usize>from * ofChunk()
  for (const last = panel + <usize>(end - from) * PANEL; panel < last; known += BLOCK) {
    // Zero points are taken off with the first chunk of a block: a block may be continued in the next slice.
    const begin = left == perBlock ? known : nothing
    const zeros = panel + ZEROS
    let s0 = startFor(kind, begin, zeros)
    let s1 = startFor(kind, begin + 4, zeros)
    let s2 = startFor(kind, begin + 8, zeros)
    let s3 = startFor(kind, begin + 12, zeros)
    let t0 = startFor(kind, begin, zeros + 16)
    let t1 = startFor(kind, begin + 4, zeros + 16)
    let t2 = startFor(kind, begin + 8, zeros + 16)
    let t3 = startFor(kind, begin + 12, zeros + 16)
    const scales = panel + SCALES
    for (const stop = min(last, panel + <usize>left * PANEL); panel < stop; panel += PANEL) {
      let w = panel
      for (const next = a + ofChunk(); a < next; a += 32, w += 64) {
        let low = v128.load(w)
        let high = v128.load(w, 16)
        let x = v128.load32_splat(a)
        s0 = addDots(isEarly, s0, low, x)
        t0 = addDots(isEarly, t0, high, x)
        x = v128.load32_splat(a, 4)
        s1 = addDots(isEarly, s1, low, x)
        t1 = addDots(isEarly, t1, high, x)
        x = v128.load32_splat(a, 8)
        s2 = addDots(isEarly, s2, low, x)
        t2 = addDots(isEarly, t2, high, x)
        x = v128.load32_splat(a, 12)
        s3 = addDots(isEarly, s3, low, x)
        t3 = addDots(isEarly, t3, high, x)
        low = v128.load(w, 32)
        high = v128.load(w, 48)
        x = v128.load32_splat(a, 16)
        s0 = addDots(isEarly, s0, low, x)
        t0 = addDots(isEarly, t0, high, x)
        x = v128.load32_splat(a, 20)
        s1 = addDots(isEarly, s1, low, x)
        t1 = addDots(isEarly, t1, high, x)
        x = v128.load32_splat(a, 24)
        s2 = addDots(isEarly, s2, low, x)
        t2 = addDots(isEarly, t2, high, x)
        x = v128.load32_splat(a, 28)
        s3 = addDots(isEarly, s3, low, x)
        t3 = addDots(isEarly, t3, high, x)
      }
    }
    addRow(kind, c, s0, t0, begin, scales, v128.load32_splat(known, UNIT * APART))
    addRow(kind, c + 32, s1, t1, begin + 4, scales, v128.load32_splat(known, UNIT * APART + 4))
    addRow(kind, c + 64, s2, t2, begin + 8, scales, v128.load32_splat(known, UNIT * APART + 8))
    addRow(kind, c + 96, s3, t3, begin + 12, scales, v128.load32_splat(known, UNIT * APART + 12))
    left = perBlock
  }
}

function plainSlice(args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(ONE, false, args, a, from, end, panel, c)
}

function codedSlice(args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(CODES, false, args, a, from, end, panel, c)
}

function numberedSlice(args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(NUMBERS, false, args, a, from, end, panel, c)
}

function earlySlice(kind: u32, args: CodedArguments, a: usize, from: u32, end: u32, panel: usize, c: usize): void {
  addSlice(kind, true, args, a, from, end, panel, c)
}

/**
 * Adds sums of a block, scaled, to a row of a panel of C.
 * @param known what is known of the block of A
 * @param scales of the columns, behind which there are zero points
 */
// @ts-ignore: decorator
@inline
function addRow(kind: u32, c: usize, s: v128, t: v128, known: usize, scales: usize, unit: v128): void {
  addColumns(kind, c, s, known, scales, unit)
  addColumns(kind, c + 16, t, known, scales + 16, unit)
}

// @ts-ignore: decorator
@inline
function addColumns(kind: u32, c: usize, s: v128, known: usize, scales: usize, unit: v128): void {
  const minus = f32x4.convert_i32x4_s(v128.load32_splat(known, MINUS_SUM * APART))
  const sums = kind == NUMBERS ? withNumbers(s, minus, v128.load(scales, ZEROS - SCALES)) : f32x4.convert_i32x4_s(s)
  v128.store(c, fma(v128.load(c), sums, f32x4.mul(v128.load(scales), unit)))
}
