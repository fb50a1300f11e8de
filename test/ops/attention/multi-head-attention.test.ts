import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const MHA: Kind = ['onnx', 'MultiHeadAttention', 1, 'com.microsoft']
const DECODER: Kind = ['onnx', 'DecoderMaskedMultiHeadAttention', 1, 'com.microsoft']

const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const i32 = (values: number[], ...dims: number[]): Tensor => new Tensor('int32', values, dims)
const zeros = (...dims: number[]): Tensor =>
  list(new Array(dims.reduce((a, b) => a * b, 1)).fill(0) as number[], ...dims)
const one = { attributes: { num_heads: 1 } }
const two = { attributes: { num_heads: 2 } }
/** Queries of zeros see every key alike: results are means of the values seen. */
const values = list([2, 4, 6], 1, 3, 1)
const seen = (mask: Tensor | undefined, attributes = {}, queries = 1): Tensor =>
  runTensor(MHA, [zeros(1, queries, 1), zeros(1, 3, 1), values, undefined, mask], {
    attributes: { num_heads: 1, ...attributes }
  })

describe('MultiHeadAttention', () => {
  test('heads lie side by side, and values may be wider than keys', () => {
    const out = runTensor(MHA, [zeros(1, 1, 2), zeros(1, 2, 2), iota([1, 2, 4])], two)
    expect(out.dims).toEqual([1, 1, 4])
    expectNear(out, [2, 3, 4, 5])
  })

  test('scores are scaled by the depth unless a scale is given', () => {
    const inputs = [
      list([2, 0, 0, 0], 1, 1, 4),
      list([0, 0, 0, 0, 1, 0, 0, 0], 1, 2, 4),
      list([0, 0, 0, 0, 1, 1, 1, 1], 1, 2, 4)
    ]
    const weight = (x: number): number => 1 / (1 + Math.exp(-x))
    expectNear(runTensor(MHA, inputs, one), new Array<number>(4).fill(weight(1)))
    expectNear(runTensor(MHA, inputs, { attributes: { num_heads: 1, scale: 2 } }), new Array<number>(4).fill(weight(4)))
  })

  test('a mask has lengths, an entry for each key, or one for each query and key', () => {
    expectNear(seen(i32([2], 1)), [3])
    expectNear(seen(i32([2, 0, 3, 0, 3], 5)), [3])
    expectNear(seen(i32([0, 1, 1], 1, 3)), [5])
    expectNear(seen(i32([0, 1, 1, 1, 0, 0], 1, 2, 3), {}, 2), [5, 2])
  })

  test('a mask adds its filter value, so that a row without keys is the mean of all', () => {
    expectNear(seen(i32([0, 0, 0], 1, 3)), [4])
    const low = Math.exp(-1.5)
    expectNear(seen(i32([0, 1, 1], 1, 3), { mask_filter_value: -1.5 }), [(2 * low + 10) / (low + 2)])
  })

  test('unidirectional hides keys for good', () => {
    expectNear(seen(undefined, { unidirectional: 1 }, 3), [2, 3, 4])
    expectNear(seen(i32([0, 1, 1], 1, 3), { unidirectional: 1 }, 3), [2, 4, 5])
  })

  test('the past comes first; a mask of the fresh keys alone leaves it unmasked', () => {
    const inputs = [zeros(1, 2, 1), zeros(1, 2, 1), list([4, 6], 1, 2, 1), undefined, undefined, undefined]
    const past = [zeros(1, 1, 1, 1), list([2], 1, 1, 1, 1)]
    const [y, keys, presents] = runOp(MHA, [...inputs, ...past], {
      attributes: { num_heads: 1, unidirectional: 1 },
      outputs: 3
    }) as Tensor[]
    expectNear(y, [3, 4])
    expect(keys.dims).toEqual([1, 1, 3, 1])
    expectNear(presents, [2, 4, 6])
    expectNear(runTensor(MHA, [...inputs.slice(0, 4), i32([0, 1], 1, 2), undefined, ...past], one), [4, 4])
    expect(errorOf(() => runTensor(MHA, [...inputs, past[0]], one)).code).toBe('missing-input')
  })

  test('biases are added before the heads are split, that of the keys to presents too', () => {
    const bias = list([1, 2, 3, 4, 10, 20], 6)
    const [y, key, value] = runOp(MHA, [zeros(1, 1, 2), iota([1, 1, 2]), iota([1, 1, 2]), bias], {
      ...two,
      outputs: 3
    }) as Tensor[]
    expectNear(y, [10, 21])
    expectNear(key, [3, 5])
    expectNear(value, [10, 21])
  })

  test('packed queries, keys and values mean what they mean apart', () => {
    const part = (first: number): Tensor =>
      list(
        [0, 1, 2, 3, 4, 5, 6, 7].map(x => Math.sin(x + first)),
        1,
        2,
        4
      )
    const [q, k, v] = [part(0), part(10), part(20)]
    const expected = [...(runTensor(MHA, [q, k, v], two).data as Float32Array)]
    /** `[1, 2, heads, parts, 2]` of tensors `[1, 2, heads * 2]`. */
    const pack = (...parts: Tensor[]): Tensor =>
      list(
        [0, 2, 4, 6].flatMap(at => parts.flatMap(({ data }) => [...(data as Float32Array).subarray(at, at + 2)])),
        1,
        2,
        2,
        parts.length,
        2
      )
    const blocks = ({ data }: Tensor): Tensor =>
      list(
        [0, 1, 4, 5, 2, 3, 6, 7].map(i => data[i] as number),
        1,
        2,
        2,
        2
      )
    expectNear(runTensor(MHA, [pack(q, k, v)], two), expected)
    expectNear(runTensor(MHA, [q, pack(k, v)], two), expected)
    expectNear(runTensor(MHA, [q, blocks(k), blocks(v)], two), expected)
  })

  test('of the biases, keys and values that come as heads get none', () => {
    const bias = list([1, 5, 5], 3)
    const [y, key] = runOp(MHA, [zeros(1, 1, 1), zeros(1, 1, 2, 1), iota([1, 1, 2, 1]), bias], { ...one, outputs: 2 })
    expectNear(y as Tensor, [0.5])
    expectNear(key as Tensor, [0, 0])
  })

  test('the last result has the scores that softmax gets', () => {
    const bias = list([0.5, -1, 0, 0], 1, 1, 2, 2)
    const inputs = [list([1, 2], 1, 2, 1), list([1, 1], 1, 2, 1), zeros(1, 2, 1), undefined, i32([1, 0], 1, 2), bias]
    const options = { attributes: { num_heads: 1, unidirectional: 1 }, outputs: 4 }
    expectNear(runOp(MHA, inputs, options)[3] as Tensor, [1.5, -3.4028234663852886e38, 2, -9998])
    const half = inputs.map(x => (x?.type === 'float32' ? convert(x, 'float16') : x))
    expectNear(runOp(MHA, half, options)[3] as Tensor, [1.5, -65504, 2, -10000], 1e-3)
  })

  test('of the scores only those that causality hides are the lowest number', () => {
    const bias = list([-Infinity, 0, 1, -Infinity], 1, 1, 2, 2)
    const inputs = [list([1, 2], 1, 2, 1), list([1, 1], 1, 2, 1), zeros(1, 2, 1), undefined, undefined, bias]
    const scores = (attributes: object): Tensor =>
      runOp(MHA, inputs, { attributes: { num_heads: 1, ...attributes }, outputs: 4 })[3] as Tensor
    expect([...(scores({}).data as Float32Array)]).toEqual([-Infinity, 1, 3, -Infinity])
    expect([...(scores({ unidirectional: 1 }).data as Float32Array)]).toEqual([
      -Infinity,
      -3.4028234663852886e38,
      3,
      -Infinity
    ])
  })

  test('a past with a length is a buffer', () => {
    const past = list([2, 4, 9, 9], 1, 1, 4, 1)
    const inputs = [zeros(1, 1, 1), zeros(1, 1, 1), list([6], 1, 1, 1), undefined, undefined, undefined, past, past]
    const [y, , value] = runOp(MHA, [...inputs, i32([2], 1)], { ...one, outputs: 3 }) as Tensor[]
    expectNear(y, [4])
    expectNear(value, [2, 4, 6, 9])
    expect(errorOf(() => runTensor(MHA, [...inputs, i32([4], 1)], one)).code).toBe('value-out-of-range')
  })

  test('operands must fit', () => {
    const code = (...inputs: (Tensor | undefined)[]): string => errorOf(() => runTensor(MHA, inputs, two)).code
    const q = zeros(1, 2, 4)
    expect(code(q)).toBe('missing-input')
    expect(code(q, q)).toBe('missing-input')
    expect(code(zeros(1, 2, 3), zeros(1, 2, 3), zeros(1, 2, 3))).toBe('shape-mismatch')
    expect(code(q, zeros(1, 2, 6), q)).toBe('dims-mismatch')
    expect(code(q, q, zeros(1, 3, 4))).toBe('dims-mismatch')
    expect(code(zeros(1, 2, 2, 3, 2), q)).toBe('unexpected-input')
    expect(code(q, q, q, zeros(11))).toBe('dims-mismatch')
    expect(code(q, q, q, undefined, i32([1, 1, 1], 1, 3))).toBe('dims-mismatch')
    expect(code(q, q, q, undefined, i32([1, 1], 2))).toBe('dims-mismatch')
    expect(code(q, q, q, undefined, undefined, zeros(1, 3, 2, 2))).toBe('dims-mismatch')
    expect(code(q, q, q, undefined, undefined, zeros(2, 2))).toBe('rank-mismatch')
  })

  test('shapes stay symbolic', () => {
    const inputs = [
      fact('float32', ['n', 's', 32]),
      fact('float32', ['n', 't', 32]),
      fact('float32', ['n', 't', 16]),
      undefined,
      undefined,
      undefined,
      fact('float32', ['n', 4, 'p', 8]),
      fact('float32', ['n', 4, 'p', 4])
    ]
    expect(inferOp(MHA, inputs, { attributes: { num_heads: 4 }, outputs: 4 }).map(dimsOf)).toEqual([
      ['n', 's', 16],
      ['n', 4, 'p+t', 8],
      ['n', 4, 'p+t', 4],
      ['n', 4, 's', 'p+t']
    ])
    expect(inferOp(MHA, [fact('float32')], { ...two, outputs: 2 }).map(dimsOf)).toEqual([undefined, undefined])
  })
})

