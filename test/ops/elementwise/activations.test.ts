import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const doubles = (...values: number[]): Tensor => new Tensor('float64', values)
const near = (tensor: Tensor, ...expected: number[]): void => {
  expect(tensor.data.length).toBe(expected.length)
  expected.forEach((value, i) => expect(tensor.data[i], `element ${i}`).toBeCloseTo(value, 12))
}
const onnx = (type: string, version: number, attributes: Record<string, number | string> = {}): Tensor =>
  runTensor(['onnx', type, version], [doubles(-2, 0, 1.5)], { attributes })

describe('ONNX activations', () => {
  test('have their formulas', () => {
    near(onnx('Relu', 14), 0, 0, 1.5)
    near(onnx('LeakyRelu', 16, { alpha: 0.1 }), -0.2, 0, 1.5)
    near(onnx('Elu', 22, { alpha: 2 }), 2 * (Math.exp(-2) - 1), 0, 1.5)
    near(onnx('Selu', 22, { alpha: 2, gamma: 3 }), 6 * (Math.exp(-2) - 1), 0, 4.5)
    near(onnx('ThresholdedRelu', 22, { alpha: 1 }), 0, 0, 1.5)
    near(onnx('HardSigmoid', 22, { alpha: 0.25, beta: 0.5 }), 0, 0.5, 0.875)
    near(onnx('HardSwish', 22), -1 / 3, 0, 1.125)
    near(onnx('Sigmoid', 13), 1 / (1 + Math.exp(2)), 0.5, 1 / (1 + Math.exp(-1.5)))
    near(onnx('Softplus', 22), Math.log(1 + Math.exp(-2)), Math.log(2), Math.log(1 + Math.exp(1.5)))
    near(onnx('Softsign', 22), -2 / 3, 0, 0.6)
    near(onnx('Mish', 22), -2 * Math.tanh(Math.log(1 + Math.exp(-2))), 0, 1.5 * Math.tanh(Math.log(1 + Math.exp(1.5))))
    near(onnx('Swish', 24, { alpha: 2 }), -2 / (1 + Math.exp(4)), 0, 1.5 / (1 + Math.exp(-3)))
    near(onnx('Gelu', 20), -0.04550026389635842, 0, 1.3997891980967013)
    near(onnx('Gelu', 20, { approximate: 'tanh' }), -0.04540230591222389, 0, 1.3995715769802328)
    near(onnx('Shrink', 9, { lambd: 1, bias: 0.5 }), -1.5, 0, 1)
  })

  test('those of ONNX Runtime, and those that ONNX removed, too', () => {
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
    const own = (type: string, attributes = {}): Tensor =>
      runTensor(['onnx', type, 1, 'com.microsoft'], [new Tensor('float32', [-2, 0, 1.5])], { attributes })
    expectNear(own('Gelu'), [-0.04550026, 0, 1.3997892])
    expectNear(own('QuickGelu'), [-2 * sigmoid(-3.404), 0, 1.5 * sigmoid(2.553)])
    expectNear(own('QuickGelu', { alpha: -1 }), [-2 * sigmoid(2), 0, 1.5 * sigmoid(-1.5)])
    near(onnx('Gelu', 11), -0.04550026389635842, 0, 1.3997891980967013)
    near(onnx('ThresholdedRelu', 9), 0, 0, 1.5)
    near(onnx('ThresholdedRelu', 1, { alpha: 2 }), 0, 0, 0)
    near(onnx('Affine', 1), -2, 0, 1.5)
    near(onnx('Affine', 9, { alpha: 2, beta: 0.5 }), -3.5, 0.5, 3.5)
    near(onnx('Scale', 1), -2, 0, 1.5)
    near(onnx('Scale', 1, { scale: 3 }), -6, 0, 4.5)
    near(onnx('ScaledTanh', 1, { alpha: 2, beta: 0.5 }), 2 * Math.tanh(-1), 0, 2 * Math.tanh(0.75))
    near(
      onnx('ParametricSoftplus', 1, { alpha: 2, beta: 0.5 }),
      2 * Math.log(1 + Math.exp(-1)),
      2 * Math.log(2),
      2 * Math.log(1 + Math.exp(0.75))
    )
    expect(onnx('ParametricSoftplus', 1, { alpha: 1, beta: 1000 }).data[2]).toBe(1500)
    for (const type of ['ScaledTanh', 'ParametricSoftplus'])
      expect(errorOf(() => onnx(type, 1, { alpha: 1 })).code).toBe('missing-attribute')
  })

  test('Celu is the smooth Elu', () => {
    const out = runTensor(['onnx', 'Celu', 28], [doubles(-2, 1.5)], { attributes: { alpha: 2 } })
    near(out, 2 * (Math.exp(-1) - 1), 1.5)
  })

  test('the defaults are those of the version', () => {
    expect(runTensor(['onnx', 'Selu', 1], [new Tensor('float32', [1])]).data[0]).toBeCloseTo(1.0507, 6)
    expect(runTensor(['onnx', 'Selu', 6], [new Tensor('float32', [1])]).data[0]).toBeCloseTo(1.050701, 6)
  })

  test('do not overflow for large arguments', () => {
    const large = doubles(-1000, 1000)
    near(runTensor(['onnx', 'Softplus', 22], [large]), 0, 1000)
    near(runTensor(['onnx', 'Sigmoid', 13], [large]), 0, 1)
    near(runTensor(['onnx', 'Mish', 22], [large]), 0, 1000)
    near(runTensor(['onnx', 'Swish', 24], [large]), 0, 1000)
  })

  test('Shrink of integers', () => {
    const out = runTensor(['onnx', 'Shrink', 9], [new Tensor('int32', [-5, 1, 5])], {
      attributes: { lambd: 2, bias: 1 }
    })
    expect([...out.data]).toEqual([-4, 0, 4])
    const wide = runTensor(['onnx', 'Shrink', 9], [new Tensor('int64', [-5n, 1n, 5n])], {
      attributes: { lambd: 2, bias: 1 }
    })
    expect([...wide.data]).toEqual([-4n, 0n, 4n])
    const shrunk = (type: 'int32' | 'int64'): unknown[] =>
      [
        ...runTensor(['onnx', 'Shrink', 9], [new Tensor(type, [-5, 5])], { attributes: { lambd: 2, bias: 1.5 } }).data
      ].map(Number)
    expect(shrunk('int64')).toEqual([-3, 3])
    expect(shrunk('int32')).toEqual([-3, 3])
  })

  test('an unknown approximation is refused', () => {
    expect(errorOf(() => onnx('Gelu', 20, { approximate: 'best' })).code).toBe('unknown-attribute-value')
  })
})

