import type { Numbers } from '../../tensor/elements.ts'

/** A matrix inside an array: element (i, j) lies at `offset + i * rowStride + j * columnStride`. */
export interface Matrix<A = Numbers> {
  readonly data: A
  readonly offset: number
  readonly rowStride: number
  readonly columnStride: number
}

/** Counts work over many small products, so that they yield together as one large one does. */
export interface Pace {
  work: number
}

/** Multiplications between two yields: about 8 ms. */
export const MULTIPLICATIONS_A_TURN = 1 << 24
/** Inner dimension of a block: 4 rows and 4 columns of it stay in the first-level cache. */
const BLOCK_K = 512
const BLOCK_M = 64
const BLOCK_N = 512
/** Rows and columns that the innermost loop computes at once, its sums in registers. */
const TILE = 4
/** What the sums of a tile, and a small product, cost beside multiplications. */
const TILE_COST = 16
const CALL_COST = 1024

/**
 * Packed blocks of both factors and one tile of sums; filled anew after every yield, so that products may take turns.
 */
interface Blocks {
  readonly a: Float64Array
  readonly b: Float64Array
  readonly tile: Float64Array
}

let blocks: Blocks | undefined
const takeBlocks = (): Blocks =>
  (blocks ??= {
    a: new Float64Array(BLOCK_M * BLOCK_K),
    b: new Float64Array(BLOCK_N * BLOCK_K),
    tile: new Float64Array(TILE * TILE)
  })

export const transposed = <A>({ data, offset, rowStride, columnStride }: Matrix<A>): Matrix<A> => ({
  data,
  offset,
  rowStride: columnStride,
  columnStride: rowStride
})

/**
 * `out += a b` for an `m x k` and a `k x n` matrix. Products are summed in double precision over runs of {@link
 * BLOCK_K}, exact for
 * integers up to 16 bits.
 */
export function* gemm(m: number, n: number, k: number, a: Matrix, b: Matrix, out: Matrix, pace: Pace): Generator<void> {
  if (m < TILE) return yield* thinGemm(m, n, k, a, b, out, pace)
  if (n < TILE) return yield* thinGemm(n, m, k, transposed(b), transposed(a), transposed(out), pace)
  const packed = takeBlocks()
  for (let from = 0; from < k; from += BLOCK_K) {
    const depth = Math.min(BLOCK_K, k - from)
    for (let left = 0; left < n; left += BLOCK_N) {
      const width = Math.min(BLOCK_N, n - left)
      for (let top = 0; top < m; top += BLOCK_M) {
        const height = Math.min(BLOCK_M, m - top)
        // Another product may have used the blocks since the last yield.
        if (top === 0 || pace.work === 0) pack(transposed(b), left, width, from, depth, packed.b)
        pack(a, top, height, from, depth, packed.a)
        multiplyBlocks(packed, height, width, depth, out, top, left)
        pace.work += height * width * (depth + TILE_COST) + CALL_COST
        if (pace.work >= MULTIPLICATIONS_A_TURN) {
          pace.work = 0
          yield
        }
      }
    }
  }
}

/**
 * Lays `count` rows from `first` on, columns `[from, from + depth)`, into strips of {@link TILE} rows, missing rows as
 * zeros.
 */
function pack(matrix: Matrix, first: number, count: number, from: number, depth: number, block: Float64Array): void {
  const { data, offset, rowStride, columnStride } = matrix
  for (let row = 0; row < count; row++) {
    let source = offset + (first + row) * rowStride + from * columnStride
    let target = (row - (row % TILE)) * depth + (row % TILE)
    for (let i = 0; i < depth; i++, source += columnStride, target += TILE) block[target] = data[source]
  }
  for (let row = count; row % TILE !== 0; row++) {
    let target = (row - (row % TILE)) * depth + (row % TILE)
    for (let i = 0; i < depth; i++, target += TILE) block[target] = 0
  }
}

