import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convert, convertInto, type ConvertOptions } from '../../src/tensor/convert.ts'
import { ALL_DTYPES, type DType, DTYPES, type Storage } from '../../src/tensor/dtype.ts'
import { type Element, elementsOf } from '../../src/tensor/elements.ts'
import { decodeFloat, encodeFloat, isCodedFloat } from '../../src/tensor/floats.ts'
import { allocate, Tensor } from '../../src/tensor/tensor.ts'

type Data = Storage | readonly (number | bigint | boolean | string)[]

const converted = (from: DType, data: Data, to: DType, options?: ConvertOptions): Element[] =>
  elementsOf(convert(new Tensor(from, data as never), to, options))

const REAL = ALL_DTYPES.filter(type => DTYPES[type].kind !== 'string' && DTYPES[type].kind !== 'complex')
const WITH_ZERO = REAL.filter(type => type !== 'float8e8m0')

describe('few elements', () => {
  it.each([
    ['int64', 'float32'],
    ['uint64', 'float32'],
    ['int64', 'float16'],
    ['int64', 'int32'],
    ['float64', 'int64'],
    ['float64', 'uint64'],
    ['float32', 'int64'],
    ['int32', 'uint64'],
    ['uint32', 'int64']
  ] as const)('of %s become %s as they do among many', (from, to) => {
    const numbers = [
      0,
      1,
      -1,
      3.7,
      -3.7,
      2 ** 31,
      16777217,
      2 ** 53 - 1,
      2 ** 53,
      -(2 ** 53),
      2 ** 54 + 4,
      2 ** 63,
      1e19
    ]
    const wide = [2n ** 54n + 2n ** 30n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n - 1n]
    const isWide = from === 'int64' || from === 'uint64'
    const elements = isWide ? [...numbers.map(x => BigInt(Math.trunc(x))), ...wide] : [...numbers, NaN, -Infinity]
    const many = converted(from, elements, to)
    for (const [i, element] of elements.entries()) expect(converted(from, [element], to)[0]).toEqual(many[i])
  })
})

describe('convert', () => {
  it.each(WITH_ZERO.flatMap(from => WITH_ZERO.map(to => ({ from, to }))))(
    'takes 0 and 1 from $from to $to',
    ({ from, to }) => {
      const result = convert(convert(new Tensor('float32', [0, 1], [2, 1]), from), to)
      expect([result.type, result.dims]).toEqual([to, [2, 1]])
      expect(elementsOf(result).map(Number)).toEqual([0, 1])
    }
  )

  it('returns the tensor itself when it has the type already', () => {
    const tensor = new Tensor('int8', [1])
    expect(convert(tensor, 'int8')).toBe(tensor)
  })
})

