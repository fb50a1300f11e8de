import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, fact, inferOp, runOp } from '../harness.ts'

function split(
  strings: string[],
  attributes: Record<string, number | string> = {},
  dims?: number[]
): { dims: readonly number[]; parts: unknown; counts: number[] } {
  const [parts, counts] = runOp(['onnx', 'StringSplit', 20], [new Tensor('string', strings, dims)], {
    attributes,
    outputs: 2
  }) as Tensor[]
  return { dims: parts.dims, parts: parts.data, counts: Array.from(counts.data as BigInt64Array, Number) }
}

describe('StringSplit', () => {
  test('splits at each delimiter and fills the shorter lists up', () => {
    expect(split(['a,b', ',x,', ''], { delimiter: ',' })).toEqual({
      dims: [3, 3],
      parts: ['a', 'b', '', '', 'x', '', '', '', ''],
      counts: [2, 3, 1]
    })
    expect(split(['aaa'], { delimiter: 'aa' }).parts).toEqual(['', 'a'])
  })

  test('without a delimiter splits at runs of white space', () => {
    expect(split([' a \t b\u3000c ', '   ', ''])).toEqual({
      dims: [3, 3],
      parts: ['a', 'b', 'c', '', '', '', '', '', ''],
      counts: [3, 0, 0]
    })
    expect(split(['a b'], { delimiter: '' }).parts).toEqual(['a', 'b'])
  })

  test('leaves the rest whole after the last split that is allowed', () => {
    expect(split(['a,,b'], { delimiter: ',', maxsplit: 1 }).parts).toEqual(['a', ',b'])
    expect(split(['a,b'], { delimiter: ',', maxsplit: 0 }).parts).toEqual(['a,b'])
    expect(split(['  a  b  c '], { maxsplit: 1 }).parts).toEqual(['a', 'b  c'])
    expect(split(['  a  b  c '], { maxsplit: 0 }).parts).toEqual(['a  b  c'])
    expect(split(['a b'], { maxsplit: 5 }).counts).toEqual([2])
  })

  test('no strings have no parts', () => {
    expect(split([], {}, [0, 2])).toEqual({ dims: [0, 2, 0], parts: [], counts: [] })
    expect(inferOp(['onnx', 'StringSplit', 20], [fact('string', ['n'])], { outputs: 2 }).map(dimsOf)).toEqual([
      ['n', '?'],
      ['n']
    ])
  })
})
