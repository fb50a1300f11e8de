/** Bytes from the first elements of two operands to those of a line, as {@link unravel} worked them out. */
export let firstOffset: usize = 0
export let secondOffset: usize = 0

/**
 * Unravels the index of a line over `rank` loops, the innermost first, whose fields follow each other at `loops`: size,
 * and the bytes that the first and the second operand move by.
 */
export function unravel(loops: usize, rank: u32, index: u32): void {
  let first: usize = 0
  let second: usize = 0
  for (let r: u32 = 0; r < rank; r++, loops += 12) {
    const size = load<u32>(loops)
    const at = index % size
    index /= size
    first += at * load<u32>(loops, 4)
    second += at * load<u32>(loops, 8)
  }
  firstOffset = first
  secondOffset = second
}
