import { fail } from '../errors.ts'

/**
 * A number as C's `%.8g` prints it, with NaN, INF and -INF, which is the result of Cast to string in ONNX Runtime 1.31
 * for every float type. (The specification asks for "plain floating-point representation" without a number of digits.)
 */
export function formatNumber(value: number): string {
  if (value !== value) return 'NaN'
  if (Math.abs(value) === Infinity) return value > 0 ? 'INF' : '-INF'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const sign = value < 0 ? '-' : ''
  const { digits, exponent } = eightDigits(Math.abs(value))
  const kept = digits.replace(/0+$/, '')
  if (exponent < -4 || exponent >= 8) {
    const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
    return `${sign}${kept[0]}${kept.length > 1 ? '.' : ''}${kept.slice(1)}e${power}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${kept}`
  const whole = digits.slice(0, exponent + 1)
  const fraction = kept.slice(exponent + 1)
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/**
 * A number with 6 decimals as C's `%f` prints it and C++'s `std::to_string`, with nan, inf and -inf. Ties go to the
 * even digit, where JavaScript's `toFixed` rounds them up.
 */
export function formatFixed(value: number): string {
  if (value !== value) return 'nan'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = Math.abs(value)
  if (size === Infinity) return `${sign}inf`
  // From 2^53 on numbers are integers; `toFixed` has exponents from 1e21 on.
  if (size >= 2 ** 53) return `${sign}${BigInt(size)}.000000`
  // Seven decimals of which the last is a 5 are exact in binary where they are an odd number of 128ths.
  const isTie = Number.isInteger(size * 128) && !Number.isInteger(size * 64)
  const cut = isTie ? size.toFixed(7).slice(0, -1) : ''
  return sign + (isTie && Number(cut.at(-1)) % 2 === 0 ? cut : size.toFixed(6))
}

/**
 * Eight significant digits of a positive number, ties to even (JavaScript rounds ties up), and its decimal exponent.
 */
function eightDigits(value: number): { digits: string; exponent: number } {
  const long = value.toExponential(100)
  const cut = long[0] + long.slice(2, 9)
  const isTie = long[9] === '5' && /^0*e/.test(long.slice(10))
  if (isTie && Number(cut[7]) % 2 === 0) return { digits: cut, exponent: Number(long.slice(long.indexOf('e') + 1)) }
  const [mantissa, exponent] = value.toExponential(7).split('e')
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) }
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const INFINITE = /^[+-]?inf(?:inity)?$/i
const NOT_A_NUMBER = /^[+-]?nan$/i

/**
 * The number in a text: decimal or scientific notation, `inf`, `infinity` or `nan` in any case, with blanks around it.
 * @throws NodewiseError `value-out-of-range` for other text
 */
export function parseNumber(text: string): number {
  const trimmed = text.trim()
  if (DECIMAL.test(trimmed)) return Number(trimmed)
  if (INFINITE.test(trimmed)) return trimmed.startsWith('-') ? -Infinity : Infinity
  if (NOT_A_NUMBER.test(trimmed)) return NaN
  fail('value-out-of-range', `${quoted(text)} is no number`)
}

/** Digits of the longest 64-bit integer. */
const MAX_DIGITS = 20

/**
 * The integer in a text, exact; a fraction is cut off (ONNX Cast: "100.5" may yield 100).
 * @param signed whether the integer must fit int64; otherwise it must fit int64 or uint64
 * @throws NodewiseError `value-out-of-range` for text that is no finite number, and for numbers beyond 64 bits
 */
export function parseInteger(text: string, signed: boolean): bigint {
  const trimmed = text.trim()
  if (/^[+-]?\d+$/.test(trimmed)) {
    const digits = trimmed.replace(/^[+-]?0*(?=\d)/, '')
    if (digits.length > MAX_DIGITS) outOfRange(text)
    return inRange(trimmed.startsWith('-') ? -BigInt(digits) : BigInt(digits), signed, text)
  }
  const value = Math.trunc(parseNumber(trimmed))
  if (!Number.isFinite(value)) outOfRange(text)
  return inRange(BigInt(value), signed, text)
}

function inRange(value: bigint, signed: boolean, text: string): bigint {
  const max = signed ? 2n ** 63n - 1n : 2n ** 64n - 1n
  if (value < -(2n ** 63n) || value > max) outOfRange(text)
  return value
}

function outOfRange(text: string): never {
  fail('value-out-of-range', `${quoted(text)} is no integer of 64 bits`)
}

const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
