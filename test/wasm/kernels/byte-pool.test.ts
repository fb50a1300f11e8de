import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { type Byte, codes, one } from '../bytes.ts'
import { expectEqual, runAccelerated } from '../compare.ts'

const kindOf = (name: string): Kind => ['onnx', name, 1, 'com.microsoft']

const quantized = (x: Tensor, scale: number, zero: number, yScale: number, yZero: number): Tensor[] => {
  const type = x.type as Byte
  return [x, one('float32', scale), one(type, zero), one('float32', yScale), one(type, yZero)]
}

/** Scales that make ordinary codes, quotients on ties and beside them, and nothing but the ends. */
const QUANTIZATIONS = [
  [0.021, 3, 0.024, 7],
  [0.5, 0, 0.25, 0],
  [0.25, 5, 0.5, 100],
  [0.034, 121, 0.034, 121],
  [0.5, 7, 0.5, 121],
  [0.1, 9, 0.05, 4],
  [300, 1, 1e-3, 2],
  [-0.02, 3, 0.03, 5]
] as const

const POOLS = [
  ['two by two', [2, 5, 28, 30], { kernel_shape: [2, 2], strides: [2, 2] }],
  ['three by three, pads', [1, 7, 17, 19], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }],
  ['pads that count', [1, 7, 17, 19], { kernel_shape: [3, 3], pads: [1, 0, 1, 2], count_include_pad: 1 }],
  ['stride 3, more windows', [1, 4, 20, 23], { kernel_shape: [4, 3], strides: [3, 3], ceil_mode: 1 }],
  ['large windows', [1, 3, 14, 40], { kernel_shape: [8, 16] }],
  ['one axis', [2, 6, 61], { kernel_shape: [5], strides: [2], pads: [2, 2] }]
] as const

describe.each(['uint8', 'int8'] as const)(
  'pools of codes of %s in WebAssembly have the codes of the reference',
  type => {
    const shift = type === 'int8' ? 100 : 0

    test.each(POOLS)('means of windows: %s', (_, dims, attributes) => {
      for (const [scale, zero, yScale, yZero] of QUANTIZATIONS) {
        const inputs = quantized(codes(type, dims, 1), scale, zero - shift, yScale, yZero - shift)
        expectEqual(kindOf('QLinearAveragePool'), inputs, { attributes }, 0)
      }
    })

    test.each([
      [[2, 5, 28, 28], 0],
      [[1, 3, 7, 5, 3], 0],
      [[2, 3, 150], 0],
      [[2, 9, 9, 35], 1],
      [[1, 300, 5], 1]
    ])('means of planes %j, channels last %i', (dims, channels_last) => {
      for (const [scale, zero, yScale, yZero] of QUANTIZATIONS)
        for (const region of ['heap', 'array'] as const) {
          const inputs = quantized(codes(type, dims, 1), scale, zero - shift, yScale, yZero - shift)
          expectEqual(kindOf('QLinearGlobalAveragePool'), inputs, { region, attributes: { channels_last } }, 0)
        }
    })

    test('means on ties, of all sums of two codes', () => {
      const lowest = type === 'int8' ? -128 : 0
      const pairs = Array.from({ length: 1024 }, (_, i) => lowest + (i % 2 ? i >> 2 : (i >> 1) & 255))
      const inputs = quantized(new Tensor(type, pairs, [1, 512, 2]), 0.25, lowest, 0.25, lowest)
      expectEqual(kindOf('QLinearGlobalAveragePool'), inputs, {}, 0)
      const windows = quantized(new Tensor(type, pairs, [1, 1, 1024]), 0.25, lowest, 0.25, lowest)
      expectEqual(kindOf('QLinearAveragePool'), windows, { attributes: { kernel_shape: [2] } }, 0)
    })
  }
)

test('a scale of 0 is left to the reference', () => {
  const inputs = quantized(codes('uint8', [1, 4, 20, 20], 1), 0, 3, 0, 7)
  expectEqual(kindOf('QLinearGlobalAveragePool'), inputs, {}, 0)
  expectEqual(kindOf('QLinearAveragePool'), inputs, { attributes: { kernel_shape: [2, 2] } }, 0)
})

test('several threads compute the means that one does', () => {
  const inputs = quantized(codes('uint8', [1, 64, 120, 120], 1), 0.02, 3, 0.03, 7)
  const options = { attributes: { kernel_shape: [3, 3] } }
  const [first, second] = [1, 2].map(
    threads => runAccelerated(kindOf('QLinearAveragePool'), inputs, { ...options, threads })[0] as Tensor
  )
  expect(Buffer.compare(first.data as Uint8Array, second.data as Uint8Array)).toBe(0)
})
