import { firstOffset, secondOffset, unravel } from '../loops'
import { haveRows } from '../remembered'
import { rowsByHalves, widenPanel } from './few-halves'
import { fewRowsByPanels } from './few-rows'
import { EDGE, rowsByPanel } from './gemm'
import { rowByColumns, rowByRows } from './one-row'
import { fetchLines, packPanels, packStrips } from './panels'
import { clip, splat } from './simd'
import { rowsByStrassen } from './strassen'
import { CLIP, NONE, unarySpan } from './unary'

/**
 * C = f(alpha A B + bias + residual) for a list of matrices. Steps are in bytes. C is whole: its rows and matrices lie
 * one after the other.
 */
@unmanaged
export class MatrixArguments {
  a: usize
  b: usize
  bias: usize
  residual: usize
  c: usize
  /** 0: none; 1: one number a column; 2: one number a row. */
  biasKind: u32
  hasResidual: u32
  alpha: f32
  m: u32
  n: u32
  k: u32
  /** Rows of a block. */
  rows: u32
  /** From row to row of A, from element to element of a row, and from four rows to the next four. */
  aRow: usize
  aElement: usize
  aFour: usize
  /** From row to row of B and from column to column; both 0 where B lies in panels. */
  bRow: usize
  bColumn: usize
  /** What the panels of B hold: 0: float32; 1: float16, in codes of few-halves.ts; 2: bfloat16. */
  panelKind: u32
  /** Depth of a slab of Strassen's algorithm; 0: by the definition. */
  slab: u32
  /** Whether all that is made of a block of rows, slab by slab, fits into the scratch memory, and serves all tiles. */
  keepsRows: u32
  activation: i32
  p: f32
  q: f32
  /** Loops over matrices, the innermost first; they follow: size, bytes that A and B move by, three words each. */
  rank: u32
}

/** Depth of a block: eight columns of so many rows stay in the first cache. */
const DEPTH: u32 = 256
/** Panels of a block that are packed at once, so that memory is read along the rows of B. */
const PACKED_TOGETHER: u32 = 4
/** Fewest panels for which rows of A are put into strips first, which takes as long as a quarter of a panel. */
const MIN_PANELS: u32 = 4
/**
 * Most rows that are taken through the whole depth of a panel at once, and most elements of their strips, which are to
 * stay in caches (with more they took 1.25 of the time). So few take no longer to compute than memory needs to bring a
 * panel in one stream, which goes on from panel to panel. To read lines first adds to that, and so does a stream that
 * begins anew every {@link DEPTH} rows of B.
 */
const FEW_ROWS: u32 = 12
const MAX_STRIPS: u32 = 1 << 14

/**
 * Computes blocks `from … to - 1`: a panel of columns in a block of rows, by Strassen's algorithm two panels, counted
 * over panels, then over blocks of rows, then over matrices.
 */
export function matrixPanels(args: MatrixArguments, scratch: usize, from: u32, to: u32): void {
  const pairs: u32 = args.slab ? 1 : 0
  const panels = (((args.n + 7) >> 3) + pairs) >> pairs
  const rowBlocks = (args.m + args.rows - 1) / args.rows
  while (from < to) {
    const outer = from / panels
    const first = from % panels
    const last = min(panels, first + to - from)
    const matrix = outer / rowBlocks
    const row = (outer % rowBlocks) * args.rows
    unravel(changetype<usize>(args) + offsetof<MatrixArguments>(), args.rank, matrix)
    const a = args.a + firstOffset
    const b = args.b + secondOffset
    const c = ((<usize>matrix * args.m + row) * args.n) << 2
    panelsOf(
      args,
      a + <usize>row * args.aRow,
      b,
      c,
      row,
      min(args.rows, args.m - row),
      first << pairs,
      last << pairs,
      args.keepsRows != 0 && haveRows(outer),
      scratch
    )
    from += last - first
  }
}

