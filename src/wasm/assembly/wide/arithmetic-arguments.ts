/**
 * Functions of one or two integers, or numbers of float64. Two inputs are broadcast against the output: lines of
 * `inner` elements, in which an input moves by one element or stays.
 */
@unmanaged
export class ArithmeticArguments {
  a: usize
  b: usize
  y: usize
  kind: i32
  type: i32
  /** Whether integers are unsigned, which maxima, minima and quotients see. */
  isUnsigned: u32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

export const ADD: i32 = 0
export const SUBTRACT: i32 = 1
export const MULTIPLY: i32 = 2
export const MAXIMUM: i32 = 3
export const MINIMUM: i32 = 4
/** Of integers it is truncated towards zero. */
export const DIVIDE: i32 = 5
/** The remainder with the sign of the divisor. */
export const FLOOR_MOD: i32 = 6
export const AND: i32 = 7
export const OR: i32 = 8
export const XOR: i32 = 9
/** From here on functions of a. */
export const ABS: i32 = 10
export const NEGATE: i32 = 11
export const SIGN: i32 = 12
/** b points to a lower bound and an upper one. */
export const CLAMP: i32 = 13
/** Of floats alone. */
export const FLOOR: i32 = 14
export const CEIL: i32 = 15
export const ROUND: i32 = 16
export const ROOT: i32 = 17
/** Of integers alone: those with a sign keep it on the way to the right. */
export const SHIFT_LEFT: i32 = 18
export const SHIFT_RIGHT: i32 = 19
/** Low bits of powers of signed integers; those to negative exponents are truncated. Of floats, too. */
export const POWER: i32 = 20
/** A function of a. */
export const SQUARE: i32 = 21
/** Of integers alone: b points to bounds, beyond which a bias is added or subtracted, and the bias; 0 between them. */
export const SHRINK: i32 = 22
/** A function of a, of floats alone. */
export const SIGMOID: i32 = 23
/** Of a, which is multiplied by b where it is below 0. */
export const PRELU: i32 = 24
/** The remainder with the sign of the dividend. */
export const TRUNCATED_MOD: i32 = 25
/** Functions of a, of floats alone. */
export const EXP: i32 = 26
export const LOG: i32 = 27
/** Of the bits of floats of two bytes: b points to the bits of 1 and of infinity. */
export const HALF_SIGN: i32 = 28

export const INT32: i32 = 0
export const INT64: i32 = 1
export const FLOAT64: i32 = 2
export const INT8: i32 = 3
