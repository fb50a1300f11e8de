import { fail } from '../../errors.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { BinaryLoops, NumberInnerLoop } from '../core/elementwise.ts'

// Integers wrap as their storage does. Sums of 32-bit integers are exact in a number, products are not: Math.imul keeps
// their low bits.

export const ADD: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] + b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] + b[q]
  }
}

export const SUBTRACT: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] - b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] - b[q]
  }
}

export const MULTIPLY: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] * b[q]
  },
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.imul(a[p], b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] * b[q]
  }
}

const divideFloats: NumberInnerLoop = (a, p, s, b, q, t, out, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] / b[q]
}

/** Quotients; those of integers are truncated towards zero. Integer divisors are not zero. */
export const DIVIDE: BinaryLoops = {
  float: divideFloats,
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.trunc(a[p] / b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] / b[q]
  }
}

/** Quotients; those of integers are rounded towards minus infinity. Integer divisors are not zero. */
export const FLOOR_DIVIDE: BinaryLoops = {
  float: divideFloats,
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.floor(a[p] / b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) {
      const rest = a[p] % b[q]
      out[o] = a[p] / b[q] - (rest !== 0n && rest < 0n !== b[q] < 0n ? 1n : 0n)
    }
  }
}

/** The remainder with the sign of the dividend; integer divisors are not zero. */
export const TRUNCATED_MOD: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] % b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] % b[q]
  }
}

/** The remainder with the sign of the divisor, which a zero has too (Mod-28). */
export function floorMod(dividend: number, divisor: number): number {
  const rest = dividend % divisor
  if (rest === 0) return divisor < 0 ? -0 : 0
  return rest < 0 === divisor < 0 ? rest : rest + divisor
}

/** {@link floorMod}; integer divisors are not zero. */
export const FLOOR_MOD: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = floorMod(a[p], b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) {
      const rest = a[p] % b[q]
      out[o] = rest !== 0n && rest < 0n !== b[q] < 0n ? rest + b[q] : rest
    }
  }
}

/** Powers of floats as IEEE 754 `pow` has them, and of integers, low bits kept. */
export const POWER: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = power(a[p], b[q])
  },
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = intPower(a[p], b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = bigPower(a[p], b[q])
  }
}

/** IEEE 754 `pow`: 1 to the power of NaN, and ±1 to the power of ±Infinity, are 1; JavaScript gives NaN. */
export function power(base: number, exponent: number): number {
  if (exponent === 2) return base * base
  return base === 1 || (base === -1 && (exponent === Infinity || exponent === -Infinity)) ? 1 : base ** exponent
}

/**
 * Low 64 bits of a power; a negative exponent gives the integer part.
 * @throws NodewiseError `value-out-of-range` for 0 to a negative exponent
 */
function bigPower(base: bigint, exponent: bigint): bigint {
  if (exponent < 0n && base === 0n) fail('value-out-of-range', `0 to the power ${exponent} divides by zero`)
  if (exponent < 0n) return base === 1n ? 1n : base === -1n ? (exponent % 2n === 0n ? 1n : -1n) : 0n
  let result = 1n
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = BigInt.asIntN(64, square * square)) {
    if ((rest & 1n) === 1n) result = BigInt.asIntN(64, result * square)
  }
  return result
}

/** {@link bigPower} of 32-bit integers: the low 32 bits. */
function intPower(base: number, exponent: number): number {
  if (exponent < 0) return Number(bigPower(BigInt(base), BigInt(exponent)))
  let result = 1
  for (let square = base, rest = exponent; rest > 0; rest >>>= 1, square = Math.imul(square, square)) {
    if ((rest & 1) === 1) result = Math.imul(result, square)
  }
  return result
}

export const SQUARED_DIFFERENCE: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = (a[p] - b[q]) * (a[p] - b[q])
  },
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.imul(a[p] - b[q], a[p] - b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = (a[p] - b[q]) * (a[p] - b[q])
  }
}

/** `alpha a + beta b`. */
export const scaledSum = (alpha: number, beta: number): BinaryLoops => ({
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = alpha * a[p] + beta * b[q]
  }
})

/** NaN where an operand is NaN. */
export const MAXIMUM: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.max(a[p], b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] > b[q] ? a[p] : b[q]
  }
}

/** NaN where an operand is NaN. */
export const MINIMUM: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = Math.min(a[p], b[q])
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < b[q] ? a[p] : b[q]
  }
}

/** `x` where it is not negative, else `x * slope`. */
export const PRELU: BinaryLoops = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < 0 ? a[p] * b[q] : a[p]
  },
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < 0 ? Math.imul(a[p], b[q]) : a[p]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < 0n ? a[p] * b[q] : a[p]
  }
}

export const BIT_AND: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] & b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] & b[q]
  }
}

export const BIT_OR: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] | b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] | b[q]
  }
}

export const BIT_XOR: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] ^ b[q]
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] ^ b[q]
  }
}

/** Left shift of integers of `bits` bits; a negative amount, or one of `bits` or more, gives 0 (BitShift-28). */
export const shiftLeft = (bits: number): BinaryLoops => ({
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = b[q] >= 0 && b[q] < bits ? a[p] << b[q] : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u)
      out[o] = b[q] >= 0n && b[q] < 64n ? BigInt.asUintN(64, a[p] << b[q]) : 0n
  }
})

/**
 * Arithmetic right shift of integers of `bits` bits; a negative amount, or one of `bits` or more, gives 0 or -1 by the
 * sign (BitShift-28).
 */
export const shiftRight = (bits: number): BinaryLoops => ({
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) {
      const value = a[p]
      const fits = b[q] >= 0 && b[q] < bits
      out[o] = value < 0 ? value >> (fits ? b[q] : 31) : fits ? value >>> b[q] : 0
    }
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u)
      out[o] = b[q] >= 0n && b[q] < 64n ? a[p] >> b[q] : a[p] < 0n ? -1n : 0n
  }
})

export const EQUAL: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] === b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] === b[q] ? 1 : 0
  },
  text: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] === b[q] ? 1 : 0
  }
}

export const NOT_EQUAL: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] !== b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] !== b[q] ? 1 : 0
  },
  text: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] !== b[q] ? 1 : 0
  }
}

export const GREATER: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] > b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] > b[q] ? 1 : 0
  }
}

export const GREATER_EQUAL: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] >= b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] >= b[q] ? 1 : 0
  }
}

export const LESS: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] < b[q] ? 1 : 0
  }
}

export const LESS_EQUAL: BinaryLoops<Numbers> = {
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] <= b[q] ? 1 : 0
  },
  big: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] <= b[q] ? 1 : 0
  }
}

/** Of booleans; anything but 0 is true. */
export const AND: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] !== 0 && b[q] !== 0 ? 1 : 0
  }
}

export const OR: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = a[p] !== 0 || b[q] !== 0 ? 1 : 0
  }
}

export const XOR: BinaryLoops = {
  int: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = (a[p] !== 0) !== (b[q] !== 0) ? 1 : 0
  }
}
