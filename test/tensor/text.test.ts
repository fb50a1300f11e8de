import { describe, expect, it } from 'vitest'
import { formatFixed, formatNumber, parseInteger, parseNumber } from '../../src/tensor/text.ts'
import { processorSeconds } from '../processor-time.ts'

describe('formatNumber', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [-1, '-1'],
    [0.1, '0.1'],
    [314.15926, '314.15926'],
    [123456789, '1.2345679e+08'],
    [10000000, '10000000'],
    [16777216, '16777216'],
    [100000000, '1e+08'],
    [1e16, '1e+16'],
    [1e300, '1e+300'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [5e-324, '4.9406565e-324'],
    [1 / 3, '0.33333333'],
    [99999999.5, '1e+08'],
    [0.99999999999, '1'],
    [-1234.5, '-1234.5'],
    [NaN, 'NaN'],
    [Infinity, 'INF'],
    [-Infinity, '-INF']
  ])('prints %d as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text)
  })

  it('rounds ties to even, as C does', () => {
    expect([123456.125, 123456.375, 12345678.5, 12345679.5].map(formatNumber)).toEqual([
      '123456.12',
      '123456.38',
      '12345678',
      '12345680'
    ])
  })
})

describe('parseNumber', () => {
  it.each([
    ['3.14', 3.14],
    ['1e-5', 1e-5],
    ['1E8', 1e8],
    ['+3', 3],
    ['.5', 0.5],
    ['3.', 3],
    [' 3\t', 3],
    ['-0', -0],
    ['1e400', Infinity],
    ['INF', Infinity],
    ['+inf', Infinity],
    ['-Infinity', -Infinity],
    ['nan', NaN],
    ['-NaN', NaN]
  ])('reads %s', (text, value) => {
    expect(parseNumber(text)).toBe(value)
  })

  it.each(['', ' ', 'abc', '0x10', '1_000', '3abc', '1e', '--1', '1 2', '.', 'e5', 'infin', 'True'])(
    'refuses "%s"',
    text => {
      expect(() => parseNumber(text)).toThrow(`${JSON.stringify(text)} is no number`)
    }
  )

  it('refuses a long run of digits before nonsense in no time', async () => {
    const seconds = await processorSeconds(() => {
      expect(() => parseNumber(`${'1'.repeat(1_000_000)}x`)).toThrow('is no number')
      expect(() => parseInteger(`${'0'.repeat(1_000_000)}x`, true)).toThrow('is no number')
    })
    // Some hundredths; with backtracking, hours.
    expect(seconds).toBeLessThan(5)
  })
})

describe('parseInteger', () => {
  it('is exact to the ends of 64 bits', () => {
    expect(parseInteger('9223372036854775807', true)).toBe(2n ** 63n - 1n)
    expect(parseInteger('-9223372036854775808', true)).toBe(-(2n ** 63n))
    expect(parseInteger('18446744073709551615', false)).toBe(2n ** 64n - 1n)
    expect(parseInteger('+00000000000000000000000000012', true)).toBe(12n)
    expect(parseInteger('0', true)).toBe(0n)
  })

  it('cuts fractions off', () => {
    expect([parseInteger('100.5', true), parseInteger('-1.9', true), parseInteger('1e5', true)]).toEqual([
      100n,
      -1n,
      100000n
    ])
  })

  it.each([
    ['9223372036854775808', true],
    ['18446744073709551616', false],
    ['-9223372036854775809', false],
    ['1e30', true],
    ['inf', true],
    ['nan', false],
    ['1'.repeat(99), false]
  ])('refuses %s', (text, signed) => {
    expect(() => parseInteger(text, signed)).toThrow('is no integer of 64 bits')
  })
})

describe('formatFixed', () => {
  // What glibc's printf("%f") prints.
  it.each([
    [0, '0.000000'],
    [-0, '-0.000000'],
    [1.5, '1.500000'],
    [-2.25, '-2.250000'],
    [1 / 3, '0.333333'],
    [1e-9, '0.000000'],
    [-1e-9, '-0.000000'],
    [0.0078125, '0.007812'],
    [0.0234375, '0.023438'],
    [-0.0390625, '-0.039062'],
    [1.0078125, '1.007812'],
    [0.9999999, '1.000000'],
    [123456792, '123456792.000000'],
    [9007199254740993, '9007199254740992.000000'],
    [100000002004087734272, '100000002004087734272.000000'],
    [1e23, '99999999999999991611392.000000'],
    [NaN, 'nan'],
    [Infinity, 'inf'],
    [-Infinity, '-inf']
  ])('prints %d as %s', (value, text) => {
    expect(formatFixed(value)).toBe(text)
  })
})
