/**
 * C = A W^T + bias with weights W[n][k] in codes, row by row, each row from a byte on: `(code - zero) * scale`, or
 * `table[code] * scale`, with a scale and a zero point for each block of a row.
 */
@unmanaged
export class CodedArguments {
  a: usize
  codes: usize
  /** Numbers of blocks, row by row: float32, or 16-bit floats. */
  scales: usize
  /** Zero points of blocks: packed as the codes are, or numbers as the scales are. */
  zeros: usize
  /** float32: one number a column of C. */
  bias: usize
  /** float32: what each of the 16 codes stands for; of 8-bit floats the vectors of floats.ts. */
  table: usize
  c: usize
  m: u32
  n: u32
  k: u32
  /** Rows of a block of C. */
  rows: u32
  /** Bits of a code. */
  bits: u32
  /** What codes are: see {@link INTEGERS}. */
  codeKind: u32
  /** Whether the first code of a byte lies in its high bits; only with 4 bits. */
  isHighFirst: u32
  /** The sign bits of a byte of codes, where these are signed; zero points in codes have them, too. */
  flip: u32
  /** Bytes from row to row of W. */
  rowBytes: u32
  /** Codes of a block, and blocks of a row. */
  blockSize: u32
  blocks: u32
  /** What scales are: see {@link FLOAT32}. */
  scaleKind: u32
  /** What zero points are: see {@link ONE}. */
  zeroKind: u32
  zero: u32
  /** Bits from row to row of the zero points. */
  zeroRow: u32
  hasBias: u32
  /** Whether rows are whole chunks of 16 bytes, and no chunk belongs to two blocks. */
  isChunked: u32
  /**
   * Whether rows of A are rounded to integers of 8 bits, by blocks; only by unsigned integers, scales in float32. Those
   * of 4 bits are packed then, as well as scales and zero points: see nibble-order.ts.
   */
  isWhole: u32
}

/** Kinds of codes: integers, names of the values of the table, 8-bit floats with 3 or 2 bits of mantissa. */
export const INTEGERS: u32 = 0
export const NAMES: u32 = 1
export const FLOATS3: u32 = 2
export const FLOATS2: u32 = 3

/** Kinds of zero points: `zero` for all, codes, numbers. */
export const ONE: u32 = 0
export const CODES: u32 = 1
export const NUMBERS: u32 = 2

/** Types of floats: float32, float16 and bfloat16. */
const FLOAT32: u32 = 0
const FLOAT16: u32 = 1

/** A code, unsigned, of a row that begins at bit `start`. */
// @ts-ignore: decorator
@inline
export function codeAt(codes: usize, start: u32, i: u32, bits: u32): u32 {
  const at = start + i * bits
  return (load<u8>(codes + (at >> 3)) >> (at & 7)) & ((1 << bits) - 1)
}

/** The value of float16 bits. Scaling by a power of two makes numbers of subnormal ones, too. */
// @ts-ignore: decorator
@inline
function widenHalf(bits: u32): f32 {
  const magnitude = bits & 0x7fff
  let value = reinterpret<f32>(magnitude << 13) * 5.192296858534828e33
  if (magnitude >= 0x7c00) value = reinterpret<f32>((magnitude << 13) | 0x7f800000)
  return reinterpret<f32>(reinterpret<u32>(value) | ((bits & 0x8000) << 16))
}

/** Number `i` of a list of floats. */
// @ts-ignore: decorator
@inline
export function floatAt(list: usize, i: u32, kind: u32): f32 {
  if (kind == FLOAT32) return f32.load(list + ((<usize>i) << 2))
  const bits = <u32>load<u16>(list + ((<usize>i) << 1))
  return kind == FLOAT16 ? widenHalf(bits) : reinterpret<f32>(bits << 16)
}

// @ts-ignore: decorator
@inline
export function scaleAt(args: CodedArguments, row: u32, block: u32): f32 {
  return floatAt(args.scales, row * args.blocks + block, args.scaleKind)
}

/** The zero point of a block as a code; 0 where it is a number, or where there is a table. */
// @ts-ignore: decorator
@inline
export function zeroAt(args: CodedArguments, row: u32, block: u32): u32 {
  if (args.zeroKind != CODES) return args.zero
  return codeAt(args.zeros, row * args.zeroRow, block, args.bits) ^ (args.flip & ((1 << args.bits) - 1))
}

/** The zero point of a block where it is a number. */
// @ts-ignore: decorator
@inline
export function zeroNumber(args: CodedArguments, row: u32, block: u32): f32 {
  return floatAt(args.zeros, row * args.blocks + block, args.scaleKind)
}
