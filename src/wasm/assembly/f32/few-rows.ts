import { add8, oneByFour, oneBySix, threeByTwo, twoByThree, twoByTwo } from './few-rows-tiles'
import { SPAN } from './gemm'

/**
 * Products whose A has one to three rows. They take the time in which B is read, and a core reads several streams
 * faster than one. A stream is a run of panels: streams that begin anew with every panel of 16 to 48 KiB take 1.15 to
 * 1.4 of the time of streams that go on. One row reads four streams, which memory gives faster than six (1.08 of the
 * time for GPT-2); where panels are short, so that B is likely to be in a cache, six.
 */

/** Least depth of panels that are read in four streams, not six. */
const MIN_LONG: usize = 512

/** {@link oneByFour} in spans of the depth. */
function rowInSpans(
  a: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  cStride: usize,
  add: bool
): void {
  for (const end = p + len; p < end; p += SPAN << 5, a += SPAN * ka) {
    oneByFour(a, ka, p, stride, min(end - p, SPAN << 5), c, cStride, add)
    add = true
  }
}

/** Adds sums of `rows` rows by `panels` panels, which lie one behind the other, to C. */
function addSums(sums: usize, c: usize, ldc: usize, cStride: usize, rows: u32, panels: u32): void {
  for (let i: u32 = 0; i < rows; i++, c += ldc)
    for (let j: u32 = 0, to = c; j < panels; j++, to += cStride, sums += 32)
      add8(to, v128.load(sums), v128.load(sums, 16), true)
}

/**
 * Panels that rows are multiplied by at once. Two rows by three panels are twelve sums, for which plain SIMD, that
 * rounds products apart, has too few registers: 0.6 of the speed of eight sums in caches.
 */
// @ts-ignore: decorator
@inline
function streamsOf(rows: u32, k: usize): u32 {
  if (rows == 1) return k < MIN_LONG ? 6 : 4
  return rows == 2 && ASC_FEATURE_RELAXED_SIMD ? 3 : 2
}

/**
 * One to three rows by the panels of {@link streamsOf}, in spans of the depth. The sums of later spans lie in scratch
 * memory before they are added to C, since additions behind the loops of the kernels would cost registers.
 */
function inSpans(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  k: usize,
  c: usize,
  ldc: usize,
  cStride: usize,
  rows: u32,
  add: bool,
  scratch: usize
): void {
  const panels = streamsOf(rows, k)
  const row = (<usize>panels) << 5
  // At least once, so that C is written where k is 0, too.
  for (let from: usize = 0; from < k || from == 0; from += SPAN, a += SPAN * ka, p += SPAN << 5) {
    const len = min(k - from, SPAN) << 5
    if (from == 0) byStreams(a, lda, ka, p, stride, len, c, ldc, cStride, rows, add)
    else {
      byStreams(a, lda, ka, p, stride, len, scratch, row, 32, rows, false)
      addSums(scratch, c, ldc, cStride, rows, panels)
    }
  }
}

/** A span of the depth. */
function byStreams(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  stride: usize,
  len: usize,
  c: usize,
  ldc: usize,
  cStride: usize,
  rows: u32,
  add: bool
): void {
  if (rows == 1) oneBySix(a, ka, p, stride, len, c, cStride, add)
  else if (rows == 3) threeByTwo(a, lda, ka, p, stride, len, c, ldc, cStride, add)
  else if (ASC_FEATURE_RELAXED_SIMD) twoByThree(a, lda, ka, p, stride, len, c, ldc, cStride, add)
  else twoByTwo(a, lda, ka, p, stride, len, c, ldc, cStride, add)
}

/**
 * One to three rows of A by as many of `panels` whole panels as can be divided evenly among the streams.
 * @param add whether to add to what is in C
 * @param scratch {@link EDGE} bytes, where sums lie before they are added
 * @returns the panels that are done; fewer are left than are taken together
 */
export function fewRowsByPanels(
  a: usize,
  lda: usize,
  ka: usize,
  p: usize,
  c: usize,
  ldc: usize,
  rows: u32,
  panels: u32,
  k: usize,
  add: bool,
  scratch: usize
): u32 {
  const len = k << 5
  const streams = streamsOf(rows, k)
  const ofStream = panels / streams
  const stride = <usize>ofStream * len
  const cStride = (<usize>ofStream) << 5
  for (let i: u32 = 0; i < ofStream; i++, p += len, c += 32) {
    if (streams == 4) rowInSpans(a, ka, p, stride, len, c, cStride, add)
    else inSpans(a, lda, ka, p, stride, k, c, ldc, cStride, rows, add, scratch)
  }
  return ofStream * streams
}
