import { EVERY_OTHER, SIDE_BY_SIDE, ZEROS } from '../windows'

/** What a tap reads at eight positions, in the lower half. */
// @ts-ignore: decorator
@inline
export function columnsOf(x: usize, tap: usize, unit: usize, padding: v128): v128 {
  const kind = load<i32>(tap)
  if (kind == ZEROS) return padding
  const at = x + load<u32>(tap, 4)
  if (unit == 1 && kind == SIDE_BY_SIDE) return v128.load64_zero(at)
  if (unit == 1 && kind == EVERY_OTHER) {
    // No load reaches beyond the eighth position.
    const last = v128.load64_zero(at, 7)
    return i8x16.shuffle(v128.load64_zero(at), last, 0, 2, 4, 6, 17, 19, 21, 23, 0, 0, 0, 0, 0, 0, 0, 0)
  }
  if (kind == SIDE_BY_SIDE) return evenly(at, unit)
  if (kind == EVERY_OTHER) return evenly(at, unit << 1)
  return oneByOne(x, tap + 8, padding)
}

function evenly(x: usize, step: usize): v128 {
  let codes = v128.load8_splat(x)
  codes = v128.load8_lane(x + step, codes, 1)
  codes = v128.load8_lane(x + 2 * step, codes, 2)
  codes = v128.load8_lane(x + 3 * step, codes, 3)
  codes = v128.load8_lane(x + 4 * step, codes, 4)
  codes = v128.load8_lane(x + 5 * step, codes, 5)
  codes = v128.load8_lane(x + 6 * step, codes, 6)
  return v128.load8_lane(x + 7 * step, codes, 7)
}

function oneByOne(x: usize, offsets: usize, padding: v128): v128 {
  let codes = padding
  let offset = load<i32>(offsets)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 0)
  offset = load<i32>(offsets, 4)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 1)
  offset = load<i32>(offsets, 8)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 2)
  offset = load<i32>(offsets, 12)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 3)
  offset = load<i32>(offsets, 16)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 4)
  offset = load<i32>(offsets, 20)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 5)
  offset = load<i32>(offsets, 24)
  if (offset >= 0) codes = v128.load8_lane(x + offset, codes, 6)
  offset = load<i32>(offsets, 28)
  return offset >= 0 ? v128.load8_lane(x + offset, codes, 7) : codes
}
