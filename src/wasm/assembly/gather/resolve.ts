/**
 * Writes the positions (from 0, 32 bits each) that `count` signed indices of 4 or 8 bytes mean on an axis of `size`; -1
 * where an index is out of range. Indices of 8 bytes are compared with all their bits.
 * @param wrap whether negative indices count from the end
 * @returns whether any index is out of range
 */
export function resolve(from: usize, wide: bool, count: i32, size: i32, wrap: bool, to: usize): bool {
  return wide
    ? resolveWide(from, count, size, wrap ? size : 0, to)
    : resolveNarrow(from, count, size, wrap ? size : 0, to)
}

function resolveWide(from: usize, count: i32, size: i32, added: i32, to: usize): bool {
  const sizes = i32x4.splat(size)
  const addeds = i32x4.splat(added)
  let bad = i32x4.splat(0)
  const end = to + ((<usize>(count & ~3)) << 2)
  while (to < end) {
    const first = v128.load(from)
    const second = v128.load(from, 16)
    const low = v128.shuffle<i32>(first, second, 0, 2, 4, 6)
    const high = v128.shuffle<i32>(first, second, 1, 3, 5, 7)
    const sign = i32x4.shr_s(low, 31)
    const position = i32x4.add(low, v128.and(sign, addeds))
    // Where the high half is not the sign of the low half, the number does not fit 32 bits.
    const out = v128.or(v128.xor(high, sign), i32x4.ge_u(position, sizes))
    const mask = i32x4.ne(out, i32x4.splat(0))
    bad = v128.or(bad, mask)
    v128.store(to, v128.or(position, mask))
    from += 32
    to += 16
  }
  let found = v128.any_true(bad)
  for (let i = count & 3; i > 0; i--) {
    const index = load<i64>(from)
    const position = index + ((index >> 63) & <i64>added)
    const out = <u64>position >= <u64>size
    found = found || out
    store<i32>(to, out ? -1 : <i32>position)
    from += 8
    to += 4
  }
  return found
}

function resolveNarrow(from: usize, count: i32, size: i32, added: i32, to: usize): bool {
  const sizes = i32x4.splat(size)
  const addeds = i32x4.splat(added)
  let bad = i32x4.splat(0)
  const end = to + ((<usize>(count & ~3)) << 2)
  while (to < end) {
    const low = v128.load(from)
    const position = i32x4.add(low, v128.and(i32x4.shr_s(low, 31), addeds))
    const mask = i32x4.ge_u(position, sizes)
    bad = v128.or(bad, mask)
    v128.store(to, v128.or(position, mask))
    from += 16
    to += 16
  }
  let found = v128.any_true(bad)
  for (let i = count & 3; i > 0; i--) {
    const index = load<i32>(from)
    const position = index + ((index >> 31) & added)
    const out = <u32>position >= <u32>size
    found = found || out
    store<i32>(to, out ? -1 : position)
    from += 4
    to += 4
  }
  return found
}
