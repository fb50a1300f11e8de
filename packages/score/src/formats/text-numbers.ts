import type { Packed, PackedBytes } from '../packed.ts'

const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30]
/** Whole numbers up to here, and powers of ten up to the 22nd, are exact, and so is the rounding of their quotient. */
const EXACT = 2 ** 53
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))
/** Numbers as texts say them in decimal digits. */
export const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i

/**
 * The numbers that texts say; those that are empty say none.
 * @param isWhole whether they have to be whole, without a zero before others
 * @returns undefined where a text says no number, or one that doubles do not have
 */
export function numbersOfTexts({ rows, bytes, offsets }: PackedBytes, isWhole: boolean): Packed | undefined {
  const values = new Float64Array(rows)
  let valid: Uint8Array | undefined
  for (let row = 0; row < rows; row++) {
    const [begin, end] = [offsets[row], offsets[row + 1]]
    if (begin === end) (valid ??= new Uint8Array(rows).fill(1))[row] = 0
    else {
      const value = isWhole ? wholeNumber(bytes, begin, end) : decimalNumber(bytes, begin, end)
      if (value === undefined) return undefined
      values[row] = value
    }
  }
  return { kind: 'numbers', rows, values, valid }
}

function wholeNumber(bytes: Uint8Array, begin: number, end: number): number | undefined {
  const first = bytes[begin] === MINUS ? begin + 1 : begin
  if (first === end || (bytes[first] === ZERO && end > first + 1)) return undefined
  let value = 0
  for (let at = first; at < end; at++) {
    const digit = bytes[at] - ZERO
    if (!(digit >= 0 && digit <= 9)) return undefined
    value = 10 * value + digit
  }
  if (value >= EXACT) return undefined
  return first > begin ? -value || 0 : value
}

function decimalNumber(bytes: Uint8Array, begin: number, end: number): number | undefined {
  const first = bytes[begin] === MINUS ? begin + 1 : begin
  let [value, point, digits] = [0, -1, 0]
  for (let at = first; at < end; at++) {
    const digit = bytes[at] - ZERO
    if (digit >= 0 && digit <= 9) {
      value = 10 * value + digit
      digits++
    } else if (bytes[at] === POINT && point < 0) point = at
    else return otherNumber(bytes, begin, end)
  }
  const places = point < 0 ? 0 : end - point - 1
  if (digits === 0 || value >= EXACT || places >= POWERS.length) return otherNumber(bytes, begin, end)
  const number = value / POWERS[places]
  return first > begin ? -number : number
}

function otherNumber(bytes: Uint8Array, begin: number, end: number): number | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin).toString('latin1')
  return NUMBER.test(text) ? Number(text) : undefined
}

/** Numbers as whole ones of 64 bits; undefined where one is none that is exact. */
export function wholeNumbers({ values, rows, valid }: Packed & { kind: 'numbers' | 'bools' }): Packed | undefined {
  const all = new BigInt64Array(rows)
  const words = new Int32Array(all.buffer)
  for (let row = 0; row < rows; row++) {
    const value = Number(values[row])
    if (!Number.isSafeInteger(value)) return undefined
    words[2 * row] = value
    words[2 * row + 1] = Math.floor(value / 2 ** 32)
  }
  return { kind: 'numbers', rows, valid, values: all }
}
