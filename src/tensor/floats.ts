import { fail } from '../errors.ts'
import type { DType } from './dtype.ts'

/** Floating-point types whose elements are kept as codes, which are bit patterns in a Uint16Array or Uint8Array. */
export type CodedFloat =
  | 'float16'
  | 'bfloat16'
  | 'float8e4m3fn'
  | 'float8e4m3fnuz'
  | 'float8e5m2'
  | 'float8e5m2fnuz'
  | 'float8e8m0'
  | 'float4e2m1'
  | 'nf4'

export type Codes = Uint8Array | Uint16Array
export type Doubles = Float32Array | Float64Array

/** How numbers that a narrow type cannot represent are rounded. */
export interface RoundingRules {
  /**
   * 8-bit floats: a number that is too large becomes the largest number (true), or infinity, or NaN where the type has
   * no infinity (false). Default: true for ONNX, false for OpenVINO.
   */
  readonly saturate?: boolean
  /**
   * For float8e8m0 in ONNX (Cast-24): `up` away from zero, `down` towards zero, `nearest` with ties up. Default `up`.
   */
  readonly roundMode?: 'up' | 'down' | 'nearest'
  /** Whose rules to follow where they differ, see {@link encodeFloat}. Default `onnx`. */
  readonly dialect?: 'onnx' | 'openvino'
}

export interface Format {
  /** Bits of the mantissa, without the hidden bit. */
  readonly mantissa: number
  /** Exponent of the smallest normal number. */
  readonly minExponent: number
  /** Code of the largest finite number. */
  readonly maxCode: number
  /** Code of infinity, where the type has one; higher codes are NaN. */
  readonly infinity?: number
  /** Code of the NaN that conversions give; float4e2m1 has no NaN. */
  readonly nan?: number
  /** The sign bit. */
  readonly sign: number
  /** Set for the `fnuz` types: they have no negative zero, whose code is their only NaN. */
  readonly unsignedZero?: true
}

type Signed = Exclude<CodedFloat, 'float8e8m0' | 'nf4'>

/** float16: IEEE 754-2019. float8: arXiv 2209.05433 (fn, e5m2) and 2206.02915 (fnuz). float4: OCP MX 1.0. */
const FORMATS: Readonly<Record<Signed, Format>> = {
  float16: { mantissa: 10, minExponent: -14, maxCode: 0x7bff, infinity: 0x7c00, nan: 0x7e00, sign: 0x8000 },
  bfloat16: { mantissa: 7, minExponent: -126, maxCode: 0x7f7f, infinity: 0x7f80, nan: 0x7fc0, sign: 0x8000 },
  float8e4m3fn: { mantissa: 3, minExponent: -6, maxCode: 0x7e, nan: 0x7f, sign: 0x80 },
  float8e4m3fnuz: { mantissa: 3, minExponent: -7, maxCode: 0x7f, nan: 0x80, sign: 0x80, unsignedZero: true },
  float8e5m2: { mantissa: 2, minExponent: -14, maxCode: 0x7b, infinity: 0x7c, nan: 0x7e, sign: 0x80 },
  float8e5m2fnuz: { mantissa: 2, minExponent: -15, maxCode: 0x7f, nan: 0x80, sign: 0x80, unsignedZero: true },
  float4e2m1: { mantissa: 1, minExponent: 0, maxCode: 7, sign: 8 }
}

/** Numbers of the nf4 codes: quantiles of the normal distribution (QLoRA, arXiv 2305.14314, appendix E). */
const NF4 = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
  -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
  0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1
]

/** How a type with a sign is made up; undefined for all others. */
export const floatFormat = (type: DType): Format | undefined => (FORMATS as Partial<Record<DType, Format>>)[type]

const CODED: ReadonlySet<DType> = new Set<DType>([...(Object.keys(FORMATS) as Signed[]), 'float8e8m0', 'nf4'])

/** Whether elements of `type` are codes of floating-point numbers. */
export const isCodedFloat = (type: DType): type is CodedFloat => CODED.has(type)

