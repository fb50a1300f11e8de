import { describe, expect, test } from 'vitest'
import { fusedOp } from '../../../src/op-kit/fused.ts'
import { activationOps } from '../../../src/ops/elementwise/activations.ts'
import { matmulIntegerToFloat } from '../../../src/ops/quantized/scaled-products.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bindByteProduct, byteProductOf, productMemory } from '../../../src/wasm/kernels/byte-product.ts'
import type { Kind } from '../../ops/harness.ts'
import { type Byte, BYTE_PAIRS, codes, filled, one } from '../bytes.ts'
import { expectEqual, noise, runPlanned } from '../compare.ts'

const scales = (n: number, seed: number): Tensor =>
  new Tensor('float32', Array.from(noise([n], seed, 0.01).data, Math.abs), [n])

const SIZES = [
  [1, 64, 200],
  [2, 50, 203],
  [3, 33, 131],
  [4, 8, 300],
  [7, 29, 513],
  [64, 48, 41],
  [37, 300, 8],
  [5, 1030, 7],
  [16, 5, 4099]
] as const

describe.each(['heap', 'array'] as const)('products of bytes in WebAssembly, operands in an %s', region => {
  describe.each(BYTE_PAIRS)('of %s and %s', (left, right) => {
    test.each(SIZES)('have the sums of the reference for %i x %i x %i, plain and packed', (m, n, k) => {
      const factors = [codes(left, [m, k], 1), codes(right, [k, n], 2)]
      for (const zeros of [
        [],
        [codes(left, [], 5), codes(right, [], 6)],
        [one(left, 127), codes(right, [n], 7)],
        [undefined, one(right, 127)]
      ]) {
        const inputs = [...factors, ...zeros]
        expectEqual(['onnx', 'MatMulInteger', 10], inputs, { region }, 0)
        expectEqual(['onnx', 'MatMulInteger', 10], inputs, { region, constants: { b: 1 } }, 0)
      }
    })

    test.each([
      [64, 48, 256],
      [131, 72, 260],
      [70, 107, 4104],
      [200, 40, 1024]
    ])('by Strassen have the sums of the reference, for %i x %i x %i', (m, n, k) => {
      const factors = [codes(left, [m, k], 1), codes(right, [k, n], 2)]
      for (const zeros of [[], [codes(left, [], 5), codes(right, [n], 6)]])
        expectEqual(['onnx', 'MatMulInteger', 10], [...factors, ...zeros], { region, constants: { b: 1 } }, 0)
    })

    test.each([3, 6, 64])('have exact sums where all codes of %i rows are the largest, zero points the smallest', m => {
      const [high, low] = [(type: Byte) => (type === 'int8' ? 127 : 255), (type: Byte) => (type === 'int8' ? -128 : 0)]
      const k = m < 64 ? 33025 : 3072
      const a = filled(left, [m, k], high(left))
      const b = filled(right, [k, 9], high(right))
      const inputs = [a, b, one(left, low(left)), one(right, low(right))]
      expectEqual(['onnx', 'MatMulInteger', 10], inputs, { region }, 0)
      expectEqual(['onnx', 'MatMulInteger', 10], inputs, { region, constants: { b: 1 } }, 0)
    })

    test.each([
      ['uint8', 37, 50],
      ['int8', 5, 99],
      ['uint8', 1, 264]
    ] as const)('are quantized to %s as the reference quantizes them', (type, m, n) => {
      const k = 65
      const a = [codes(left, [m, k], 1), one('float32', 0.013), codes(left, [1], 3)] as const
      for (const columns of [1, n]) {
        const b = [codes(right, [k, n], 2), scales(columns, 5), codes(right, [columns], 4)] as const
        const inputs = [...a, ...b, one('float32', 0.07), one(type, type === 'int8' ? -3 : 120)]
        expectEqual(['onnx', 'QLinearMatMul', 10], inputs, { region }, 0)
        expectEqual(['onnx', 'QLinearMatMul', 10], inputs, { region, constants: { b: 3 } }, 0)
        const constants = { aScale: 1, aZero: 2, b: 3, bScale: 4, bZero: 5, yScale: 6, yZero: 7 }
        expectEqual(['onnx', 'QLinearMatMul', 10], inputs, { region, constants }, 0)
      }
    })

    test.each([
      ['ties', 0.5, 1],
      ['what is near ties', 0.1, 0.2],
      ['quotients that are mostly clamped', 3, 1],
      ['factors that are no float32', 1e30, 1e-30],
      ['factors below all float32', 1e-30, 1e30]
    ] as const)('round %s as the reference does', (_, scale, yScale) => {
      const [m, n, k] = [29, 19, 5]
      const a = [codes(left, [m, k], 1), one('float32', scale), codes(left, [], 3)] as const
      const b = [codes(right, [k, n], 2), one('float32', 0.01), codes(right, [], 4)] as const
      for (const type of ['uint8', 'int8'] as const) {
        const inputs = [...a, ...b, one('float32', yScale * 0.01), one(type, type === 'int8' ? -3 : 120)]
        expectEqual(['onnx', 'QLinearMatMul', 10], inputs, { region, constants: { b: 3 } }, 0)
      }
    })

    test.each([1, 44])('are scaled to floats as the reference scales them, with %i scales', columns => {
      const b = codes(right, [63, 44], 2)
      const aZero = codes(left, [], 3)
      const kind: Kind = ['onnx', 'MatMulIntegerToFloat', 1, 'com.microsoft']
      for (const [dims, bias] of [
        [[21, 63], undefined],
        [[2, 3, 63], noise([44], 9)]
      ] as const) {
        const bZero = codes(right, columns === 1 ? [] : [columns], 4)
        const inputs = [codes(left, dims, 1), b, one('float32', 0.013), scales(columns, 5), aZero, bZero, bias]
        expectEqual(kind, inputs, { region }, 0)
        expectEqual(kind, inputs, { region, constants: { b: 1 } }, 0)
        const lists = { b: 1, bScale: 3, bZero: 5, ...(bias && { bias: 6 }) }
        expectEqual(kind, inputs, { region, constants: lists }, 0)
        expectEqual(kind, inputs, { region, constants: { ...lists, aScale: 2, aZero: 4 } }, 0)
      }
    })
  })

  test.each([
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1]
  ])('of QGemm read factors that are transposed: %i, %i', (transA, transB) => {
    const [m, n, k] = [19, 43, 77]
    const a = codes('uint8', transA ? [k, m] : [m, k], 1)
    const b = codes('int8', transB ? [n, k] : [k, n], 2)
    const c = new Tensor('int32', Int32Array.from(noise([n], 8, 5000).data, Math.round), [n])
    const bZero = codes('int8', [n], 4)
    const inputs = [a, one('float32', 0.02), one('uint8', 100), b, scales(n, 5), bZero]
    const options = { region, attributes: { transA, transB, alpha: 0.7 } }
    const kind: Kind = ['onnx', 'QGemm', 1, 'com.microsoft']
    for (const rest of [[], [c], [c, one('float32', 0.5), one('uint8', 99)], [undefined, undefined, one('uint8', 7)]]) {
      expectEqual(kind, [...inputs, ...rest], options, 0)
      expectEqual(kind, [...inputs, ...rest], { ...options, constants: { b: 3 } }, 0)
      const others = { ...(rest[0] && { c: 6 }), ...(rest[1] && { yScale: 7 }), ...(rest[2] && { yZero: 8 }) }
      expectEqual(kind, [...inputs, ...rest], { ...options, constants: { b: 3, bScale: 4, bZero: 5, ...others } }, 0)
    }
  })

  test.each([
    [
      [2, 3, 9, 40],
      [40, 36]
    ],
    [
      [3, 9, 40],
      [5, 3, 40, 36]
    ],
    [
      [4, 1, 20, 41],
      [1, 3, 41, 37]
    ]
  ])('broadcast batches as the reference does: %j by %j', (a, b) => {
    const inputs = [codes('uint8', a, 1), codes('int8', b, 2), one('uint8', 120), one('int8', 3)]
    expectEqual(['onnx', 'MatMulInteger', 10], inputs, { region }, 0)
  })
})

