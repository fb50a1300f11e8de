/** Bytes that are read ahead at once: a page. */
const PAGE: usize = 4096
/** Bytes of a cache line. */
const LINE: usize = 64

/** Whether `count` elements in `bytes` bytes are so many that there are two for each cache line, or more. */
export function isDense(count: u32, bytes: usize): bool {
  return <u64>count * LINE >= 2 * <u64>bytes
}

/**
 * Prefetches: reads a byte of each cache line of `from … to-1`, and at least a page where `end` allows. Lines in
 * ascending order arrive much faster than in the order in which a gather reads them.
 * @param end end of the data
 * @returns the end of what has been read
 */
export function readAhead(from: usize, to: usize, end: usize): usize {
  const stop = max(to, min(end, from + PAGE))
  // The compiler keeps loads whose results are not used, since a load may trap.
  for (let at = from; at < stop; at += LINE) load<u8>(at)
  return stop
}
