import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'Attention', 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const i32 = (values: number[], ...dims: number[]): Tensor => new Tensor('int32', values, dims)
/** Weights that give queries and keys of 0, and values equal to the input: results are means of the values seen. */
const mean = list([0, 0, 1], 1, 3)
const input = list([2, 4, 6], 1, 3, 1)
const one = { num_heads: 1 }

const seen = (mask: Tensor | undefined, attributes = {}): Tensor =>
  runTensor(KIND, [input, mean, undefined, mask], { attributes: { ...one, ...attributes } })

describe('Attention of com.microsoft', () => {
  test('projects queries, keys and values, and adds their biases', () => {
    const weights = list([1, 2, 3], 1, 3)
    const bias = list([0.5, 0, 1], 3)
    const [y, present] = runOp(KIND, [list([1, -1], 1, 2, 1), weights, bias], {
      attributes: one,
      outputs: 2
    }) as Tensor[]
    const weight = (q: number): number => 1 / (1 + Math.exp(-4 * q))
    const value = (q: number): number => 4 * weight(q) - 2 * (1 - weight(q))
    expectNear(y, [value(1.5), value(-0.5)])
    expect(present.dims).toEqual([2, 1, 1, 2, 1])
    expectNear(present, [2, -2, 4, -2])
  })

  test('values may be narrower than keys', () => {
    const weights = list([0, 0, 0, 0, 0, 0, 0, 0, 1, 2], 1, 10)
    const attributes = { num_heads: 2, qkv_hidden_sizes: [4, 4, 2] }
    const out = runTensor(KIND, [input, weights], { attributes })
    expect(out.dims).toEqual([1, 3, 2])
    expectNear(out, [4, 8, 4, 8, 4, 8])
    expect(errorOf(() => runOp(KIND, [input, weights], { attributes, outputs: 2 })).code).toBe('dims-mismatch')
  })

  test('a mask has lengths, ends with starts, or an entry for each key', () => {
    expectNear(seen(i32([2], 1)), [3, 3, 3])
    expectNear(seen(i32([3, 1], 2)), [5, 5, 5])
    expectNear(seen(i32([1, 0, 0], 1, 3)), [2, 2, 2])
    expectNear(seen(i32([1, 0, 0, 0, 1, 0, 0, 1, 1], 1, 3, 3)), [2, 4, 5])
    expectNear(seen(i32([1, 1, 1], 1, 3), { unidirectional: 1 }), [2, 3, 4])
  })

  test('a mask of one column hides nothing', () => {
    for (const mask of [i32([1], 1, 1), i32([0], 1, 1)]) {
      expectNear(seen(mask), [4, 4, 4])
      expectNear(seen(mask, { unidirectional: 1 }), [2, 3, 4])
    }
    const two = list([2, 4, 6, 1, 3, 5], 2, 3, 1)
    for (const mask of [i32([0], 1, 1), i32([0, 1], 2, 1)])
      expectNear(runTensor(KIND, [two, mean, undefined, mask], { attributes: one }), [4, 4, 4, 3, 3, 3])
    // The fresh key behind a past is no less seen.
    const past = list([0, 8], 2, 1, 1, 1, 1)
    expectNear(runTensor(KIND, [list([2], 1, 1, 1), mean, undefined, i32([0], 1, 1), past], { attributes: one }), [5])
  })

  test('of a square mask a query has the row of its position', () => {
    const past = list([0, 8], 2, 1, 1, 1, 1)
    const square = i32([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0], 1, 1, 4, 4)
    const inputs = [list([2, 4], 1, 2, 1), mean, undefined, square, past]
    const [y, present] = runOp(KIND, inputs, { attributes: one, outputs: 2 }) as Tensor[]
    // The keys of the queries at positions 1 and 2: the second of all; the third.
    expectNear(y, [2, 4])
    expectNear(present, [0, 0, 0, 8, 2, 4])
  })

  test('a past with a length is a buffer', () => {
    const past = list([0, 0, 0, 8, 9, 9], 2, 1, 1, 3, 1)
    const inputs = [list([2], 1, 1, 1), mean, undefined, undefined, past, undefined, i32([1], 1)]
    const [y, present] = runOp(KIND, inputs, { attributes: one, outputs: 2 }) as Tensor[]
    expectNear(y, [5])
    expectNear(present, [0, 0, 0, 8, 2, 9])
  })

  test('rotation turns halves by the position', () => {
    const weights = list([1, 0, 1, 0, 1, 0], 1, 6)
    const attributes = { ...one, do_rotary: 1 }
    const [, present] = runOp(KIND, [list([1, 1], 1, 2, 1), weights], { attributes, outputs: 2 }) as Tensor[]
    expectNear(present, [1, 0, Math.cos(1), Math.sin(1), 1, 0, 1, 0])
    const odd = { attributes: { ...attributes, rotary_embedding_dim: 3 } }
    expect(errorOf(() => runTensor(KIND, [input, weights], odd)).code).toBe('unknown-attribute-value')
  })

  test('operands must fit', () => {
    const code = (inputs: (Tensor | undefined)[], attributes = {}): string =>
      errorOf(() => runTensor(KIND, inputs, { attributes: { ...one, ...attributes } })).code
    expect(code([list([1, 2], 2, 1), mean])).toBe('rank-mismatch')
    expect(code([input, list([1, 2, 3, 4, 5, 6], 2, 3)])).toBe('dims-mismatch')
    expect(code([input, list([1, 2, 3, 4], 1, 4)])).toBe('dims-mismatch')
    expect(code([input, mean, list([1], 1)])).toBe('dims-mismatch')
    expect(code([input, mean], { num_heads: 2 })).toBe('shape-mismatch')
    expect(code([input, mean], { num_heads: 0 })).toBe('unknown-attribute-value')
    expect(code([input, mean], { qkv_hidden_sizes: [1, 1] })).toBe('unknown-attribute-value')
    expect(code([input, mean], { qkv_hidden_sizes: [1, 1, 2] })).toBe('dims-mismatch')
    expect(code([input, mean, undefined, i32([1, 1], 1, 2)])).toBe('dims-mismatch')
    expect(code([input, mean, undefined, undefined, list([0, 0, 0, 0], 2, 1, 2, 1, 1)])).toBe('dims-mismatch')
  })

  test('shapes stay symbolic', () => {
    const inputs = [fact('float32', ['n', 's', 12]), fact('float32', [12, 48]), undefined, undefined]
    const past = fact('float32', [2, 'n', 2, 'p', 8])
    expect(inferOp(KIND, [...inputs, past], { attributes: { num_heads: 2 }, outputs: 2 }).map(dimsOf)).toEqual([
      ['n', 's', 16],
      [2, 'n', 2, 'p+s', 8]
    ])
  })
})
