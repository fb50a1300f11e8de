import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'

const KIND: Kind = ['onnx', 'LinearAttention', 27]
const list = (values: number[], dims: number[]): Tensor => new Tensor('float32', values, dims)
type Attributes = Record<string, number | string>

function attend(given: (Tensor | undefined)[], attributes: Attributes = {}): number[][] {
  const outs = runOp(KIND, given, {
    attributes: { q_num_heads: 1, kv_num_heads: 1, update_rule: 'linear', scale: 1, ...attributes },
    outputs: 2
  }) as Tensor[]
  return outs.map(({ data }) => [...(data as Float32Array)])
}

describe('LinearAttention', () => {
  // One head of depth 2 and width 1, two tokens.
  const query = list([1, 0, 1, 1], [1, 2, 2])
  const key = list([1, 2, 0, 1], [1, 2, 2])
  const value = list([3, 5], [1, 2, 1])

  test('adds each key with its value to the state and reads it by the query', () => {
    expect(attend([query, key, value])).toEqual([
      [3, 3 + 6 + 5],
      [3, 11]
    ])
    expect(attend([query, key, value, list([10, 20], [1, 1, 2, 1])])).toEqual([
      [13, 44],
      [13, 31]
    ])
  })

  test('scales by the depth unless a scale is given', () => {
    expect(attend([query, key, value], { scale: 0 })[0][0]).toBeCloseTo(3 / Math.SQRT2, 6)
    expect(attend([query, key, value], { scale: 2 })[0]).toEqual([6, 28])
  })

  test('gated: the state decays first, by head or by row', () => {
    const half = Math.log(0.5)
    const gated = (decay: Tensor): number[][] =>
      attend([query, key, value, list([8, 16], [1, 1, 2, 1]), decay], { update_rule: 'gated' })
    expect(gated(list([half, 0], [1, 2, 1]))[1]).toEqual([7, 14 + 5])
    expect(gated(list([0, half, half, 0], [1, 2, 2]))[1].map(Math.round)).toEqual([6, 14 + 5])
  })

  test('delta: what the state says of the key is taken off, at a rate', () => {
    // The first token writes 3 for (1, 2), so the state says 6 of (0, 1) when 5 is due: half of -1 is added.
    expect(
      attend([query, key, value, undefined, undefined, list([1, 0.5], [1, 2, 1])], { update_rule: 'delta' })
    ).toEqual([
      [3, 3 + 5.5],
      [3, 5.5]
    ])
  })

  test('gated_delta is the default: both', () => {
    const outs = runOp(
      KIND,
      [query, key, value, undefined, list([0, Math.log(0.5)], [1, 2, 1]), list([1, 1], [1, 2, 1])],
      { attributes: { q_num_heads: 1, kv_num_heads: 1, scale: 1 }, outputs: 2 }
    ) as Tensor[]
    expect([...(outs[1].data as Float32Array)]).toEqual([1.5, 5])
  })

  test('query heads share the heads of keys, samples and heads do not mix', () => {
    // Depth and width 1: two heads of values for four of queries, two samples of one token.
    const given = [
      list([1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4]),
      list([1, 10, 100, 1000], [2, 1, 2]),
      list([1, 1, 2, 2], [2, 1, 2])
    ]
    expect(attend(given, { q_num_heads: 4, kv_num_heads: 2 })).toEqual([
      [1, 2, 30, 40, 1000, 1200, 14000, 16000],
      [1, 10, 200, 2000]
    ])
    const shared = [...given, undefined, undefined, list([1, 0.5], [2, 1, 1])]
    expect(attend(shared, { q_num_heads: 4, kv_num_heads: 2, update_rule: 'delta' })[1]).toEqual([1, 10, 100, 1000])
  })

  test('the state has the type of the past one', () => {
    const half = [query, key, value].map(tensor => convert(tensor, 'float16'))
    const types = (past?: Tensor): string[] =>
      (
        runOp(KIND, [...half, past], {
          attributes: { q_num_heads: 1, kv_num_heads: 1, update_rule: 'linear' },
          outputs: 2
        }) as Tensor[]
      ).map(({ type }) => type)
    expect(types()).toEqual(['float16', 'float16'])
    expect(types(list([0, 0], [1, 1, 2, 1]))).toEqual(['float16', 'float32'])
  })

  test('operands must be those of the rule, and fit', () => {
    expect(errorOf(() => attend([query, key, value], { update_rule: 'gated' })).code).toBe('missing-input')
    expect(errorOf(() => attend([query, key, value, undefined, list([0, 0], [1, 2, 1])])).code).toBe('unexpected-input')
    expect(errorOf(() => attend([query, key, value], { q_num_heads: 3, kv_num_heads: 2 })).code).toBe(
      'unknown-attribute-value'
    )
    expect(errorOf(() => attend([query, list([1, 2], [1, 2, 1]), value])).code).toBe('shape-mismatch')
    expect(errorOf(() => attend([query, key, value, list([1, 2], [1, 1, 1, 2])])).code).toBe('shape-mismatch')
    expect(errorOf(() => attend([query, key, list([1], [1, 1, 1])])).code).toBe('shape-mismatch')
  })

  test('shapes follow from heads, names kept', () => {
    const facts = [
      fact('float32', ['b', 't', 32]),
      fact('float32', ['b', 't', 16]),
      fact('float32', ['b', 't', 24]),
      undefined,
      fact('float32', ['b', 't', 2]),
      fact('float32', ['b', 't', 1])
    ]
    expect(inferOp(KIND, facts, { attributes: { q_num_heads: 4, kv_num_heads: 2 }, outputs: 2 }).map(dimsOf)).toEqual([
      ['b', 't', 48],
      ['b', 2, 8, 12]
    ])
  })
})

describe('LinearAttention of com.microsoft', () => {
  const OTHER: Kind = ['onnx', 'LinearAttention', 1, 'com.microsoft']
  const other = (given: (Tensor | undefined)[], attributes: Attributes = {}): number[][] => {
    const options = { attributes: { update_rule: 'linear', scale: 1, ...attributes }, outputs: 2 }
    return (runOp(OTHER, given, options) as Tensor[]).map(({ data }) => [...(data as Float32Array)])
  }

  test('heads of values may share those of queries and keys', () => {
    // Depth and width 1: four states, two heads of queries, and four heads of keys or one.
    const query = list([1, 10], [1, 1, 2])
    const value = list([1, 2, 3, 4], [1, 1, 4])
    const attributes = { q_num_heads: 2, kv_num_heads: 4 }
    expect(other([query, list([1, 2, 3, 4], [1, 1, 4]), value], attributes)).toEqual([
      [1, 4, 90, 160],
      [1, 4, 9, 16]
    ])
    expect(other([query, list([2], [1, 1, 1]), value], attributes)[1]).toEqual([2, 4, 6, 8])
    expect(errorOf(() => other([query, list([1, 2, 3], [1, 1, 3]), value], attributes)).code).toBe('shape-mismatch')
    expect(errorOf(() => attend([query, value, value], attributes)).code).toBe('unknown-attribute-value')
  })

  test('only the last state is kept', () => {
    const given = [1, 2, 3].map(x => list([x], [1, 1, 1]))
    const attributes = { q_num_heads: 1, kv_num_heads: 1, state_window: 2 }
    expect(errorOf(() => other(given, attributes)).code).toBe('unknown-attribute-value')
  })
})
