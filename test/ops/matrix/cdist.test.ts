import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const CDIST: Kind = ['onnx', 'CDist', 1, 'com.microsoft']

test.each(['float32', 'float64'] as const)('CDist gives squares of distances, or distances, in %s', type => {
  const a = new Tensor(type, [0, 3, 1, 1], [2, 2])
  const b = new Tensor(type, [4, 0, 1, 1, 0, 0], [3, 2])
  const squares = runTensor(CDIST, [a, b])
  expect([squares.type, ...squares.dims, ...squares.data]).toEqual([type, 2, 3, 25, 5, 9, 10, 0, 2])
  const roots = runTensor(CDIST, [a, b], { attributes: { metric: 'euclidean' } })
  expectNear(roots, [5, Math.sqrt(5), 3, Math.sqrt(10), 0, Math.SQRT2])
})

test('CDist takes matrices of one width, and of no rows', () => {
  expect(errorOf(() => runTensor(CDIST, [iota([2, 3]), iota([2, 2])])).code).toBe('dims-mismatch')
  expect(errorOf(() => runTensor(CDIST, [iota([2]), iota([2, 2])])).code).toBe('rank-mismatch')
  const cosine = errorOf(() => runTensor(CDIST, [iota([2, 2]), iota([2, 2])], { attributes: { metric: 'cosine' } }))
  expect(cosine.code).toBe('unknown-attribute-value')
  expect(runTensor(CDIST, [iota([0, 2]), iota([3, 2])]).dims).toEqual([0, 3])
  expect(dimsOf(inferOp(CDIST, [fact('float32', ['n', 'd']), fact('float32', ['m', 4])])[0])).toEqual(['n', 'm'])
})
