import { isEarlyV8 } from '../engine'
import { clip, fma, splat } from './simd'

/**
 * Where row `row` of a tile of `rows` lies. Tiles of six rows begin with an even one, so there is less to work out.
 */
// @ts-ignore: decorator
@inline
function rowAt(rows: u32, row: usize, a: usize, lda: usize, next: usize, gap: usize): usize {
  const at = a + row * lda
  const first = rows == 6 ? row & ~1 : row
  return first == 0 ? at : at + (first < 4 ? select<usize>(gap, 0, first >= next) : gap)
}

/**
 * Four to six rows by one panel, for the relaxed module. With a fused multiply-add six rows and five reach 0.98 of what
 * the ports of a processor allow, four rows 0.85 to 0.9; without one, engines run out of registers for more than four.
 * Two steps a turn take longer: 1.08 of the time for six rows, 1.24 for five.
 * @param rows a constant, since this is inlined
 * @param next which row begins the next strip of four, one to four; between strips lies a gap
 * @param gap bytes from where the row behind a strip's last one would lie to the next strip
 * @param add whether to add to what is in C
 * @param bias a number for each row that is added to its sums; 0: none
 * @param residual what is added to the sums, laid out as C; 0: nothing
 * @param clips whether to keep the sums between `low` and `high` at last
 */
// @ts-ignore: decorator
@inline
function tile(
  rows: u32,
  a: usize,
  lda: usize,
  ka: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32
): void {
  let a1 = rowAt(rows, 1, a, lda, next, gap)
  let a2 = rowAt(rows, 2, a, lda, next, gap)
  let a3 = rowAt(rows, 3, a, lda, next, gap)
  let a4 = rowAt(rows, 4, a, lda, next, gap)
  let a5 = rowAt(rows, 5, a, lda, next, gap)
  let c00 = splat(0)
  let c01 = c00
  let c10 = c00
  let c11 = c00
  let c20 = c00
  let c21 = c00
  let c30 = c00
  let c31 = c00
  let c40 = c00
  let c41 = c00
  let c50 = c00
  let c51 = c00
  for (const end = p + (k << 5); p < end; p += 32) {
    const b0 = v128.load(p)
    const b1 = v128.load(p, 16)
    let x = v128.load32_splat(a)
    c00 = fma(c00, x, b0)
    c01 = fma(c01, x, b1)
    x = v128.load32_splat(a1)
    c10 = fma(c10, x, b0)
    c11 = fma(c11, x, b1)
    x = v128.load32_splat(a2)
    c20 = fma(c20, x, b0)
    c21 = fma(c21, x, b1)
    x = v128.load32_splat(a3)
    c30 = fma(c30, x, b0)
    c31 = fma(c31, x, b1)
    if (rows > 4) {
      x = v128.load32_splat(a4)
      c40 = fma(c40, x, b0)
      c41 = fma(c41, x, b1)
    }
    if (rows > 5) {
      x = v128.load32_splat(a5)
      c50 = fma(c50, x, b0)
      c51 = fma(c51, x, b1)
    }
    a += ka
    a1 += ka
    a2 += ka
    a3 += ka
    a4 += ka
    a5 += ka
  }
  placeRow(c, c00, c01, add, bias, residual, clips, low, high)
  placeRow(c + 1 * ldc, c10, c11, add, nextOf(bias, 4), nextOf(residual, 1 * ldc), clips, low, high)
  placeRow(c + 2 * ldc, c20, c21, add, nextOf(bias, 8), nextOf(residual, 2 * ldc), clips, low, high)
  placeRow(c + 3 * ldc, c30, c31, add, nextOf(bias, 12), nextOf(residual, 3 * ldc), clips, low, high)
  if (rows > 4) placeRow(c + 4 * ldc, c40, c41, add, nextOf(bias, 16), nextOf(residual, 4 * ldc), clips, low, high)
  if (rows > 5) placeRow(c + 5 * ldc, c50, c51, add, nextOf(bias, 20), nextOf(residual, 5 * ldc), clips, low, high)
}

/** The address behind one by so many bytes; 0 stays 0, which stands for nothing. */
// @ts-ignore: decorator
@inline
function nextOf(at: usize, bytes: usize): usize {
  return at == 0 ? 0 : at + bytes
}

/**
 * Stores eight sums of a row, with all that is done to them before, as in {@link tile}; `bias` is where the number of
 * the row lies.
 */
