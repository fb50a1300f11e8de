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

  test('version 2 compares bits, so NaN is found and -0 is not 0', () => {
    const x = new Tensor('float32', [0, -0, NaN, 1])
    expect(encode(2, x, { keys_floats: [0, NaN], values_strings: ['zero', 'nan'] }).data).toEqual([
      'zero',
      '_Unused',
      'nan',
      '_Unused'
    ])
    expect(encode(4, x, { keys_floats: [0, NaN], values_strings: ['zero', 'nan'] }).data).toEqual([
      'zero',
      'zero',
      'nan',
      '_Unused'
    ])
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
})
