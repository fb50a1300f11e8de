import { firstOffset, secondOffset, unravel } from '../loops'
import { widenHalves } from '../f16/halves'
import { NONE, unarySpan } from './unary'
import { rowsByHalves, widenPanel } from './few-halves'
import { fewRowsByPanels, rowByColumns, rowByRows } from './few-rows'
import { addStripByPanel, EDGE, placeColumns, rowsByPanel, stripByPanel } from './gemm'
import { fetchLines, packPanel, packStrips } from './panels'
import { TAP, planTaps } from '../windows'
import { ConvArguments, stripsOfPart, windowsOf, writeColumns } from './conv'
import { splat } from './simd'
import { rowsByStrassen } from './strassen'

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
  activation: i32
  p: f32
  q: f32
  /** Loops over matrices, the innermost first; they follow: size, bytes that A and B move by, three words each. */
  rank: u32
}

/** Depth of a block: eight columns of so many rows stay in the first cache. */
const DEPTH: u32 = 256
/** Fewest panels for which rows of A are put into strips first, which takes as long as a quarter of a panel. */
const MIN_PANELS: u32 = 4

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
  scratch: usize
): void {
  const n = args.n
  const left = first << 3
  const cols = min(n, last << 3) - left
  const at = cOffset + (left << 2)
  const c = args.c + at
  b += args.bColumn == 0 ? (<usize>first * args.k) << (args.panelKind == 0 ? 5 : 4) : <usize>left * args.bColumn
  if (args.slab)
    rowsByStrassen(a, args.aRow, args.aElement, b, c, (<usize>n) << 2, rows, cols, args.k, args.slab, scratch)
  else if (rows > 3 || !fewRowsOf(args, a, b, c, rows, cols)) byPanel(args, a, b, c, rows, cols, scratch)
  epilogue(
    c,
    args.hasResidual ? args.residual + at : 0,
    (<usize>n) << 2,
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
  // Few rows stay in the first cache at any depth, and panels are then read from memory in one go.
  const maxDepth = isPacked && !isNarrow && rows <= 4 ? max<u32>(k, 1) : DEPTH
  const inStrips = rows > 4 && panels >= MIN_PANELS
  const strips = panel + (DEPTH << 5)
  let done: u32 = 0
  if (isNarrow && rows < 5) done = rowsByHalves(a, args.aRow, args.aElement, b, c, cRow, rows, cols >> 3, k, isBrain)
  else if (isPacked && !isNarrow && rows < 4)
    done = fewRowsByPanels(a, args.aRow, args.aElement, b, c, cRow, rows, cols >> 3, k, false)
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
        if (isBrain) widenHalves(at, panel, depth << 3, true)
        else widenPanel(at, panel, depth << 3)
      }
      if (isPacked && !isNarrow) {
        from = b + ((<usize>p * k + k0) << 5)
        if (inStrips && p + 1 < panels) fetchLines(from + ((<usize>k) << 5), (<usize>depth) << 5, scratch)
      }
      if (!isPacked)
        packPanel(b + k0 * args.bRow + (p << 3) * args.bColumn, args.bRow, args.bColumn, depth, count, panel)
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

/** Scales a part of C, adds biases and a residual to it and applies a function. */
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
  const isFunction = (bias | biasRows | residual) == 0 && alpha == 1
  for (let i: u32 = 0; i < rows; i++, c += cRow) {
    if (isFunction) {
      unarySpan(kind, c, c, end, p, q)
      continue
    }
    const rowBias = biasRows != 0 ? splat(f32.load(biasRows + (i << 2))) : splat(0)
    for (let at: usize = 0; at < whole; at += 16) {
      let v = f32x4.add(f32x4.mul(v128.load(c + at), factor), rowBias)
      if (bias != 0) v = f32x4.add(v, v128.load(bias + at))
      if (residual != 0) v = f32x4.add(v, v128.load(residual + at))
      v128.store(c + at, v)
    }
    for (let at = whole; at < end; at += 4) {
      let v = f32x4.add(f32x4.mul(v128.load32_splat(c + at), factor), rowBias)
      if (bias != 0) v = f32x4.add(v, v128.load32_splat(bias + at))
      if (residual != 0) v = f32x4.add(v, v128.load32_splat(residual + at))
      f32.store(c + at, f32x4.extract_lane(v, 0))
    }
    if (residual != 0) residual += cRow
    if (kind != NONE) unarySpan(kind, c, c, end, p, q)
  }
}

/**
 * Most panels that a convolution computes together, so that a block of weights that has been read serves all of them.
 */
const TOGETHER: u32 = 16

/**
 * Computes blocks `from … to - 1`: a part of the output channels at some panels of eight output positions, counted over
 * parts, then over positions, then over images and groups. Parts that are computed together share the panels.
 */
