import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'ArrayFeatureExtractor', 1, 'ai.onnx.ml']

test('ArrayFeatureExtractor takes elements of the last axis', () => {
  expect(runTensor(KIND, [iota([2, 3]), ints(2, 0, 0)])).toMatchObject({
    dims: [2, 3],
    data: new Float32Array([2, 0, 0, 5, 3, 3])
  })
  expect(runTensor(KIND, [counted('string', [2, 2, 3]), ints(1)])).toMatchObject({
    dims: [2, 2, 1],
    data: ['s1', 's4', 's7', 's10']
  })
})

test.each([1, 3, 16, 17])('ArrayFeatureExtractor takes %i columns of many rows', count => {
  const columns = Array.from({ length: count }, (_, i) => (i * 4) % 7)
  const { dims, data } = runTensor(KIND, [iota([90_000, 7]), ints(...columns)])
  expect(dims).toEqual([90_000, count])
  const isRight = (data as Float32Array).every((x, i) => x === Math.floor(i / count) * 7 + columns[i % count])
  expect(isRight).toBe(true)
})

test('ArrayFeatureExtractor gives a list as one row, and lays indices out flat', () => {
  expect(runTensor(KIND, [iota([3], 'int64'), ints(2, 0)])).toMatchObject({
    dims: [1, 2],
    data: new BigInt64Array([2n, 0n])
  })
  expect(runTensor(KIND, [iota([2, 3]), new Tensor('int64', [1n, 2n, 0n, 0n], [2, 2])]).dims).toEqual([2, 4])
  expect(dimsOf(inferOp(KIND, [fact('float32', ['n', 3]), fact('int64', [1, 'k'])])[0])).toEqual(['n', 'k'])
})

test('ArrayFeatureExtractor counts from the start, and not from a scalar', () => {
  expect(errorOf(() => runTensor(KIND, [iota([2, 3]), ints(3)])).code).toBe('index-out-of-range')
  expect(errorOf(() => inferOp(KIND, [fact('float32', ['n', 3]), ints(-1)])).code).toBe('index-out-of-range')
  expect(errorOf(() => runTensor(KIND, [iota([]), ints(0)])).code).toBe('rank-zero-data')
})
