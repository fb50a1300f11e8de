import { firstOffset, secondOffset, unravel } from '../loops'
/**
 * Products of matrices of int32 and int64, which wrap, and of float64. The columns of B lie side by side, or where its
 * rows and the elements of A do, any number of bytes apart.
 */
@unmanaged
export class WideProductArguments {
  a: usize
  b: usize
  y: usize
  type: i32
  m: u32
  n: u32
  k: u32
  /** Bytes that A and B move by from row to row and from element to element. */
  aRow: usize
  aElement: usize
  bRow: usize
  bElement: usize
  /** Loops over matrices, the innermost first; they follow: size, bytes that A and B move by, three words each. */
  rank: u32
}

const INT32: i32 = 0
const INT64: i32 = 1

/** Rows of a block. */
const ROWS: u32 = 4

/** Computes blocks `from … to - 1` of four rows, those of a matrix side by side. */
export function wideProduct(args: WideProductArguments, from: u32, to: u32): void {
  if (args.type == INT32) blocksOf<i32>(args, from, to)
  else if (args.type == INT64) blocksOf<i64>(args, from, to)
  else blocksOf<f64>(args, from, to)
}

function blocksOf<T>(args: WideProductArguments, from: u32, to: u32): void {
  const perMatrix = (args.m + ROWS - 1) / ROWS
  const loops = changetype<usize>(args) + offsetof<WideProductArguments>()
  const yRow = <usize>args.n * sizeof<T>()
  for (let block = from; block < to; block++) {
    const matrix = block / perMatrix
    const first = (block % perMatrix) * ROWS
    unravel(loops, args.rank, matrix)
    let a = args.a + first * args.aRow + firstOffset
    let b = args.b + secondOffset
    let y = args.y + (<usize>matrix * args.m + first) * yRow
    if (args.bRow == sizeof<T>() && args.aElement == sizeof<T>()) {
      if (args.m - first >= ROWS) fourRowsOfDots<T>(args, a, b, y, yRow)
      else for (let r = first; r < args.m; r++, a += args.aRow, y += yRow) rowOfDots<T>(args, a, b, y, yRow)
    } else if (args.m - first >= ROWS) fourRows<T>(args, a, b, y, yRow)
    else
      for (let r = first; r < args.m; r++, a += args.aRow, y += yRow) {
        oneRow<T>(args, a, b, y, yRow)
      }
  }
}

// @ts-ignore: decorator
@inline
function add<T>(sum: v128, a: v128, b: v128): v128 {
  return v128.add<T>(sum, v128.mul<T>(a, b))
}

/** Four rows by two vectors of columns at a time. */
// @ts-ignore: decorator
@inline
function fourRows<T>(args: WideProductArguments, a: usize, b: usize, y: usize, yRow: usize): void {
  const aRow = args.aRow
  const aElement = args.aElement
  const bRow = args.bRow
  const depth = <usize>args.k * aElement
  let at: usize = 0
  for (; at + 32 <= yRow; at += 32) {
    let p0 = v128.splat<T>(0)
    let p1 = p0
    let q0 = p0
    let q1 = p0
    let r0 = p0
    let r1 = p0
    let s0 = p0
    let s1 = p0
    for (let x = a, end = a + depth, z = b + at; x != end; x += aElement, z += bRow) {
      const v = v128.load(z)
      const w = v128.load(z, 16)
      const p = v128.load_splat<T>(x)
      p0 = add<T>(p0, p, v)
      p1 = add<T>(p1, p, w)
      const q = v128.load_splat<T>(x + aRow)
      q0 = add<T>(q0, q, v)
      q1 = add<T>(q1, q, w)
      const r = v128.load_splat<T>(x + 2 * aRow)
      r0 = add<T>(r0, r, v)
      r1 = add<T>(r1, r, w)
      const s = v128.load_splat<T>(x + 3 * aRow)
      s0 = add<T>(s0, s, v)
      s1 = add<T>(s1, s, w)
    }
    const to = y + at
    v128.store(to, p0)
    v128.store(to, p1, 16)
    v128.store(to + yRow, q0)
    v128.store(to + yRow, q1, 16)
    v128.store(to + 2 * yRow, r0)
    v128.store(to + 2 * yRow, r1, 16)
    v128.store(to + 3 * yRow, s0)
    v128.store(to + 3 * yRow, s1, 16)
  }
  for (let r: usize = 0; r < ROWS; r++) lastColumns<T>(args, a + r * aRow, b, y + r * yRow, at, yRow)
}

