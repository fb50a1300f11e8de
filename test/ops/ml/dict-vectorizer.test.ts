import { describe, expect, test } from 'vitest'
import { mapFact } from '../../../src/shapes/fact.ts'
import { mapOf } from '../../../src/tensor/map.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { named } from '../../fixtures/maps.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const VECTORIZE: Kind = ['onnx', 'DictVectorizer', 1, 'ai.onnx.ml']
const letters = { attributes: { string_vocabulary: ['a', 'c', 'b', 'z'] } }
const numbers = { attributes: { int64_vocabulary: [3, -1] } }

describe('DictVectorizer', () => {
  test('puts values in the order of the vocabulary, and zeros between them', () => {
    expect(runTensor(VECTORIZE, [named({ a: 4, c: 8 })], letters)).toEqual(new Tensor('float32', [4, 8, 0, 0], [1, 4]))
    const map = mapOf('int64', 'string', [[-1, 'x']])
    expect(runTensor(VECTORIZE, [map], numbers)).toEqual(new Tensor('string', ['', 'x'], [1, 2]))
  })

  test('keeps every type of values', () => {
    expect(runTensor(VECTORIZE, [mapOf('string', 'int64', [['b', 2n ** 62n]])], letters)).toEqual(
      new Tensor('int64', [0n, 0n, 2n ** 62n, 0n], [1, 4])
    )
    expect(runTensor(VECTORIZE, [mapOf('int64', 'float64', [[3, 0.1]])], numbers)).toEqual(
      new Tensor('float64', [0.1, 0], [1, 2])
    )
  })

  test('passes keys over that the vocabulary has not, and repeats those that it has twice', () => {
    expect(
      runTensor(VECTORIZE, [named({ a: 4, q: 8 })], { attributes: { string_vocabulary: ['a', 'a'] } }).data
    ).toEqual(new Float32Array([4, 4]))
    expect(runTensor(VECTORIZE, [named({})], letters).data).toEqual(new Float32Array(4))
    expect(runTensor(VECTORIZE, [named({ a: 1 })], { attributes: { string_vocabulary: [] } }).dims).toEqual([1, 0])
  })

  test('takes the vocabulary of the type of the keys', () => {
    const both = { attributes: { ...letters.attributes, ...numbers.attributes } }
    expect(runTensor(VECTORIZE, [named({ z: 1 })], both).dims).toEqual([1, 4])
    expect(runTensor(VECTORIZE, [mapOf('int64', 'float32', [])], both).dims).toEqual([1, 2])
    expect(errorOf(() => runTensor(VECTORIZE, [named({ z: 1 })], numbers)).message).toBe(
      'the map has keys of type string; attribute "string_vocabulary" is missing'
    )
  })

  test('has as many columns as the vocabulary words, before it runs too', () => {
    const [known] = inferOp(VECTORIZE, [mapFact('string', 'int64')], letters)
    expect([dimsOf(known), known]).toMatchObject([[1, 4], { type: 'int64' }])
    expect(dimsOf(inferOp(VECTORIZE, [fact(undefined)], letters)[0])?.[0]).toBe(1)
  })

  test('takes maps of the types of the standard alone', () => {
    expect(errorOf(() => runTensor(VECTORIZE, [mapOf('int64', 'int64', [])], numbers)).message).toContain(
      'X has type map(int64,int64); DictVectorizer-1 allows map(int64,float32), map(int64,float64)'
    )
    expect(errorOf(() => runTensor(VECTORIZE, [new Tensor('float32', [1])], numbers)).code).toBe('type-not-allowed')
    expect(errorOf(() => inferOp(VECTORIZE, [fact(undefined, [1])], numbers)).message).toBe(
      'a tensor is given; a map is expected'
    )
  })
})
