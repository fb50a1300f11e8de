import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const GROUPED: Kind = ['onnx', 'GroupQueryAttention', 1, 'com.microsoft']
const SPARSE: Kind = ['onnx', 'SparseAttention', 1, 'com.microsoft']
type Attributes = Record<string, number | string>

const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const zeros = (...dims: number[]): Tensor => list(new Array<number>(dims.reduce((a, b) => a * b, 1)).fill(0), ...dims)
const i32 = (...values: number[]): Tensor => new Tensor('int32', values, [values.length])
const total = (value: number): Tensor => new Tensor('int32', [value], [])
const one = { num_heads: 1, kv_num_heads: 1 }

/** Queries and keys of zeros see every key alike: results are means of the values seen. */
const inputs = (values: Tensor, past: Tensor | undefined, lengths: number[], all: number): (Tensor | undefined)[] => [
  zeros(...values.dims),
  zeros(...values.dims),
  values,
  past && zeros(...past.dims),
  past,
  i32(...lengths),
  total(all)
]
const prompt = inputs(list([2, 4, 6], 1, 3, 1), undefined, [2], 3)
const run = (given: (Tensor | undefined)[], attributes: Attributes = {}, outputs = 1): Tensor[] =>
  runOp(GROUPED, given, { attributes: { ...one, ...attributes }, outputs }) as Tensor[]
const code = (given: (Tensor | undefined)[], attributes: Attributes = {}, outputs = 1): string =>
  errorOf(() => run(given, attributes, outputs)).code

