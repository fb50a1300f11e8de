/*
 * Strassen's algorithm as Winograd wrote it: rows, columns and depth of a product are halved, and of the quarters of
 * both matrices seven products are made instead of eight:
 *
 *   S1 = A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2
 *   T1 = B12 - B11, T2 = B22 - T1, T3 = B22 - B12, T4 = T2 - B21
 *   P1 = A11 B11, P2 = A12 B21, P3 = S4 B22, P4 = A22 T4, P5 = S1 T1, P6 = S2 T2, P7 = S3 T3
 *   C11 = P1 + P2, C12 = P1 + P6 + P5 + P3, C21 = P1 + P6 + P7 - P4, C22 = P1 + P6 + P7 + P5
 */

/** Quarters of A and what is made of them, in the order in which they lie. */
export const A11: usize = 0
export const A12: usize = 1
export const A22: usize = 2
export const S1: usize = 3
export const S2: usize = 4
export const S3: usize = 5
export const S4: usize = 6

/**
 * Makes a vector of each of C11, C21, C12 and C22 of those of P1 to P7, which lie `size` bytes apart.
 * @param addLeft whether C11 and C21 are added to what is there
 * @param addRight whether C12 and C22 are
 */
// @ts-ignore: decorator
@inline
export function combine<T>(
  p1: usize,
  size: usize,
  c11: usize,
  c21: usize,
  c12: usize,
  c22: usize,
  addLeft: bool,
  addRight: bool
): void {
  const first = v128.load(p1)
  const fifth = v128.load(p1 + 4 * size)
  const u2 = v128.add<T>(first, v128.load(p1 + 5 * size))
  const u3 = v128.add<T>(u2, v128.load(p1 + 6 * size))
  const upperRight = v128.add<T>(v128.add<T>(u2, fifth), v128.load(p1 + 2 * size))
  const lowerLeft = v128.sub<T>(u3, v128.load(p1 + 3 * size))
  write<T>(c11, v128.add<T>(first, v128.load(p1 + size)), addLeft)
  write<T>(c21, lowerLeft, addLeft)
  write<T>(c12, upperRight, addRight)
  write<T>(c22, v128.add<T>(u3, fifth), addRight)
}

// @ts-ignore: decorator
@inline
function write<T>(to: usize, sums: v128, add: bool): void {
  v128.store(to, add ? v128.add<T>(v128.load(to), sums) : sums)
}
