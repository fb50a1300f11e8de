import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['onnx', 'WordConvEmbedding', 1, 'com.microsoft']
const filters = new Tensor('float32', [1, 0, 0.5, 1, 0, -1, 1, 0.25], [2, 1, 2, 2])
const bias = new Tensor('float32', [0.5, -0.5])
const table = new Tensor('float32', [0, 0, 1, 2, -1, 0.5], [3, 2])
const words = new Tensor('int32', [1, 2, 0, 0, 1, 2, 1, 0, 0, 2, 2, 1], [4, 3])

// By ONNX Runtime 1.32, which leaves the vector of a word of no length undefined.
test('WordConvEmbedding takes the greatest of a convolution along each word', () => {
  const expected = [0.90514821, -0.99766099, 0, 0, 0.90514821, -0.98661435, 0.96402758, 0.46211717]
  expectNear(runTensor(KIND, [words, filters, bias, table]), expected)
  const attributes = { embedding_size: 2, conv_window_size: 2, char_embedding_size: 2 }
  expectNear(runTensor(KIND, [words, filters, bias, table], { attributes }), expected)
})

test('WordConvEmbedding refuses what does not fit, and keeps symbols', () => {
  const code = (inputs: Tensor[], attributes = {}): string =>
    errorOf(() => runTensor(KIND, inputs, { attributes })).code
  const inputs = [words, filters, bias, table]
  for (const name of ['embedding_size', 'conv_window_size', 'char_embedding_size'])
    expect(code(inputs, { [name]: 3 })).toBe('dims-mismatch')
  expect(code([words, filters, bias, iota([3, 3])])).toBe('dims-mismatch')
  expect(code([words, filters, iota([3]), table])).toBe('dims-mismatch')
  expect(code([words, iota([2, 1, 4, 2]), bias, table])).toBe('dims-mismatch')
  expect(code([words, iota([2, 2, 2]), bias, table])).toBe('rank-mismatch')
  expect(code([new Tensor('int32', [1, 3], [1, 2]), filters, bias, table])).toBe('index-out-of-range')
  const facts = [fact('int32', ['n', 'w']), filters, bias, table]
  expect(dimsOf(inferOp(KIND, facts)[0])).toEqual(['n', 2])
  expect(runTensor(KIND, [new Tensor('int32', [], [0, 3]), filters, bias, table]).dims).toEqual([0, 2])
})
