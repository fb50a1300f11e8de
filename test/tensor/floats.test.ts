import { describe, expect, it } from 'vitest'
import {
  type CodedFloat,
  decodeFloat,
  encodeFloat,
  isCodedFloat,
  narrow,
  rounderTo,
  type RoundingRules,
  widen
} from '../../src/tensor/floats.ts'

const BITS: Record<CodedFloat, number> = {
  float16: 16,
  bfloat16: 16,
  float8e4m3fn: 8,
  float8e4m3fnuz: 8,
  float8e5m2: 8,
  float8e5m2fnuz: 8,
  float8e8m0: 8,
  float4e2m1: 4,
  nf4: 4
}
const TYPES = Object.keys(BITS) as CodedFloat[]
const SIGNED = TYPES.filter(type => type !== 'float8e8m0' && type !== 'nf4')

const codesOf = (type: CodedFloat): Uint8Array | Uint16Array => {
  const codes = Array.from({ length: 2 ** BITS[type] }, (_, code) => code)
  return BITS[type] === 16 ? Uint16Array.from(codes) : Uint8Array.from(codes)
}

function narrowed(type: CodedFloat, numbers: number[] | Float32Array | Float64Array, rules?: RoundingRules): number[] {
  const codes = BITS[type] === 16 ? new Uint16Array(numbers.length) : new Uint8Array(numbers.length)
  narrow(type, Array.isArray(numbers) ? new Float64Array(numbers) : numbers, codes, rules)
  return [...codes]
}

const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)
const nextDouble = (value: number, up: boolean): number => {
  double[0] = value
  bits[0] += up === value > 0 ? 1n : -1n
  return double[0]
}

describe.each(TYPES)('%s', type => {
  const codes = codesOf(type)
  const values = widen(type, codes)

  it('decodes one code and many alike', () => {
    expect([...values]).toEqual([...codes].map(code => decodeFloat(type, code)))
  })

  it('gives every number its own code back, from float32 and from float64', () => {
    const numbers = [...codes].filter(code => !Number.isNaN(values[code]))
    const exact = numbers.map(code => values[code])
    const rules = { saturate: false }
    expect(narrowed(type, exact, rules)).toEqual(numbers)
    expect(narrowed(type, new Float32Array(exact), rules)).toEqual(numbers)
    expect(exact.map(value => encodeFloat(type, value, rules))).toEqual(numbers)
  })
})

describe.each(SIGNED)('%s', type => {
  const values = Float64Array.from(codesOf(type), code => decodeFloat(type, code))
  const finite = [...codesOf(type)].filter(code => Number.isFinite(values[code]) && !Object.is(values[code], -0))
  const ordered = finite.sort((a, b) => values[a] - values[b])
  const middleOf = (below: number, above: number): number => (values[below] + values[above]) / 2
  const gaps = ordered.slice(1).map((above, i) => ({ below: ordered[i], above, middle: middleOf(ordered[i], above) }))
  // The sign of a zero has a test of its own.
  const unsigned = (codes: number[]): number[] => codes.map(code => Math.abs(decodeFloat(type, code)))

  it('rounds the middle between two neighbours to the even one', () => {
    const even = gaps.map(({ below, above }) => (below % 2 === 0 ? below : above))
    expect(
      unsigned(
        narrowed(
          type,
          gaps.map(gap => gap.middle)
        )
      )
    ).toEqual(unsigned(even))
  })

  it('rounds the double just beside the middle to the nearer neighbour', () => {
    expect(
      unsigned(
        narrowed(
          type,
          gaps.map(gap => nextDouble(gap.middle, false))
        )
      )
    ).toEqual(unsigned(gaps.map(gap => gap.below)))
    expect(
      unsigned(
        narrowed(
          type,
          gaps.map(gap => nextDouble(gap.middle, true))
        )
      )
    ).toEqual(unsigned(gaps.map(gap => gap.above)))
  })

  it('rounds single numbers to those of the codes that they get', () => {
    const numbers = [NaN, Infinity, -Infinity, -0, 1e9, -1e9, 1e-30, ...gaps.map(gap => gap.middle).slice(0, 999)]
    expect(numbers.map(rounderTo(type))).toEqual(numbers.map(value => decodeFloat(type, encodeFloat(type, value))))
  })

  it('rounds float32 as it rounds float64', () => {
    const singles = new Float32Array(
      gaps.flatMap(({ middle }) => [middle, middle * (1 + 2 ** -23), middle * (1 - 2 ** -23)])
    )
    expect(narrowed(type, singles)).toEqual(narrowed(type, new Float64Array(singles)))
  })
})

