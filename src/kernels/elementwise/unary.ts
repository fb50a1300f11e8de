import type { Numbers } from '../../tensor/elements.ts'
import type { UnaryRow, UnaryRows } from '../core/elementwise.ts'
import { erf } from './erf.ts'
import { roundHalfAwayFromZero, roundHalfToEven } from '../core/rounding.ts'

/** Functions whose results are whole for integers too; integers wrap as their storage does. */

export const ABS: UnaryRows = {
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = Math.abs(x[i]) },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] < 0n ? -x[i] : x[i] }
}

export const NEGATE: UnaryRows = {
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = -x[i] },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = -x[i] }
}

export const SIGN: UnaryRows = {
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = Math.sign(x[i]) },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] > 0n ? 1n : x[i] < 0n ? -1n : 0n }
}

export const RELU: UnaryRows = {
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] < 0 ? 0 : x[i] },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] < 0n ? 0n : x[i] }
}

/** Integers are whole already. */
const UNCHANGED: UnaryRows = {
  int: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] }
}

export const CEIL: UnaryRows = { ...UNCHANGED, float: (x, out, i, to) => { for (; i < to; i++) out[i] = Math.ceil(x[i]) } }
export const FLOOR: UnaryRows = { ...UNCHANGED, float: (x, out, i, to) => { for (; i < to; i++) out[i] = Math.floor(x[i]) } }
export const ROUND: UnaryRows = { ...UNCHANGED, float: (x, out, i, to) => { for (; i < to; i++) out[i] = roundHalfToEven(x[i]) } }
export const ROUND_AWAY: UnaryRows = {
  ...UNCHANGED,
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = roundHalfAwayFromZero(x[i]) }
}

export const NOT: UnaryRows = { bool: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] === 0 ? 1 : 0 } }

/** Booleans are negated. */
export const BIT_NOT: UnaryRows = {
  ...NOT,
  int: (x, out, i, to) => { for (; i < to; i++) out[i] = ~x[i] },
  big: (x, out, i, to) => { for (; i < to; i++) out[i] = ~x[i] }
}

export const IS_NAN: UnaryRows<Numbers> = { float: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] !== x[i] ? 1 : 0 } }

export const IS_FINITE: UnaryRows<Numbers> = { float: (x, out, i, to) => { for (; i < to; i++) out[i] = x[i] - x[i] === 0 ? 1 : 0 } }

export const isInfinity = (positive: boolean, negative: boolean): UnaryRows<Numbers> => ({
  float: (x, out, i, to) => { for (; i < to; i++) out[i] = positive && x[i] === Infinity || negative && x[i] === -Infinity ? 1 : 0 }
})

// Functions with fractions.

export const SQRT: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.sqrt(x[i]) }
export const RECIPROCAL: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = 1 / x[i] }
export const EXP: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.exp(x[i]) }
export const LOG: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.log(x[i]) }
export const SIN: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.sin(x[i]) }
export const COS: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.cos(x[i]) }
export const TAN: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.tan(x[i]) }
export const ASIN: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.asin(x[i]) }
export const ACOS: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.acos(x[i]) }
export const ATAN: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.atan(x[i]) }
export const SINH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.sinh(x[i]) }
export const COSH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.cosh(x[i]) }
export const TANH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.tanh(x[i]) }
export const ASINH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.asinh(x[i]) }
export const ACOSH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.acosh(x[i]) }
export const ATANH: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = Math.atanh(x[i]) }
export const ERF: UnaryRow = (x, out, i, to) => { for (; i < to; i++) out[i] = erf(x[i]) }