/** The number that a code represents. Bits of the code beyond the width of the type are ignored. */
export function decodeFloat(type: CodedFloat, code: number): number {
  if (type === 'nf4') return NF4[code & 15]
  if (type === 'float8e8m0') return (code & 255) === 255 ? NaN : powerOfTwo((code & 255) - 127)
  const { mantissa, minExponent, maxCode, infinity, nan, sign, unsignedZero } = FORMATS[type]
  const magnitude = code & (sign - 1)
  const negative = (code & sign) !== 0
  if (unsignedZero && negative && magnitude === 0) return NaN
  if (magnitude === infinity) return negative ? -Infinity : Infinity
  if (nan !== undefined && magnitude > maxCode) return NaN
  const exponent = magnitude >> mantissa
  const fraction = magnitude & ((1 << mantissa) - 1)
  const value =
    exponent === 0
      ? fraction * powerOfTwo(minExponent - mantissa)
      : (fraction + (1 << mantissa)) * powerOfTwo(minExponent + exponent - 1 - mantissa)
  return negative ? -value : value
}

/**
 * The code of the number nearest to `value`, ties to even, rounded once. For float16 and bfloat16, numbers that are too
 * large become infinity in ONNX Cast-25 and in OpenVINO 2026.4. The two differ in the default of `saturate` and in
 * - float8e8m0: ONNX follows `roundMode` and `saturate` and ignores the sign; OpenVINO rounds to nearest, ties to even,
 *   always saturates, and makes negative numbers 2^-127;
 * - float8e4m3fn and float8e5m2: OpenVINO's plugin for CPUs rounds to float16 first;
 * - float4e2m1, which saturates in both: NaN becomes -0 in the tests of ONNX and 6 in OpenVINO.
 *
 * For nf4 the lower number of a tie is taken, and -1 for NaN.
 */
export const encodeFloat = (type: CodedFloat, value: number, rules: RoundingRules = {}): number =>
  encoder(type, rules)(value, false)

/**
 * The numbers that codes represent, exact.
 * @param numbers where they go
 */
export function widen(
  type: CodedFloat,
  codes: Codes,
  numbers: Float32Array = new Float32Array(codes.length)
): Float32Array {
  if (type === 'bfloat16') widenBfloat16(codes, numbers)
  else if (type === 'float16') widenFloat16(codes, numbers)
  else {
    const table = tableOf(type)
    const mask = table.length - 1
    for (let i = 0; i < codes.length; i++) numbers[i] = table[codes[i] & mask]
  }
  return numbers
}

/**
 * Writes the codes of numbers into `codes`, see {@link encodeFloat}. A NaN keeps its sign where the type has signed
 * NaNs.
 */
export function narrow(type: CodedFloat, numbers: Doubles, codes: Codes, rules: RoundingRules = {}): void {
  if (codes.length !== numbers.length) fail('internal', `${numbers.length} numbers for ${codes.length} codes`)
  if (type === 'float16') return narrowToFloat16(roundedToOdd(numbers), codes)
  if (type === 'bfloat16') return narrowToBfloat16(roundedToOdd(numbers), codes)
  const encode = encoder(type, rules)
  const wordsEach = numbers.BYTES_PER_ELEMENT / 4
  const words = new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length * wordsEach)
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]
    codes[i] = encode(value, value !== value && words[(i + 1) * wordsEach - 1] < 0)
  }
}

/** Rounds single numbers to a type, as {@link encodeFloat} and {@link decodeFloat} do; made once for many numbers. */
export function rounderTo(type: CodedFloat): (value: number) => number {
  const encode = encoder(type, {})
  if (type === 'bfloat16') return value => decodeFloat(type, encode(value, false))
  const table = tableOf(type)
  return value => table[encode(value, false)]
}

type Encoder = (value: number, negativeNan: boolean) => number

