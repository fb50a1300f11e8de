import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints } from '../values.ts'

type Attributes = Record<string, number | string | number[] | string[] | Tensor>
const encode = (version: number, x: Tensor, attributes: Attributes): Tensor =>
  runTensor(['onnx', 'LabelEncoder', version, 'ai.onnx.ml'], [x], { attributes })
const strings = (...values: string[]): Tensor => new Tensor('string', values)

describe('LabelEncoder', () => {
  test('version 1 goes from strings to their places and back', () => {
    const classes = { classes_strings: ['a', 'b'] }
    expect(encode(1, strings('b', 'x'), classes)).toMatchObject({ type: 'int64', data: new BigInt64Array([1n, -1n]) })
    expect(encode(1, ints(1, 0, 2, -1), { ...classes, default_string: '?' }).data).toEqual(['b', 'a', '?', '?'])
    expect(errorOf(() => encode(1, ints(1), {})).code).toBe('missing-attribute')
  })

  test('version 2 maps lists of any two types', () => {
    expect(
      encode(2, strings('Dori', 'Amy', 'Sally'), { keys_strings: ['Amy', 'Sally'], values_int64s: [5, 6] }).data
    ).toEqual(new BigInt64Array([-1n, 5n, 6n]))
    expect(encode(2, ints(3, 4), { keys_int64s: [3], values_strings: ['three'] }).data).toEqual(['three', '_Unused'])
    expect([...encode(2, ints(2, 4), { keys_int64s: [2, 2], values_floats: [0.5, 7] }).data]).toEqual([0.5, -0])
  })

  test('NaN is found, and -0 is 0', () => {
    const x = new Tensor('float32', [0, -0, NaN, 1])
    const found = ['zero', 'zero', 'nan', '_Unused']
    for (const version of [2, 4]) {
      for (const zero of [0, -0])
        expect(encode(version, x, { keys_floats: [zero, NaN], values_strings: ['zero', 'nan'] }).data).toEqual(found)
    }
    expect([...encode(2, x, { keys_floats: [-0, 0], values_floats: [5, 7] }).data].slice(0, 2)).toEqual([5, 5])
  })

  test('version 4 knows tensors, and the last of equal keys', () => {
    const keys = new Tensor('int16', [1, 2, 1])
    expect(
      encode(4, new Tensor('int16', [1, 2, 3], [3, 1]), {
        keys_tensor: keys,
        values_tensor: new Tensor('float64', [0.1, 0.2, 0.3])
      })
    ).toMatchObject({ type: 'float64', dims: [3, 1], data: new Float64Array([0.3, 0.2, -0]) })
    expect([
      ...encode(4, strings('a', 'b'), { keys_strings: ['a'], values_tensor: new Tensor('int32', [7]) }).data
    ]).toEqual([7, -1])
    expect([
      ...encode(4, strings('b'), {
        keys_strings: ['a'],
        values_tensor: new Tensor('int32', [7]),
        default_tensor: new Tensor('int32', [9])
      }).data
    ]).toEqual([9])
  })

  test('keys have the type of the input and are as many as values', () => {
    expect(errorOf(() => encode(2, ints(1), { keys_strings: ['a'], values_floats: [1] })).code).toBe('type-mismatch')
    const wrongs: Attributes[] = [
      { keys_strings: ['a'], values_floats: [1, 2] },
      { keys_strings: ['a'], keys_floats: [1], values_floats: [1] },
      { keys_strings: ['a'], values_int64s: [1], default_tensor: new Tensor('float32', [1]) }
    ]
    for (const wrong of wrongs)
      expect(errorOf(() => encode(4, strings('a'), wrong)).code).toBe('unknown-attribute-value')
    expect(errorOf(() => encode(4, strings('a'), { keys_strings: ['a'] })).code).toBe('missing-attribute')
    expect(
      dimsOf(
        inferOp(['onnx', 'LabelEncoder', 4, 'ai.onnx.ml'], [fact('string', ['n', 2])], {
          attributes: { keys_strings: ['a'], values_floats: [1] }
        })[0]
      )
    ).toEqual(['n', 2])
  })

  test('many integers give what each of them alone gives', () => {
    const keys = fc.uniqueArray(fc.integer({ min: -9, max: 30 }), { minLength: 1, maxLength: 12 })
    const elements = fc.array(fc.bigInt(-12n, 33n), { minLength: 48, maxLength: 90 })
    fc.assert(
      fc.property(keys, elements, fc.constantFrom(0, 2 ** 31 - 40, 2 ** 40), (own, values, shift) => {
        const n = own.length
        const far = values.map((value, i) => (i % 17 === 0 ? value << 55n : value + BigInt(shift)))
        const lists: Attributes[] = [
          { values_int64s: own.map(key => 1000 + key) },
          { values_floats: own.map(key => key / 4) },
          { values_strings: own.map(String) }
        ]
        for (const list of lists) {
          const attributes = { keys_int64s: own.map(key => key + shift), ...list }
          const alone = far.map(value => encode(2, new Tensor('int64', [value]), attributes).data[0])
          expect([...encode(2, new Tensor('int64', far), attributes).data]).toEqual(alone)
        }
        expect(n * 4).toBeLessThanOrEqual(values.length)
      }),
      { numRuns: 40, seed: 6 }
    )
  })

  test.each(['float32', 'float64', 'int32'] as const)('many elements of %s give what each alone gives', type => {
    const keys = new Tensor(type as 'float64', [3, -2, 0, 7, 4])
    const attributes = { keys_tensor: keys, values_strings: ['a', 'b', 'c', 'd', 'e'] }
    const odd = type === 'int32' ? [2 ** 31 - 1, -(2 ** 31)] : [NaN, -0, Infinity, -Infinity, 2 ** 32 + 3, 3.5, -1.5]
    const values = [...odd, ...Array.from({ length: 40 }, (_, i) => i - 20)]
    const alone = values.map(value => encode(4, new Tensor(type as 'float64', [value]), attributes).data[0])
    expect([...encode(4, new Tensor(type as 'float64', values), attributes).data]).toEqual(alone)
  })
})
