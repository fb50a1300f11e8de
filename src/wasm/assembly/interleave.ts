/*
 * Elements of two vectors put together, pair by pair: the first of a, the first of b, the second of a and so on.
 */

/** Of elements of two bytes: the first four of each. */
// @ts-ignore: decorator
@inline
export function interleaveLow(a: v128, b: v128): v128 {
  return i16x8.shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
}

/** Of elements of two bytes: the last four of each. */
// @ts-ignore: decorator
@inline
export function interleaveHigh(a: v128, b: v128): v128 {
  return i16x8.shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
}

/** Of bytes: the first eight of each. */
// @ts-ignore: decorator
@inline
export function interleaveLowBytes(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}

/** Of bytes: the last eight of each. */
// @ts-ignore: decorator
@inline
export function interleaveHighBytes(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}