function encoder(type: CodedFloat, rules: RoundingRules): Encoder {
  const openvino = rules.dialect === 'openvino'
  const saturate = rules.saturate ?? !openvino
  if (type === 'nf4') return nearestNf4
  if (type === 'float8e8m0')
    return openvino ? openvinoE8m0 : value => onnxE8m0(value, saturate, rules.roundMode ?? 'up')
  const format = FORMATS[type]
  const { maxCode, infinity, nan, sign, unsignedZero } = format
  const clamps = type === 'float4e2m1' || (saturate && type.startsWith('float8'))
  const tooLarge = clamps ? maxCode : (infinity ?? nan ?? maxCode)
  const noNumber = nan ?? (openvino ? maxCode : sign)
  const goesByHalf = openvino && (type === 'float8e4m3fn' || type === 'float8e5m2')
  return (value, negativeNan) => {
    if (value !== value) return negativeNan ? noNumber | sign : noNumber
    const size = goesByHalf ? roundedToHalf(Math.abs(value)) : Math.abs(value)
    const magnitude = size === Infinity ? maxCode + 1 : magnitudeCode(size, format)
    const code = magnitude > maxCode ? tooLarge : magnitude
    const negative = value < 0 || Object.is(value, -0)
    return negative && !(unsignedZero && code === 0) ? code | sign : code
  }
}

// A double and its two halves, for work on bits.
const word = new Uint32Array(2)
const double = new Float64Array(word.buffer)
/** Index in `word` of the half with the exponent. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0
/** Adding and then subtracting 2^52 rounds a double from 0 to 2^52 to an integer, ties to even. */
const ROUNDER = 2 ** 52

/** 2 to the power of an integer from -1022 to 1023, exact. */
const powerOfTwo = (exponent: number): number => {
  word[1 - HIGH] = 0
  word[HIGH] = (exponent + 1023) << 20
  return double[0]
}

/** Exponent of the greatest power of two that is not above a positive number; -1023 for subnormal numbers. */
const exponentOf = (value: number): number => {
  double[0] = value
  return (word[HIGH] >>> 20) - 1023
}

/**
 * Code, without its sign, of a finite number >= 0, as if the format had no largest number. Adding the mantissa with its
 * hidden bit to the shifted exponent gives the right code also where rounding carries into the next power of two.
 */
function magnitudeCode(value: number, { mantissa, minExponent }: Format): number {
  const exponent = Math.max(exponentOf(value), minExponent)
  const units = value * powerOfTwo(mantissa - exponent)
  return ((exponent - minExponent) << mantissa) + (units + ROUNDER - ROUNDER)
}

/** The number of float16 that is nearest to one >= 0, ties to even, as if the format had no largest number. */
function roundedToHalf(value: number): number {
  if (value === Infinity) return value
  const { mantissa, minExponent } = FORMATS.float16
  const exponent = Math.max(exponentOf(value), minExponent)
  const units = value * powerOfTwo(mantissa - exponent) + ROUNDER - ROUNDER
  return units * powerOfTwo(exponent - mantissa)
}

function onnxE8m0(value: number, saturate: boolean, mode: 'up' | 'down' | 'nearest'): number {
  if (value !== value) return 255
  const magnitude = Math.abs(value)
  if (magnitude === Infinity) return saturate ? 254 : 255
  if (magnitude === 0) return saturate ? 0 : 255
  const exponent = exponentOf(magnitude)
  const fraction = magnitude / powerOfTwo(Math.max(exponent, -1022))
  const up = mode === 'up' ? fraction > 1 : mode === 'nearest' && fraction >= 1.5
  const code = exponent + 127 + (up ? 1 : 0)
  if (code > 254) return saturate ? 254 : 255
  return code >= 0 ? code : saturate ? 0 : 255
}

function openvinoE8m0(value: number): number {
  if (value !== value) return 255
  if (value === Infinity) return 254
  if (value <= 0) return 0
  const exponent = exponentOf(value)
  if (exponent < -127) return 0
  const fraction = value / powerOfTwo(exponent)
  const code = exponent + 127
  return Math.min(254, fraction > 1.5 || (fraction === 1.5 && code % 2 === 1) ? code + 1 : code)
}

