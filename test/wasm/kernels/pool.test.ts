import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Dims of data, and windows of odd sizes, strides, dilations and pads. */
const windows = [
  [[2, 5, 24, 20], { kernel_shape: [2, 2], strides: [2, 2] }],
  [[1, 5, 23, 21], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }],
  [[2, 5, 13, 14], { kernel_shape: [5, 5], pads: [2, 2, 2, 2] }],
  [[1, 3, 17, 19], { kernel_shape: [3, 2], strides: [3, 1], pads: [0, 1, 2, 0] }],
  [[1, 3, 40, 17], { kernel_shape: [2, 4], strides: [1, 3], pads: [1, 3, 0, 2], ceil_mode: 1 }],
  [[1, 3, 31, 30], { kernel_shape: [3, 3], strides: [2, 4], ceil_mode: 1, pads: [1, 0, 0, 2] }],
  [[1, 9, 15, 15], { kernel_shape: [3, 3], strides: [2, 2], auto_pad: 'SAME_LOWER' }],
  [[1, 9, 15, 15], { kernel_shape: [4, 2], strides: [2, 2], auto_pad: 'SAME_UPPER' }],
  [[2, 30, 1, 99], { kernel_shape: [1, 5], strides: [1, 2] }],
  [[3, 40, 57], { kernel_shape: [3], strides: [2], pads: [1, 0] }],
  [[3, 40, 60], { kernel_shape: [7], strides: [5], ceil_mode: 1 }],
  [[3, 70, 7, 7], { kernel_shape: [7, 7] }],
  // Several bands of lines.
  [[1, 2, 301, 600], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }],
  [[1, 2, 200, 601], { kernel_shape: [5, 3], strides: [1, 1], pads: [4, 2, 3, 1] }],
  // Windows of many elements.
  [[2, 3, 30, 37], { kernel_shape: [9, 9], pads: [4, 4, 4, 4] }],
  [[1, 3, 41, 40], { kernel_shape: [13, 7], strides: [2, 1], pads: [6, 1, 3, 2], ceil_mode: 1 }],
  [[1, 1, 3, 40_000], { kernel_shape: [2, 2], pads: [1, 0, 0, 1] }],
  [[1, 3, 8, 9, 10], { kernel_shape: [2, 2, 2], strides: [2, 2, 2] }],
  [[2, 2, 7, 11, 9], { kernel_shape: [3, 2, 3], strides: [2, 1, 2], pads: [1, 0, 1, 1, 1, 0] }],
  [[1, 2, 5, 6, 7], { kernel_shape: [5, 6, 7] }]
] as const

const dilated = [
  [[1, 3, 40, 50], { kernel_shape: [6, 7], dilations: [2, 3], pads: [3, 2, 4, 5] }],
  [[2, 5, 24, 20], { kernel_shape: [2, 3], dilations: [3, 2], strides: [2, 1], pads: [2, 2, 1, 2] }],
  [[2, 5, 24, 20], { kernel_shape: [3, 3], dilations: [2, 4], strides: [1, 3], ceil_mode: 1 }],
  [[1, 2, 9, 8, 11], { kernel_shape: [2, 3, 2], dilations: [3, 2, 4], pads: [1, 0, 2, 1, 1, 0], strides: [1, 2, 1] }]
] as const

/** Noise with a NaN and infinities. */
function spoiled(dims: readonly number[]): Tensor {
  const data = Float32Array.from(noise(dims, 3).data)
  data[17] = NaN
  data[Math.floor(data.length / 3)] = Infinity
  data[Math.floor(data.length / 2)] = -Infinity
  data[data.length - 1] = NaN
  // A NaN whose sign is set, as x86 makes it of 0 / 0.
  new Uint32Array(data.buffer)[Math.floor(data.length / 4)] = 0xffc00000
  return new Tensor('float32', data, dims)
}

/** Few different numbers, so that windows have several that are highest, zeros of both signs among them. */
function coarse(dims: readonly number[]): Tensor {
  const data = noise(dims, 3).data.map(x => Math.round(2 * x) / 2 - 0.5)
  return new Tensor('float32', data, dims)
}