test('several threads compute what one does', () => {
  const inputs = [codes('uint8', [300, 512], 1), codes('int8', [512, 700], 2), one('uint8', 120), one('int8', 0)]
  expectEqual(['onnx', 'MatMulInteger', 10], inputs, { threads: 2 }, 0)
  expectEqual(['onnx', 'MatMulInteger', 10], inputs, { threads: 2, constants: { b: 1 } }, 0)
})

test.each([
  [1, 96],
  [12, 96],
  [128, 48],
  [256, 96]
])('threads can share a product of %i rows by columns of one panel or two', (m, blocks) => {
  const [a, b] = [codes('uint8', [m, 768], 1), codes('int8', [768, 768], 2)]
  const factors = { a, b, packs: { b } }
  const none = { aZero: undefined, bZero: undefined }
  const { template } = bindByteProduct(byteProductOf(a, b)!, factors, 'int32', none, productMemory())
  expect(template.blocks).toBe(blocks)
})

test('the rows of one product are not those of the next, nor of one whose rows are many', () => {
  for (const [m, seed] of [
    [300, 1],
    [300, 3],
    [100, 5],
    [100, 7]
  ]) {
    const inputs = [codes('uint8', [m, 260], seed), codes('int8', [260, 700], 2), one('uint8', 120), one('int8', 0)]
    expectEqual(['onnx', 'MatMulInteger', 10], inputs, { constants: { b: 1 } }, 0)
  }
})

test.each([
  ['gelu', 'Gelu', [37, 65], [65, 44]],
  ['geluTanh', 'Gelu', [3, 65], [65, 48]],
  ['sigmoid', 'Sigmoid', [128, 300], [300, 9]]
] as const)('%s is computed with a scaled product as after it', (name, op, left, right) => {
  const [m, n] = [left[0], right[1]]
  const operands = {
    a: codes('uint8', left, 1),
    b: codes('int8', right, 2),
    aScale: one('float32', 0.013),
    bScale: scales(n, 5),
    aZero: one('uint8', 120),
    bZero: codes('int8', [n], 4),
    bias: noise([n], 9)
  }
  const plain = runPlanned(matmulIntegerToFloat, operands, {}, [m, n], true)
  const activation = activationOps.find(({ name }) => name === op)!
  const parameters = { function: { approximation: name === 'geluTanh' ? 'tanh' : 'none' } }
  const apart = runPlanned(activation, { x: plain }, parameters, [m, n], true)
  const fused = fusedOp(matmulIntegerToFloat)
  const together = runPlanned(fused, operands, { steps: [], activation: { name } }, [m, n], true)
  expect(together.data).toEqual(apart.data)
})
