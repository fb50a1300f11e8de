import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const KIND: Kind = ['onnx', 'BifurcationDetector', 1, 'com.microsoft']
type Attributes = Record<string, number>

function detect(
  source: number[],
  current: number[],
  match: number,
  predicted?: number[],
  attributes: Attributes = {}
): number[][] {
  const inputs = [ints(...source), ints(...current), scalar(match), predicted && ints(...predicted)]
  return (runOp(KIND, inputs, { attributes, outputs: 2 }) as Tensor[]).map(({ data }) => Array.from(data, Number))
}

describe('BifurcationDetector', () => {
  test('predictions join up to the first that differs from the source', () => {
    expect(detect([2, 3, 4, 5], [2], 0, [3, 4, 9, 8, 7])[0]).toEqual([2, 3])
    expect(detect([1, 2, 3], [9], 1, [2, 3, 7])[0]).toEqual([9, 2, 3, 7])
    expect(detect([1, 2, 3], [9], 3, [5])[0]).toEqual([9, 5])
    expect(detect([1, 2, 3], [9, 8], 0)[0]).toEqual([9, 8])
  })

  test('the match is behind the longest suffix that occurs once', () => {
    expect(detect([2, 3, 4, 5], [2, 3], 0)[1]).toEqual([2])
    expect(detect([1, 2, 3, 1, 2, 4], [1, 2], 0)[1]).toEqual([-1])
    expect(detect([1, 2, 3, 0, 2, 4], [1, 2], 0)[1]).toEqual([2])
    expect(detect([1, 2, 3, 0, 2, 4], [1, 2], 0, undefined, { max_ngram_size: 1 })[1]).toEqual([-1])
    expect(detect([1, 2, 3], [7], 0)[1]).toEqual([-1])
    expect(detect([1, 2, 3], [7, 3], 0)[1]).toEqual([3])
    expect(detect([1, 2, 3], [2], 0, undefined, { min_ngram_size: 2 })[1]).toEqual([-1])
    expect(detect([], [1], 0)[1]).toEqual([-1])
  })

  test('a longer suffix that is not found leaves what a shorter one found', () => {
    expect(detect([5, 2, 3], [1, 2], 0)[1]).toEqual([2])
  })

  test('operands must fit', () => {
    const code = (...given: Parameters<typeof detect>): string => errorOf(() => detect(...given)).code
    expect(code([1, 2], [1], 0, [1, 2])).toBe('dims-mismatch')
    expect(code([1, 2], [1], 3, [])).toBe('value-out-of-range')
    expect(code([1, 2], [1], -1, [1, 2, 3, 4])).toBe('value-out-of-range')
    expect(code([1, 2], [1], 0, undefined, { min_ngram_size: 0 })).toBe('unknown-attribute-value')
    expect(code([1, 2], [1], 0, undefined, { min_ngram_size: 3, max_ngram_size: 2 })).toBe('unknown-attribute-value')
  })

  test('without predictions the tokens keep their number', () => {
    const facts = [fact('int64', ['s']), fact('int64', ['c']), fact('int64', [1])]
    expect(inferOp(KIND, facts, { outputs: 2 }).map(dimsOf)).toEqual([['c'], [1]])
    expect(dimsOf(inferOp(KIND, [...facts, fact('int64', ['p'])], { outputs: 2 })[0])).not.toEqual(['c'])
  })
})
