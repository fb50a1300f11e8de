import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints } from '../values.ts'

const x = new Tensor('float32', [3, -4, 0, 0], [2, 2])

describe('LpNormalization', () => {
  test('divides by the norm; where it is 0 the result is 0', () => {
    expectNear(runTensor(['onnx', 'LpNormalization', 22], [x]), [0.6, -0.8, 0, 0])
    expectNear(runTensor(['onnx', 'LpNormalization', 1], [x], { attributes: { p: 1 } }), [3 / 7, -4 / 7, 0, 0])
    expectNear(runTensor(['onnx', 'LpNormalization', 22], [x], { attributes: { axis: 0 } }), [1, -1, 0, 0])
  })

  test('knows the orders 1 and 2', () => {
    expect(errorOf(() => runTensor(['onnx', 'LpNormalization', 22], [x], { attributes: { p: 3 } })).code).toBe(
      'unknown-attribute-value'
    )
  })
})

describe('NormalizeL2', () => {
  const normalize = (axes: Tensor, mode: string, eps = 1): Tensor =>
    runTensor(['openvino', 'NormalizeL2', 1], [x, axes], { attributes: { eps, eps_mode: mode } })

  test('adds epsilon to the sum of squares or takes the larger', () => {
    expectNear(normalize(ints(1), 'add'), [3 / Math.sqrt(26), -4 / Math.sqrt(26), 0, 0])
    expectNear(normalize(ints(1), 'max', 100), [0.3, -0.4, 0, 0])
    expectNear(normalize(ints(0, 1), 'max'), [0.6, -0.8, 0, 0])
  })

  test('without axes divides each element by itself', () => {
    expectNear(normalize(ints(), 'add'), [1, 1, 0, 0])
  })
})

test('GRN divides by the norm across channels', () => {
  const data = new Tensor('float32', [3, 1, 4, 0], [1, 2, 2])
  expectNear(runTensor(['openvino', 'GRN', 1], [data], { attributes: { bias: 11 } }), [
    0.5,
    1 / Math.sqrt(12),
    4 / 6,
    0
  ])
  expect(errorOf(() => runTensor(['openvino', 'GRN', 1], [ints(1)])).code).toBe('type-not-allowed')
})
