import { describe, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { codes, one } from '../bytes.ts'
import { expectEqual } from '../compare.ts'

const KIND: Kind = ['onnx', 'QLinearSoftmax', 1, 'com.microsoft']

describe.each(['uint8', 'int8'] as const)(
  'softmax of codes of %s in WebAssembly has the codes of the reference',
  type => {
    const zero = one(type, type === 'int8' ? -128 : 0)

    test.each([
      [[8, 3, 64], { axis: -1, opset: 13 }],
      [[40, 21], { axis: 1, opset: 13 }],
      [[80, 7], { axis: -1, opset: 13 }],
      [[5, 1000], { axis: -1, opset: 13 }],
      [[6, 5, 20], { axis: 1, opset: 12 }],
      [[2, 21, 9, 7], { axis: 1, opset: 13 }],
      [[40, 40], { axis: 0, opset: 13 }]
    ])('lines of %j, %j', (dims, attributes) => {
      for (const scale of [0.001, 0.02, 0.1, 3])
        for (const yScale of [1 / 256, 0.0037, 1 / 1000, 0.9]) {
          const inputs = [codes(type, dims, 1), one('float32', scale), one(type, 5), one('float32', yScale), zero]
          for (const region of ['heap', 'array'] as const) expectEqual(KIND, inputs, { region, attributes }, 0)
        }
    })

    test('rows of equal codes, whose quotients lie on ties', () => {
      for (const n of [32, 96, 512]) {
        const inputs = [
          new Tensor(type, new Array<number>(2 * n * 16).fill(7), [32, n]),
          one('float32', 0.1),
          one(type, 5)
        ]
        expectEqual(KIND, [...inputs, one('float32', 1 / 256), zero], { attributes: { axis: -1, opset: 13 } }, 0)
      }
    })

    test('scales without a meaning are left to the reference', () => {
      const inputs = [codes(type, [40, 40], 1), one('float32', -1), one(type, 5), one('float32', 4), zero]
      for (const axis of [0, -1]) expectEqual(KIND, inputs, { attributes: { axis, opset: 13 } }, 0)
    })
  }
)
