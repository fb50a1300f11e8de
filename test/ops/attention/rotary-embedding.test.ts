import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['onnx', 'RotaryEmbedding', 23]
/** A quarter turn at position 1, none at 0. */
const cos = new Tensor('float32', [1, 1, 0, 0], [2, 2])
const sin = new Tensor('float32', [0, 0, 1, 1], [2, 2])
const at = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [1, values.length])

describe('RotaryEmbedding', () => {
  const x = iota([1, 1, 2, 4])

  test('turns the two halves of each head against each other', () => {
    expect([...runTensor(KIND, [x, cos, sin, at(0, 1)]).data]).toEqual([0, 1, 2, 3, -6, -7, 4, 5])
    expect([...runTensor(KIND, [x, cos, sin, at(1, 0)]).data]).toEqual([-2, -3, 0, 1, 4, 5, 6, 7])
  })

  test('or neighbours', () => {
    expect([...runTensor(KIND, [x, cos, sin, at(0, 1)], { attributes: { interleaved: 1 } }).data]).toEqual([
      0, 1, 2, 3, -5, 4, -7, 6
    ])
  })

  test('leaves elements beyond the ones that turn', () => {
    const [half, quarter] = [cos, sin].map(
      table => new Tensor('float32', [table.data[0], table.data[2]] as number[], [2, 1])
    )
    expect([
      ...runTensor(KIND, [x, half, quarter, at(0, 1)], { attributes: { rotary_embedding_dim: 2 } }).data
    ]).toEqual([0, 1, 2, 3, -5, 4, 6, 7])
  })

  test('takes tables by token where no positions are given', () => {
    const tables = [cos, sin].map(table => new Tensor('float32', table.data, [1, 2, 2]))
    expect([...runTensor(KIND, [x, ...tables]).data]).toEqual([0, 1, 2, 3, -6, -7, 4, 5])
  })

  test('takes one table by token for all batches', () => {
    const both = new Tensor('float32', [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7], [2, 1, 2, 4])
    const tables = [cos, sin].map(table => new Tensor('float32', table.data, [1, 2, 2]))
    const turned = [0, 1, 2, 3, -6, -7, 4, 5]
    expect([...runTensor(KIND, [both, ...tables]).data]).toEqual([...turned, ...turned])
    const facts = [
      [3, 2, 5, 8],
      [1, 5, 4],
      [1, 5, 4]
    ].map(dims => fact('float32', dims))
    expect(dimsOf(inferOp(KIND, facts)[0])).toEqual([3, 2, 5, 8])
  })

  test('takes all heads in one dim', () => {
    const flat = iota([2, 2, 4])
    const out = runTensor(
      KIND,
      [
        flat,
        new Tensor('float32', [1, 0], [2, 1]),
        new Tensor('float32', [0, 1], [2, 1]),
        new Tensor('int64', [1n, 0n, 0n, 1n], [2, 2])
      ],
      { attributes: { num_heads: 2 } }
    )
    expect([...out.data]).toEqual([-1, 0, -3, 2, 4, 5, 6, 7, 8, 9, 10, 11, -13, 12, -15, 14])
    const four = iota([1, 2, 2, 2])
    expect([
      ...runTensor(KIND, [four, new Tensor('float32', [1, 0], [2, 1]), new Tensor('float32', [0, 1], [2, 1]), at(1, 0)])
        .data
    ]).toEqual([-1, 0, 2, 3, -5, 4, 6, 7])
  })

  test('float16 is rounded once', () => {
    const half = (values: number[], dims: number[]): Tensor => convert(new Tensor('float32', values, dims), 'float16')
    const out = runTensor(KIND, [half([1.001, 2.002], [1, 1, 1, 2]), half([0.6], [1, 1]), half([0.8], [1, 1]), at(0)])
    const [a, b, c, s] = [half([1.001, 2.002], [2]), half([0.6, 0.8], [2])].flatMap(tensor => [
      ...convert(tensor, 'float64').data
    ])
    expect([...out.data]).toEqual([...convert(new Tensor('float64', [c * a - s * b, s * a + c * b]), 'float16').data])
  })

  test('checks positions and tables', () => {
    expect(errorOf(() => runTensor(KIND, [x, cos, sin, at(0, 2)])).code).toBe('index-out-of-range')
    expect(errorOf(() => runTensor(KIND, [x, cos, sin, at(0, -1)])).code).toBe('index-out-of-range')
    expect(
      errorOf(() =>
        inferOp(KIND, [fact('float32', [1, 2, 3, 4]), fact('float32', [9, 2]), fact('float32', [9, 2]), at(0, 1, 9)])
      ).code
    ).toBe('index-out-of-range')
    expect(errorOf(() => runTensor(KIND, [x, cos, sin])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(KIND, [x, iota([2, 3]), iota([2, 3]), at(0, 1)])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(KIND, [iota([1, 2, 4]), cos, sin, at(0, 1)])).code).toBe('missing-attribute')
    expect(errorOf(() => runTensor(KIND, [iota([1, 1, 2, 3]), cos, sin, at(0, 1)])).code).toBe('shape-mismatch')
    expect(
      errorOf(() => runTensor(KIND, [x, cos, sin, at(0, 1)], { attributes: { rotary_embedding_dim: 3 } })).code
    ).toBe('unknown-attribute-value')
    expect(
      dimsOf(
        inferOp(KIND, [
          fact('float32', ['b', 8, 's', 64]),
          fact('float32', ['p', 32]),
          fact('float32', ['p', 32]),
          fact('int64', ['b', 's'])
        ])[0]
      )
    ).toEqual(['b', 8, 's', 64])
  })
})
