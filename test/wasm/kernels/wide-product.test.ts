import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const MATMUL: Kind = ['onnx', 'MatMul', 13]

const numbers = (type: 'int32' | 'int64' | 'float64', dims: readonly number[], seed: number): Tensor =>
  type === 'float64'
    ? new Tensor('float64', Float64Array.from(noise([product(dims)], seed).data), dims)
    : bits(type, dims, seed)

const shapes: [number[], number[]][] = [
  [
    [13, 21],
    [21, 19]
  ],
  [
    [1, 70],
    [70, 41]
  ],
  [
    [64, 32],
    [32, 64]
  ],
  [
    [3, 9, 17],
    [17, 8]
  ],
  [
    [5, 1, 6, 20],
    [3, 20, 7]
  ],
  [[50], [50, 7]],
  [[3, 8, 20], [20]]
]

test('products of any sizes equal the reference, also where a transposed second factor is read as it lies', () => {
  const size = fc.integer({ min: 1, max: 20 })
  fc.assert(
    fc.property(size, size, size, size, fc.boolean(), fc.boolean(), (batch, m, n, k, isTransposed, isShared) => {
      fc.pre(batch * m * n * k >= 32)
      const b = [...(isShared ? [] : [batch]), ...(isTransposed ? [n, k] : [k, n])]
      for (const type of ['int32', 'int64', 'float64'] as const)
        expectEqual(
          ['openvino', 'MatMul', 1],
          [numbers(type, [batch, m, k], 1), numbers(type, b, 2)],
          { region: 'array', attributes: { transpose_a: false, transpose_b: isTransposed } },
          type === 'float64' ? 1e-15 : 0
        )
    })
  )
})

describe.each(['heap', 'array'] as const)('products of wide numbers in WebAssembly, operands in an %s', region => {
  test.each(shapes)('%j by %j: integers wrap as those of the reference, float64 rounds alike', (a, b) => {
    for (const type of ['int32', 'int64', 'float64'] as const)
      expectEqual(MATMUL, [numbers(type, a, 1), numbers(type, b, 2)], { region }, type === 'float64' ? 1e-15 : 0)
  })

  test('a first factor that is transposed', () => {
    const attributes = { transpose_a: true, transpose_b: false }
    for (const type of ['int32', 'float64'] as const)
      expectEqual(
        ['openvino', 'MatMul', 1],
        [numbers(type, [21, 13], 1), numbers(type, [21, 19], 2)],
        { region, attributes },
        1e-15
      )
  })

  test('a second factor that is transposed', () => {
    const transposed = { transpose_a: false, transpose_b: true }
    for (const type of ['int32', 'int64', 'float64'] as const) {
      const tolerance = type === 'float64' ? 1e-15 : 0
      for (const [a, b] of [
        [
          [13, 21],
          [19, 21]
        ],
        [
          [3, 13, 21],
          [3, 19, 21]
        ],
        [
          [5, 1, 6, 20],
          [3, 7, 20]
        ],
        [
          [9, 21],
          [1, 21]
        ],
        [
          [40, 1],
          [30, 1]
        ],
        [[40], [30, 40]]
      ])
        expectEqual(
          ['openvino', 'MatMul', 1],
          [numbers(type, a, 1), numbers(type, b, 2)],
          { region, attributes: transposed },
          tolerance
        )
    }
  })

  test('Gemm adds to columns, rows or all elements', () => {
    for (const type of ['int32', 'int64', 'float64'] as const) {
      const tolerance = type === 'float64' ? 1e-15 : 0
      for (const [transA, transB] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1]
      ]) {
        const factors = [numbers(type, transA ? [33, 14] : [14, 33], 1), numbers(type, transB ? [17, 33] : [33, 17], 2)]
        const options = { region, attributes: { transA, transB } }
        expectEqual(['onnx', 'Gemm', 13], factors, options, tolerance)
        for (const dims of [[17], [14, 1], [14, 17], [1, 1], []])
          expectEqual(['onnx', 'Gemm', 13], [...factors, numbers(type, dims, 3)], options, tolerance)
      }
    }
  })

  test('are shared by two threads', () => {
    const operands = [numbers('float64', [130, 90], 1), numbers('float64', [90, 110], 2)]
    expectEqual(MATMUL, operands, { region, threads: 2 }, 1e-15)
  })
})

test('what is scaled and small products are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const [a, b] = [numbers('float64', [30, 30], 1), numbers('float64', [30, 30], 2)]
  expect(() => runAccelerated(['onnx', 'Gemm', 13], [a, b], { attributes: { alpha: 0.5 } })).toThrow(none)
  expect(() => runAccelerated(['onnx', 'Gemm', 13], [a, b, b], { attributes: { beta: 0.5 } })).toThrow(none)
  expect(() => runAccelerated(MATMUL, [numbers('int32', [3, 3], 1), numbers('int32', [3, 3], 2)])).toThrow(none)
})