describe('DecoderMaskedMultiHeadAttention', () => {
  const buffer = list([2, 4, 9, 9], 1, 1, 4, 1)
  const step = [zeros(1, 1, 1), zeros(1, 1, 1), list([6], 1, 1, 1)]

  test('the new key and value take their row of the buffer', () => {
    const inputs = [...step, undefined, undefined, zeros(1, 1, 4, 1), buffer, i32([2], 1)]
    const [y, , value] = runOp(DECODER, inputs, { ...one, outputs: 3 }) as Tensor[]
    expectNear(y, [4])
    expectNear(value, [2, 4, 6, 9])
    const masked = [...step, i32([1, 0, 1], 1, 3), undefined, zeros(1, 1, 4, 1), buffer, i32([2], 1)]
    expectNear(runTensor(DECODER, masked, one), [4])
  })

  test('each row of the past is read from the beam that made it', () => {
    // Two beams of one sample; rows 0 and 1 are the past.
    const past = list([1, 2, 0, 10, 20, 0], 2, 1, 3, 1)
    const fresh = list([3, 30], 2, 1, 1)
    const beams = i32([0, 1, 0, 0, 0, 0], 1, 2, 3)
    const inputs = [zeros(2, 1, 1), zeros(2, 1, 1), fresh, undefined, undefined, zeros(2, 1, 3, 1), past, i32([2], 1)]
    const [y, , value] = runOp(DECODER, [...inputs, i32([2], 1), beams], { ...one, outputs: 3 }) as Tensor[]
    expectNear(y, [(1 + 20 + 3) / 3, (1 + 2 + 30) / 3])
    expectNear(value, [1, 2, 3, 10, 20, 30])
    const wrong = i32([2, 0, 0, 0, 0, 0], 1, 2, 3)
    expect(errorOf(() => runTensor(DECODER, [...inputs, i32([2], 1), wrong], one)).code).toBe('index-out-of-range')
  })

  test('a query alone holds keys and values, too', () => {
    const inputs = [list([0, 0, 6], 1, 1, 3), undefined, undefined, undefined, undefined, zeros(1, 1, 4, 1), buffer]
    expectNear(runTensor(DECODER, [...inputs, i32([2], 1)], one), [4])
  })

  test('cross attention is over keys that come as heads', () => {
    expectNear(runTensor(DECODER, [zeros(1, 1, 1), zeros(1, 1, 2, 1), list([3, 5], 1, 1, 2, 1)], one), [4])
    const long = [zeros(1, 2, 1), zeros(1, 1, 2, 1), zeros(1, 1, 2, 1)]
    expect(errorOf(() => runTensor(DECODER, long, one)).code).toBe('dims-mismatch')
  })
})