function nearestNf4(value: number): number {
  let code = 0
  while (code < 15 && value > (NF4[code] + NF4[code + 1]) / 2) code++
  return code
}

const tables = new Map<CodedFloat, Float32Array>()

function tableOf(type: CodedFloat): Float32Array {
  const known = tables.get(type)
  if (known !== undefined) return known
  const size = type === 'float16' ? 65536 : type === 'nf4' || type === 'float4e2m1' ? 16 : 256
  const table = new Float32Array(size)
  if (type === 'float16') widenFloat16(Uint16Array.from(table.keys()), table)
  else for (let code = 0; code < size; code++) table[code] = decodeFloat(type, code)
  tables.set(type, table)
  return table
}

function widenBfloat16(codes: Codes, numbers: Float32Array): void {
  const bits = bitsOf(numbers)
  for (let i = 0; i < codes.length; i++) bits[i] = codes[i] << 16
}

/**
 * Works on the bits of float32. Shifted to where float32 has exponent and mantissa, a code is its number times 2^-112,
 * the difference of the two biases; subnormal codes become subnormal numbers. Infinity
 * and NaN get the greatest exponent.
 */
function widenFloat16(codes: Codes, numbers: Float32Array): void {
  const bits = bitsOf(numbers)
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]
    bits[i] = ((code & 0x8000) << 16) | ((code & 0x7fff) << 13)
    numbers[i] *= 2 ** 112
    if ((code & 0x7c00) === 0x7c00) bits[i] |= 0x7f800000
  }
}

const bitsOf = (numbers: Float32Array): Uint32Array =>
  new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length)

/**
 * Doubles as float32 whose last bit is 1 wherever they are not exact (rounding to odd). Rounded to a type of at least 2
 * bits less they give what the doubles would: the bit tells numbers just beside a tie from the tie (Boldo and
 * Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 */
function roundedToOdd(numbers: Doubles): Float32Array {
  if (numbers instanceof Float32Array) return numbers
  const floats = new Float32Array(numbers)
  const bits = new Int32Array(floats.buffer)
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]
    const near = floats[i]
    if (near !== value && value === value && (bits[i] & 1) === 0) bits[i] += Math.abs(near) > Math.abs(value) ? -1 : 1
  }
  return floats
}

function narrowToBfloat16(numbers: Float32Array, codes: Codes): void {
  const bits = bitsOf(numbers)
  for (let i = 0; i < bits.length; i++) {
    const value = bits[i]
    const isNan = (value & 0x7fffffff) > 0x7f800000
    codes[i] = isNan ? (value >>> 16) | 0x40 : (value + 0x7fff + ((value >>> 16) & 1)) >>> 16
  }
}

/**
 * Works on the bits of float32. Adding just under half a unit of the result, and one more where the part that is kept
 * is odd, rounds to nearest, ties to even: the carry does it.
 */
function narrowToFloat16(numbers: Float32Array, codes: Codes): void {
  const bits = bitsOf(numbers)
  for (let i = 0; i < bits.length; i++) {
    const sign = (bits[i] >>> 16) & 0x8000
    const value = bits[i] & 0x7fffffff
    if (value >= 0x47800000) codes[i] = value > 0x7f800000 ? sign | 0x7e00 | ((value >>> 13) & 0x3ff) : sign | 0x7c00
    else if (value >= 0x38800000) codes[i] = sign | ((value - 0x38000000 + 0xfff + ((value >>> 13) & 1)) >>> 13)
    else if (value <= 0x33000000) codes[i] = sign
    else {
      const shift = 126 - (value >>> 23)
      const fraction = (value & 0x7fffff) | 0x800000
      const kept = fraction >>> shift
      const half = 1 << (shift - 1)
      const rest = fraction & ((1 << shift) - 1)
      codes[i] = sign | (kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0))
    }
  }
}
