import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const POOL: Kind = ['onnx', 'AveragePool', 22]
const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])

describe('ONNX AveragePool', () => {
  const run = (attributes: object, x = row(1, 2, 4, 8), opset = 22): Tensor =>
    runTensor(['onnx', 'AveragePool', opset], [x], { attributes: { kernel_shape: [2], ...attributes } })

  test('divides by the elements of each window, or by the padding too', () => {
    expectNear(run({}), [1.5, 3, 6])
    expectNear(run({ pads: [1, 1] }), [1, 1.5, 3, 6, 8])
    expectNear(run({ pads: [1, 1], count_include_pad: 1 }), [0.5, 1.5, 3, 6, 4])
    expectNear(run({ pads: [1, 1] }, row(1, 2), 1), [1, 1.5, 2])
  })

  test('cells beyond the padding never count', () => {
    expectNear(run({ kernel_shape: [3], strides: [2], ceil_mode: 1, count_include_pad: 1 }), [7 / 3, 6])
    expectNear(run({ kernel_shape: [4], strides: [3], pads: [0, 1], ceil_mode: 1, count_include_pad: 1 }), [15 / 4, 4])
  })

  test('windows that would start in the padding at the end are left out', () => {
    expectNear(run({ strides: [3], pads: [1, 1], ceil_mode: 1 }, row(1, 2, 4, 8, 16)), [1, 6])
  })

  test('automatic pads and dilations', () => {
    expectNear(run({ auto_pad: 'SAME_UPPER' }), [1.5, 3, 6, 8])
    expectNear(run({ auto_pad: 'SAME_LOWER', count_include_pad: 1 }), [0.5, 1.5, 3, 6])
    expectNear(run({ dilations: [2] }), [2.5, 5])
  })

  test('goes over planes, batch by batch', () => {
    const x = new Tensor(
      'float64',
      Array.from({ length: 16 }, (_, i) => i),
      [2, 2, 2, 2]
    )
    expectNear(run({ kernel_shape: [2, 2] }, x), [1.5, 5.5, 9.5, 13.5])
  })

  test('dilations came with version 19', () => {
    expect(errorOf(() => run({ dilations: [2] }, row(1, 2, 3), 11)).code).toBe('unknown-attribute-value')
  })

  test('a window without an element has no mean', () => {
    expect([...run({ pads: [2, 0] }, row(1, 2)).data]).toEqual([NaN, 1, 1.5])
  })

  test('an empty batch gives an empty result', () => {
    expect(run({ pads: [2 ** 31 - 1, 2 ** 31 - 1] }, allocate('float32', [0, 1, 3])).data.length).toBe(0)
    expect(runTensor(POOL, [allocate('float32', [0, 1, 3])], { attributes: { kernel_shape: [2] } }).dims).toEqual([
      0, 1, 2
    ])
  })
})

describe('OpenVINO AvgPool', () => {
  const run = (version: number, attributes: object, x = row(1, 2, 4, 8)): Tensor =>
    runTensor(['openvino', 'AvgPool', version], [x], {
      attributes: { kernel: [2], strides: [1], pads_begin: [1], pads_end: [1], ...attributes }
    })

  test('leaves padding out unless told not to', () => {
    for (const version of [1, 14, 16]) {
      expectNear(run(version, {}), [1, 1.5, 3, 6, 8])
      expectNear(run(version, { 'exclude-pad': false }), [0.5, 1.5, 3, 6, 4])
    }
  })

  test('means of integers are rounded, ties to even', () => {
    for (const type of ['int8', 'int32', 'int64'] as const) {
      const values = [1, 2, 3, -5, -6].map(value => (type === 'int64' ? BigInt(value) : value))
      const out = run(1, { pads_begin: [0], pads_end: [0] }, new Tensor(type, values, [1, 1, 5]))
      expect([...out.data].map(Number), type).toEqual([2, 2, -1, -6])
    }
    expect([...run(1, { pads_begin: [2] }, new Tensor('int32', [1, 2], [1, 1, 2])).data].slice(0, 2)).toEqual([0, 1])
  })

  test('version 16 takes dilations', () => {
    expectNear(run(16, { dilations: [2], pads_begin: [0], pads_end: [0] }), [2.5, 5])
    expectNear(run(16, { dilations: '', pads_begin: [0], pads_end: [0] }), [1.5, 3, 6])
  })

  test('cells beyond the padding count where there is padding, but not of ceil_torch', () => {
    const x = row(1, 2, 3, 4, 5, 6, 7, 8, 9)
    const included = { kernel: [4], strides: [3], rounding_type: 'ceil', 'exclude-pad': false }
    for (const version of [1, 14, 16]) {
      expectNear(run(version, { ...included, pads_begin: [3], pads_end: [0] }, x), [0.25, 2.5, 5.5, 6])
      expectNear(run(version, { ...included, pads_begin: [0], pads_end: [0] }, x), [2.5, 5.5, 8])
    }
    const torch = { ...included, rounding_type: 'ceil_torch', pads_begin: [3], pads_end: [0] }
    expectNear(run(14, torch, x), [0.25, 2.5, 5.5, 8])
    // Any axis that is padded will do.
    const plane = new Tensor('float32', [1, 2, 3, 4, 5, 6], [1, 1, 2, 3])
    const across = { kernel: [1, 2], strides: [1, 2], pads_begin: [1, 0], pads_end: [0, 0] }
    expectNear(run(1, { ...included, ...across }, plane), [0, 0, 1.5, 1.5, 4.5, 3])
  })

  test('a window wholly beyond the data is 0', () => {
    const attributes = { strides: [3], rounding_type: 'ceil' }
    const x = row(1, 2, 4, 8, 16)
    for (const version of [1, 14, 16]) expectNear(run(version, attributes, x), [1, 6, 0])
    expectNear(run(1, { ...attributes, 'exclude-pad': false }, x), [0.5, 6, 0])
    expectNear(run(14, { strides: [3], rounding_type: 'ceil_torch' }, x), [1, 6])
    for (const version of [1, 14, 16]) {
      for (const auto_pad of ['same_upper', 'same_lower']) {
        const same = { ...attributes, kernel: [2], auto_pad }
        expectNear(run(version, same, row(1, 2, 4, 8, 16, 32)), [1.5, 12, 0])
        expectNear(run(version, { ...same, rounding_type: 'floor' }, row(1, 2, 4, 8, 16, 32)), [1.5, 12])
      }
    }
  })
})
