import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const list = (...values: number[]): Tensor => new Tensor('float32', values)
/** Two channels, two positions each. */
const x = iota([1, 2, 2])
const statistics = [list(2, 3), list(10, 20), list(1, 1), list(4, 1)]
const expected = [9, 10, 23, 26]
const attributes = { epsilon: 0 }

describe('ONNX BatchNormalization', () => {
  test('normalizes by channel with the given statistics in every version', () => {
    for (const version of [6, 7, 9, 14, 15]) {
      expectNear(runTensor(['onnx', 'BatchNormalization', version], [x, ...statistics], { attributes }), expected)
    }
    const old = { ...attributes, consumed_inputs: [0, 0, 0, 1, 1] }
    expectNear(runTensor(['onnx', 'BatchNormalization', 1], [x, ...statistics], { attributes: old }), expected)
  })

  test('a list is one channel', () => {
    expectNear(
      runTensor(['onnx', 'BatchNormalization', 15], [list(1, 3), list(2), list(0), list(1), list(4)], { attributes }),
      [0, 2]
    )
  })

  test('spatial 0 has statistics for each element', () => {
    const each = (...values: number[]): Tensor => new Tensor('float32', values, [2, 2])
    const inputs = [x, each(1, 1, 1, 2), each(0, 0, 0, 0), each(0, 1, 2, 0), each(1, 1, 1, 1)]
    expectNear(
      runTensor(['onnx', 'BatchNormalization', 7], inputs, { attributes: { ...attributes, spatial: 0 } }),
      [0, 0, 0, 6]
    )
  })

  test('training mode takes the statistics of the batch and moves the running ones', () => {
    const training = { epsilon: 0, momentum: 0.5, training_mode: 1 }
    const options = { attributes: training, outputs: 3 }
    const [y, mean, variance] = runOp(['onnx', 'BatchNormalization', 15], [x, ...statistics], options) as Tensor[]
    expectNear(y, [8, 12, 17, 23])
    expectNear(mean, [0.75, 1.75])
    expectNear(variance, [2.125, 0.625])
  })

  test('before version 14 five results mean training', () => {
    const options = { attributes: { epsilon: 0, momentum: 0.5 }, outputs: 5 }
    const results = runOp(['onnx', 'BatchNormalization', 9], [x, ...statistics], options) as Tensor[]
    expectNear(results[1], [0.75, 1.75])
    expectNear(results[3], [0.5, 2.5])
    expectNear(results[4], [0.25, 0.25])
  })

  test('inference gives one result', () => {
    expect(errorOf(() => runOp(['onnx', 'BatchNormalization', 15], [x, ...statistics], { outputs: 3 })).code).toBe(
      'unknown-attribute-value'
    )
  })

  test('lists must fit the channels, which they can tell', () => {
    expect(
      errorOf(() => runTensor(['onnx', 'BatchNormalization', 15], [x, list(1, 2, 3), ...statistics.slice(1)])).code
    ).toBe('shape-mismatch')
    const lists = Array.from({ length: 4 }, () => fact('float32', [3]))
    const facts = inferOp(['onnx', 'BatchNormalization', 15], [fact('float16', ['n', 'c', 5]), ...lists])
    expect(dimsOf(facts[0])).toEqual(['n', 'c', 5])
    expect(facts[0]).toMatchObject({ type: 'float16' })
  })
})

describe('OpenVINO BatchNormInference', () => {
  test('opset1 has gamma and beta before the data, opset5 after', () => {
    const [gamma, beta, mean, variance] = statistics
    expectNear(
      runTensor(['openvino', 'BatchNormInference', 1], [gamma, beta, x, mean, variance], { attributes }),
      expected
    )
    expectNear(
      runTensor(['openvino', 'BatchNormInference', 5], [x, gamma, beta, mean, variance], { attributes }),
      expected
    )
  })
})