describe('GroupQueryAttention', () => {
  test('a prompt is causal; without causality all valid keys are seen', () => {
    expectNear(run(prompt)[0], [2, 3, 4])
    expectNear(run(prompt, { causal: 0 })[0], [4, 4, 4])
    expectNear(run(prompt, { local_window_size: 2 })[0], [2, 3, 5])
    expect(code(prompt, { causal: 0, local_window_size: 2 })).toBe('unknown-attribute-value')
  })

  test('query heads share keys and values in groups, packed or apart', () => {
    const attributes = { num_heads: 4, kv_num_heads: 2 }
    const apart = [zeros(1, 1, 4), zeros(1, 1, 2), list([1, 2], 1, 1, 2), undefined, undefined, i32(0), total(1)]
    expectNear(run(apart, attributes)[0], [1, 1, 2, 2])
    const packed = [
      list([0, 0, 0, 0, 5, 6, 1, 2], 1, 1, 8),
      ...new Array<undefined>(4).fill(undefined),
      i32(0),
      total(1)
    ]
    const [y, key, value] = run(packed, attributes, 3)
    expectNear(y, [1, 1, 2, 2])
    expectNear(key, [5, 6])
    expectNear(value, [1, 2])
  })

  test('each entry of a batch appends where its own past ends; what lies above is zero', () => {
    const past = list([1, 3, 9, 1, 9, 9], 2, 1, 3, 1)
    const [y, , value] = run(inputs(list([5, 7], 2, 1, 1), past, [2, 1], 4 - 1), {}, 3)
    expectNear(y, [3, 4])
    expectNear(value, [1, 3, 5, 1, 7, 0])
    const grown = run(inputs(list([5, 7], 2, 1, 1), past, [3, 1], 4), {}, 3)[2]
    expectNear(grown, [1, 3, 9, 5, 1, 7, 0, 0])
  })

  test('a prompt overwrites a buffer from its start', () => {
    const [y, , value] = run(inputs(list([2, 4], 1, 2, 1), list([9, 9, 9], 1, 1, 3, 1), [1], 2), {}, 3)
    expectNear(y, [2, 3])
    expectNear(value, [2, 4, 0])
  })

  test('scores are capped before the bias is added', () => {
    const given = [
      list([3], 1, 1, 1),
      list([2], 1, 1, 1),
      list([4], 1, 1, 1),
      zeros(1, 1, 1, 1),
      zeros(1, 1, 1, 1),
      i32(1),
      total(2)
    ]
    const bias = list([0.5, 0], 1, 1, 1, 2)
    const capped = 1.5 * Math.tanh(6 / 1.5)
    const shown = run([...given, undefined, undefined, undefined, bias], { softcap: 1.5, qk_output: 1 }, 4)[3]
    expectNear(shown, [0.5, capped])
    const weight = 1 / (1 + Math.exp(0.5 - capped))
    expectNear(run([...given, undefined, undefined, undefined, bias], { softcap: 1.5, qk_output: 2 }, 4)[3], [
      1 - weight,
      weight
    ])
  })

  test('hidden keys take their share: of score 0, or of a score for each head', () => {
    expectNear(run(prompt, { smooth_softmax: 1 })[0], [1, 2, 3])
    const sinks = [...prompt, ...new Array<undefined>(4).fill(undefined), list([Math.log(2)], 1)]
    expectNear(run(sinks)[0], [2 / 3, 6 / 4, 12 / 5])
  })

  test('shown weights are 0 for hidden keys', () => {
    expectNear(run(prompt, { qk_output: 2, local_window_size: 2 }, 4)[3], [1, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5])
    expect(code(prompt, {}, 4)).toBe('unknown-attribute-value')
  })

  test('queries and keys are rotated by their positions', () => {
    // A quarter turn for each position.
    const tables = [list([1, 0, -1, 0], 4, 1), list([0, 1, 0, -1], 4, 1)]
    const given = [
      zeros(1, 1, 2),
      list([1, 2], 1, 1, 2),
      zeros(1, 1, 2),
      zeros(1, 1, 1, 2),
      zeros(1, 1, 1, 2),
      i32(1),
      total(2)
    ]
    const keyAt = (positions?: Tensor): Tensor => run([...given, ...tables, positions], { do_rotary: 1 }, 2)[1]
    expectNear(keyAt(), [0, 0, -2, 1])
    expectNear(keyAt(new Tensor('int64', [2n], [1, 1])), [0, 0, -1, -2])
    expect(errorOf(() => keyAt(new Tensor('int64', [4n], [1, 1]))).code).toBe('index-out-of-range')
    expect(code(given, { do_rotary: 1 })).toBe('missing-input')
    const first = [
      zeros(2, 1, 2),
      list([1, 2, 1, 2], 2, 1, 2),
      zeros(2, 1, 2),
      undefined,
      undefined,
      i32(0, 0),
      total(1)
    ]
    const positions = new Tensor('int64', [1n, 3n], [2, 1])
    expectNear(run([...first, ...tables, positions], { do_rotary: 1 }, 2)[1], [-2, 1, -2, 1])
  })

  test('queries and keys are normalized before rotation', () => {
    const given = [list([3, 4], 1, 1, 2), list([6, 8], 1, 1, 2), zeros(1, 1, 2), undefined, undefined, i32(0), total(1)]
    const norms = [...given, ...new Array<undefined>(7).fill(undefined), list([1, 1], 2), list([1, 2], 2)]
    const rms = Math.sqrt(12.5)
    const [, key, , scores] = run(norms, { qk_output: 1, qk_norm_epsilon: 0, scale: 1 }, 4)
    expectNear(key, [3 / rms, 8 / rms])
    expectNear(scores, [(9 + 32) / 12.5])
  })

  test('a cache of 8 bits holds rounded quotients, and attention is over them', () => {
    const past = new Tensor('int8', [4, -128], [1, 1, 1, 2])
    const given = [zeros(1, 1, 2), zeros(1, 1, 2), list([1.3, 99], 1, 1, 2), past, past, i32(1), total(2)]
    const scales = [...new Array<undefined>(5).fill(undefined), list([0.5], 1), list([0.5], 1)]
    const attributes = { kv_cache_bit_width: 8, k_quant_type: 'PER_TENSOR', v_quant_type: 'PER_TENSOR' }
    const [y, , value] = run([...given, ...scales], attributes, 3)
    expect([...(value.data as Int8Array)]).toEqual([4, -128, 3, 127])
    expectNear(y, [(2 + 1.5) / 2, (-64 + 63.5) / 2])
    expect(code(given, attributes)).toBe('missing-input')
    expect(code([...given, ...scales], { ...attributes, kv_cache_bit_width: 4 })).toMatch(/mismatch/)
    expect(code([...given, ...scales], { ...attributes, k_quant_type: 'NONE' })).toBe('unknown-attribute-value')
  })

  test('a cache of 4 bits has two codes a byte, the first in the low half', () => {
    const past = new Tensor('uint8', [0x9f], [1, 1, 1, 1])
    const given = [zeros(1, 1, 2), zeros(1, 1, 2), list([-20, 3], 1, 1, 2), past, past, i32(1), total(2)]
    const scales = [...new Array<undefined>(5).fill(undefined), list([1, 1], 1, 1, 1, 2), list([1, 2], 1, 1, 1, 2)]
    const attributes = { kv_cache_bit_width: 4, k_quant_type: 'PER_CHANNEL', v_quant_type: 'PER_CHANNEL' }
    const [y, key, value] = run([...given, ...scales], attributes, 3)
    // 3 / 2 is rounded to the even 2; codes are stored with 8 added.
    expect([...(value.data as Uint8Array)]).toEqual([0x9f, 0xa0])
    expect([...(key.data as Uint8Array)]).toEqual([0x9f, 0x88])
    expectNear(y, [(7 - 8) / 2, (2 + 4) / 2])
  })

  test('a cache of 8-bit floats holds quotients of that type', () => {
    const past = new Tensor('float8e4m3fn', new Uint8Array([0x38]), [1, 1, 1, 1])
    const given = [zeros(1, 1, 1), zeros(1, 1, 1), list([34], 1, 1, 1), past, past, i32(1), total(2)]
    const scales = [...new Array<undefined>(5).fill(undefined), list([2], 1), list([2], 1)]
    const attributes = { kv_cache_bit_width: 8, k_quant_type: 'PER_TENSOR', v_quant_type: 'PER_TENSOR' }
    const [y, , value] = run([...given, ...scales], attributes, 3)
    // 17 lies half way between 16 and 18; 16 is even.
    expect([...(value.data as Uint8Array)]).toEqual([0x38, 0x58])
    expectNear(y, [(2 + 32) / 2])
  })

  test('a sliding cache keeps the last positions, at least a window', () => {
    const attributes = { sliding_window_cache: 1, local_window_size: 2 }
    // Three rows for a window of 2: with a third group row, positions leave two at a time.
    const decode = (past: number[], length: number): Tensor[] =>
      run(inputs(list([9], 1, 1, 1), list(past, 1, 1, 3, 1), [length], length + 1), attributes, 3)
    const [first, , kept] = decode([1, 3, 0], 2)
    expectNear(first, [6])
    expectNear(kept, [1, 3, 9])
    const [next, , left] = decode([1, 3, 5], 3)
    expectNear(next, [7])
    expectNear(left, [5, 9, 0])
    expect(code(prompt, attributes)).toBe('missing-input')
  })

  test('lengths must fit', () => {
    const past = zeros(1, 1, 3, 1)
    const step = (length: number, all: number): string => code(inputs(list([5], 1, 1, 1), past, [length], all))
    expect(step(-1, 4)).toBe('value-out-of-range')
    expect(step(4, 4)).toBe('value-out-of-range')
    expect(step(4, 5)).toBe('value-out-of-range')
    expect(code(inputs(list([5], 1, 1, 1), undefined, [1], 2))).toBe('value-out-of-range')
    expect(code(inputs(list([5, 6], 1, 2, 1), past, [0], 3))).toBe('value-out-of-range')
    expect(code(inputs(list([5], 1, 1, 1), past, [3, 3], 4))).toBe('dims-mismatch')
  })

  test('operands must fit', () => {
    const [q, k, v, , , lengths, all] = prompt
    expect(code(prompt, { num_heads: 3, kv_num_heads: 2 })).toBe('dims-mismatch')
    expect(code([q, k, undefined, undefined, undefined, lengths, all])).toBe('missing-input')
    expect(code([q, zeros(1, 2, 1), v, undefined, undefined, lengths, all])).toBe('dims-mismatch')
    expect(code([q, k, v, zeros(1, 1, 0, 1), undefined, lengths, all])).toBe('missing-input')
    expect(code([q, k, v, zeros(1, 2, 0, 1), zeros(1, 2, 0, 1), lengths, all])).toBe('dims-mismatch')
    expect(code([...prompt, undefined, undefined, undefined, zeros(1, 1, 3, 2)])).toBe('dims-mismatch')
    expect(code([...prompt, undefined, undefined, undefined, undefined, zeros(2)])).toBe('dims-mismatch')
  })

  test('shapes stay symbolic; the present has the rows of the larger', () => {
    const facts = (all: Tensor | ReturnType<typeof fact>) => [
      fact('float32', ['n', 's', 128]),
      undefined,
      undefined,
      fact('float32', ['n', 2, 'p', 16]),
      fact('float32', ['n', 2, 'p', 16]),
      fact('int32', ['n']),
      all
    ]
    const attributes = { num_heads: 4, kv_num_heads: 2, qk_output: 1 }
    const shapes = inferOp(GROUPED, facts(fact('int32', [])), { attributes, outputs: 4 }).map(dimsOf)
    expect([shapes[0], shapes[1]?.slice(0, 2), shapes[3]?.slice(0, 3)]).toEqual([
      ['n', 's', 64],
      ['n', 2],
      ['n', 4, 's']
    ])
    expect(inferOp(GROUPED, facts(total(7)), { attributes, outputs: 4 }).map(dimsOf)).toEqual([
      ['n', 's', 64],
      ['n', 2, 'max(7, p)', 16],
      ['n', 2, 'max(7, p)', 16],
      ['n', 4, 's', 7]
    ])
  })
})

