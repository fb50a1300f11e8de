import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const BLOCK: Kind = ['onnx', 'NGramRepeatBlock', 1, 'com.microsoft']
const blocked = (tokens: number[][], scores: number[][], ngram_size: number): unknown[] => {
  const ids = new Tensor('int64', tokens.flat().map(BigInt), [tokens.length, tokens[0].length])
  const given = new Tensor('float32', scores.flat(), [scores.length, scores[0].length])
  return [...runTensor(BLOCK, [ids, given], { attributes: { ngram_size } }).data]
}

test('NGramRepeatBlock forbids each token that would repeat an n-gram', () => {
  expect(blocked([[1, 2, 3, 1, 2]], [[10, 11, 12, 13]], 3)).toEqual([10, 11, 12, -Infinity])
  expect(
    blocked(
      [
        [1, 2, 1],
        [0, 0, 3]
      ],
      [
        [5, 5, 5, 5],
        [6, 6, 6, 6]
      ],
      2
    )
  ).toEqual([5, 5, -Infinity, 5, 6, 6, 6, 6])
  expect(blocked([[1, 3]], [[1, 1, 1, 1]], 1)).toEqual([1, -Infinity, 1, -Infinity])
  expect(blocked([[1, 2]], [[1, 1, 1]], 4)).toEqual([1, 1, 1])
})

test('NGramRepeatBlock names a token without a score, and refuses what does not fit', () => {
  expect(errorOf(() => blocked([[1, 9, 1]], [[1, 1]], 2))).toMatchObject({
    code: 'index-out-of-range',
    details: { index: '9', position: [0, 1] }
  })
  expect(errorOf(() => blocked([[1, -1, 1]], [[1, 1]], 2)).code).toBe('index-out-of-range')
  expect(errorOf(() => blocked([[1, 2, 1]], [[1, 1]], 0)).code).toBe('unknown-attribute-value')
  expect(errorOf(() => blocked([[1, 2]], [[1], [1]], 2)).code).toBe('dims-mismatch')
  const [y] = inferOp(BLOCK, [fact('int64', [2, 't']), fact('float32', ['?', 'v'])], { attributes: { ngram_size: 2 } })
  expect(dimsOf(y)).toEqual([2, 'v'])
})
