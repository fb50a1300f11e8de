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

/** Makes C11, C21, C12 and C22 of P1 to P7, which lie one behind the other and have `size` bytes each. */
// @ts-ignore: decorator
@inline
export function combine<T>(sums: usize, size: usize): void {
  for (const end = sums + size; sums < end; sums += 16) {
    const p1 = v128.load(sums)
    const p5 = v128.load(sums + 4 * size)
    const u2 = v128.add<T>(p1, v128.load(sums + 5 * size))
    const u3 = v128.add<T>(u2, v128.load(sums + 6 * size))
    const c12 = v128.add<T>(v128.add<T>(u2, p5), v128.load(sums + 2 * size))
    const c21 = v128.sub<T>(u3, v128.load(sums + 3 * size))
    v128.store(sums, v128.add<T>(p1, v128.load(sums + size)))
    v128.store(sums + size, c21)
    v128.store(sums + 2 * size, c12)
    v128.store(sums + 3 * size, v128.add<T>(u3, p5))
  }
}
