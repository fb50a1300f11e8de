import { describe, expect, test } from 'vitest'
import { Tensor, type Value } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'

const NGRAM: Kind = ['onnx', 'NGramHashMapping', 1, 'com.microsoft']
const VARLEN: Kind = ['onnx', 'VarlenNGramHashMapping', 1, 'com.microsoft']
const longs = (values: number[], dims?: number[]): Tensor => new Tensor('int64', values.map(BigInt), dims)
const ints = (values: number[], dims?: number[]): Tensor => new Tensor('int32', values, dims)
const numbers = (values: readonly Value[]): number[][] =>
  values.map(value => Array.from((value as Tensor).data as Int32Array, Number))

const tokens = [1, 5, 3, 2]
const factors = longs([83, 3, 5])
const moduli = longs([11, 13, 17, 19])
const attributes = { max_ngram_size: 3, n_head_per_ngram: 2, pad_id: 2 }
const none = undefined

// The hashes are those of ONNX Runtime 1.32.
describe('NGramHashMapping', () => {
  test('hashes the n-grams that end at each token, and keeps the last tokens', () => {
    const outputs = runOp(NGRAM, [longs(tokens, [1, 4]), factors, moduli], { attributes, outputs: 2 })
    expect(outputs).toMatchObject([{ dims: [1, 4, 4] }, { dims: [1, 2] }])
    expect(numbers(outputs)).toEqual([
      [8, 7, 10, 0, 5, 9, 15, 7, 4, 12, 5, 15, 10, 6, 12, 11],
      [3, 2]
    ])
  })

  test('goes on from past tokens, begins anew after the end token, and adds offsets', () => {
    const inputs = [
      longs(tokens, [1, 4]),
      factors,
      moduli,
      longs([4, 5], [1, 2]),
      longs([0, 11, 24, 41]),
      longs([5], [])
    ]
    const [hashes] = runOp(NGRAM, inputs, { attributes: { ...attributes, reset_on_eos: 1 }, outputs: 2 })
    expect(numbers([hashes])[0]).toEqual([4, 12, 25, 53, 5, 20, 39, 50, 4, 23, 25, 52, 10, 17, 36, 52])
  })

  test('reads nothing across the bounds of segments', () => {
    const inputs = [
      ints(tokens, [1, 4]),
      ints([83, 3, 5]),
      ints([11, 13, 17, 19]),
      none,
      none,
      none,
      ints([0, 0, 1, 1], [1, 4])
    ]
    const [hashes] = runOp(NGRAM, inputs, { attributes })
    expect(numbers([hashes])[0]).toEqual([8, 7, 10, 0, 5, 9, 15, 7, 2, 8, 7, 17, 10, 6, 12, 13])
  })

  test('products wrap, and hashes of negative ones are positive', () => {
    const [hashes] = runOp(NGRAM, [ints(tokens, [1, 4]), ints([2 ** 30, 3, -5]), ints([11, 13, 17, 19])], {
      attributes
    })
    expect(numbers([hashes])[0]).toEqual([7, 5, 5, 11, 4, 2, 10, 16, 3, 3, 1, 18, 7, 11, 8, 4])
  })

  test('refuses what does not fit, and keeps symbols', () => {
    const code = (inputs: (Tensor | undefined)[], more = {}): string =>
      errorOf(() => runTensor(NGRAM, inputs, { attributes: { ...attributes, ...more } })).code
    const ids = longs(tokens, [1, 4])
    expect(code([longs(tokens), factors, moduli])).toBe('rank-mismatch')
    expect(code([ids, longs([1, 2]), moduli])).toBe('dims-mismatch')
    expect(code([ids, factors, longs([1, 2])])).toBe('dims-mismatch')
    expect(code([ids, factors, longs([1, 2, 3, 0])])).toBe('value-out-of-range')
    expect(code([ids, factors, moduli, longs([1], [1, 1])])).toBe('dims-mismatch')
    expect(code([ids, factors, moduli, none, none, longs([1])])).toBe('rank-mismatch')
    expect(code([ids, factors, moduli], { max_ngram_size: 1 })).toBe('unknown-attribute-value')
    expect(code([ids, factors, moduli], { n_head_per_ngram: 0 })).toBe('unknown-attribute-value')
    const facts = inferOp(NGRAM, [fact('int64', ['b', 't']), fact('int64', ['?']), moduli], { attributes, outputs: 2 })
    expect(facts.map(dimsOf)).toEqual([
      ['b', 't', 4],
      ['b', 2]
    ])
  })
})

describe('VarlenNGramHashMapping', () => {
  const starts = ints([0, 1, 4])

  test('takes sequences one after the other, with segments, and captures what the next call would be given', () => {
    const segments = [ints([0, 1, 1, 2]), ints([0, 0, 0, 1], [2, 2])]
    const inputs = [longs(tokens), factors, moduli, starts, none, none, longs([5], []), ...segments, ints([1, 2])]
    const outputs = runOp(VARLEN, inputs, { attributes: { ...attributes, state_update_capacity: 2 }, outputs: 4 })
    expect(outputs).toMatchObject([{ dims: [4, 4] }, { dims: [2, 2] }, { type: 'int32' }, { dims: [2, 2, 2] }])
    expect(numbers(outputs)).toEqual([
      [4, 1, 1, 12, 4, 10, 2, 13, 4, 12, 1, 11, 4, 0, 6, 5],
      [5, 1, 3, 2],
      [0, 0, 1, 2],
      [5, 1, 2, 2, 5, 5, 5, 3]
    ])
  })

  test('refuses bounds that do not ascend, and captures without a capacity', () => {
    const code = (inputs: (Tensor | undefined)[], outputs = 1): string =>
      errorOf(() => runOp(VARLEN, inputs, { attributes, outputs })).code
    for (const bad of [
      [0, 4, 4],
      [1, 2, 4],
      [0, 1, 3]
    ])
      expect(code([longs(tokens), factors, moduli, ints(bad)])).toBe('value-out-of-range')
    expect(code([longs(tokens), factors, moduli, ints([0])])).toBe('dims-mismatch')
    const late = [none, none, none, none, none, ints([1, 1])]
    expect(code([longs(tokens), factors, moduli, starts, ...late])).toBe('unknown-attribute-value')
    expect(code([longs(tokens), factors, moduli, starts], 3)).toBe('wrong-input-count')
  })
})
