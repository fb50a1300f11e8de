import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])
const run = (attributes: object, opset = 22, x = row(3, -4, 0, 12)): Tensor =>
  runTensor(['onnx', 'LpPool', opset], [x], { attributes: { kernel_shape: [2], ...attributes } })

describe('LpPool', () => {
  test('is the norm of each window, of the second order if none is given', () => {
    expectNear(run({}), [5, 4, 12])
    expectNear(run({ p: 1 }), [7, 4, 12])
    expectNear(run({ p: 3 }), [91 ** (1 / 3), 4, 12])
    expectNear(run({ p: 1.5 }, 1), [(3 ** 1.5 + 8) ** (1 / 1.5), 4, 12])
  })

  test('padding adds nothing', () => {
    expectNear(run({ pads: [1, 0], p: 1 }), [3, 7, 4, 12])
    expectNear(run({ strides: [3], ceil_mode: 1, p: 1 }), [7, 12])
    expectNear(run({ auto_pad: 'SAME_UPPER', strides: [3], dilations: [2] }), [4, 0])
  })

  test('float16 is rounded once', () => {
    const half = new Tensor('float16', new Uint16Array([0x7bff, 0x7bff]), [1, 1, 2])
    expect([...run({ p: 2 }, 22, half).data]).toEqual([0x7c00])
    expect([...run({ p: 2, kernel_shape: [1] }, 22, half).data]).toEqual([0x7bff, 0x7bff])
  })

  test('refuses orders that are no norm, and a missing kernel', () => {
    for (const p of [0, -1]) expect(errorOf(() => run({ p })).code).toBe('value-out-of-range')
    expect(errorOf(() => run({ p: Infinity }, 1)).code).toBe('value-out-of-range')
    for (const opset of [1, 2])
      expect(errorOf(() => runTensor(['onnx', 'LpPool', opset], [row(1)])).code).toBe('missing-attribute')
  })
})
