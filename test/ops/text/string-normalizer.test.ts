import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const KIND: Kind = ['onnx', 'StringNormalizer', 10]
const normalize = (
  strings: string[],
  attributes: Record<string, number | string | string[]> = {},
  dims?: number[]
): Tensor => runTensor(KIND, [new Tensor('string', strings, dims)], { attributes })

describe('StringNormalizer', () => {
  test('drops stop words, in any case or in their own', () => {
    expect(normalize(['a', 'B', 'b', ''], { stopwords: ['b'] }).data).toEqual(['a', ''])
    expect(normalize(['a', 'B', 'b'], { stopwords: ['b'], is_case_sensitive: 1 }).data).toEqual(['a', 'B'])
    expect(normalize(['a b'], { stopwords: ['b'] }).data).toEqual(['a b'])
  })

  test('changes case after that, by the rules of the locale', () => {
    expect(
      normalize(['Ära', 'b'], { case_change_action: 'UPPER', stopwords: ['B'], is_case_sensitive: 1 }).data
    ).toEqual(['ÄRA', 'B'])
    expect(normalize(['Ära'], { case_change_action: 'LOWER' }).data).toEqual(['ära'])
    expect(normalize(['izmir'], { case_change_action: 'UPPER', locale: 'tr_TR.UTF-8' }).data).toEqual(['İZMİR'])
    expect(errorOf(() => normalize(['a'], { locale: 'no locale' })).code).toBe('unknown-attribute-value')
  })

  test('leaves one empty string when nothing is left', () => {
    expect(normalize(['a'], { stopwords: ['a'] })).toMatchObject({ dims: [1], data: [''] })
    expect(normalize(['a', 'a'], { stopwords: ['a'] }, [1, 2])).toMatchObject({ dims: [1, 1], data: [''] })
    expect(normalize([], {})).toMatchObject({ dims: [1], data: [''] })
  })

  test('takes a list or a row', () => {
    expect(dimsOf(inferOp(KIND, [fact('string', [1, 5])], { attributes: { stopwords: ['a'] } })[0])).toEqual([
      1,
      '1..5'
    ])
    expect(dimsOf(inferOp(KIND, [fact('string', [4])])[0])).toEqual([4])
    expect(errorOf(() => inferOp(KIND, [fact('string', [2, 5])])).code).toBe('shape-mismatch')
  })
})
