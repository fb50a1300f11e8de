import { expect, test } from 'vitest'
import type { Fact } from '../../../src/shapes/fact.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'FeatureVectorizer', 1, 'ai.onnx.ml']

const join = (inputs: Tensor[], inputdimensions?: number[]): Tensor =>
  runTensor(KIND, inputs, inputdimensions ? { attributes: { inputdimensions } } : {})

test('FeatureVectorizer puts rows side by side', () => {
  expect(join([iota([2, 2]), iota([2, 3])], [2, 3])).toMatchObject({
    type: 'float32',
    dims: [2, 5],
    data: new Float32Array([0, 1, 0, 1, 2, 2, 3, 3, 4, 5])
  })
  expect(join([iota([3]), iota([2])], [3, 2])).toMatchObject({
    dims: [1, 5],
    data: new Float32Array([0, 1, 2, 0, 1])
  })
  expect(join([iota([2, 2, 2])], [4])).toMatchObject({ dims: [2, 4], data: iota([8]).data })
})

test('FeatureVectorizer fills up with zeros, and leaves out what is beyond the size', () => {
  expect(join([iota([2, 2]), iota([2, 3])], [3, 2])).toMatchObject({
    dims: [2, 5],
    data: new Float32Array([0, 1, 0, 0, 1, 2, 3, 0, 3, 4])
  })
  expect(join([iota([2, 2]), iota([2, 1])], [0, 1])).toMatchObject({ dims: [2, 1], data: new Float32Array([0, 1]) })
})

test('FeatureVectorizer takes the inputs as they are without sizes', () => {
  expect(join([iota([2, 1]), iota([2, 2])])).toMatchObject({ dims: [2, 3], data: new Float32Array([0, 0, 1, 1, 2, 3]) })
})

test('FeatureVectorizer gives float32 for every type, of which all inputs are', () => {
  const one = (x: Tensor): unknown => join([x, x], [1, 1]).data
  expect(one(ints(2n ** 24n + 1n))).toEqual(new Float32Array([2 ** 24, 2 ** 24]))
  expect(one(new Tensor('int32', [-1]))).toEqual(new Float32Array([-1, -1]))
  expect(one(new Tensor('float64', [0.1]))).toEqual(new Float32Array([0.1, 0.1]))
  expect(errorOf(() => join([ints(1), iota([1])], [1, 1])).code).toBe('type-mismatch')
})

test('FeatureVectorizer takes empty tensors', () => {
  expect(join([iota([0, 2]), iota([0, 1])], [2, 1]).dims).toEqual([0, 3])
  expect(join([iota([2, 0], 'int64'), iota([2, 1], 'int64')], [1, 1])).toMatchObject({
    dims: [2, 2],
    data: new Float32Array([0, 0, 0, 1])
  })
})

test('FeatureVectorizer wants a size for each input, and inputs of as many rows', () => {
  expect(errorOf(() => join([iota([2, 2])], [2, 1])).code).toBe('wrong-input-count')
  expect(errorOf(() => join([iota([2, 2])], [-1])).code).toBe('unknown-attribute-value')
  expect(errorOf(() => join([iota([])], [1])).code).toBe('rank-mismatch')
  expect(errorOf(() => join([iota([1, 2]), iota([2, 2])], [2, 2])).message).toBe(
    'input 1 has 2 rows, those before it 1'
  )
  expect(errorOf(() => join([iota([2, 2]), iota([2])], [2, 2])).code).toBe('dims-mismatch')
})

test('FeatureVectorizer adds sizes up, which may be symbols', () => {
  const of = (shapes: ((number | string)[] | undefined)[], inputdimensions?: number[]): Fact =>
    inferOp(
      KIND,
      shapes.map(shape => fact('int64', shape)),
      inputdimensions ? { attributes: { inputdimensions } } : {}
    )[0]
  expect(of([['n', 2]], [2])).toMatchObject({ type: 'float32' })
  expect(dimsOf(of([['n', 'c'], undefined], [2, 3]))).toEqual(['n', 5])
  expect(
    dimsOf(
      of([
        ['n', 'c'],
        ['n', 3]
      ])
    )
  ).toEqual(['n', 'c+3'])
  expect(dimsOf(of([['n', 2], undefined]))).toEqual(['n', '2..'])
  expect(
    dimsOf(
      of(
        [
          ['n', 2],
          [4, 2]
        ],
        [2, 2]
      )
    )
  ).toEqual([4, 4])
  expect(
    errorOf(() =>
      of(
        [
          ['n', 2],
          [3, 2],
          [4, 2]
        ],
        [2, 2, 2]
      )
    ).code
  ).toBe('dims-mismatch')
})
