/**
 * Copies data [outer][size][inner], then writes updates [outer][count][inner] at the positions on the middle axis that
 * indices name, one after the other.
 */
@unmanaged
export class ScatterArguments {
  data: usize
  indices: usize
  updates: usize
  y: usize
  /** Bytes of an element, and of an index. */
  width: u32
  indexWidth: u32
  size: i32
  count: u32
  inner: u32
  /** What becomes of an element and its update, and eight times the number of their type, float32 being 0. */
  reduction: i32
}

const NONE: i32 = 0
export const ADD: i32 = 1
export const MULTIPLY: i32 = 2
export const MAXIMUM: i32 = 3
export const MINIMUM: i32 = 4

/** Numbers of the types of integers. */
export const OF_I32: i32 = 1
export const OF_I64: i32 = 2
export const OF_U8: i32 = 3
export const OF_I8: i32 = 4
export const OF_U16: i32 = 5
export const OF_I16: i32 = 6
export const OF_U32: i32 = 7
export const OF_U64: i32 = 8

/**
 * Computes outer slices `from … to - 1`.
 * @returns whether it stopped at an index that is out of range
 */
export function scatter(args: ScatterArguments, from: u32, to: u32): bool {
  switch (args.reduction) {
    case ADD:
      return scatterOf<f32>(ADD, args, from, to)
    case MULTIPLY:
      return scatterOf<f32>(MULTIPLY, args, from, to)
    case MAXIMUM:
      return scatterOf<f32>(MAXIMUM, args, from, to)
    case MINIMUM:
      return scatterOf<f32>(MINIMUM, args, from, to)
  }
  switch (args.reduction >> 3) {
    case OF_I32:
      return scatterIntegers<i32>(args, from, to)
    case OF_I64:
      return scatterIntegers<i64>(args, from, to)
    case OF_U8:
      return scatterIntegers<u8>(args, from, to)
    case OF_I8:
      return scatterIntegers<i8>(args, from, to)
    case OF_U16:
      return scatterIntegers<u16>(args, from, to)
    case OF_I16:
      return scatterIntegers<i16>(args, from, to)
    case OF_U32:
      return scatterIntegers<u32>(args, from, to)
    case OF_U64:
      return scatterIntegers<u64>(args, from, to)
  }
  if (args.width == 1) return scatterOf<u8>(NONE, args, from, to)
  if (args.width == 2) return scatterOf<u16>(NONE, args, from, to)
  return args.width == 4 ? scatterOf<u32>(NONE, args, from, to) : scatterOf<u64>(NONE, args, from, to)
}

function scatterIntegers<T>(args: ScatterArguments, from: u32, to: u32): bool {
  return scatterOf<T>(args.reduction & 7, args, from, to)
}

// @ts-ignore: decorator
@inline
function scatterOf<T>(reduction: i32, args: ScatterArguments, from: u32, to: u32): bool {
  const inner = <usize>args.inner
  const bytes = <usize>args.size * inner * sizeof<T>()
  const count = <usize>args.count * inner
  for (let o = from; o < to; o++) {
    const y = args.y + o * bytes
    // The result may take the memory of the data.
    if (args.y != args.data) memory.copy(y, args.data + o * bytes, bytes)
    const updates = args.updates + o * count * sizeof<T>()
    const indices = args.indices + o * count * args.indexWidth
    const isBad =
      args.indexWidth == 8
        ? scatterSlice<T, i64>(reduction, args, indices, updates, y)
        : scatterSlice<T, i32>(reduction, args, indices, updates, y)
    if (isBad) return true
  }
  return false
}

// @ts-ignore: decorator
@inline
function scatterSlice<T, I>(reduction: i32, args: ScatterArguments, indices: usize, updates: usize, y: usize): bool {
  const size = <I>args.size
  const line = <usize>args.inner * sizeof<T>()
  const end = updates + args.count * line
  while (updates < end) {
    let at = y
    for (
      const stop = updates + line;
      updates < stop;
      updates += sizeof<T>(), indices += sizeof<I>(), at += sizeof<T>()
    ) {
      const index = load<I>(indices)
      const position = index + ((index >> <I>(8 * sizeof<I>() - 1)) & size)
      if (sizeof<I>() == 8 ? <u64>position >= <u64>size : <u32>position >= <u32>size) return true
      const to = at + <usize>position * line
      store<T>(to, combine<T>(reduction, load<T>(to), load<T>(updates)))
    }
  }
  return false
}

// @ts-ignore: decorator
@inline
export function combine<T>(reduction: i32, a: T, b: T): T {
  if (reduction == ADD) return <T>(a + b)
  if (reduction == MULTIPLY) return <T>(a * b)
  if (reduction == MAXIMUM) return max<T>(a, b)
  return reduction == MINIMUM ? min<T>(a, b) : b
}
