import type { Numbers } from '../../tensor/elements.ts'
import { chunkSize, COST, type Pace } from '../core/pace.ts'

/** A matrix inside an array: element (i, j) lies at `offset + i * rowStride + j * columnStride`. */
export interface Matrix<A = Numbers> {
  readonly data: A
  readonly offset: number
  readonly rowStride: number
  readonly columnStride: number
}

/** A row-major matrix without gaps. */
export const matrix = <A>(data: A, offset: number, columns: number): Matrix<A> => ({
  data,
  offset,
  rowStride: columns,
  columnStride: 1
})

export const transposed = <A>({ data, offset, rowStride, columnStride }: Matrix<A>): Matrix<A> => ({
  data,
  offset,
  rowStride: columnStride,
  columnStride: rowStride
})

/** The rows of a matrix from `first` on. */
export const rowsFrom = <A>(of: Matrix<A>, first: number): Matrix<A> => ({
  ...of,
  offset: of.offset + first * of.rowStride
})

// Sizes of a block, which is multiplied between two chances to yield. A strip of 4 columns of it stays in the
// first-level cache, the packed panels in the second-level cache.
const BLOCK_M = 64
const BLOCK_N = 256
const BLOCK_K = 512
/** Rows and columns of a tile, whose sums the innermost loop keeps in registers. */
const TILE = 4
/** What adding a tile to the output costs, in multiplications and additions for each of its elements. */
const TILE_COST = 16

/** Packed panels of both factors and the sums of one tile. All products share them. */
interface Panels {
  /** The product that packed `b` last. After a yield a product packs its panel anew if another one has used it. */
  owner: object
  readonly a: Float64Array
  readonly b: Float64Array
  readonly tile: Float64Array
}

let panels: Panels | undefined
const sharedPanels = (): Panels =>
  (panels ??= {
    owner: {},
    a: new Float64Array(BLOCK_M * BLOCK_K),
    b: new Float64Array(BLOCK_N * BLOCK_K),
    tile: new Float64Array(TILE * TILE)
  })

/** `out += a b` for an `m x k` matrix `a` and a `k x n` matrix `b`; yields as `pace` says. */
export type Gemm<A> = (
  m: number,
  n: number,
  k: number,
  a: Matrix<A>,
  b: Matrix<A>,
  out: Matrix<A>,
  pace: Pace
) => Generator<void>

/**
 * `out += a b` for an `m x k` matrix `a` and a `k x n` matrix `b`. Products are summed in double precision over blocks
 * of {@link BLOCK_K}, which is exact for integers up to 16 bits; the sums of blocks are added to `out`.
 */
export function* gemm(m: number, n: number, k: number, a: Matrix, b: Matrix, out: Matrix, pace: Pace): Generator<void> {
  if (m < TILE) return yield* thinGemm(m, n, k, a, b, out, pace)
  if (n < TILE) return yield* thinGemm(n, m, k, transposed(b), transposed(a), transposed(out), pace)
  const packed = sharedPanels()
  const product = {}
  for (let from = 0; from < k; from += BLOCK_K) {
    const depth = Math.min(BLOCK_K, k - from)
    for (let left = 0; left < n; left += BLOCK_N) {
      const width = Math.min(BLOCK_N, n - left)
      for (let top = 0; top < m; top += BLOCK_M) {
        const height = Math.min(BLOCK_M, m - top)
        const packsB = top === 0 || packed.owner !== product
        if (packsB) pack(transposed(b), left, width, from, depth, packed.b)
        packed.owner = product
        pack(a, top, height, from, depth, packed.a)
        multiplyPanels(packed, height, width, depth, out, top, left)
        const multiplying = height * width * (depth + TILE_COST) * COST.blockedMultiplyAdd
        const packing = (height + (packsB ? width : 0)) * depth * COST.copy
        if (pace.isDue(multiplying + packing + COST.allocation)) yield
      }
    }
  }
}

/**
 * Packs `count` rows of a matrix from `first` on, columns `[from, from + depth)`, into strips of {@link TILE} rows. A
 * strip lies column after column; rows that its end lacks are zeros.
 */
function pack(of: Matrix, first: number, count: number, from: number, depth: number, panel: Float64Array): void {
  const { data, offset, rowStride, columnStride } = of
  for (let row = 0; row < count; row++) {
    let source = offset + (first + row) * rowStride + from * columnStride
    let target = (row - (row % TILE)) * depth + (row % TILE)
    for (let i = 0; i < depth; i++, source += columnStride, target += TILE) panel[target] = data[source]
  }
  for (let row = count; row % TILE !== 0; row++) {
    let target = (row - (row % TILE)) * depth + (row % TILE)
    for (let i = 0; i < depth; i++, target += TILE) panel[target] = 0
  }
}

/** Adds the product of the packed panels to the block of `out` whose first element is (top, left). */
function multiplyPanels(
  packed: Panels,
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

/**
 * The product of the strips at `p` of a and at `q` of b: 4 x 4 sums, in variables of their own so that they stay in
 * registers.
 */
function multiplyTile({ a, b, tile }: Panels, p: number, q: number, depth: number): void {
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

/** Multiplications and additions between two chances to yield in {@link thinGemm}. */
const THIN_CHUNK = chunkSize(COST.multiplyAdd)

/**
 * {@link gemm} for fewer than {@link TILE} rows: packing `b` would cost as much as multiplying, so it is read where it
 * lies, with the shorter of its strides in the inner loop.
 */
function* thinGemm(m: number, n: number, k: number, a: Matrix, b: Matrix, out: Matrix, pace: Pace): Generator<void> {
  const row = new Float64Array(k)
  const sums = new Float64Array(n)
  const byRows = b.columnStride <= b.rowStride
  const [outer, inner] = byRows ? [k, n] : [n, k]
  const [outerStride, stride] = byRows ? [b.rowStride, b.columnStride] : [b.columnStride, b.rowStride]
  for (let i = 0; i < m; i++) {
    const first = a.offset + i * a.rowStride
    for (let p = 0, at = first; p < k; p++, at += a.columnStride) row[p] = a.data[at]
    sums.fill(0)
    for (let o = 0; o < outer; o++) {
      for (let from = 0; from < inner; from += THIN_CHUNK) {
        const to = Math.min(inner, from + THIN_CHUNK)
        const at = b.offset + o * outerStride + from * stride
        if (byRows) addScaled(b.data, at, stride, row[o], sums, from, to)
        else sums[o] = dot(b.data, at, stride, row, from, to, sums[o])
        if (pace.isDue((to - from + TILE_COST) * COST.multiplyAdd)) yield
      }
    }
    for (let j = 0; j < n; j++) out.data[out.offset + i * out.rowStride + j * out.columnStride] += sums[j]
  }
}

/** `sums[j] += scale * x[at + (j - from) * stride]` for `from <= j < to`. */
function addScaled(
  x: Numbers,
  at: number,
  stride: number,
  scale: number,
  sums: Float64Array,
  from: number,
  to: number
): void {
  for (let j = from; j < to; j++, at += stride) sums[j] += scale * x[at]
}

/** `start` and the sum of `row[p] * x[at + (p - from) * stride]` for `from <= p < to`. */
function dot(
  x: Numbers,
  at: number,
  stride: number,
  row: Float64Array,
  from: number,
  to: number,
  start: number
): number {
  let sum = start
  for (let p = from; p < to; p++, at += stride) sum += row[p] * x[at]
  return sum
}
