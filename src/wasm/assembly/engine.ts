/**
 * Whether the engine is the V8 of Node 20, where relaxed SIMD is not finished:
 * - A loop behind which more than stores is done keeps some of its sums in memory.
 * - The first of its compilers (Liftoff) may take the register of the sum that `relaxed_dot_i8x16_i7x16_add_s` adds to
 *   for something else, and so lose that sum.
 */
// @ts-ignore: decorator
@external('env', 'isEarlyV8')
export declare const isEarlyV8: bool
