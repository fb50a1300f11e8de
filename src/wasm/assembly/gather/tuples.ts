import { indexBytes, TuplesArguments } from './arguments'
import { copyBlocks } from './blocks'

/** Tuples that are resolved at once. */
const CHUNK: u32 = 256

/** GatherND: the output blocks `from … to-1`. */
export function gatherTuples(args: TuplesArguments, scratch: usize, from: u32, to: u32): bool {
  const bytes = indexBytes(args) * <usize>args.components
  for (let at = from; at < to; at += CHUNK) {
    const chunk = min(CHUNK, to - at)
    const tuples = args.indices + <usize>at * bytes
    writeBatches(at, chunk, args.count, scratch)
    const bad = args.wide
      ? resolveTuples<i64>(args, tuples, chunk, scratch)
      : resolveTuples<i32>(args, tuples, chunk, scratch)
    if (bad && !args.zero) return true
    copyBlocks(args.data, scratch, chunk, args.out + <usize>at * args.width, args.width, bad)
  }
  return false
}

/** Writes the batch of each of `length` tuples, the first of which is tuple `first`. */
function writeBatches(first: u32, length: u32, count: u32, to: usize): void {
  let batch = first / count
  let left = count - (first % count)
  for (let i: u32 = 0; i < length; i++) {
    store<u32>(to, batch)
    to += 4
    if (--left == 0) {
      left = count
      batch++
    }
  }
}

/**
 * Replaces the batches at `to` by the numbers of the data blocks that the tuples at `from` name, one component after
 * the other; by -1 where a component is out of range.
 * @returns whether any component is out of range
 */
function resolveTuples<T>(args: TuplesArguments, from: usize, count: u32, to: usize): bool {
  const step = <usize>args.components * sizeof<T>()
  const end = to + ((<usize>count) << 2)
  let size = changetype<usize>(args) + offsetof<TuplesArguments>()
  let found = false
  for (let j = args.components; j > 0; j--) {
    found = appendComponent<T>(from, step, load<i32>(size), bool(args.wrap), to, end) || found
    from += sizeof<T>()
    size += 4
  }
  return found
}

/** `block * size + index`; -1 where the index is out of range or the block is -1 already. */
function appendComponent<T>(from: usize, step: usize, size: i32, wrap: bool, to: usize, end: usize): bool {
  const added = wrap ? <T>size : 0
  let found = false
  for (; to < end; to += 4) {
    const index = load<T>(from)
    const position = index + ((index >> (8 * sizeof<T>() - 1)) & added)
    const block = load<i32>(to)
    const out = sizeof<T>() == 8 ? <u64>position >= <u64>size : <u32>position >= <u32>size
    store<i32>(to, select<i32>(-1, block * size + <i32>position, i32(out) | i32(block < 0)))
    found = found || out
    from += step
  }
  return found
}