function panelsOf(
  args: MatrixArguments,
  a: usize,
  b: usize,
  cOffset: usize,
  row: u32,
  rows: u32,
  first: u32,
  last: u32,
  areMade: bool,
  scratch: usize
): void {
  const n = args.n
  const left = first << 3
  const cols = min(n, last << 3) - left
  const at = cOffset + (left << 2)
  const c = args.c + at
  b += args.bColumn == 0 ? (<usize>first * args.k) << (args.panelKind == 0 ? 5 : 4) : <usize>left * args.bColumn
  const cRow = (<usize>n) << 2
  if (args.slab)
    rowsByStrassen(
      a,
      args.aRow,
      args.aElement,
      b,
      args.panelKind,
      c,
      cRow,
      rows,
      cols,
      args.k,
      args.slab,
      args.keepsRows != 0,
      areMade,
      scratch
    )
  else if (rows > 3 || !fewRowsOf(args, a, b, c, rows, cols)) byPanel(args, a, b, c, rows, cols, scratch)
  epilogue(
    c,
    args.hasResidual ? args.residual + at : 0,
    cRow,
    rows,
    cols,
    args.biasKind == 1 ? args.bias + (left << 2) : 0,
    args.biasKind == 2 ? args.bias + (row << 2) : 0,
    args.alpha,
    args.activation,
    args.p,
    args.q
  )
}

/**
 * One to three rows by `cols` columns of B, which begin at `b` and are not in panels.
 * @returns false, with nothing done, where the steps of A and B allow no loads of four elements
 */
function fewRowsOf(args: MatrixArguments, a: usize, b: usize, c: usize, rows: u32, cols: u32): bool {
  const isByColumn = args.bRow == 4 && args.aElement == 4
  if (args.bColumn != 4 && !isByColumn) return false
  for (let i: u32 = 0; i < rows; i++) {
    if (args.bColumn == 4) rowByRows(a, args.aElement, b, args.bRow, c, cols, args.k)
    else rowByColumns(a, b, args.bColumn, c, cols, args.k)
    a += args.aRow
    c += (<usize>args.n) << 2
  }
  return true
}

/** Rows by `cols` columns of B, which begin at `b`, panel by panel; columns that are not in panels are packed first. */
function byPanel(args: MatrixArguments, a: usize, b: usize, c: usize, rows: u32, cols: u32, scratch: usize): void {
  const k = args.k
  const cRow = (<usize>args.n) << 2
  const isPacked = args.bColumn == 0
  const panel = scratch + EDGE
  const panels = (cols + 7) >> 3
  const isNarrow = args.panelKind != 0
  const isBrain = args.panelKind == 2
  // Few rows stay in a cache at any depth, and panels are then read from memory in one go.
  const inOneGo = isPacked && !isNarrow && (rows <= 4 || (rows <= FEW_ROWS && ((rows + 3) & ~3) * k <= MAX_STRIPS))
  const maxDepth = inOneGo ? max<u32>(k, 1) : DEPTH
  const inStrips = rows > 4 && panels >= MIN_PANELS
  const strips = panel + <usize>PACKED_TOGETHER * (DEPTH << 5)
  let done: u32 = 0
  if (isNarrow && rows < 5) done = rowsByHalves(a, args.aRow, args.aElement, b, c, cRow, rows, cols >> 3, k, isBrain)
  else if (isPacked && !isNarrow && rows < 4)
    done = fewRowsByPanels(a, args.aRow, args.aElement, b, c, cRow, rows, cols >> 3, k, false, scratch)
  // At least once, so that C is written where k is 0, too.
  for (let k0: u32 = 0; k0 < k || k0 == 0; k0 += maxDepth) {
    const depth = min(maxDepth, k - k0)
    const from0 = a + <usize>k0 * args.aElement
    if (inStrips) packStrips(from0, args.aRow, args.aElement, rows, depth, strips)
    for (let p = done; p < panels; p++) {
      const count = min<u32>(8, cols - (p << 3))
      let from = panel
      if (isNarrow) {
        const at = b + ((<usize>p * k + k0) << 4)
        if (rows > 4) fetchLines(at, (<usize>depth) << 4, scratch)
        widenPanel(at, panel, depth << 3, isBrain)
      } else if (isPacked) {
        from = b + ((<usize>p * k + k0) << 5)
        if (inStrips && maxDepth < k && p + 1 < panels)
          fetchLines(from + ((<usize>k) << 5), (<usize>depth) << 5, scratch)
      } else {
        const rest = p % PACKED_TOGETHER
        from = panel + ((<usize>rest * depth) << 5)
        if (rest == 0) {
          const first = b + k0 * args.bRow + (p << 3) * args.bColumn
          const together = min(PACKED_TOGETHER, panels - p)
          packPanels(first, args.bRow, args.bColumn, depth, cols - (p << 3), panel, 0, together)
        }
      }
      rowsByPanel(
        inStrips ? strips : from0,
        inStrips ? 4 : args.aRow,
        inStrips ? 16 : args.aElement,
        inStrips ? (<usize>depth) << 4 : args.aFour,
        from,
        c + (p << 5),
        cRow,
        rows,
        count,
        depth,
        k0 > 0,
        scratch
      )
    }
  }
}

