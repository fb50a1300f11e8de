/** Zeroes `length` bytes. */
export function zero(at: usize, length: usize): void {
  memory.fill(at, 0, length)
}
