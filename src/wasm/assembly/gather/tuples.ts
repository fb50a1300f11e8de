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
    copyBlocks(args.data, scratch, chunk, args.out + <usize>at * args.width, args.width, bad, bool(args.far))
  }
  return false
}

/** Writes the batch of each of `length` tuples, the first of which is tuple `first`. */
function writeBatches(first: u32, length: u32, count: u32, to: usize): void {
  let batch = first / count
  let left = count - (first % count)
  if (batch == 0 && left >= length) return memory.fill(to, 0, length << 2)
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
  const whole = to + ((end - to) & ~15)
  let found = appendFours<T>(from, step, size, wrap, to, whole)
  from += ((whole - to) >> 2) * step
  to = whole
  const added = wrap ? <T>size : 0
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

/** {@link appendComponent} for a multiple of four tuples. */
function appendFours<T>(from: usize, step: usize, size: i32, wrap: bool, to: usize, end: usize): bool {
  const sizes = i32x4.splat(size)
  const added = i32x4.splat(wrap ? size : 0)
  let found = i32x4.splat(0)
  for (; to < end; to += 16) {
    const index = wordsOf(from, step)
    const sign = i32x4.shr_s(index, 31)
    const position = i32x4.add(index, v128.and(sign, added))
    let out = i32x4.ge_u(position, sizes)
    // The upper word of an index of 64 bits that is in range repeats the sign of the lower one.
    if (sizeof<T>() == 8) out = v128.or(out, i32x4.ne(wordsOf(from + 4, step), sign))
    const block = v128.load(to)
    out = v128.or(out, i32x4.shr_s(block, 31))
    v128.store(to, v128.or(out, i32x4.add(i32x4.mul(block, sizes), position)))
    found = v128.or(found, out)
    from += 4 * step
  }
  return v128.any_true(found)
}

/** Four words that lie `step` bytes apart. */
// @ts-ignore: decorator
@inline
function wordsOf(at: usize, step: usize): v128 {
  let words = v128.load32_zero(at)
  words = v128.load32_lane(at + step, words, 1)
  words = v128.load32_lane(at + 2 * step, words, 2)
  return v128.load32_lane(at + 3 * step, words, 3)
}
