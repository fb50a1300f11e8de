import { describe, expect, it } from 'vitest'
import { formatElement, formatValue, printable } from '../../src/io/print.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { mapOf } from '../../src/tensor/map.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { named } from '../fixtures/maps.ts'

const printed = (type: DType, data: readonly (number | bigint | boolean | string)[], dims?: number[]): string =>
  formatValue('x', new Tensor(type, data, dims))
    .split('\n')
    .slice(1)
    .join('\n')

describe('formatValue', () => {
  it('says name, type and dims first', () => {
    expect(formatValue('scores', new Tensor('float32', [1, 2], [1, 2]))).toBe('scores: float32 [1, 2]\n[[1. 2.]]')
    expect(formatValue('n', new Tensor('int64', [3n], []))).toBe('n: int64 []\n3')
    expect(formatValue('e', new Tensor('int8', [], [2, 0]))).toBe('e: int8 [2, 0] (no elements)')
  })

  // The expected texts are what NumPy 2.4 prints.
  it('prints floats as NumPy does', () => {
    expect(printed('float32', [0.1, 0.2, 3])).toBe('[0.1 0.2 3. ]')
    expect(printed('float64', [1 / 3, 2 / 3, 1e5 / 3])).toBe('[3.33333333e-01 6.66666667e-01 3.33333333e+04]')
    expect(printed('float32', [NaN, Infinity, -Infinity, 1.5])).toBe('[ nan  inf -inf  1.5]')
    expect(printed('float64', [1e10, 1])).toBe('[1.e+10 1.e+00]')
    expect(printed('float64', [1e-5, 1, 1000])).toBe('[1.e-05 1.e+00 1.e+03]')
    expect(printed('float64', [0, -0])).toBe('[ 0. -0.]')
    expect(printed('float32', [16777216, 1])).toBe('[1.6777216e+07 1.0000000e+00]')
    expect(printed('float64', [123456.789, 200])).toBe('[123456.789    200.   ]')
  })

  it('prints narrow floats with the digits that they have', () => {
    expect(printed('float16', [0x2e66, 0x3555])).toBe('[0.1    0.3333]')
    expect(printed('bfloat16', [0x3dcd, 0x3f80])).toBe('[0.1 1. ]')
    expect(printed('float8e5m2', [0x3c, 0x7e])).toBe('[ 1. nan]')
  })

  it('aligns integers and bools to the right', () => {
    expect(printed('int64', [1n, -20n, 300n, 2n ** 63n - 1n], [2, 2])).toBe(
      '[[                  1                 -20]\n [                300 9223372036854775807]]'
    )
    expect(printed('bool', [true, false])).toBe('[ true false]')
  })

  it('prints complex numbers', () => {
    expect(printed('complex64', [1, 2, -1.5, -2.25])).toBe('[    1.+2.j -1.5-2.25j]')
  })

  it('sets an empty line between matrices', () => {
    expect(printed('uint8', [1, 2, 3, 4], [2, 1, 2])).toBe('[[[1 2]]\n\n [[3 4]]]')
  })

  it('breaks lines at 75 columns', () => {
    const lines = printed(
      'int32',
      Array.from({ length: 40 }, (_, i) => i + 100)
    ).split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe(`[${Array.from({ length: 18 }, (_, i) => i + 100).join(' ')}`)
    expect(lines[1].startsWith(' 118 ')).toBe(true)
  })

  it('shortens more than 1000 elements to three at each end', () => {
    expect(
      printed(
        'int32',
        Array.from({ length: 1001 }, (_, i) => i)
      )
    ).toBe('[   0    1    2 ...  998  999 1000]')
    expect(
      printed(
        'int32',
        Array.from({ length: 1000 }, (_, i) => i)
      )
    ).toContain(' 500 ')
    const rows = printed('int32', new Array(1100).fill(7), [100, 11]).split('\n')
    const row = ' [7 7 7 ... 7 7 7]'
    expect(rows).toEqual(['[[7 7 7 ... 7 7 7]', row, row, ' ...', row, row, `${row}]`])
  })

  it('stays short with many small dimensions', () => {
    const text = formatValue('x', new Tensor('uint8', new Uint8Array(2 ** 20), new Array(20).fill(2)))
    expect(text.length).toBeLessThan(200)
    expect(text).toContain('(shown flat)\n[0 0 0 ... 0 0 0]')
  })

  it('quotes strings and shows nothing that a terminal would obey', () => {
    expect(printed('string', ['a"b', '\u001b[31m', '\u202e', '\u0085', 'é'])).toBe(
      '[      "a\\"b" "\\u001b[31m"     "\\u202e"     "\\u0085"          "é"]'
    )
    expect(printed('string', ['x'.repeat(300)])).toHaveLength(205)
    expect(formatValue('a\nb\u001b', new Tensor('int8', [1], []))).toBe('a\\u000ab\\u001b: int8 []\n1')
  })

  it('prints sequences and optionals', () => {
    const one = new Tensor('int8', [1], [])
    expect(formatValue('s', { type: 'sequence', values: [one, { type: 'optional', value: undefined }] })).toBe(
      's: sequence of 2\ns[0]: int8 []\n1\ns[1]: absent'
    )
    expect(formatValue('s', { type: 'sequence', values: new Array(8).fill(one) as Tensor[] }).split('\n')).toContain(
      '...'
    )
    expect(formatValue('o', { type: 'optional', value: one })).toBe('o: int8 []\n1')
  })
})

describe('a printed map', () => {
  it('has its type and size first, then its pairs', () => {
    expect(formatValue('p', named({ setosa: 0.975, 'a\u001b': 0.025 }))).toBe(
      'p: map(string,float32) of 2\n{"setosa": 0.975, "a\\u001b": 0.025}'
    )
    expect(formatValue('m', mapOf('int64', 'string', [[-3n, 'x']]))).toBe('m: map(int64,string) of 1\n{-3: "x"}')
    expect(formatValue('m', mapOf('int64', 'float64', []))).toBe('m: map(int64,float64) of 0')
  })

  it('is broken into lines, and shortened from 1000 pairs on', () => {
    const many = (size: number): string[] =>
      formatValue(
        'm',
        mapOf(
          'int64',
          'int64',
          Array.from({ length: size }, (_, i) => [i, BigInt(i)])
        )
      ).split('\n')
    expect(many(40).every(line => line.length <= 76)).toBe(true)
    expect(many(40)).toHaveLength(6)
    expect(many(1001)).toEqual([
      'm: map(int64,int64) of 1001',
      '{0: 0, 1: 1, 2: 2, ..., 998: 998, 999: 999, 1000: 1000}'
    ])
  })

  it('stands below its place in a sequence', () => {
    const values = [named({ a: 1 }), named({ a: 2 })]
    expect(formatValue('p', { type: 'sequence', values })).toBe(
      'p: sequence of 2\np[0]: map(string,float32) of 1\n{"a": 1.}\np[1]: map(string,float32) of 1\n{"a": 2.}'
    )
  })
})

describe('formatElement', () => {
  it('writes one element for a message', () => {
    expect([-0, 2n ** 60n, true, 'a\n', [1, -2] as const].map(formatElement)).toEqual([
      '-0',
      '1152921504606846976',
      'true',
      '"a\\n"',
      '1-2j'
    ])
  })
})

describe('printable', () => {
  it('escapes characters beyond the basic plane with braces', () => {
    expect(printable('a\u{e0041}\ud800b')).toBe('a\\u{e0041}\\ud800b')
  })
})
