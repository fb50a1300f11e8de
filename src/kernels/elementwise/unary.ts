import type { Numbers } from '../../tensor/elements.ts'
import type { UnaryLoop, UnaryLoops } from '../core/elementwise.ts'
import { COST } from '../core/pace.ts'
import { roundHalfAwayFromZero, roundHalfToEven } from '../core/rounding.ts'
import { erf } from './erf.ts'

// Functions whose results are integers for integers. Integers wrap as their storage does.

export const ABS: UnaryLoops = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.abs(x[i])
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < 0n ? -x[i] : x[i]
  }
}

export const NEGATE: UnaryLoops = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = -x[i]
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = -x[i]
  }
}

export const SIGN: UnaryLoops = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.sign(x[i])
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] > 0n ? 1n : x[i] < 0n ? -1n : 0n
  }
}

export const RELU: UnaryLoops = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < 0 ? 0 : x[i]
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < 0n ? 0n : x[i]
  }
}

/** Loops for integers, which rounding does not change. */
const UNCHANGED: UnaryLoops = {
  int: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i]
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i]
  }
}

export const CEIL: UnaryLoops = {
  ...UNCHANGED,
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.ceil(x[i])
  }
}
export const FLOOR: UnaryLoops = {
  ...UNCHANGED,
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.floor(x[i])
  }
}
export const ROUND: UnaryLoops = {
  ...UNCHANGED,
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = roundHalfToEven(x[i])
  }
}
export const ROUND_AWAY: UnaryLoops = {
  ...UNCHANGED,
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = roundHalfAwayFromZero(x[i])
  }
}

export const NOT: UnaryLoops = {
  bool: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] === 0 ? 1 : 0
  }
}

/** Inverts all bits of integers, and negates booleans. */
export const BIT_NOT: UnaryLoops = {
  ...NOT,
  int: (x, out, i, to) => {
    for (; i < to; i++) out[i] = ~x[i]
  },
  big: (x, out, i, to) => {
    for (; i < to; i++) out[i] = ~x[i]
  }
}

export const IS_NAN: UnaryLoops<Numbers> = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] !== x[i] ? 1 : 0
  }
}

export const IS_FINITE: UnaryLoops<Numbers> = {
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] - x[i] === 0 ? 1 : 0
  }
}

export function isInfinity(positive: boolean, negative: boolean): UnaryLoops<Numbers> {
  const wanted = positive ? Infinity : -Infinity
  const ofOne: UnaryLoop = (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] === wanted ? 1 : 0
  }
  const ofBoth: UnaryLoop = (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.abs(x[i]) === Infinity ? 1 : 0
  }
  const ofNone: UnaryLoop = (_, out, i, to) => {
    out.fill(0, i, to)
  }
  return { float: positive && negative ? ofBoth : positive || negative ? ofOne : ofNone, cost: COST.element }
}

// Functions with fractional results, of floats.

export const SQRT: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.sqrt(x[i])
}
export const RECIPROCAL: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = 1 / x[i]
}
export const EXP: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.exp(x[i])
}
export const LOG: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.log(x[i])
}
export const SIN: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.sin(x[i])
}
export const COS: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.cos(x[i])
}
export const TAN: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.tan(x[i])
}
export const ASIN: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.asin(x[i])
}
export const ACOS: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.acos(x[i])
}
export const ATAN: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.atan(x[i])
}
export const SINH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.sinh(x[i])
}
export const COSH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.cosh(x[i])
}
export const TANH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.tanh(x[i])
}
export const ASINH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.asinh(x[i])
}
export const ACOSH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.acosh(x[i])
}
export const ATANH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.atanh(x[i])
}
export const ERF: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = erf(x[i])
}