describe('OpenVINO activations', () => {
  const one = (value: number): Tensor => new Tensor('float32', [value])
  const x = new Tensor('float32', [-2, 0, 1.5])

  test('take parameters from inputs', () => {
    expect([...runTensor(['openvino', 'Selu', 1], [x, one(2), one(3)]).data][2]).toBe(4.5)
    expect([...runTensor(['openvino', 'HardSigmoid', 1], [x, one(0.25), one(0.5)]).data]).toEqual([0, 0.5, 0.875])
    expect(runTensor(['openvino', 'Swish', 4], [x, one(2)]).data[2]).toBeCloseTo(1.5 / (1 + Math.exp(-3)), 6)
    expect(runTensor(['openvino', 'Swish', 4], [x]).data[2]).toBeCloseTo(1.5 / (1 + Math.exp(-1.5)), 6)
  })

  test('have their own names', () => {
    expect([...runTensor(['openvino', 'ReLU', 1], [x]).data]).toEqual([0, 0, 1.5])
    expect([...runTensor(['openvino', 'HSwish', 4], [x]).data][2]).toBe(1.125)
    expect([...runTensor(['openvino', 'HSigmoid', 5], [x]).data][2]).toBe(0.75)
    expect(runTensor(['openvino', 'SoftPlus', 4], [x]).data[1]).toBeCloseTo(Math.log(2), 6)
    expect(runTensor(['openvino', 'SoftSign', 9], [x]).data[2]).toBeCloseTo(0.6, 6)
  })

  test('Gelu-7 has two modes, Gelu-2 one', () => {
    const gelu = (version: number, attributes = {}): number =>
      runTensor(['openvino', 'Gelu', version], [x], { attributes }).data[2] as number
    expect(gelu(2)).toBe(gelu(7, { approximation_mode: 'ERF' }))
    expect(gelu(7, { approximation_mode: 'TANH' })).toBeCloseTo(1.39957157, 6)
    expect(gelu(7, { approximation_mode: 'TANH' })).not.toBe(gelu(7))
  })
})
