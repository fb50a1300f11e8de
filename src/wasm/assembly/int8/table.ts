/**
 * Bytes by a table: of one operand, 256 of them; or of two that are laid out as the result, 65,536. Blocks of the
 * result may be apart.
 */
@unmanaged
export class TableArguments {
  a: usize
  b: usize
  table: usize
  y: usize
  /** How many operands there are; 0: one, which is copied. */
  operands: u32
  /** Elements of a block, and of all. */
  line: u32
  count: u32
  /** Bytes from block to block of the result, and before the first. */
  step: u32
  before: u32
}

export function lookUpLines(args: TableArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    const start: usize = from * args.line
    const n: usize = min(args.line, args.count - from * args.line)
    const y = args.y + args.before + <usize>from * args.step
    if (args.operands == 2) lookUpPairs(args.a + start, args.b + start, args.table, y, n)
    else if (args.operands == 1) lookUp(args.a + start, args.table, y, n)
    else memory.copy(y, args.a + start, n)
  }
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