describe.each(['heap', 'array'] as const)('pooling of float32 in WebAssembly, operands in an %s', region => {
  test.each([...windows, ...dilated])('the highest of windows: %j %j', (dims, attributes) => {
    expectEqual(['onnx', 'MaxPool', 22], [noise(dims, 1)], { region, attributes }, 0)
    expectEqual(['onnx', 'MaxPool', 12], [spoiled(dims)], { region, attributes }, 0)
  })

  test.each([...windows, ...dilated])('where the highest of windows are: %j %j', (dims, attributes) => {
    const options = { region, attributes, outputs: 2 }
    for (const x of [noise(dims, 1), spoiled(dims), coarse(dims)]) expectEqual(['onnx', 'MaxPool', 12], [x], options, 0)
  })

  test('where the highest are, as int32 and counted from an axis', () => {
    const common = { kernel: '3,2', strides: '2,1', pads_begin: '1,0', pads_end: '0,1', dilations: '1,2' }
    for (const axis of [0, 1, 2, 3, -2])
      for (const index_element_type of ['i32', 'i64']) {
        const options = { region, attributes: { ...common, axis, index_element_type }, outputs: 2 }
        expectEqual(['openvino', 'MaxPool', 8], [coarse([2, 9, 22, 18])], options, 0)
      }
  })

  test.each(windows)('means of windows: %j %j', (dims, attributes) => {
    for (const count of [0, 1]) {
      const options = { region, attributes: { ...attributes, count_include_pad: count } }
      expectEqual(['onnx', 'AveragePool', 19], [noise(dims, 1)], options, 4e-7)
      expectEqual(['onnx', 'AveragePool', 11], [spoiled(dims)], options, 4e-7)
    }
  })

  test('dilated means', () => {
    for (const [dims, attributes] of dilated)
      expectEqual(['onnx', 'AveragePool', 19], [noise(dims, 1)], { region, attributes }, 4e-7)
  })

  test('windows that are the whole image', () => {
    for (const [dims, kernel_shape] of [
      [
        [2, 40, 7, 7],
        [7, 7]
      ],
      [[3, 9, 61], [61]],
      [
        [1, 6, 5, 3, 9],
        [5, 3, 9]
      ]
    ]) {
      const options = { region, attributes: { kernel_shape } }
      expectEqual(['onnx', 'AveragePool', 19], [noise(dims, 1)], options, 4e-7)
      expectEqual(['onnx', 'MaxPool', 12], [noise(dims, 1)], options, 0)
      expectEqual(['onnx', 'MaxPool', 12], [coarse(dims)], { ...options, outputs: 2 }, 0)
    }
  })

  test('of OpenVINO', () => {
    const common = { kernel: '3,2', strides: '2,2', pads_begin: '1,0', pads_end: '0,1' }
    for (const rounding of ['floor', 'ceil', 'ceil_torch']) {
      for (const excluded of ['true', 'false']) {
        const attributes = { ...common, rounding_type: rounding, 'exclude-pad': excluded }
        expectEqual(['openvino', 'AvgPool', 1], [spoiled([2, 9, 22, 18])], { region, attributes }, 4e-7)
      }
      const attributes = { ...common, rounding_type: rounding }
      expectEqual(['openvino', 'MaxPool', 1], [spoiled([2, 9, 22, 18])], { region, attributes }, 0)
      // Windows that lie in the padding, and that reach beyond it.
      const beyond = { kernel: '3,1', strides: '2,3', pads_begin: '2,1', pads_end: '0,0', rounding_type: rounding }
      for (const type of ['float32', 'float16'] as const) {
        const x = convert(spoiled([2, 9, 22, 18]), type)
        for (const outputs of [1, 2])
          expectEqual(['openvino', 'MaxPool', 8], [x], { region, attributes: beyond, outputs }, 0)
      }
      const included = { ...beyond, 'exclude-pad': 'false' }
      expectEqual(['openvino', 'AvgPool', 1], [spoiled([2, 9, 21, 18])], { region, attributes: included }, 4e-7)
    }
  })

  test('shared by two threads', () => {
    const attributes = { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }
    for (const dims of [
      [1, 64, 112, 112],
      [1, 1, 1000, 1000]
    ])
      for (const outputs of [1, 2])
        expectEqual(['onnx', 'MaxPool', 12], [noise(dims, 1)], { region, threads: 2, attributes, outputs }, 0)
  })
})

test('indices by columns, four axes, lines that are too long, few elements and none are left to the reference', () => {
  const kind = ['onnx', 'MaxPool', 12] as const
  const attributes = { kernel_shape: [2, 2] }
  const x = noise([2, 9, 22, 18], 1)
  // The harness wants both outputs: the selected kernel then runs the reference.
  const byColumns = { attributes: { ...attributes, storage_order: 1 }, outputs: 2 }
  const both = runAccelerated(kind, [x], byColumns)
  runOp(kind, [x], byColumns).forEach((value, i) => {
    expect(differenceOf(both[i] as Tensor, value as Tensor)).toBe(0)
  })
  const refused = (dims: number[], kernel: number[]): void =>
    expect(() => runAccelerated(kind, [noise(dims, 1)], { attributes: { kernel_shape: kernel } })).toThrow(
      'no accelerated kernel'
    )
  refused([2, 9, 6, 4, 22, 18], [2, 2, 2, 2])
  refused([1, 1, 2, 200_000], [2, 2])
  refused([1, 1, 6, 6], [2, 2])
  refused([0, 9, 22, 18], [2, 2])
})

describe.each(['heap', 'array'] as const)('the highest bytes in WebAssembly, operands in an %s', region => {
  test.each([
    ['three by three, stride 2', [2, 5, 33, 37], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }],
    ['two by two', [1, 3, 16, 64], { kernel_shape: [2, 2] }],
    ['stride 3, dilation', [1, 3, 29, 40], { kernel_shape: [3, 2], strides: [3, 3], dilations: [2, 4] }],
    ['one axis', [2, 4, 100], { kernel_shape: [5], pads: [2, 2] }]
  ])('equal the reference: %s', (_, dims, attributes) => {
    for (const type of ['uint8', 'int8'] as const) {
      const lowest = type === 'int8' ? -128 : 0
      const x = new Tensor(
        type,
        Array.from(noise(dims, 1, 128).data, value => lowest + 128 + Math.floor(value)),
        dims
      )
      expectEqual(['onnx', 'MaxPool', 12], [x], { region, attributes }, 0)
    }
  })

  test.each([...windows.filter(([dims]) => dims.length < 5), ...dilated.slice(0, 3)])(
    'where they are: %j %j',
    (dims, attributes) => {
      for (const type of ['uint8', 'int8'] as const)
        for (const scale of [2, 127]) {
          const lowest = type === 'int8' ? -128 : 0
          const values = noise(dims, 1, scale).data.map(value => lowest + Math.abs(Math.floor(value)))
          const x = new Tensor(type, Array.from(values), dims)
          const options = { region, attributes, outputs: 2 }
          expectEqual(['onnx', 'MaxPool', 12], [x], options, 0)
          expectEqual(['onnx', 'MaxPool', 12], [x], { ...options, threads: 2 }, 0)
        }
    }
  )
})
