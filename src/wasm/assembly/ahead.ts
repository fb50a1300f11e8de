/** Bytes that are read ahead at once: a page. */
const PIECE: usize = 4096
const LINE: usize = 64

/** Whether as many elements, read from so many bytes in any order, touch most lines of them: two a line, or more. */
export function isDense(count: u32, bytes: usize): bool {
  return <u64>count * LINE >= 2 * <u64>bytes
}

/**
 * Reads the lines of `from … to-1`, and more of what follows until `end` where they are few: in this order they come
 * much faster than in the one
 * in which a gather wants them.
 * @returns the end of what has been read
 */
export function readAhead(from: usize, to: usize, end: usize): usize {
  const stop = max(to, min(end, from + PIECE))
  // Loads whose results nobody uses are kept, since a load may trap.
  for (let at = from; at < stop; at += LINE) load<u8>(at)
  return stop
}