/**
 * Scales a part of C, adds biases and a residual to it and applies a function. Biases are added to whole sums: sums
 * that begin with them are rounded as these large numbers are, term by term.
 */
export function epilogue(
  c: usize,
  residual: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  bias: usize,
  biasRows: usize,
  alpha: f32,
  kind: i32,
  p: f32,
  q: f32
): void {
  if ((bias | biasRows | residual) == 0 && alpha == 1 && kind == NONE) return
  const factor = splat(alpha)
  const whole = (<usize>(cols & ~3)) << 2
  const end = (<usize>cols) << 2
  const clips = kind == CLIP
  const least = splat(p)
  const most = splat(q)
  const isPlain = (bias | residual) == 0 && alpha == 1
  for (let i: u32 = 0; i < rows; i++, c += cRow) {
    if (isPlain && (biasRows == 0 || !clips)) {
      if (biasRows != 0) addToRow(c, end, f32.load(biasRows + (i << 2)))
      if (kind != NONE) unarySpan(kind, c, c, end, p, q)
      continue
    }
    const rowBias = biasRows != 0 ? splat(f32.load(biasRows + (i << 2))) : splat(0)
    for (let at: usize = 0; at < whole; at += 16) {
      let v = f32x4.add(f32x4.mul(v128.load(c + at), factor), rowBias)
      if (bias != 0) v = f32x4.add(v, v128.load(bias + at))
      if (residual != 0) v = f32x4.add(v, v128.load(residual + at))
      v128.store(c + at, clips ? clip(v, least, most) : v)
    }
    for (let at = whole; at < end; at += 4) {
      let v = f32x4.add(f32x4.mul(v128.load32_splat(c + at), factor), rowBias)
      if (bias != 0) v = f32x4.add(v, v128.load32_splat(bias + at))
      if (residual != 0) v = f32x4.add(v, v128.load32_splat(residual + at))
      f32.store(c + at, f32x4.extract_lane(clips ? clip(v, least, most) : v, 0))
    }
    if (residual != 0) residual += cRow
    if (kind != NONE && !clips) unarySpan(kind, c, c, end, p, q)
  }
}

/** Adds a number to `bytes` of elements. */
function addToRow(c: usize, bytes: usize, value: f32): void {
  const v = splat(value)
  const end = c + bytes
  for (; c + 32 <= end; c += 32) {
    v128.store(c, f32x4.add(v128.load(c), v))
    v128.store(c, f32x4.add(v128.load(c, 16), v), 16)
  }
  for (; c < end; c += 4) f32.store(c, f32.load(c) + value)
}