describe('SparseAttention', () => {
  const attributes = { num_heads: 2, kv_num_heads: 1, sparse_block_size: 2 }
  // Two layouts over blocks of two: all blocks to the left; the own block alone.
  const rows = new Tensor('int32', [0, 1, 3, 0, 1, 2], [2, 3])
  const columns = new Tensor('int32', [0, 0, 1, 0, 1, -1], [2, 3])
  const past = list([9, 9, 9, 9], 1, 1, 4, 1)
  const values = list([2, 4, 6], 1, 3, 1)
  const given = [zeros(1, 3, 2), zeros(1, 3, 1), values, zeros(1, 1, 4, 1), past, rows, columns, total(3), i32(3)]

  test('heads see the blocks of their layout, as far as causality goes', () => {
    const [y, , present] = runOp(SPARSE, given, { attributes, outputs: 3 }) as Tensor[]
    expectNear(y, [2, 2, 3, 3, 4, 6])
    expectNear(present, [2, 4, 6, 9])
  })

  test('a past and blocks must be given, though GroupQueryAttention may lack them', () => {
    for (const left of [3, 4, 5, 6])
      expect(
        errorOf(() =>
          runTensor(
            SPARSE,
            given.map((each, i) => (i === left ? undefined : each)),
            { attributes }
          )
        ).code
      ).toBe('wrong-input-count')
  })

  test('rows of blocks must be there', () => {
    const bad = (own: Tensor): string => errorOf(() => runTensor(SPARSE, given.with(5, own), { attributes })).code
    expect(bad(new Tensor('int32', [0, 1, 0, 1], [2, 2]))).toBe('value-out-of-range')
    expect(bad(new Tensor('int32', [0, 7, 3, 0, 1, 2], [2, 3]))).toBe('value-out-of-range')
    expect(bad(new Tensor('int32', [0, 1, 3], [1, 3]))).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(SPARSE, given, { attributes: { ...attributes, sparse_block_size: 0 } })).code).toBe(
      'unknown-attribute-value'
    )
  })
})
