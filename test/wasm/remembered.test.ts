import { expect, test } from 'vitest'
import { InferenceSession, type Tensor } from '../../src/index.ts'
import { remembered } from '../../src/wasm/remembered.ts'
import { node, onnxModel, port } from '../fixtures/onnx.ts'
import { codes, one } from './bytes.ts'

test('what was made stays while its numbers stay, and is made anew when one of them differs', () => {
  const recall = remembered<object>()
  const first = recall([1, NaN], () => ({}))
  expect(recall([1, NaN], () => ({}))).toBe(first)
  const second = recall([2, NaN], () => ({}))
  expect(second).not.toBe(first)
  expect(recall([2, 0], () => ({}))).not.toBe(second)
  const pair = recall([2, 0], () => ({}))
  expect(recall([2, 0, 1], () => ({}))).not.toBe(pair)
})

test('0 and -0 are different numbers, since quotients by them are', () => {
  const recall = remembered<object>()
  const zero = recall([0], () => ({}))
  expect(recall([-0], () => ({}))).not.toBe(zero)
})

test.each([
  ['QLinearAdd', ['a', 's', 'z', 'a', 'r', 'z', 's', 'z']],
  ['QLinearMul', ['a', 's', 'z', 'a', 'r', 'z', 'r', 'z']],
  ['QLinearSigmoid', ['a', 's', 'z', 'r', 'z']],
  ['QLinearSoftmax', ['a', 's', 'z', 'r', 'z']],
  ['QLinearConcat', ['r', 'z', 'a', 's', 'z', 'a', 'r', 'z']],
  ['QLinearMatMul', ['a', 's', 'z', 'a', 'r', 'z', 's', 'z']]
])('%s takes the quantization of each run', async (type, inputs) => {
  const domain = type === 'QLinearMatMul' ? '' : 'com.microsoft'
  const attributes = type === 'QLinearConcat' ? { axis: 0 } : type === 'QLinearSoftmax' ? { opset: 13 } : {}
  const bytes = await onnxModel({
    inputs: [port('a', 'uint8', [40, 40]), port('s', 'float', []), port('r', 'float', []), port('z', 'uint8', [])],
    outputs: [port('y', 'uint8')],
    domains: ['com.microsoft'],
    nodes: [node(type, inputs, ['y'], attributes, domain)]
  })
  const feeds = (s: number, r: number, z: number): Record<string, Tensor> => ({
    ...{ a: codes('uint8', [40, 40], 1), s: one('float32', s), r: one('float32', r), z: one('uint8', z) }
  })
  const session = new InferenceSession(bytes)
  for (const [s, r, z] of [
    [0.02, 0.04, 100],
    [0.03, 0.04, 100],
    [0.03, 0.05, 100],
    [0.03, 0.05, 90]
  ]) {
    const other = new InferenceSession(bytes)
    expect((await session.run(feeds(s, r, z))).y.data).toEqual((await other.run(feeds(s, r, z))).y.data)
    other.dispose()
  }
  session.dispose()
})
