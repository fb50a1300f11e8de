import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, errorOf } from '../harness.ts'
import { close, f32, run, some } from './tensors.ts'

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

describe('one step with one unit', () => {
  const one = (...values: number[]): Tensor => f32([1, values.length, 1], values)
  const x = f32([1, 1, 1], [0.5])
  const h = f32([1, 1, 1], [0.25])

  test('RNN: tanh of input, state and both biases', () => {
    const [y, last] = run(['onnx', 'RNN', 22], [x, one(2), one(-1), f32([1, 2], [0.1, 0.2]), undefined, h], 2, {
      hidden_size: 1
    })
    close(y, [Math.tanh(1 - 0.25 + 0.3)])
    expect([y.dims, last.dims]).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1]
    ])
  })

  test('GRU: the reset gate comes before or after the recurrence', () => {
    const b = f32([1, 6], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    const z = sigmoid(0.5 + 0.25 + 0.5)
    const r = sigmoid(0.5 * -1 + 0.25 * 2 + 0.7)
    const before = Math.tanh(0.5 * 2 + r * 0.25 * -2 + 0.9)
    const after = Math.tanh(0.5 * 2 + r * (0.25 * -2 + 0.6) + 0.3)
    const inputs = [x, one(1, -1, 2), one(1, 2, -2), b, undefined, h]
    close(run(['onnx', 'GRU', 22], inputs, 2, { hidden_size: 1 })[1], [(1 - z) * before + z * 0.25])
    close(run(['onnx', 'GRU', 22], inputs, 2, { hidden_size: 1, linear_before_reset: 1 })[1], [
      (1 - z) * after + z * 0.25
    ])
  })

  test('LSTM: gates i, o, f, c with peepholes on the old and the new cell state', () => {
    const c = f32([1, 1, 1], [-0.5])
    const p = f32([1, 3], [0.3, -0.4, 0.7])
    const inputs = [
      x,
      one(1, -1, 2, 0.5),
      one(0.5, 1, -1, 2),
      f32([1, 8], [0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0.1]),
      undefined,
      h,
      c,
      p
    ]
    const i = sigmoid(0.5 + 0.125 + 0.1 - 0.15)
    const f = sigmoid(1 - 0.25 + 0.3 - 0.35)
    const next = f * -0.5 + i * Math.tanh(0.25 + 0.5 + 0.5)
    const o = sigmoid(-0.5 + 0.25 + 0.2 - 0.4 * next)
    const [, hidden, cell] = run(['onnx', 'LSTM', 22], inputs, 3, { hidden_size: 1 })
    close(cell, [next])
    close(hidden, [o * Math.tanh(next)])
    const coupled = run(['onnx', 'LSTM', 22], inputs, 3, { hidden_size: 1, input_forget: 1 })[2]
    close(coupled, [(1 - i) * -0.5 + i * Math.tanh(1.25)])
  })

  test('clip bounds what goes into the gates, not the cell state', () => {
    const far = f32([1, 1, 1], [50])
    const clipped = run(['onnx', 'LSTM', 14], [x, one(9, 9, 9, 9), one(0, 0, 0, 0), undefined, undefined, h, far], 3, {
      hidden_size: 1,
      clip: 0.5
    })
    const c = sigmoid(0.5) * 50 + sigmoid(0.5) * Math.tanh(0.5)
    close(clipped[2], [Math.fround(c)])
    close(clipped[1], [sigmoid(0.5) * Math.tanh(c)])
  })
})

describe('activation functions', () => {
  const apply = (name: string, attributes: CallOptions['attributes'] = {}): number[] => {
    const identity = f32([1, 3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1])
    const inputs = [f32([1, 1, 3], [-1.5, 0.5, 2.5]), identity, f32([1, 3, 3], new Array<number>(9).fill(0))]
    return [
      ...(run(['onnx', 'RNN', 14], inputs, 1, { hidden_size: 3, activations: [name], ...attributes })[0]
        .data as Float32Array)
    ].map(value => Math.round(value * 1e4) / 1e4)
  }

  test('every name of ONNX, with the defaults of its operator', () => {
    expect(apply('Relu')).toEqual([0, 0.5, 2.5])
    expect(apply('Tanh')).toEqual([-0.9051, 0.4621, 0.9866])
    expect(apply('Sigmoid')).toEqual([0.1824, 0.6225, 0.9241])
    expect(apply('Affine')).toEqual([-1.5, 0.5, 2.5])
    expect(apply('LeakyRelu')).toEqual([-0.015, 0.5, 2.5])
    expect(apply('ThresholdedRelu')).toEqual([0, 0, 2.5])
    expect(apply('ScaledTanh')).toEqual([-0.9051, 0.4621, 0.9866])
    expect(apply('HardSigmoid')).toEqual([0.2, 0.6, 1])
    expect(apply('Elu')).toEqual([-0.7769, 0.5, 2.5])
    expect(apply('Softsign')).toEqual([-0.6, 0.3333, 0.7143])
    expect(apply('Softplus')).toEqual([0.2014, 0.9741, 2.5789])
  })

  test('alpha and beta as given', () => {
    expect(apply('Affine', { activation_alpha: [2], activation_beta: [1] })).toEqual([-2, 2, 6])
    expect(apply('ScaledTanh', { activation_alpha: [2], activation_beta: [0.5] })).toEqual([-1.2703, 0.4898, 1.6966])
    expect(apply('ThresholdedRelu', { activation_alpha: [0.5] })).toEqual([0, 0.5, 2.5])
  })

  test('only functions that take a parameter use one up', () => {
    const inputs = [f32([1, 1, 1], [0.5]), f32([1, 4, 1], [1, -1, 2, 0.5]), f32([1, 4, 1], [0, 0, 0, 0])]
    const [, hidden] = run(['onnx', 'LSTM', 14], inputs, 3, {
      hidden_size: 1,
      activations: ['Sigmoid', 'Affine', 'LeakyRelu'],
      activation_alpha: [-2, 0.25],
      activation_beta: [-1]
    })
    close(hidden, [sigmoid(-0.5) * 0.25 * sigmoid(0.5) * (-2 * 0.25 - 1)])
  })

  test('unknown names and a wrong number of them are refused; IR knows three', () => {
    const inputs = [some(1, 1, 1, 2), some(2, 1, 2, 2), some(3, 1, 2, 2)]
    expect(errorOf(() => run(['onnx', 'RNN', 14], inputs, 1, { hidden_size: 2, activations: ['Swish'] })).code).toBe(
      'unknown-attribute-value'
    )
    expect(errorOf(() => run(['onnx', 'GRU', 14], inputs, 2, { hidden_size: 2, activations: ['Tanh'] })).code).toBe(
      'unknown-attribute-value'
    )
    expect(errorOf(() => run(['openvino', 'RNNCell', 3], [], 1, { hidden_size: 2, activations: 'elu' })).code).toBe(
      'unknown-attribute-value'
    )
  })
})
