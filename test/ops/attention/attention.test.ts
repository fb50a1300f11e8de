import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints, iota } from '../values.ts'

const zeros = (...dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), dims)
/** Queries of zeros see every key alike: results are means of the values seen. */
const values = new Tensor('float32', [2, 4, 6], [1, 1, 3, 1])

describe('Attention', () => {
  test('rank 3 has the heads side by side', () => {
    const attributes = { q_num_heads: 2, kv_num_heads: 2 }
    const v = iota([1, 2, 4])
    const out = runTensor(['onnx', 'Attention', 23], [zeros(1, 1, 2), zeros(1, 2, 2), v], { attributes })
    expect(out.dims).toEqual([1, 1, 4])
    expectNear(out, [2, 3, 4, 5])
    expect(errorOf(() => runTensor(['onnx', 'Attention', 23], [zeros(1, 1, 2), zeros(1, 2, 2), v])).code).toBe(
      'missing-attribute'
    )
  })

  test('query heads share keys and values in groups', () => {
    const v = new Tensor('float32', [1, 2], [1, 2, 1, 1])
    expectNear(runTensor(['onnx', 'Attention', 23], [zeros(1, 4, 1, 1), zeros(1, 2, 1, 1), v]), [1, 1, 2, 2])
    expect(errorOf(() => runTensor(['onnx', 'Attention', 23], [zeros(1, 3, 1, 1), zeros(1, 2, 1, 1), v])).code).toBe(
      'shape-mismatch'
    )
  })

  test('the past comes first and shifts the causal frontier', () => {
    const [present, past] = [new Tensor('float32', [4, 6], [1, 1, 2, 1]), new Tensor('float32', [2], [1, 1, 1, 1])]
    const inputs = [zeros(1, 1, 2, 1), zeros(1, 1, 2, 1), present, undefined, zeros(1, 1, 1, 1), past]
    const [y, key, value] = runOp(['onnx', 'Attention', 23], inputs, {
      attributes: { is_causal: 1 },
      outputs: 3
    }) as Tensor[]
    expectNear(y, [3, 4])
    expect(key.dims).toEqual([1, 1, 3, 1])
    expectNear(value, [2, 4, 6])
    expect(errorOf(() => runTensor(['onnx', 'Attention', 23], inputs.slice(0, 5))).code).toBe('missing-input')
  })

  test('padding is not seen, and causality counts from its start', () => {
    const inputs = [zeros(1, 1, 2, 1), zeros(1, 1, 3, 1), values, undefined, undefined, undefined, ints(2)]
    expectNear(runTensor(['onnx', 'Attention', 24], inputs), [3, 3])
    expectNear(runTensor(['onnx', 'Attention', 24], inputs, { attributes: { is_causal: 1 } }), [2, 3])
  })

  test('a query that sees nothing gives zeros', () => {
    const mask = new Tensor('bool', [0, 0, 0, 1, 1, 0], [2, 3])
    expectNear(runTensor(['onnx', 'Attention', 23], [zeros(1, 1, 2, 1), zeros(1, 1, 3, 1), values, mask]), [0, 3])
  })

  test('a mask of integers is added, 64-bit ones too', () => {
    for (const type of ['int32', 'int64', 'uint64'] as const) {
      const mask = new Tensor(type, [0, 0, 100], [1, 3])
      expectNear(runTensor(['onnx', 'Attention', 23], [zeros(1, 1, 1, 1), zeros(1, 1, 3, 1), values, mask]), [6])
    }
  })

  test('past keys and values must have one length', () => {
    const inputs = [
      zeros(1, 1, 1, 1),
      zeros(1, 1, 1, 1),
      zeros(1, 1, 1, 1),
      undefined,
      zeros(1, 1, 3, 1),
      zeros(1, 1, 2, 1)
    ]
    expect(errorOf(() => runTensor(['onnx', 'Attention', 23], inputs))).toMatchObject({
      code: 'shape-mismatch',
      message: expect.stringContaining('3 and 2')
    })
  })

  test('windows bound both sides from version 25 on', () => {
    const inputs = [zeros(1, 1, 3, 1), zeros(1, 1, 3, 1), values]
    expectNear(
      runTensor(['onnx', 'Attention', 25], inputs, { attributes: { left_window_size: 0, right_window_size: 1 } }),
      [3, 5, 6]
    )
    expectNear(
      runTensor(['onnx', 'Attention', 25], inputs, { attributes: { left_window_size: 1, is_causal: 1 } }),
      [2, 3, 5]
    )
  })

  test('result 3 shows the scores at the stage asked for', () => {
    const one = new Tensor('float32', [1], [1, 1, 1, 1])
    const keys = new Tensor('float32', [0, 2], [1, 1, 2, 1])
    const mask = new Tensor('float32', [-1, 0], [1, 2])
    const shown = (mode: number): Tensor =>
      runOp(['onnx', 'Attention', 23], [one, keys, zeros(1, 1, 2, 1), mask], {
        attributes: { scale: 1, softcap: 2, qk_matmul_output_mode: mode },
        outputs: 4
      })[3] as Tensor
    const capped = 2 * Math.tanh(1)
    expectNear(shown(0), [0, 2])
    expectNear(shown(1), [0, capped])
    expectNear(shown(2), [-1, capped])
    const last = 1 / (1 + Math.exp(-1 - capped))
    expectNear(shown(3), [1 - last, last])
  })

  test('shapes stay symbolic', () => {
    const attributes = { q_num_heads: 4, kv_num_heads: 2 }
    const inputs = [
      fact('float32', ['n', 's', 32]),
      fact('float32', ['n', 't', 16]),
      fact('float32', ['n', 't', 20]),
      undefined,
      fact('float32', ['n', 2, 'p', 8]),
      fact('float32', ['n', 2, 'p', 10])
    ]
    expect(inferOp(['onnx', 'Attention', 23], inputs, { attributes, outputs: 4 }).map(dimsOf)).toEqual([
      ['n', 's', 40],
      ['n', 2, 'p+t', 8],
      ['n', 2, 'p+t', 10],
      ['n', 4, 's', 'p+t']
    ])
  })
})
