import { copyRun } from '../f32/transpose'
import { ADD, combine, MAXIMUM, MINIMUM, MULTIPLY, OF_INTEGERS, OF_WIDE } from './scatter'

/** Copies data, then writes blocks of updates where tuples of indices name them, one after the other. */
@unmanaged
export class ScatterTuplesArguments {
  data: usize
  indices: usize
  updates: usize
  y: usize
  /** Bytes of the data, and of a block. */
  bytes: usize
  block: usize
  /** Blocks of updates. */
  count: u32
  /** Bytes of an index. */
  indexWidth: u32
  /** What becomes of a block and its update, as in ./scatter.ts. */
  reduction: i32
  /** Indices of a tuple; the sizes of the axes follow. */
  components: u32
}

/** @returns whether it stopped at an index that is out of range */
export function scatterTuples(args: ScatterTuplesArguments): bool {
  // The result may take the memory of the data.
  if (args.y != args.data) memory.copy(args.y, args.data, args.bytes)
  return args.indexWidth == 8 ? scatterBy<i64>(args) : scatterBy<i32>(args)
}

// @ts-ignore: decorator
@inline
function scatterBy<I>(args: ScatterTuplesArguments): bool {
  const block = args.block
  const sizes = changetype<usize>(args) + offsetof<ScatterTuplesArguments>()
  const end = sizes + ((<usize>args.components) << 2)
  let indices = args.indices
  let updates = args.updates
  for (let i: u32 = 0; i < args.count; i++, updates += block) {
    let at: usize = 0
    for (let size = sizes; size < end; size += 4, indices += sizeof<I>()) {
      const count = load<i32>(size)
      const index = load<I>(indices)
      const position = index + ((index >> <I>(8 * sizeof<I>() - 1)) & <I>count)
      if (sizeof<I>() == 8 ? <u64>position >= <u64>count : <u32>position >= <u32>count) return true
      at = at * <usize>count + <usize>position
    }
    write(args.reduction, args.y + at * block, updates, block)
  }
  return false
}

// @ts-ignore: decorator
@inline
function write(reduction: i32, to: usize, from: usize, bytes: usize): void {
  switch (reduction) {
    case ADD:
      return combineLine(ADD, to, from, bytes)
    case MULTIPLY:
      return combineLine(MULTIPLY, to, from, bytes)
    case MAXIMUM:
      return combineLine(MAXIMUM, to, from, bytes)
    case MINIMUM:
      return combineLine(MINIMUM, to, from, bytes)
  }
  if (reduction & OF_INTEGERS) return combineIntegers<i32>(reduction & 7, to, from, bytes)
  if (reduction & OF_WIDE) return combineIntegers<i64>(reduction & 7, to, from, bytes)
  if (bytes == 4) store<u32>(to, load<u32>(from))
  else if (bytes == 8) store<u64>(to, load<u64>(from))
  else copyRun(from, 0, to, bytes, bytes, 1)
}

// @ts-ignore: decorator
@inline
function combineLine(reduction: i32, to: usize, from: usize, bytes: usize): void {
  const end = to + bytes
  for (; to + 16 <= end; to += 16, from += 16) v128.store(to, combineFour(reduction, v128.load(to), v128.load(from)))
  for (; to < end; to += 4, from += 4) f32.store(to, combine<f32>(reduction, f32.load(to), f32.load(from)))
}

function combineIntegers<T>(reduction: i32, to: usize, from: usize, bytes: usize): void {
  for (const end = to + bytes; to < end; to += sizeof<T>(), from += sizeof<T>())
    store<T>(to, combine<T>(reduction, load<T>(to), load<T>(from)))
}

// @ts-ignore: decorator
@inline
function combineFour(reduction: i32, a: v128, b: v128): v128 {
  if (reduction == ADD) return f32x4.add(a, b)
  if (reduction == MULTIPLY) return f32x4.mul(a, b)
  return reduction == MAXIMUM ? f32x4.max(a, b) : f32x4.min(a, b)
}
