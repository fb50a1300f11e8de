/** 1.5 * 2^23: a small number that is added to it is rounded to an integer, ties to even, in the lowest bits. */
export const MAGIC: f32 = 12582912
export const MAGIC_BITS: i32 = 0x4b400000

/** How far small numbers are from what they are rounded to, which are `rounded` less {@link MAGIC}. */
// @ts-ignore: decorator
@inline
export function missOf(numbers: v128, rounded: v128, magic: v128): v128 {
  return f32x4.abs(f32x4.sub(numbers, f32x4.sub(rounded, magic)))
}