describe('encodeFloat', () => {
  const encoded = (type: CodedFloat, numbers: number[], rules?: RoundingRules): number[] =>
    numbers.map(value => encodeFloat(type, value, rules))

  it('makes 16-bit floats infinite beyond half a step above the largest', () => {
    expect(encoded('float16', [65504, 65519.99, 65520, 1e300, -65520, 2 ** -25, 2 ** -24, NaN])).toEqual([
      0x7bff, 0x7bff, 0x7c00, 0x7c00, 0xfc00, 0, 1, 0x7e00
    ])
    expect(encoded('bfloat16', [1, -2, 3.4028234663852886e38, 2 ** 128, 2 ** -133, 2 ** -134, NaN])).toEqual([
      0x3f80, 0xc000, 0x7f80, 0x7f80, 1, 0, 0x7fc0
    ])
  })

  it('rounds float64 once, not through float32', () => {
    // 1 + 2^-11 + 2^-40 is a tie of float16 after rounding to float32, but lies above it.
    expect(encodeFloat('float16', 1 + 2 ** -11 + 2 ** -40)).toBe(0x3c01)
    expect(encodeFloat('bfloat16', 1 + 2 ** -8 + 2 ** -40)).toBe(0x3f81)
    expect(narrowed('float16', [1 + 2 ** -11 + 2 ** -40])).toEqual([0x3c01])
  })

  it('follows the tables of ONNX Cast-25 for 8-bit floats', () => {
    const numbers = [0, -0, NaN, Infinity, -Infinity, 1e6, -1e6, 464, 465]
    expect(encoded('float8e4m3fn', numbers)).toEqual([0, 0x80, 0x7f, 0x7e, 0xfe, 0x7e, 0xfe, 0x7e, 0x7e])
    expect(encoded('float8e4m3fn', numbers, { saturate: false })).toEqual([
      0, 0x80, 0x7f, 0x7f, 0xff, 0x7f, 0xff, 0x7e, 0x7f
    ])
    expect(encoded('float8e4m3fnuz', numbers)).toEqual([0, 0, 0x80, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0x7f])
    expect(encoded('float8e4m3fnuz', numbers, { saturate: false })).toEqual([
      0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
    ])
    expect(encoded('float8e5m2', numbers)).toEqual([0, 0x80, 0x7e, 0x7b, 0xfb, 0x7b, 0xfb, 0x5f, 0x5f])
    expect(encoded('float8e5m2', numbers, { saturate: false })).toEqual([
      0, 0x80, 0x7e, 0x7c, 0xfc, 0x7c, 0xfc, 0x5f, 0x5f
    ])
    expect(encoded('float8e5m2fnuz', numbers)).toEqual([0, 0, 0x80, 0x7f, 0xff, 0x7f, 0xff, 0x63, 0x63])
    expect(encoded('float8e5m2fnuz', numbers, { saturate: false })).toEqual([
      0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x63, 0x63
    ])
  })

  it('does not saturate 8-bit floats in OpenVINO', () => {
    expect(encoded('float8e4m3fn', [1e6, Infinity, 448], { dialect: 'openvino' })).toEqual([0x7f, 0x7f, 0x7e])
    expect(encoded('float8e5m2', [1e6, -Infinity], { dialect: 'openvino' })).toEqual([0x7c, 0xfc])
  })

  it('rounds to float16 before it rounds to 8 bits in OpenVINO, as its plugin for CPUs does', () => {
    // Numbers next to the middle between two codes, with what OpenVINO 2026.4 makes of them.
    const numbers = [6.251814, -336.01678, 0.0048829443, -0.0029291483, 464.1, 464.3]
    expect(encoded('float8e4m3fn', numbers, { dialect: 'openvino' })).toEqual([0x4c, 0xfa, 2, 0x82, 0x7e, 0x7f])
    expect(encoded('float8e4m3fn', numbers, { saturate: false })).toEqual([0x4d, 0xfb, 3, 0x81, 0x7f, 0x7f])
    expect(encoded('float8e5m2', [61_439, -1e308], { dialect: 'openvino' })).toEqual([0x7c, 0xfc])
    expect(encoded('float8e5m2', [61_439, -1e308], { saturate: false })).toEqual([0x7b, 0xfc])
  })

  it('follows the round modes of ONNX Cast-24 for float8e8m0', () => {
    const numbers = [1, 1.25, 1.5, 3, 0.3, 2 ** -127, 2 ** 127]
    expect(encoded('float8e8m0', numbers)).toEqual([127, 128, 128, 129, 126, 0, 254])
    expect(encoded('float8e8m0', numbers, { roundMode: 'down' })).toEqual([127, 127, 127, 128, 125, 0, 254])
    expect(encoded('float8e8m0', numbers, { roundMode: 'nearest' })).toEqual([127, 127, 128, 129, 125, 0, 254])
    expect(encoded('float8e8m0', [0, NaN, Infinity, 3e38, 2 ** -140, 5e-324])).toEqual([0, 255, 254, 254, 0, 0])
    expect(
      encoded('float8e8m0', [0, NaN, Infinity, 3e38, 2 ** -140, 5e-324], { roundMode: 'nearest', saturate: false })
    ).toEqual([255, 255, 255, 255, 255, 255])
  })

  it('rounds float8e8m0 to the even exponent in OpenVINO', () => {
    expect(
      encoded('float8e8m0', [1.5, 3, 6, 1.49, 1.51, 0, -1, NaN, Infinity, -Infinity, 2 ** -128], {
        dialect: 'openvino'
      })
    ).toEqual([128, 128, 130, 127, 128, 0, 0, 255, 254, 0, 0])
  })

  it('saturates float4e2m1 in both dialects and gives NaN as each has it', () => {
    const numbers = [0.25, 0.75, 2.5, 3.5, 5, -100, Infinity, -0, NaN]
    expect(encoded('float4e2m1', numbers)).toEqual([0, 2, 4, 6, 6, 15, 7, 8, 8])
    expect(encoded('float4e2m1', numbers, { dialect: 'openvino' })).toEqual([0, 2, 4, 6, 6, 15, 7, 8, 7])
  })

  it('takes the nearest nf4 value', () => {
    expect(encoded('nf4', [0, -0, 0.3, -0.3, 0.25, 0.75, 9, -9, NaN, Infinity])).toEqual([
      7, 7, 11, 4, 10, 14, 15, 0, 0, 15
    ])
  })
})

