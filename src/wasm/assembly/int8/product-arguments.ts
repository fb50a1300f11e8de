/**
 * C = f((A - zero of A) (B - zeros of its columns)) for a list of matrices of bytes: exact sums in int32, which wrap;
 * as they are, or scaled in double precision and rounded once. Steps are in bytes. C is whole. A function is applied to
 * float32 last.
 */
@unmanaged
export class ByteProductArguments {
  a: usize
  b: usize
  /** int32, for all columns of the panels: zero points, then what is added to the sums. */
  integers: usize
  /** float64: alpha, scale and zero point of C; then for all columns scales, then biases. */
  numbers: usize
  /** Scale of A, float32, where sums are scaled, and its zero point, a byte. */
  aScale: usize
  aZero: usize
  c: usize
  /** What C holds: 0: int32; 1: float32; 2: uint8; 3: int8. */
  result: u32
  isSigned: u32
  /** 128 where B holds uint8: its codes are turned into those of int8, and zero points are smaller by it. */
  flip: u32
  hasZeros: u32
  hasAdded: u32
  hasBias: u32
  m: u32
  n: u32
  k: u32
  /** Whether a block is computed by Strassen's algorithm (./strassen.ts): B lies in panels, k is a multiple of four. */
  byStrassen: u32
  /**
   * Whether a block is computed by dot products of four bytes (./dots.ts), for which B lies in panels of its own; 1:
   * the engine takes second factors as uint8, 2: as int8.
   */
  dots: u32
  /** Rows and panels of a block. */
  rows: u32
  panels: u32
  /** From row to row of A, and from element to element of a row. */
  aRow: usize
  aElement: usize
  /** From row to row of B and from column to column; both 0 where B lies in panels. */
  bRow: usize
  bColumn: usize
  activation: i32
  p: f32
  q: f32
  /** Loops over matrices, the innermost first; they follow: size, bytes that A and B move by, three words each. */
  rank: u32
}
