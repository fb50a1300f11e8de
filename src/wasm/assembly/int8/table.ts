/** Bytes by a table: of one operand, 256 of them; or of two that are laid out as the result, 65,536. */
@unmanaged
export class TableArguments {
  a: usize
  b: usize
  table: usize
  y: usize
  isBinary: u32
  /** Elements of a block, and of all. */
  line: u32
  count: u32
}

export function lookUpLines(args: TableArguments, from: u32, to: u32): void {
  const table = args.table
  let i: usize = from * args.line
  const end: usize = min(args.count, to * args.line)
  if (args.isBinary) {
    for (; i + 4 <= end; i += 4) {
      const a = load<u32>(args.a + i)
      const b = load<u32>(args.b + i)
      let codes: u32 = load<u8>(table + (((a & 255) << 8) | (b & 255)))
      codes |= (<u32>load<u8>(table + ((a & 0xff00) | ((b >> 8) & 255)))) << 8
      codes |= (<u32>load<u8>(table + (((a >> 8) & 0xff00) | ((b >> 16) & 255)))) << 16
      codes |= (<u32>load<u8>(table + (((a >> 16) & 0xff00) | (b >> 24)))) << 24
      store<u32>(args.y + i, codes)
    }
    for (; i < end; i++)
      store<u8>(args.y + i, load<u8>(table + (((<usize>load<u8>(args.a + i)) << 8) | load<u8>(args.b + i))))
  } else for (; i < end; i++) store<u8>(args.y + i, load<u8>(table + load<u8>(args.a + i)))
}