/** One row by four vectors of columns at a time. */
// @ts-ignore: decorator
@inline
function oneRow<T>(args: WideProductArguments, a: usize, b: usize, y: usize, yRow: usize): void {
  const aElement = args.aElement
  const bRow = args.bRow
  const depth = <usize>args.k * aElement
  let at: usize = 0
  for (; at + 64 <= yRow; at += 64) {
    let p = v128.splat<T>(0)
    let q = p
    let r = p
    let s = p
    for (let x = a, end = a + depth, z = b + at; x != end; x += aElement, z += bRow) {
      const v = v128.load_splat<T>(x)
      p = add<T>(p, v, v128.load(z))
      q = add<T>(q, v, v128.load(z, 16))
      r = add<T>(r, v, v128.load(z, 32))
      s = add<T>(s, v, v128.load(z, 48))
    }
    v128.store(y + at, p)
    v128.store(y + at, q, 16)
    v128.store(y + at, r, 32)
    v128.store(y + at, s, 48)
  }
  lastColumns<T>(args, a, b, y, at, yRow)
}

/** The columns of a row from byte `at` to byte `end`. */
function lastColumns<T>(args: WideProductArguments, a: usize, b: usize, y: usize, at: usize, end: usize): void {
  const aElement = args.aElement
  const bRow = args.bRow
  const stop = a + <usize>args.k * aElement
  for (; at < end; at += sizeof<T>()) {
    let sum: T = 0
    for (let x = a, z = b + at; x != stop; x += aElement, z += bRow) sum += load<T>(x) * load<T>(z)
    store<T>(y + at, sum)
  }
}

/** Four rows by one column at a time, where both lie along the depth. */
// @ts-ignore: decorator
@inline
function fourRowsOfDots<T>(args: WideProductArguments, a: usize, b: usize, y: usize, yRow: usize): void {
  const aRow = args.aRow
  const depth = <usize>args.k * sizeof<T>()
  const whole = depth & ~15
  for (const end = y + yRow; y < end; y += sizeof<T>(), b += args.bElement) {
    let p = v128.splat<T>(0)
    let q = p
    let r = p
    let s = p
    for (let at: usize = 0; at < whole; at += 16) {
      const v = v128.load(b + at)
      const x = a + at
      p = add<T>(p, v128.load(x), v)
      q = add<T>(q, v128.load(x + aRow), v)
      r = add<T>(r, v128.load(x + 2 * aRow), v)
      s = add<T>(s, v128.load(x + 3 * aRow), v)
    }
    store<T>(y, sumOf<T>(p, a, b, whole, depth))
    store<T>(y + yRow, sumOf<T>(q, a + aRow, b, whole, depth))
    store<T>(y + 2 * yRow, sumOf<T>(r, a + 2 * aRow, b, whole, depth))
    store<T>(y + 3 * yRow, sumOf<T>(s, a + 3 * aRow, b, whole, depth))
  }
}

/** One row by four columns at a time, then one. */
// @ts-ignore: decorator
@inline
function rowOfDots<T>(args: WideProductArguments, a: usize, b: usize, y: usize, yRow: usize): void {
  const bStep = args.bElement
  const depth = <usize>args.k * sizeof<T>()
  const whole = depth & ~15
  const end = y + yRow
  for (; y + 4 * sizeof<T>() <= end; y += 4 * sizeof<T>(), b += 4 * bStep) {
    let p = v128.splat<T>(0)
    let q = p
    let r = p
    let s = p
    for (let at: usize = 0; at < whole; at += 16) {
      const v = v128.load(a + at)
      const x = b + at
      p = add<T>(p, v, v128.load(x))
      q = add<T>(q, v, v128.load(x + bStep))
      r = add<T>(r, v, v128.load(x + 2 * bStep))
      s = add<T>(s, v, v128.load(x + 3 * bStep))
    }
    store<T>(y, sumOf<T>(p, a, b, whole, depth))
    store<T>(y, sumOf<T>(q, a, b + bStep, whole, depth), sizeof<T>())
    store<T>(y, sumOf<T>(r, a, b + 2 * bStep, whole, depth), 2 * sizeof<T>())
    store<T>(y, sumOf<T>(s, a, b + 3 * bStep, whole, depth), 3 * sizeof<T>())
  }
  for (; y < end; y += sizeof<T>(), b += bStep) {
    let p = v128.splat<T>(0)
    let q = p
    let at: usize = 0
    for (; at + 32 <= whole; at += 32) {
      p = add<T>(p, v128.load(a + at), v128.load(b + at))
      q = add<T>(q, v128.load(a + at, 16), v128.load(b + at, 16))
    }
    if (at < whole) p = add<T>(p, v128.load(a + at), v128.load(b + at))
    store<T>(y, sumOf<T>(v128.add<T>(p, q), a, b, whole, depth))
  }
}

/** The sum of the lanes of `sums`, and of the products from byte `at` to byte `end`. */
function sumOf<T>(sums: v128, a: usize, b: usize, at: usize, end: usize): T {
  let sum: T
  if (sizeof<T>() == 4) {
    const pairs = v128.add<T>(sums, i32x4.shuffle(sums, sums, 2, 3, 0, 1))
    sum = <T>(v128.extract_lane<T>(pairs, 0) + v128.extract_lane<T>(pairs, 1))
  } else sum = <T>(v128.extract_lane<T>(sums, 0) + v128.extract_lane<T>(sums, 1))
  for (; at < end; at += sizeof<T>()) sum += load<T>(a + at) * load<T>(b + at)
  return sum
}
