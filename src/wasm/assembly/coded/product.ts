import { EDGE, rowsByPanel } from '../f32/gemm'
import { epilogue } from '../f32/matrix'
import { packPanel } from '../f32/panels'
import { NONE } from '../f32/unary'
import { haveRows } from '../remembered'
import { CodedArguments, NAMES } from './arguments'
import { decodeRow } from './decode'
import { manyByNibbles } from './nibble-panels'
import { orderRows, rowsByNibbles } from './nibbles'
import { orderRow, rowByCoded, splitTable } from './row'

/** Rows of A that are multiplied one by one: more take longer than widening the weights once for all. */
const FEW: u32 = 4
/** Depth of a panel. */
const DEPTH: u32 = 256
const DECODED: usize = 32 * DEPTH

/** Computes blocks `from … to - 1`: eight columns of C in a block of rows, counted over columns, then over rows. */
export function codedProduct(args: CodedArguments, scratch: usize, from: u32, to: u32): void {
  const panels = (args.n + 7) >> 3
  while (from < to) {
    const first = from % panels
    const last = min(panels, first + to - from)
    const block = from / panels
    const row = block * args.rows
    const rows = min(args.rows, args.m - row)
    const column = first << 3
    const cols = min(args.n, last << 3) - column
    const a = args.a + ((<usize>row * args.k) << 2)
    const c = args.c + ((<usize>row * args.n + column) << 2)
    if (args.isWhole && args.bits == 4) byNibbles(args, a, block, column, cols, rows, scratch, c)
    else if (rows <= FEW && args.isChunked) byRow(args, a, column, cols, rows, scratch, c)
    else byPanel(args, a, column, cols, rows, scratch, c)
    const bias = args.hasBias ? args.bias + ((<usize>column) << 2) : 0
    epilogue(c, 0, (<usize>args.n) << 2, rows, cols, bias, 0, 1, NONE, 0, 0)
    from += last - first
  }
}

/** Weights of 4 bits that are packed, and rows of A that are rounded. */
function byNibbles(
  args: CodedArguments,
  a: usize,
  block: u32,
  column: u32,
  cols: u32,
  rows: u32,
  scratch: usize,
  c: usize
): void {
  if (rows > FEW) return manyByNibbles(args, a, block, column, cols, rows, scratch, c)
  if (!haveRows(block)) orderRows(args, a, rows, scratch)
  rowsByNibbles(args, column, cols, rows, scratch, c)
}

function byRow(args: CodedArguments, a: usize, column: u32, cols: u32, rows: u32, scratch: usize, c: usize): void {
  if (args.codeKind == NAMES) splitTable(args, scratch)
  for (let i: u32 = 0; i < rows; i++, a += (<usize>args.k) << 2, c += (<usize>args.n) << 2) {
    orderRow(args, a, scratch)
    rowByCoded(args, column, column + cols, scratch, c)
  }
}

/** Weights are widened and put into panels of eight columns, which the product of floats takes. */
function byPanel(args: CodedArguments, a: usize, column: u32, cols: u32, rows: u32, scratch: usize, c: usize): void {
  const k = args.k
  const decoded = scratch + EDGE
  const panel = decoded + DECODED
  // At least once, so that C is written where k is 0, too.
  for (let k0: u32 = 0; k0 < k || k0 == 0; k0 += DEPTH) {
    const depth = min(DEPTH, k - k0)
    for (let j: u32 = 0; j < cols; j += 8) {
      const count = min<u32>(8, cols - j)
      for (let i: u32 = 0; i < count; i++)
        decodeRow(args, column + j + i, k0, k0 + depth, decoded + ((<usize>i * DEPTH) << 2))
      packPanel(decoded, 4, DEPTH << 2, depth, count, panel)
      rowsByPanel(
        a + ((<usize>k0) << 2),
        (<usize>k) << 2,
        4,
        (<usize>k) << 4,
        panel,
        c + ((<usize>j) << 2),
        (<usize>args.n) << 2,
        rows,
        count,
        depth,
        k0 > 0,
        scratch
      )
    }
  }
}