function multiplyBlocks(
  packed: Blocks,
  height: number,
  width: number,
  depth: number,
  out: Matrix,
  top: number,
  left: number
): void {
  const { tile } = packed
  const { data, offset, rowStride, columnStride } = out
  for (let j = 0; j < width; j += TILE) {
    for (let i = 0; i < height; i += TILE) {
      multiplyTile(packed, i * depth, j * depth, depth)
      const rows = Math.min(TILE, height - i)
      const columns = Math.min(TILE, width - j)
      for (let r = 0; r < rows; r++) {
        const at = offset + (top + i + r) * rowStride + (left + j) * columnStride
        for (let c = 0; c < columns; c++) data[at + c * columnStride] += tile[r * TILE + c]
      }
    }
  }
}

/** The tile of 4 packed rows and 4 packed columns. */
function multiplyTile({ a, b, tile }: Blocks, p: number, q: number, depth: number): void {
  let s00 = 0,
    s01 = 0,
    s02 = 0,
    s03 = 0,
    s10 = 0,
    s11 = 0,
    s12 = 0,
    s13 = 0
  let s20 = 0,
    s21 = 0,
    s22 = 0,
    s23 = 0,
    s30 = 0,
    s31 = 0,
    s32 = 0,
    s33 = 0
  for (let i = 0; i < depth; i++, p += TILE, q += TILE) {
    const b0 = b[q],
      b1 = b[q + 1],
      b2 = b[q + 2],
      b3 = b[q + 3]
    let x = a[p]
    s00 += x * b0
    s01 += x * b1
    s02 += x * b2
    s03 += x * b3
    x = a[p + 1]
    s10 += x * b0
    s11 += x * b1
    s12 += x * b2
    s13 += x * b3
    x = a[p + 2]
    s20 += x * b0
    s21 += x * b1
    s22 += x * b2
    s23 += x * b3
    x = a[p + 3]
    s30 += x * b0
    s31 += x * b1
    s32 += x * b2
    s33 += x * b3
  }
  tile[0] = s00
  tile[1] = s01
  tile[2] = s02
  tile[3] = s03
  tile[4] = s10
  tile[5] = s11
  tile[6] = s12
  tile[7] = s13
  tile[8] = s20
  tile[9] = s21
  tile[10] = s22
  tile[11] = s23
  tile[12] = s30
  tile[13] = s31
  tile[14] = s32
  tile[15] = s33
}

/** Few rows: packing `b` would cost as much as multiplying, so it is read where it lies, along its shorter stride. */
function* thinGemm(m: number, n: number, k: number, a: Matrix, b: Matrix, out: Matrix, pace: Pace): Generator<void> {
  const row = new Float64Array(k)
  const sums = new Float64Array(n)
  const byRows = b.columnStride <= b.rowStride
  for (let i = 0; i < m; i++) {
    const first = a.offset + i * a.rowStride
    for (let p = 0, at = first; p < k; p++, at += a.columnStride) row[p] = a.data[at]
    sums.fill(0)
    const steps = byRows ? k : n
    for (let step = 0; step < steps; step++) {
      if (byRows) addScaled(b.data, b.offset + step * b.rowStride, b.columnStride, row[step], sums)
      else sums[step] = dot(b.data, b.offset + step * b.columnStride, b.rowStride, row)
      pace.work += (byRows ? n : k) + TILE_COST
      if (pace.work >= MULTIPLICATIONS_A_TURN) {
        pace.work = 0
        yield
      }
    }
    for (let j = 0; j < n; j++) out.data[out.offset + i * out.rowStride + j * out.columnStride] += sums[j]
  }
}

function addScaled(x: Numbers, at: number, stride: number, scale: number, sums: Float64Array): void {
  for (let j = 0; j < sums.length; j++, at += stride) sums[j] += scale * x[at]
}

function dot(x: Numbers, at: number, stride: number, row: Float64Array): number {
  let sum = 0
  for (let p = 0; p < row.length; p++, at += stride) sum += row[p] * x[at]
  return sum
}
