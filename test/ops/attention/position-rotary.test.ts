import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints } from '../values.ts'

const ROTARY: Kind = ['onnx', 'RotaryEmbedding', 1, 'com.microsoft']
const SECTIONS: Kind = ['onnx', 'MRotaryEmbedding', 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const i64 = (values: number[], ...dims: number[]): Tensor => new Tensor('int64', values.map(BigInt), dims)
/** A row that leaves a pair as it is, one that turns it by a quarter, one that turns it by a half. */
const cos = list([1, 0, -1], 3, 1)
const sin = list([0, 1, 0], 3, 1)
const x = list([1, 2, 3, 4], 1, 2, 2)

describe('RotaryEmbedding of com.microsoft', () => {
  test('positions are those of the tokens, or that of the first', () => {
    expectNear(runTensor(ROTARY, [x, i64([1, 2], 1, 2), cos, sin]), [-2, 1, -3, -4])
    expectNear(runTensor(ROTARY, [x, ints(1), cos, sin]), [-2, 1, -3, -4])
    expectNear(runTensor(ROTARY, [x, ints(0), cos, sin]), [1, 2, -4, 3])
    expectNear(runTensor(ROTARY, [x, i64([1]), cos, sin]), [-2, 1, -3, -4])
  })

  test('heads are as wide as the tables say, in rows and in blocks', () => {
    const two = list([1, 2, 3, 4], 1, 1, 4)
    expectNear(runTensor(ROTARY, [two, ints(1), cos, sin]), [-2, 1, -4, 3])
    expectNear(runTensor(ROTARY, [list([1, 2, 3, 4], 1, 2, 1, 2), ints(1), cos, sin]), [-2, 1, -4, 3])
  })

  test('halves or neighbours are pairs, and the rest of a head is left alone', () => {
    const tables = [list([0, 0], 1, 2), list([1, 1], 1, 2)]
    const wide = list([1, 2, 3, 4, 5, 6], 1, 1, 6)
    const attributes = { num_heads: 1, rotary_embedding_dim: 4 }
    expectNear(runTensor(ROTARY, [wide, ints(0), ...tables], { attributes }), [-3, -4, 1, 2, 5, 6])
    expectNear(
      runTensor(ROTARY, [wide, ints(0), ...tables], { attributes: { ...attributes, interleaved: 1 } }),
      [-2, 1, -4, 3, 5, 6]
    )
  })

  test('operands must fit', () => {
    const code = (inputs: Tensor[], attributes = {}): string =>
      errorOf(() => runTensor(ROTARY, inputs, { attributes })).code
    expect(code([x, i64([0, 3], 1, 2), cos, sin])).toBe('index-out-of-range')
    expect(code([x, i64([0, -1], 1, 2), cos, sin])).toBe('index-out-of-range')
    expect(code([x, ints(2), cos, sin])).toBe('index-out-of-range')
    expect(code([x, i64([2]), cos, sin])).toBe('index-out-of-range')
    expect(code([x, i64([0, 0, 0], 1, 3), cos, sin])).toBe('dims-mismatch')
    expect(code([x, ints(0), cos, list([0, 1], 2, 1)])).toBe('dims-mismatch')
    expect(code([list([1, 2, 3], 1, 1, 3), ints(0), cos, sin])).toBe('dims-mismatch')
    expect(code([list([1, 2], 1, 2), ints(0), cos, sin])).toBe('rank-mismatch')
    expect(code([x, ints(0), cos, sin], { rotary_embedding_dim: 2 })).toBe('missing-attribute')
    expect(code([x, ints(0), cos, sin], { rotary_embedding_dim: 1, num_heads: 1 })).toBe('unknown-attribute-value')
    expect(code([x, ints(0), cos, sin], { rotary_embedding_dim: 4, num_heads: 1 })).toBe('dims-mismatch')
  })

  test('the shape is that of the input; known positions are checked early', () => {
    const facts = [
      fact('float32', ['n', 's', 16]),
      fact('int64', ['n', 's']),
      fact('float32', ['m', 4]),
      fact('float32', ['m', 4])
    ]
    expect(inferOp(ROTARY, facts).map(dimsOf)).toEqual([['n', 's', 16]])
    const early = [fact('float32', [1, 2, 2]), ints(2), fact('float32', [3, 1]), fact('float32', [3, 1])]
    expect(errorOf(() => inferOp(ROTARY, early)).code).toBe('index-out-of-range')
  })
})

describe('MRotaryEmbedding', () => {
  // Each row of the tables multiplies by its position.
  const factors = list(
    [0, 1, 2].flatMap(position => new Array<number>(6).fill(position)),
    3,
    6
  )
  const none = list(new Array<number>(18).fill(0), 3, 6)
  const ones = list(new Array<number>(12).fill(1), 1, 1, 12)
  const columns = (attributes: Record<string, number | number[]>): number[] => [
    ...(
      runTensor(SECTIONS, [ones, i64([0, 1, 2], 3, 1, 1), factors, none], { attributes }).data as Float32Array
    ).subarray(0, 6)
  ]

  test('sections of the columns go by time, height and width', () => {
    expect(columns({ mrope_section: [1, 2, 3] })).toEqual([0, 1, 1, 2, 2, 2])
    expect(columns({ mrope_section: [6, 0, 0] })).toEqual([0, 0, 0, 0, 0, 0])
  })

  test('in the other layout columns alternate as far as the sections reach', () => {
    expect(columns({ mrope_section: [2, 2, 2], mrope_layout: 1 })).toEqual([0, 1, 2, 0, 1, 2])
    expect(columns({ mrope_section: [4, 1, 1], mrope_layout: 1 })).toEqual([0, 1, 2, 0, 0, 0])
  })

  test('sections must add up to the width of the tables', () => {
    for (const sections of [[1, 2, 4], [6], [7, -1, 0]]) {
      expect(errorOf(() => columns({ mrope_section: sections })).code).toBe('unknown-attribute-value')
    }
  })
})