describe('float to integer', () => {
  // What ONNX Runtime 1.31 and OpenVINO 2026.4 give on x86-64.
  const numbers = [
    -1.5,
    2.9,
    127.9,
    128,
    300,
    -129,
    65536,
    2 ** 31,
    -(2 ** 31),
    2 ** 32,
    1e10,
    2 ** 63,
    2 ** 64,
    1e30,
    -1e10,
    NaN,
    Infinity,
    -Infinity
  ]
  const expected: [DType, number[] | bigint[]][] = [
    ['int8', [-1, 2, 127, -128, 44, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['uint8', [255, 2, 127, 128, 44, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['int16', [-1, 2, 127, 128, 300, -129, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['int32', [-1, 2, 127, 128, 300, -129, 65536, ...new Array(11).fill(-(2 ** 31))]],
    [
      'uint32',
      [
        2 ** 32 - 1,
        2,
        127,
        128,
        300,
        2 ** 32 - 129,
        65536,
        2 ** 31,
        2 ** 31,
        0,
        0,
        0,
        0,
        0,
        2 ** 31,
        2 ** 31,
        0,
        2 ** 31
      ]
    ],
    [
      'int64',
      [
        -1n,
        2n,
        127n,
        128n,
        300n,
        -129n,
        65536n,
        2n ** 31n,
        -(2n ** 31n),
        2n ** 32n,
        10n ** 10n,
        ...new Array(3).fill(-(2n ** 63n)),
        -(10n ** 10n),
        ...new Array(3).fill(-(2n ** 63n))
      ]
    ],
    [
      'uint64',
      [
        2n ** 64n - 1n,
        2n,
        127n,
        128n,
        300n,
        2n ** 64n - 129n,
        65536n,
        2n ** 31n,
        2n ** 64n - 2n ** 31n,
        2n ** 32n,
        10n ** 10n,
        2n ** 63n,
        0n,
        0n,
        2n ** 64n - 10n ** 10n,
        2n ** 63n,
        0n,
        2n ** 63n
      ]
    ]
  ]
  it.each(expected)('gives %s as the runtimes do', (type, values) => {
    expect(converted('float64', numbers, type)).toEqual(values)
  })

  it('keeps the low bits for sub-byte types', () => {
    const values = [-9, -8, 7.9, 8, 15, 16, -1.5]
    expect(converted('float32', values, 'int4')).toEqual([7, -8, 7, -8, -1, 0, -1])
    expect(converted('float32', values, 'uint4')).toEqual([7, 8, 7, 8, 15, 0, 15])
    expect(converted('float32', values, 'int2')).toEqual([-1, 0, -1, 0, -1, 0, -1])
    expect(converted('float32', values, 'uint1')).toEqual([1, 0, 1, 0, 1, 0, 1])
    expect(converted('float32', values, 'uint3')).toEqual([7, 0, 7, 0, 7, 0, 7])
    expect(converted('float32', values, 'uint6')).toEqual([55, 56, 7, 8, 15, 16, 63])
  })

  it('is exact up to the ends of 64 bits', () => {
    const values = [2 ** 63 - 1024, -(2 ** 63), 2 ** 53 + 2, -(2 ** 40) - 0.5, 2 ** 31, -(2 ** 31) - 1]
    expect(converted('float64', values, 'int64')).toEqual(values.map(value => BigInt(Math.trunc(value))))
    expect(converted('float64', [2 ** 64 - 2048, 2 ** 63], 'uint64')).toEqual([2n ** 64n - 2048n, 2n ** 63n])
  })
})

describe('integer to integer', () => {
  it('keeps the low bits', () => {
    expect(converted('int16', [200, -200, 256], 'int8')).toEqual([-56, 56, 0])
    expect(converted('int64', [2n ** 32n + 5n, -1n, 2n ** 31n], 'int32')).toEqual([5, -1, -(2 ** 31)])
    expect(converted('uint64', [2n ** 64n - 1n], 'int64')).toEqual([-1n])
    expect(converted('int64', [-1n], 'uint64')).toEqual([2n ** 64n - 1n])
    expect(converted('int32', [-200, 70000], 'uint4')).toEqual([8, 0])
    expect(converted('int64', [9n, -9n], 'int4')).toEqual([-7, 7])
  })

  it('widens with the sign that the type has', () => {
    expect(converted('int8', [-1], 'int64')).toEqual([-1n])
    expect(converted('uint32', [2 ** 32 - 1], 'int64')).toEqual([2n ** 32n - 1n])
    expect(converted('int32', [-1], 'uint64')).toEqual([2n ** 64n - 1n])
    expect(converted('int4', [-8], 'float32')).toEqual([-8])
  })
})

describe('to float', () => {
  it('rounds 64-bit integers once', () => {
    // The tie of float32 at 2^60 + 2^36, and its neighbours that a double cannot hold.
    const tie = 2n ** 60n + 2n ** 36n
    const values = [tie - 1n, tie, tie + 1n, -tie - 1n, 2n ** 53n + 2n ** 29n + 1n, 3n]
    expect(converted('int64', values, 'float32')).toEqual([
      2 ** 60,
      2 ** 60,
      2 ** 60 + 2 ** 37,
      -(2 ** 60) - 2 ** 37,
      2 ** 53 + 2 ** 30,
      3
    ])
    expect(converted('int64', values, 'float64')).toEqual(values.map(Number))
    const high = 2n ** 63n + 2n ** 39n
    expect(converted('uint64', [high, high + 1n, 2n ** 64n - 1n], 'float32')).toEqual([
      2 ** 63,
      2 ** 63 + 2 ** 40,
      2 ** 64
    ])
    expect(converted('int64', [2n ** 60n + 2n ** 52n + 1n, 2n ** 60n + 2n ** 52n], 'bfloat16')).toEqual([
      2 ** 60 + 2 ** 53,
      2 ** 60
    ])
  })

  it('rounds 32-bit integers once', () => {
    expect(converted('int32', [2 ** 24 + 1, 2 ** 24 + 3, -(2 ** 24) - 1], 'float32')).toEqual([
      2 ** 24,
      2 ** 24 + 4,
      -(2 ** 24)
    ])
    expect(converted('uint32', [2 ** 30 + 2 ** 22 + 1, 2049], 'bfloat16')).toEqual([2 ** 30 + 2 ** 23, 2048])
    expect(converted('int32', [2049, 2051, 70000], 'float16')).toEqual([2048, 2052, Infinity])
  })

  it('makes what is too large infinite', () => {
    expect(converted('float64', [1e300, -1e39, 65520], 'float32')).toEqual([Infinity, -Infinity, 65520])
    expect(converted('float32', [65520, -1e10], 'float16')).toEqual([Infinity, -Infinity])
  })

  it('passes the rounding rules on', () => {
    expect(converted('float32', [1e6], 'float8e4m3fn')).toEqual([448])
    expect(converted('float32', [1e6], 'float8e4m3fn', { saturate: false })).toEqual([NaN])
    expect(converted('float16', [0x7bff], 'float8e5m2', { dialect: 'openvino' })).toEqual([Infinity])
    expect(converted('int32', [5], 'float8e8m0', { roundMode: 'down' })).toEqual([4])
  })
})

describe('to and from bool', () => {
  it('is true for all but zero', () => {
    expect(converted('float32', [0, -0, 0.1, NaN], 'bool')).toEqual([false, false, true, true])
    expect(converted('int64', [0n, 2n ** 32n, -1n], 'bool')).toEqual([false, true, true])
    expect(converted('float16', [0x8000, 1], 'bool')).toEqual([false, true])
    expect(converted('float8e8m0', [0], 'bool')).toEqual([true])
  })

  it('gives 1 and 0', () => {
    expect(converted('bool', [true, false], 'int64')).toEqual([1n, 0n])
    expect(converted('bool', [true, false], 'float16')).toEqual([1, 0])
  })
})

describe('to and from string', () => {
  it('prints as ONNX Runtime does', () => {
    expect(converted('float32', [0.1, 1e-5, 1 / 3, 1e8, NaN, -Infinity, -0], 'string')).toEqual([
      '0.1',
      '9.9999997e-06',
      '0.33333334',
      '1e+08',
      'NaN',
      '-INF',
      '-0'
    ])
    expect(converted('bool', [true, false], 'string')).toEqual(['1', '0'])
    expect(converted('int64', [-(2n ** 63n)], 'string')).toEqual(['-9223372036854775808'])
    expect(converted('float16', [0x2e66], 'string')).toEqual(['0.099975586'])
  })

  it('reads numbers into every type', () => {
    const texts = ['3.75', ' +3 ', '1e2', '-0']
    expect(converted('string', texts, 'float64')).toEqual([3.75, 3, 100, -0])
    expect(converted('string', ['inf', '-INF', 'NaN', '1e5'], 'float16')).toEqual([Infinity, -Infinity, NaN, Infinity])
    expect(converted('string', texts, 'int32')).toEqual([3, 3, 100, 0])
    expect(converted('string', ['9223372036854775807', '-1'], 'int64')).toEqual([2n ** 63n - 1n, -1n])
    expect(converted('string', ['18446744073709551615', '-1'], 'uint64')).toEqual([2n ** 64n - 1n, 2n ** 64n - 1n])
    expect(converted('string', ['256', '-1', '9'], 'uint8')).toEqual([0, 255, 9])
    expect(converted('string', ['9'], 'int4')).toEqual([-7])
    expect(converted('string', ['0.0', '0.5', 'nan'], 'bool')).toEqual([false, true, true])
  })
})

describe('complex', () => {
  it('comes from real numbers and the other complex type', () => {
    expect(converted('float32', [1, 2], 'complex64')).toEqual([
      [1, 0],
      [2, 0]
    ])
    expect(converted('complex64', [1, 2], 'complex128')).toEqual([[1, 2]])
    expect(converted('int64', [3n], 'complex128')).toEqual([[3, 0]])
  })

  it('becomes nothing else', () => {
    expect(() => converted('complex64', [1, 2], 'float32')).toThrow('complex64 does not convert to float32')
    expect(() => converted('complex64', [1, 2], 'string')).toThrow('complex64 does not convert to string')
    expect(() => converted('string', ['1'], 'complex64')).toThrow('string does not convert to complex64')
  })
})

describe('convertInto', () => {
  it.each(WITH_ZERO)('writes %s into a view of a larger buffer, and nothing beside it', from => {
    const source = convert(new Tensor('float32', [1, 0, 1, 1]), from)
    for (const type of WITH_ZERO) {
      const expected = convert(source, type)
      const data = expected.data as Uint8Array
      const make = data.constructor as typeof Uint8Array
      const bytes = new Uint8Array(96).fill(0xa5)
      const [start, end] = [32, 32 + data.byteLength]
      const target = new Tensor(type, new make(bytes.buffer, start, data.length) as never, expected.dims)
      convertInto(source, target)
      expect(target.data).toEqual(expected.data)
      expect([...bytes.subarray(0, start), ...bytes.subarray(end)].every(byte => byte === 0xa5)).toBe(true)
    }
  })

  it('copies when the types are equal', () => {
    const numbers = new Tensor('int64', [0n, 0n])
    convertInto(new Tensor('int64', [1n, 2n]), numbers)
    expect(elementsOf(numbers)).toEqual([1n, 2n])
    const texts = new Tensor('string', ['', ''])
    convertInto(new Tensor('string', ['a', 'b']), texts)
    expect(texts.data).toEqual(['a', 'b'])
  })

  it('overwrites what a complex target held', () => {
    const target = new Tensor('complex64', [9, 9, 9, 9])
    convertInto(new Tensor('float32', [1, 2]), target)
    expect(elementsOf(target)).toEqual([
      [1, 0],
      [2, 0]
    ])
  })

  it('refuses a target of another size', () => {
    expect(() => convertInto(new Tensor('int8', [1, 2]), new Tensor('int16', [1]))).toThrow(
      '2 elements do not fill [1]'
    )
  })
})

describe('long arrays', () => {
  const COUNT = 1500
  const BITS = fc.uint8Array({ minLength: COUNT * 8, maxLength: COUNT * 8 })
  const SOURCES = [
    'float64',
    'float32',
    'float16',
    'bfloat16',
    'float8e5m2',
    'int32',
    'int16',
    'int8',
    'uint8'
  ] as const
  const TARGETS = ['float16', 'bfloat16', 'float8e4m3fn', 'int32', 'uint32', 'int16', 'uint8', 'int8', 'bool'] as const

  /** What one number becomes, by the rules of `convert` as they are written. */
  function plain(value: number, to: DType): number {
    if (to === 'bool') return value === 0 ? 0 : 1
    if (isCodedFloat(to)) return decodeFloat(to, encodeFloat(to, value))
    const { kind, bits } = DTYPES[to]
    const cut = (part: number): bigint => {
      const whole = Math.trunc(part)
      return BigInt(whole >= -(2 ** 31) && whole < 2 ** 31 ? whole : -(2 ** 31))
    }
    const integer = bits === 32 && kind === 'uint' && value >= 2 ** 31 ? cut(value - 2 ** 31) + 2n ** 31n : cut(value)
    return Number(kind === 'int' ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer))
  }

  function expectPlain(source: Tensor): void {
    for (const to of TARGETS.filter(type => type !== source.type)) {
      const wanted = elementsOf(source).map(element => plain(Number(element), to))
      const found = elementsOf(convert(source, to)).map(Number)
      const wrong = found.findIndex((value, i) => !Object.is(value, wanted[i]))
      expect(wrong < 0 ? [] : [to, elementsOf(source)[wrong], found[wrong], wanted[wrong]]).toEqual([])
    }
  }

  it.each(SOURCES)('of %s are converted as each element alone is', type => {
    fc.assert(
      fc.property(BITS, fc.nat(3), (bytes, skipped) => {
        const whole = allocate(type, [COUNT]).data as Uint8Array
        new Uint8Array(whole.buffer, whole.byteOffset, whole.byteLength).set(bytes.subarray(0, whole.byteLength))
        expectPlain(new Tensor(type, whole.subarray(skipped) as never))
      }),
      { numRuns: 4, seed: 11 }
    )
  })

  it('of 64-bit integers are converted as each element alone is', () => {
    const integers = fc.array(fc.maxSafeInteger(), { minLength: COUNT, maxLength: COUNT })
    fc.assert(
      fc.property(integers, fc.nat(40), (values, shift) => {
        const source = BigInt64Array.from(values, value => BigInt(Math.trunc(value / 2 ** shift)))
        const tensor = new Tensor('int64', source)
        for (const to of ['float16', 'bfloat16', 'bool'] as const) {
          const wanted = Array.from(source, value => plain(Number(value), to))
          expect(elementsOf(convert(tensor, to)).map(Number)).toEqual(wanted)
        }
        expect([...convert(tensor, 'int8').data]).toEqual(Array.from(source, value => Number(BigInt.asIntN(8, value))))
      }),
      { numRuns: 4, seed: 12 }
    )
  })

  it.each(['float16', 'bfloat16'] as const)('of doubles round once to %s beside and at its ties', to => {
    const values: number[] = []
    for (let code = 0; code < 0x7f80; code += 7) {
      const tie = (decodeFloat(to, code) + decodeFloat(to, code + 1)) / 2
      if (Number.isFinite(tie)) values.push(tie, -tie, tie * (1 + 2 ** -50), -tie * (1 - 2 ** -50))
    }
    values.push(2 ** -1074, -(2 ** -1074), 2 ** 1023, -Infinity, -0)
    const found = convert(new Tensor('float64', values), to).data
    expect([...found]).toEqual(values.map(value => encodeFloat(to, value)))
  })
})
