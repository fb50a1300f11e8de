import type { DType } from '../../tensor/dtype.ts'
import { decodeFloat } from '../../tensor/floats.ts'

/** Types of 8-bit floats that the kernel of coded weights widens, and the bits of their mantissa. */
const MANTISSA = { float8e4m3fn: 3, float8e4m3fnuz: 3, float8e5m2: 2, float8e5m2fnuz: 2 } as const
export type Float8 = keyof typeof MANTISSA

export const isFloat8 = (type: DType): type is Float8 => type in MANTISSA

export const mantissaOf = (type: Float8): 2 | 3 => MANTISSA[type]

/** Bytes of a vector, each of which has a byte for each of sixteen codes. */
const VECTOR = 16
/** Bits that say which codes are special, once they are flipped: the highest magnitudes, or negative zero. */
const SPECIAL = { highest: { mask: 0x7f, flip: 0x70 }, negativeZero: { mask: 0xff, flip: 0x80 } } as const

const planes = new Map<Float8, Uint8Array>()

/** The vectors by which ../assembly/coded/floats.ts makes bfloat16 of the codes of a type. */
export function floatPlanes(type: Float8): Uint8Array {
  const known = planes.get(type) ?? planesOf(type)
  planes.set(type, known)
  return known
}

function planesOf(type: Float8): Uint8Array {
  const result = new Uint8Array(7 * VECTOR)
  // Types without negative zero have another exponent by one.
  const isUnsignedZero = type.endsWith('fnuz')
  const minus = isUnsignedZero ? 1 << MANTISSA[type] : 0
  const { mask, flip } = isUnsignedZero ? SPECIAL.negativeZero : SPECIAL.highest
  for (let i = 0; i < VECTOR; i++) {
    setPair(result, i, movedOf(type, i, minus) ^ brainOf(type, i))
    const code = i ^ flip
    const magnitude = code & 0x7f
    // Low magnitudes have been corrected.
    const made = magnitude < VECTOR ? brainOf(type, magnitude) : movedOf(type, magnitude, minus)
    setPair(result, 2 * VECTOR + i, made ^ (brainOf(type, code) & 0x7fff))
  }
  result.fill(mask, 4 * VECTOR, 5 * VECTOR)
  result.fill(flip, 5 * VECTOR, 6 * VECTOR)
  result.fill(minus, 6 * VECTOR)
  return result
}

/** Writes the low byte to a vector, and the high byte to the next one. */
function setPair(to: Uint8Array, at: number, bits: number): void {
  to[at] = bits & 0xff
  to[at + VECTOR] = bits >> 8
}

/** What the kernel makes of a magnitude before it corrects it. */
function movedOf(type: Float8, magnitude: number, minus: number): number {
  const mantissa = MANTISSA[type]
  const less = (magnitude - minus) & 0xff
  const high = ((less >> (1 + mantissa)) + (mantissa === 3 ? 0x3c : 0x38)) & 0xff
  return (high << 8) | ((less << (7 - mantissa)) & 0xff)
}

/** A code as a bfloat16. */
function brainOf(type: Float8, code: number): number {
  const value = decodeFloat(type, code)
  return Number.isNaN(value) ? 0x7fc0 : new Uint32Array(Float32Array.of(value).buffer)[0] >>> 16
}
