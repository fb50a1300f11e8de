import { copyRun } from '../f32/transpose'
import {
  ADD,
  combine,
  MAXIMUM,
  MINIMUM,
  MULTIPLY,
  OF_I16,
  OF_I32,
  OF_I64,
  OF_I8,
  OF_U16,
  OF_U32,
  OF_U64,
  OF_U8
} from './scatter'

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
  switch (reduction >> 3) {
    case OF_I32:
      return combineBlock<i32>(reduction & 7, to, from, bytes)
    case OF_I64:
      return combineBlock<i64>(reduction & 7, to, from, bytes)
    case OF_U8:
      return combineBlock<u8>(reduction & 7, to, from, bytes)
    case OF_I8:
      return combineBlock<i8>(reduction & 7, to, from, bytes)
    case OF_U16:
      return combineBlock<u16>(reduction & 7, to, from, bytes)
    case OF_I16:
      return combineBlock<i16>(reduction & 7, to, from, bytes)
    case OF_U32:
      return combineBlock<u32>(reduction & 7, to, from, bytes)
    case OF_U64:
      return combineBlock<u64>(reduction & 7, to, from, bytes)
  }
  if (reduction != 0) return combineBlock<f32>(reduction, to, from, bytes)
  if (bytes == 4) store<u32>(to, load<u32>(from))
  else if (bytes == 8) store<u64>(to, load<u64>(from))
  else copyRun(from, 0, to, bytes, bytes, 1)
}

function combineBlock<T>(reduction: i32, to: usize, from: usize, bytes: usize): void {
  switch (reduction) {
    case ADD:
      return combineLine<T>(ADD, to, from, bytes)
    case MULTIPLY:
      return combineLine<T>(MULTIPLY, to, from, bytes)
    case MAXIMUM:
      return combineLine<T>(MAXIMUM, to, from, bytes)
    case MINIMUM:
      return combineLine<T>(MINIMUM, to, from, bytes)
  }
}

// @ts-ignore: decorator
@inline
function combineLine<T>(reduction: i32, to: usize, from: usize, bytes: usize): void {
  const end = to + bytes
  // There are no vectors of extremes of eight bytes.
  if (isFloat<T>() || sizeof<T>() < 8)
    for (; to + 16 <= end; to += 16, from += 16)
      v128.store(to, combineVector<T>(reduction, v128.load(to), v128.load(from)))
  for (; to < end; to += sizeof<T>(), from += sizeof<T>())
    store<T>(to, combine<T>(reduction, load<T>(to), load<T>(from)))
}

// @ts-ignore: decorator
@inline
function combineVector<T>(reduction: i32, a: v128, b: v128): v128 {
  if (reduction == ADD) return v128.add<T>(a, b)
  if (reduction == MAXIMUM) return v128.max<T>(a, b)
  if (reduction == MINIMUM) return v128.min<T>(a, b)
  return sizeof<T>() == 1 ? multiplyBytes(a, b) : v128.mul<T>(a, b)
}

/** The low bytes of products of bytes, signed or not: those of the even bytes and of the odd ones. */
// @ts-ignore: decorator
@inline
function multiplyBytes(a: v128, b: v128): v128 {
  const even = v128.and(i16x8.mul(a, b), i16x8.splat(0xff))
  const odd = i16x8.mul(i16x8.shr_u(a, 8), i16x8.shr_u(b, 8))
  return v128.or(even, i16x8.shl(odd, 8))
}
