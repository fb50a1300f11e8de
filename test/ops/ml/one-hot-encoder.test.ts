import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'OneHotEncoder', 1, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runTensor>[2]>['attributes']

const encode = (x: Tensor, attributes: Attributes): Tensor => runTensor(KIND, [x], { attributes })

test('OneHotEncoder adds an axis of categories', () => {
  expect(encode(ints(4, 9, 5), { cats_int64s: [4, 5] })).toMatchObject({
    type: 'float32',
    dims: [3, 2],
    data: new Float32Array([1, 0, 0, 0, 0, 1])
  })
  expect(encode(new Tensor('string', ['b', ''], [1, 2]), { cats_strings: ['a', 'b', ''] })).toMatchObject({
    dims: [1, 2, 3],
    data: new Float32Array([0, 1, 0, 0, 0, 1])
  })
  expect(encode(iota([0, 2]), { cats_int64s: [1] }).dims).toEqual([0, 2, 1])
})

test('OneHotEncoder drops fractions, and takes the last of equal categories', () => {
  const x = new Tensor('float32', [1.75, -0.5, NaN, Infinity])
  expect([...encode(x, { cats_int64s: [1, 0, 1] }).data]).toEqual([0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
  expect([...encode(new Tensor('float64', [2 ** 60]), { cats_int64s: [2n ** 60n] as never }).data]).toEqual([1])
  expect([...encode(ints(2n ** 60n + 1n), { cats_int64s: [2n ** 60n] as never }).data]).toEqual([0])
  expect([...encode(new Tensor('int32', [-3]), { cats_int64s: [-3] }).data]).toEqual([1])
})

test('OneHotEncoder fails for an element that is no category, where zeros are not wanted', () => {
  const of = (x: Tensor, zeros: number): string => errorOf(() => encode(x, { cats_int64s: [1], zeros })).code
  expect(of(ints(1, 2), 0)).toBe('value-out-of-range')
  expect([...encode(ints(1), { cats_int64s: [1], zeros: 0 }).data]).toEqual([1])
  expect(errorOf(() => inferOp(KIND, [ints(2)], { attributes: { cats_int64s: [1], zeros: 0 } })).code).toBe(
    'value-out-of-range'
  )
})

test('OneHotEncoder wants categories of one kind, that of the input', () => {
  const codeOf = (attributes: Attributes, x = ints(1)): string => errorOf(() => encode(x, attributes)).code
  expect(codeOf({})).toBe('missing-attribute')
  expect(codeOf({ cats_int64s: [1], cats_strings: ['a'] })).toBe('unknown-attribute-value')
  expect(codeOf({ cats_strings: ['a'] })).toBe('type-mismatch')
  expect(codeOf({ cats_int64s: [1] }, new Tensor('string', ['a']))).toBe('type-mismatch')
})

test('OneHotEncoder keeps symbolic dims', () => {
  const of = (dims?: (number | string)[]): unknown =>
    inferOp(KIND, [fact('int64', dims)], { attributes: { cats_int64s: [1, 2] } })[0]
  expect(of()).toMatchObject({ type: 'float32' })
  expect(dimsOf(of(['n', 'm']) as never)).toEqual(['n', 'm', 2])
})

test.each(['int64', 'float32', 'int32'] as const)(
  'OneHotEncoder of many elements of %s is that of each alone',
  type => {
    const attributes = { cats_int64s: [4, 5, -1, 4, 0], zeros: 1 }
    const odd = type === 'float32' ? [NaN, -0.5, Infinity, -Infinity, 5.9, -1.9, 2 ** 32 + 4] : []
    const values = [...odd, ...Array.from({ length: 40 }, (_, i) => i - 20)]
    const alone = values.flatMap(value => [...encode(new Tensor(type as 'float32', [value]), attributes).data])
    expect([...encode(new Tensor(type as 'float32', values), attributes).data]).toEqual(alone)
    expect(errorOf(() => encode(new Tensor(type as 'float32', values), { ...attributes, zeros: 0 })).code).toBe(
      'value-out-of-range'
    )
  }
)