// @ts-ignore: decorator
@inline
function placeRow(
  c: usize,
  c0: v128,
  c1: v128,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32
): void {
  if (add) {
    c0 = f32x4.add(v128.load(c), c0)
    c1 = f32x4.add(v128.load(c, 16), c1)
  }
  if (bias != 0) {
    const v = v128.load32_splat(bias)
    c0 = f32x4.add(c0, v)
    c1 = f32x4.add(c1, v)
  }
  if (residual != 0) {
    c0 = f32x4.add(v128.load(residual), c0)
    c1 = f32x4.add(v128.load(residual, 16), c1)
  }
  if (clips) {
    c0 = clip(c0, splat(low), splat(high))
    c1 = clip(c1, splat(low), splat(high))
  }
  v128.store(c, c0)
  v128.store(c, c1, 16)
}

// Each function has one loop. In functions with several loops V8 runs out of registers within the loops: in Node 22 six
// rows then take 1.6 times as long.

function fourOfRows(
  a: usize,
  lda: usize,
  ka: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize
): void {
  tile(4, a, lda, ka, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

function fourOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(4, a, 4, 16, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

function fiveOfRows(
  a: usize,
  lda: usize,
  ka: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize
): void {
  tile(5, a, lda, ka, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

function fiveOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(5, a, 4, 16, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

function sixOfRows(
  a: usize,
  lda: usize,
  ka: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize
): void {
  tile(6, a, lda, ka, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

export function sixOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(6, a, 4, 16, next, gap, p, c, ldc, k, false, 0, 0, false, 0, 0)
}

function addFourOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(4, a, 4, 16, next, gap, p, c, ldc, k, true, 0, 0, false, 0, 0)
}

function addFiveOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(5, a, 4, 16, next, gap, p, c, ldc, k, true, 0, 0, false, 0, 0)
}

export function addSixOfStrips(a: usize, next: usize, gap: usize, p: usize, c: usize, ldc: usize, k: usize): void {
  tile(6, a, 4, 16, next, gap, p, c, ldc, k, true, 0, 0, false, 0, 0)
}

/** Adds four to six rows of A, in strips, by a panel to C. */
// @ts-ignore: decorator
@inline
export function addStripsOfTile(
  rows: u32,
  a: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize
): void {
  if (rows == 6) addSixOfStrips(a, next, gap, p, c, ldc, k)
  else if (rows == 5) addFiveOfStrips(a, next, gap, p, c, ldc, k)
  else addFourOfStrips(a, next, gap, p, c, ldc, k)
}

/** Four to six rows of A: strips where `ka` is 16 and `lda` is 4. */
// @ts-ignore: decorator
@inline
export function rowsOfTile(
  rows: u32,
  a: usize,
  lda: usize,
  ka: usize,
  next: usize,
  gap: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize
): void {
  if (ka == 16 && lda == 4) {
    if (rows == 6) sixOfStrips(a, next, gap, p, c, ldc, k)
    else if (rows == 5) fiveOfStrips(a, next, gap, p, c, ldc, k)
    else fourOfStrips(a, next, gap, p, c, ldc, k)
  } else {
    if (rows == 6) sixOfRows(a, lda, ka, next, gap, p, c, ldc, k)
    else if (rows == 5) fiveOfRows(a, lda, ka, next, gap, p, c, ldc, k)
    else fourOfRows(a, lda, ka, next, gap, p, c, ldc, k)
  }
}

/**
 * Six output channels of strips of four, beginning with channel `half` (0 or 2) of one, with all that is done to their
 * sums before they are stored; `add` to `high` as in {@link tile}. For an early V8 the loop only stores behind it.
 * @param strip bytes from strip to strip
 * @param scratch memory for 192 bytes
 */
export function sixChannels(
  w: usize,
  strip: usize,
  half: usize,
  p: usize,
  c: usize,
  ldc: usize,
  k: usize,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32,
  scratch: usize
): void {
  const a = w + (half << 2)
  const next = 4 - half
  const gap = strip - 16
  if (!isEarlyV8) return tile(6, a, 4, 16, next, gap, p, c, ldc, k, add, bias, residual, clips, low, high)
  sixOfStrips(a, next, gap, p, scratch, 32, k)
  finishSix(scratch, c, ldc, add, bias, residual, clips, low, high)
}

/** Stores six rows of sums, of eight columns each, in C; what is done to them before is as in {@link tile}. */
function finishSix(
  sums: usize,
  c: usize,
  ldc: usize,
  add: bool,
  bias: usize,
  residual: usize,
  clips: bool,
  low: f32,
  high: f32
): void {
  for (const end = sums + 192; sums < end; sums += 32, c += ldc) {
    placeRow(c, v128.load(sums), v128.load(sums, 16), add, bias, residual, clips, low, high)
    bias = nextOf(bias, 4)
    residual = nextOf(residual, ldc)
  }
}
