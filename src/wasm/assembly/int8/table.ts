import { firstOffset, secondOffset, unravel } from '../loops'

/**
 * Bytes by a table: of one operand, 256 of them, where blocks of the result may be apart; or of two, 65,536, which are
 * broadcast against the result: lines of `line` elements, in which an operand moves by one code or stays.
 */
@unmanaged
export class TableArguments {
  a: usize
  b: usize
  table: usize
  y: usize
  /** How many operands there are; 0: one, which is copied. */
  operands: u32
  /** Elements of a block. */
  line: u32
  /** Of one operand: elements of all blocks. */
  count: u32
  /** Of one operand: bytes from block to block of the result, and before the first. */
  step: u32
  before: u32
  /** Of two operands: bytes that each moves by from element to element of a line, 1 or 0. */
  aInner: u32
  bInner: u32
  /** Of two operands: outer loops, the innermost first; they follow: size, bytes that a and b move by. */
  rank: u32
}

export function lookUpLines(args: TableArguments, from: u32, to: u32): void {
  if (args.operands == 2) {
    lookUpPairLines(args, from, to)
    return
  }
  for (; from < to; from++) {
    const start: usize = from * args.line
    const n: usize = min(args.line, args.count - from * args.line)
    const y = args.y + args.before + <usize>from * args.step
    if (args.operands == 1) lookUp(args.a + start, args.table, y, n)
    else memory.copy(y, args.a + start, n)
  }
}

/** Lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
function lookUpPairLines(args: TableArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    lookUpPairLine(args, args.a + from * args.aInner, args.b + from * args.bInner, args.y + from, to - from)
    return
  }
  const loops = changetype<usize>(args) + offsetof<TableArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    lookUpPairLine(args, args.a + firstOffset, args.b + secondOffset, args.y + <usize>i * args.line, args.line)
  }
}

function lookUpPairLine(args: TableArguments, a: usize, b: usize, y: usize, n: usize): void {
  const table = args.table
  if (args.aInner == 0) lookUp(b, table + ((<usize>load<u8>(a)) << 8), y, n)
  else if (args.bInner == 0) lookUpColumn(a, table + load<u8>(b), y, n)
  else lookUpPairs(a, b, table, y, n)
}

function lookUp(a: usize, table: usize, y: usize, n: usize): void {
  let i: usize = 0
  for (; i + 8 <= n; i += 8) {
    const codes = load<u64>(a + i)
    const low = <u32>codes
    const high = <u32>(codes >> 32)
    let first: u32 = load<u8>(table + (low & 255))
    let second: u32 = load<u8>(table + (high & 255))
    first |= (<u32>load<u8>(table + ((low >> 8) & 255))) << 8
    second |= (<u32>load<u8>(table + ((high >> 8) & 255))) << 8
    first |= (<u32>load<u8>(table + ((low >> 16) & 255))) << 16
    second |= (<u32>load<u8>(table + ((high >> 16) & 255))) << 16
    first |= (<u32>load<u8>(table + (low >> 24))) << 24
    second |= (<u32>load<u8>(table + (high >> 24))) << 24
    store<u32>(y + i, first)
    store<u32>(y + i, second, 4)
  }
  for (; i < n; i++) store<u8>(y + i, load<u8>(table + load<u8>(a + i)))
}

function lookUpPairs(a: usize, b: usize, table: usize, y: usize, n: usize): void {
  let i: usize = 0
  for (; i + 4 <= n; i += 4) {
    const p = load<u32>(a + i)
    const q = load<u32>(b + i)
    let codes: u32 = load<u8>(table + (((p & 255) << 8) | (q & 255)))
    codes |= (<u32>load<u8>(table + ((p & 0xff00) | ((q >> 8) & 255)))) << 8
    codes |= (<u32>load<u8>(table + (((p >> 8) & 0xff00) | ((q >> 16) & 255)))) << 16
    codes |= (<u32>load<u8>(table + (((p >> 16) & 0xff00) | (q >> 24)))) << 24
    store<u32>(y + i, codes)
  }
  for (; i < n; i++) store<u8>(y + i, load<u8>(table + (((<usize>load<u8>(a + i)) << 8) | load<u8>(b + i))))
}

/** Pairs with one code of the second operand, whose results are a column of the table. */
function lookUpColumn(a: usize, column: usize, y: usize, n: usize): void {
  for (let i: usize = 0; i < n; i++) store<u8>(y + i, load<u8>(column + ((<usize>load<u8>(a + i)) << 8)))
}
