import type { DType } from '../tensor/dtype.ts'
import { encodeFloat, isCodedFloat } from '../tensor/floats.ts'

/** Maximum of digits after the point, as in NumPy. */
const PRECISION = 8

/** The parts of a printed number: `-1`, `25` and `e-07` of `-1.25e-07`. */
interface Parts {
  readonly whole: string
  readonly fraction: string
  readonly exponent: string
}

/**
 * Formats numbers of a floating-point type as NumPy prints an array. Each has the fewest digits that identify it among
 * the numbers of the type, at most eight after the point, and points are aligned. The notation is scientific where a
 * number is from 1e8 on or below 1e-4, or more than 1000 times as large as another.
 */
export function formatFloats(values: readonly number[], type: DType): string[] {
  const magnitudes = values.filter(value => Number.isFinite(value) && value !== 0).map(Math.abs)
  const max = magnitudes.reduce((a, b) => Math.max(a, b), 0)
  const min = magnitudes.reduce((a, b) => Math.min(a, b), Infinity)
  const scientific = max >= 1e8 || min < 1e-4 || max / min > 1000
  const parts = values.map(value => (Number.isFinite(value) ? split(shortest(value, type), scientific) : undefined))
  const fractions = Math.max(0, ...parts.map(part => part?.fraction.length ?? 0))
  const texts = values.map((value, i) => {
    const part = parts[i]
    if (part === undefined) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
    const fraction = part.exponent === '' ? part.fraction.padEnd(fractions, ' ') : part.fraction.padEnd(fractions, '0')
    return `${part.whole}.${fraction}${part.exponent}`
  })
  return alignRight(texts)
}

export function alignRight(texts: readonly string[]): string[] {
  const width = texts.reduce((longest, text) => Math.max(longest, text.length), 0)
  return texts.map(text => text.padStart(width))
}

/** The decimal number of the fewest digits that rounds to this value in the type. */
function shortest(value: number, type: DType): number {
  if (type === 'float64' || type === 'complex128' || value === 0) return value
  const same = isCodedFloat(type)
    ? (other: number) => encodeFloat(type, other) === encodeFloat(type, value)
    : (other: number) => Math.fround(other) === value
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits))
    if (same(rounded)) return rounded
  }
  return Number(value.toPrecision(9))
}

function split(value: number, scientific: boolean): Parts {
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const magnitude = Math.abs(value)
  const short = scientific ? magnitude.toExponential() : String(magnitude)
  const long = scientific ? magnitude.toExponential(PRECISION) : magnitude.toFixed(PRECISION)
  const [mantissa, exponent = ''] = (
    digitsAfterPoint(short) > PRECISION || (!scientific && short.includes('e')) ? long : short
  ).split('e')
  const [whole, fraction = ''] = mantissa.split('.')
  const power = exponent === '' ? '' : `e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
  return { whole: sign + whole, fraction: fraction.replace(/0+$/, ''), exponent: power }
}

const digitsAfterPoint = (text: string): number => /\.(\d+)/.exec(text)?.[1].length ?? 0
