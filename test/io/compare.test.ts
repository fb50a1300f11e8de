import { describe, expect, it } from 'vitest'
import { compareValues } from '../../src/io/compare.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { mapOf } from '../../src/tensor/map.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'

const EXACT = { rtol: 0, atol: 0 }
const LOOSE = { rtol: 1e-3, atol: 1e-5 }

type Data = readonly (number | bigint | string | boolean)[]
const compared = (type: DType, actual: Data, expected: Data, tolerance = LOOSE): string | undefined =>
  compareValues(new Tensor(type, actual), new Tensor(type, expected), tolerance)

describe('compareValues', () => {
  it('compares types, then dims', () => {
    expect(compareValues(new Tensor('float32', [1]), new Tensor('float64', [1]), LOOSE)).toBe(
      'type float32, expected float64'
    )
    expect(compareValues(new Tensor('int8', [1, 2], [2, 1]), new Tensor('int8', [1, 2]), LOOSE)).toBe(
      'dims [2, 1], expected [2]'
    )
    expect(compareValues(new Tensor('int8', [], [0, 2]), new Tensor('int8', [], [2, 0]), LOOSE)).toBe(
      'dims [0, 2], expected [2, 0]'
    )
  })

  it('allows atol and rtol of the expected number', () => {
    expect(compared('float64', [1000.9, 1e-6], [1000, 0])).toBeUndefined()
    expect(compared('float64', [1001.1], [1000])).toBe(
      '1 of 1 elements differ, the worst at [0]: 1001.1, expected 1000'
    )
    expect(compared('float64', [1], [1 + 2 ** -52], EXACT)).toBe(
      '1 of 1 elements differ, the worst at [0]: 1, expected 1.0000000000000002'
    )
    expect(compared('float16', [0x3c00], [0x3c01], EXACT)).toContain('1, expected 1.0009765625')
  })

  it('allows a part of the largest finite magnitude where that is more than atol', () => {
    const scaled = { rtol: 0, atol: 0.01, atolScale: 1e-3 }
    expect(compared('float64', [100, 0.1], [100, 0], scaled)).toBeUndefined()
    expect(compared('float64', [100, 0.2], [100, 0], scaled)).toContain('1 of 2 elements differ')
    expect(compared('float64', [1, 0.009], [1, 0], scaled)).toBeUndefined()
    expect(compared('float64', [Infinity, 1], [Infinity, 0], scaled)).toContain('1 of 2 elements differ')
  })

  it('shows the worst element and its position', () => {
    const actual = new Tensor('float32', [1, 2, 3, 4, 50, 6], [2, 3])
    const expected = new Tensor('float32', [1, 2, 4, 4, 5, 6], [2, 3])
    expect(compareValues(actual, expected, LOOSE)).toBe('2 of 6 elements differ, the worst at [1, 1]: 50, expected 5')
  })

  it('holds NaN equal to NaN and an infinity to itself', () => {
    expect(compared('float32', [NaN, Infinity, -Infinity, 0], [NaN, Infinity, -Infinity, -0], EXACT)).toBeUndefined()
    expect(compared('float32', [1, NaN], [1, 2])).toBe('1 of 2 elements differ, the worst at [1]: NaN, expected 2')
    expect(compared('float32', [1, 2], [1, NaN])).toBe('1 of 2 elements differ, the worst at [1]: 2, expected NaN')
    expect(compared('float32', [Infinity], [1e30])).toContain('Infinity, expected 1.0000000150474662e+30')
    expect(compared('float32', [1e30], [Infinity])).toBeDefined()
    expect(compared('float32', [-Infinity], [Infinity])).toBeDefined()
  })

  it('compares 64-bit integers exactly, whatever rtol says', () => {
    expect(compared('int64', [2n ** 60n + 1n], [2n ** 60n])).toBe(
      '1 of 1 elements differ, the worst at [0]: 1152921504606846977, expected 1152921504606846976'
    )
    expect(compared('uint64', [2n ** 64n - 1n], [0n])).toBeDefined()
    expect(compared('int64', [7n, 8n], [7n, 9n], { rtol: 0, atol: 1 })).toBeUndefined()
    expect(compared('int64', [7n, 7n], [7n, 9n], { rtol: 0, atol: 1 })).toContain('7, expected 9')
    expect(compared('int32', [1000], [1001])).toBeUndefined()
    expect(compared('int32', [10], [11])).toBeDefined()
  })

  it('compares strings, bools and complex numbers', () => {
    expect(compared('string', ['a', 'b'], ['a', 'c'])).toBe(
      '1 of 2 elements differ, the worst at [1]: "b", expected "c"'
    )
    expect(compared('bool', [true], [false])).toContain('true, expected false')
    expect(compared('complex64', [1, 2, 3, 4], [1, 2, 3, 5])).toBe(
      '1 of 2 elements differ, the worst at [1]: 3+4j, expected 3+5j'
    )
    expect(compared('complex64', [1, NaN], [1, NaN])).toBeUndefined()
  })

  it('compares the values of sequences and optionals', () => {
    const one = new Tensor('int8', [1])
    const list = (...values: Value[]): Value => ({ type: 'sequence', values })
    const some = (value?: Value): Value => ({ type: 'optional', value })
    expect(compareValues(list(one, one), list(one, one), EXACT)).toBeUndefined()
    expect(compareValues(list(one), list(one, one), EXACT)).toBe('a sequence of 1 values, expected 2')
    expect(compareValues(list(one, new Tensor('int8', [2])), list(one, one), EXACT)).toBe(
      'value 1 of the sequence: 1 of 1 elements differ, the worst at [0]: 2, expected 1'
    )
    expect(compareValues(some(), some(), EXACT)).toBeUndefined()
    expect(compareValues(some(one), some(one), EXACT)).toBeUndefined()
    expect(compareValues(some(one), some(), EXACT)).toBe('a value, expected it to be absent')
    expect(compareValues(some(), some(one), EXACT)).toBe('absent, expected a value')
    expect(compareValues(one, list(one), EXACT)).toBe('a tensor, expected a sequence')
    expect(compareValues(some(one), one, EXACT)).toBe('an optional, expected a tensor')
  })

  it('compares maps by their keys, in any order', () => {
    const map = (...pairs: [string, number][]): Value => mapOf('string', 'float32', pairs)
    expect(compareValues(map(['a', 1], ['b', NaN]), map(['b', NaN], ['a', 1.0005]), LOOSE)).toBeUndefined()
    expect(compareValues(map(['a', 1], ['b', 2], ['c', 5]), map(['c', 4], ['b', 2], ['a', 1.5]), LOOSE)).toBe(
      '2 of 3 values differ, the worst at key "c": 5, expected 4'
    )
    expect(compareValues(map(['a', 1]), map(['a', 1], ['b', 2], ['c', 2]), LOOSE)).toBe('2 of 3 keys missing: "b", "c"')
    expect(compareValues(map(['a', 1], ['b', 2]), map(['a', 1]), LOOSE)).toBe('1 key that is not expected: "b"')
    expect(compareValues(map(['a', 1]), mapOf('int64', 'float32', [[1, 1]]), LOOSE)).toBe(
      'type map(string,float32), expected map(int64,float32)'
    )
    expect(compareValues(map(), mapOf('string', 'float64', []), LOOSE)).toContain('expected map(string,float64)')
    expect(compareValues(map(), new Tensor('float32', []), LOOSE)).toBe('a map, expected a tensor')
    const rows = (value: number): Value => ({ type: 'sequence', values: [map(['a', 1]), map(['a', value])] })
    expect(compareValues(rows(1), rows(2), LOOSE)).toBe(
      'value 1 of the sequence: 1 of 1 values differ, the worst at key "a": 1, expected 2'
    )
    const long = map(...Array.from({ length: 9 }, (_, i) => [`k${i}`, 1] as [string, number]))
    expect(compareValues(map(), long, LOOSE)).toBe('9 of 9 keys missing: "k0", "k1", "k2", "k3", …')
  })
})