export function convPanels(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const perPlane = (<u32>(args.outD * args.outH * args.outW) + 7) >> 3
  const units = (perPlane + args.rows - 1) / args.rows
  const partRows = stripsOfPart(args) << 2
  while (from < to) {
    const unit = from / args.parts
    const part = from % args.parts
    const last = min(args.parts, part + to - from)
    const first = (unit % units) * args.rows
    const row = part * partRows
    const end = min(args.m, last * partRows)
    convolve(args, scratch, unit / units, first, min(args.rows, perPlane - first), row, end - row)
    from += last - part
  }
}

/**
 * Output channels that are computed for all panels before the next ones are. So few lines of the output stay in the
 * cache until they are whole, whatever they lie apart.
 */
const CHANNELS: u32 = ASC_FEATURE_RELAXED_SIMD ? 12 : 8

/** Computes `m` output channels from `row` on. */
function convolve(args: ConvArguments, scratch: usize, plane: u32, first: u32, count: u32, row: u32, m: u32): void {
  const n = <u32>(args.outD * args.outH * args.outW)
  const tapCount = <u32>(args.kD * args.kH * args.kW)
  const tapBytes = <usize>tapCount * TAP
  const taps = scratch + EDGE + START
  const panels = taps + TOGETHER * tapBytes
  const k = args.channels * tapCount
  const channelBytes = (<usize>(args.inD * args.inH * args.inW)) << 2
  const group = plane % args.groups
  const x = args.x + <usize>plane * args.channels * channelBytes
  const w = args.w + (((<usize>group * ((args.m + 3) >> 2) + (row >> 2)) * k) << 4)
  const bias = args.hasBias ? args.bias + ((<usize>group * args.m + row) << 2) : 0
  const cRow = (<usize>n) << 2
  const left = first << 3
  const c = args.y + (<usize>plane * args.m + row) * cRow + (left << 2)
  const cols = min(n - left, count << 3)
  for (let p: u32 = 0; p < count; p++)
    planTaps(windowsOf(args), 4, left + (p << 3), min<u32>(8, cols - (p << 3)), taps + p * tapBytes)
  for (let k0: u32 = 0; k0 < k; k0 += DEPTH) {
    const depth = min(DEPTH, k - k0)
    const step = panelStep(depth)
    writeColumns(x, channelBytes, taps, tapCount, k0, k0 + depth, panels, step, count)
    for (let i: u32 = 0; i < m; i += CHANNELS) {
      const rows = min(CHANNELS, m - i)
      const strips = w + (((<usize>i * k) << 2) + ((<usize>k0) << 4))
      const at = c + i * cRow
      const added = bias == 0 ? 0 : bias + (i << 2)
      channelsByPanels(strips, k, panels, step, at, cRow, rows, cols, depth, k0 > 0, added, scratch)
      if (k0 + depth < k) continue
      epilogue(
        at,
        args.hasResidual ? args.residual + (at - args.y) : 0,
        cRow,
        rows,
        cols,
        0,
        ASC_FEATURE_RELAXED_SIMD ? added : 0,
        1,
        args.activation,
        args.p,
        args.q
      )
    }
  }
}

/** Bytes of scratch memory, behind the edges, for what a strip's sums begin with: their biases, for each column. */
const START: usize = 128

/**
 * Some output channels of panels. Sums begin with the biases; with a fused multiply-add, where six rows at once are
 * faster, {@link epilogue} adds them.
 */
function channelsByPanels(
  w: usize,
  k: usize,
  panels: usize,
  step: usize,
  c: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  depth: usize,
  add: bool,
  bias: usize,
  scratch: usize
): void {
  if (ASC_FEATURE_RELAXED_SIMD) {
    for (let left: u32 = 0; left < cols; left += 8, panels += step, c += 32)
      rowsByPanel(w, 4, 16, k << 4, panels, c, cRow, rows, min<u32>(8, cols - left), depth, add, scratch)
    return
  }
  const start = scratch + EDGE
  for (let i: u32 = 0; i < rows; i += 4, w += k << 4, c += cRow << 2) {
    const left = min<u32>(4, rows - i)
    if (!add)
      for (let j: u32 = 0; j < 4; j++) {
        const value = splat(bias == 0 || j >= left ? 0 : f32.load(bias + ((i + j) << 2)))
        v128.store(start + (j << 5), value)
        v128.store(start + (j << 5), value, 16)
      }
    const whole = left == 4 ? cols & ~7 : 0
    let panel = panels
    let to = c
    for (const end = c + (whole << 2); to < end; to += 32, panel += step)
      if (add) addStripByPanel(w, panel, to, cRow, depth, scratch)
      else stripByPanel(w, panel, to, cRow, depth, start, 32)
    for (let column = whole; column < cols; column += 8, to += 32, panel += step) {
      stripByPanel(w, panel, scratch, 32, depth, add ? 0 : start, 32)
      placeColumns(scratch, to, cRow, left, min<u32>(8, cols - column), add)
    }
  }
}

/** Bytes from one panel to the next: a cache line more than it has, lest the same lines of all share a set. */
// @ts-ignore: decorator
@inline
function panelStep(depth: u32): usize {
  return ((<usize>depth) << 5) + 64
}
