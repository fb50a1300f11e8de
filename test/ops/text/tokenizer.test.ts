import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const TOKENIZER: Kind = ['onnx', 'Tokenizer', 1, 'com.microsoft']
type Attributes = Record<string, number | string | string[]>
const tokens = (texts: string[], attributes: Attributes): string[][] => {
  const { dims, data } = runTensor(TOKENIZER, [new Tensor('string', texts)], {
    attributes: { mark: 0, mincharnum: 1, pad_value: '#', ...attributes }
  })
  expect(dims.length).toBe(2)
  return texts.map((_, i) => (data as string[]).slice(i * dims[1], (i + 1) * dims[1]))
}

// The lists are those of ONNX Runtime 1.32.
describe('Tokenizer', () => {
  test('splits at separators, one after the other, and pads', () => {
    expect(tokens(['a,b c', 'd;e,f'], { separators: [',', ' '] })).toEqual([
      ['a', 'b', 'c'],
      ['d;e', 'f', '#']
    ])
    expect(tokens(['', 'a  b'], { separators: [' '] })).toEqual([
      ['#', '#'],
      ['a', 'b']
    ])
    expect(tokens(['one two-three'], { separators: [' ', '-'], mincharnum: 4 })).toEqual([['three']])
  })

  test('separators are expressions, of which the longest match counts', () => {
    expect(tokens(['a1b22c333'], { separators: ['[0-9]+'] })).toEqual([['a', 'b', 'c']])
    expect(tokens(['axxb'], { separators: ['x|xx'] })).toEqual([['a', 'b']])
    expect(tokens(['abc'], { separators: ['x*'] })).toEqual([[]])
  })

  test('takes characters, also beyond the basic plane', () => {
    expect(tokens(['aé', '日😀b'], { separators: [''] })).toEqual([
      ['a', 'é', '#'],
      ['日', '😀', 'b']
    ])
    expect(tokens(['ab'], { tokenexp: '.' })).toEqual([['a', 'b']])
  })

  test('takes what an expression matches, and goes on at the next character where that is too short', () => {
    expect(tokens(['ab12 cd', 'e f3'], { tokenexp: '[a-z]+' })).toEqual([
      ['ab', 'cd'],
      ['e', 'f']
    ])
    expect(tokens(['a bb ccc'], { tokenexp: '[a-z]+', mincharnum: 2 })).toEqual([['bb', 'ccc']])
    expect(tokens(['abab'], { tokenexp: 'a|ab' })).toEqual([['ab', 'ab']])
    expect(tokens(['日本 語'], { tokenexp: '\\p{Han}+' })).toEqual([['日本', '語']])
  })

  test('marks the beginning and the end of each list, before the padding', () => {
    expect(tokens(['a b', 'c'], { separators: [' '], mark: 1 })).toEqual([
      ['\u0002', 'a', 'b', '\u0003'],
      ['\u0002', 'c', '\u0003', '#']
    ])
    expect(tokens([' '], { separators: [' '], mark: 1 })).toEqual([[]])
  })

  test('refuses what it cannot do, and keeps symbols', () => {
    const code = (attributes: Attributes): string => errorOf(() => tokens(['a'], attributes)).code
    expect(code({})).toBe('missing-attribute')
    expect(code({ separators: [] })).toBe('unknown-attribute-value')
    expect(code({ separators: ['('] })).toBe('unknown-attribute-value')
    expect(code({ tokenexp: '' })).toBe('unknown-attribute-value')
    expect(code({ separators: [''], mincharnum: 2 })).toBe('unknown-attribute-value')
    expect(code({ separators: [' '], mincharnum: 0 })).toBe('unknown-attribute-value')
    const attributes = { mark: 0, mincharnum: 1, pad_value: '', separators: [' '] }
    const cube = new Tensor('string', ['a'], [1, 1, 1])
    expect(errorOf(() => runTensor(TOKENIZER, [cube], { attributes })).code).toBe('rank-mismatch')
    expect(dimsOf(inferOp(TOKENIZER, [fact('string', ['n', 2])], { attributes })[0])?.slice(0, 2)).toEqual(['n', 2])
    expect(runTensor(TOKENIZER, [new Tensor('string', [], [0, 2])], { attributes }).dims).toEqual([0, 2, 0])
  })
})
