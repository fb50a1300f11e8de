import { transpose4 } from '../transpose4'

/**
 * Writes one panel [k][8] of a matrix whose element (row, column) lies at `row * rowStep + column * colStep`; columns
 * from `cols` on are 0.
 */
export function packPanel(b: usize, rowStep: usize, colStep: usize, k: usize, cols: u32, to: usize): void {
  if (colStep == 4 && cols == 8) {
    for (const end = to + (k << 5); to < end; to += 32, b += rowStep) {
      v128.store(to, v128.load(b))
      v128.store(to, v128.load(b, 16), 16)
    }
    return
  }
  if (rowStep == 4 && cols == 8) return packTransposed(b, colStep, k, to)
  for (const end = to + (k << 5); to < end; to += 32, b += rowStep) {
    let column = b
    for (let j: u32 = 0; j < 8; j++, column += colStep) f32.store(to + (j << 2), j < cols ? f32.load(column) : 0)
  }
}

/** {@link packPanel} for eight rows of length k, four elements of four rows at once. */
function packTransposed(b: usize, colStep: usize, k: usize, to: usize): void {
  const half = colStep << 2
  let i: usize = 0
  for (; i + 4 <= k; i += 4, b += 16, to += 128) {
    transpose4(b, colStep, to, 32)
    transpose4(b + half, colStep, to + 16, 32)
  }
  for (; i < k; i++, b += 4, to += 32) {
    let column = b
    for (let j: usize = 0; j < 32; j += 4, column += colStep) f32.store(to + j, f32.load(column))
  }
}

/** Packs `rows` rows of length k into strips [ceil(rows / 4)][k][4]; rows beyond the last are 0. */
export function packStrips(a: usize, rowStep: usize, kStep: usize, rows: u32, k: usize, to: usize): void {
  for (let m: u32 = 0; m < rows; m += 4, a += rowStep << 2) {
    const left = min<u32>(4, rows - m)
    let i: usize = 0
    if (left == 4 && kStep == 4) {
      for (; i + 4 <= k; i += 4, to += 64) transpose4(a + (i << 2), rowStep, to, 16)
    } else if (left == 4 && rowStep == 4) {
      for (; i < k; i++, to += 16) v128.store(to, v128.load(a + i * kStep))
    }
    for (; i < k; i++, to += 16) {
      const from = a + i * kStep
      for (let j: u32 = 0; j < 4; j++) f32.store(to + (j << 2), j < left ? f32.load(from + j * rowStep) : 0)
    }
  }
}

/** Packs panels `from … to - 1` of a matrix of n columns; a panel has eight. */
export function packPanels(
  b: usize,
  rowStep: usize,
  colStep: usize,
  k: usize,
  n: u32,
  to: usize,
  from: u32,
  end: u32
): void {
  for (let p = from; p < end; p++)
    packPanel(b + <usize>(p << 3) * colStep, rowStep, colStep, k, min<u32>(8, n - (p << 3)), to + ((<usize>p * k) << 5))
}

/**
 * Reads one word of each cache line, so that a panel comes from memory all at once: kernels that compute with what they
 * read wait for a few lines at a time.
 * @param to where a word goes that nobody reads
 */
// @ts-ignore: decorator
@inline
export function fetchLines(from: usize, bytes: usize, to: usize): void {
  let any: u32 = 0
  for (const end = from + bytes; from < end; from += 64) any |= load<u32>(from)
  store<u32>(to, any)
}