describe('narrow', () => {
  it('keeps the sign of a NaN where the type has one', () => {
    const negative = new Float32Array(new Uint32Array([0xffc00000]).buffer)
    expect(narrowed('float16', negative)).toEqual([0xfe00])
    expect(narrowed('bfloat16', negative)).toEqual([0xffc0])
    expect(narrowed('float8e4m3fn', negative)).toEqual([0xff])
    expect(narrowed('float8e5m2', new Float64Array(new BigUint64Array([0xfff8000000000000n]).buffer))).toEqual([0xfe])
    expect(narrowed('float8e4m3fnuz', negative)).toEqual([0x80])
  })

  it('reads a view that begins inside a buffer', () => {
    expect(narrowed('float16', new Float32Array([9, 1, 2]).subarray(1))).toEqual([0x3c00, 0x4000])
    expect(narrowed('float8e5m2', new Float32Array([9, 1, 2]).subarray(1))).toEqual([0x3c, 0x40])
  })

  it('refuses arrays of different lengths', () => {
    expect(() => narrow('float16', new Float32Array(2), new Uint16Array(1))).toThrow('2 numbers for 1 codes')
  })
})

describe('decodeFloat', () => {
  it('knows the special codes', () => {
    expect([0x7c00, 0xfc00, 0x7c01, 0x7bff, 1, 0x8000].map(code => decodeFloat('float16', code))).toEqual([
      Infinity,
      -Infinity,
      NaN,
      65504,
      2 ** -24,
      -0
    ])
    expect([0x7f, 0xff, 0x7e, 0x01].map(code => decodeFloat('float8e4m3fn', code))).toEqual([NaN, NaN, 448, 2 ** -9])
    expect([0x80, 0x7f].map(code => decodeFloat('float8e4m3fnuz', code))).toEqual([NaN, 240])
    expect([0x7c, 0x7d, 0x7b].map(code => decodeFloat('float8e5m2', code))).toEqual([Infinity, NaN, 57344])
    expect([0, 127, 254, 255].map(code => decodeFloat('float8e8m0', code))).toEqual([2 ** -127, 1, 2 ** 127, NaN])
    expect([0, 1, 2, 3, 4, 5, 6, 7, 15].map(code => decodeFloat('float4e2m1', code))).toEqual([
      0, 0.5, 1, 1.5, 2, 3, 4, 6, -6
    ])
    expect([0, 7, 15].map(code => decodeFloat('nf4', code))).toEqual([-1, 0, 1])
  })

  it('tells coded types from the others', () => {
    expect(isCodedFloat('float16') && isCodedFloat('nf4')).toBe(true)
    expect(isCodedFloat('float32') || isCodedFloat('int8') || isCodedFloat('string')).toBe(false)
  })
})
