import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind: Kind = ['onnx', 'MatMulBnb4', 1, 'com.microsoft']
const identity = (size: number): Tensor =>
  new Tensor(
    'float32',
    Float32Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0)),
    [size, size]
  )
/** The codes 0, 1, 2 … 15. */
const codes = new Tensor('uint8', [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef], [8])
const NF4 = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
  -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
  0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1
]
const FP4 = [0, 0.0052083333, 0.6666667, 1, 0.3333333, 0.5, 0.1666667, 0.25]

describe('MatMulBnb4', () => {
  test.each([
    [0, [...FP4, ...FP4.map(value => -value)]],
    [1, NF4]
  ])('names the values of quant_type %i, the first code of a byte in its high bits', (quant_type, values) => {
    const attributes = { K: 16, N: 1, block_size: 16, quant_type }
    const result = runTensor(kind, [identity(16), codes, new Tensor('float32', [2], [1])], { attributes })
    expect(result.dims).toEqual([16, 1])
    expectNear(
      result,
      values.map(value => 2 * value)
    )
  })

  test('has blocks that run on from row to row, and a last one that is not full', () => {
    const attributes = { K: 3, N: 5, block_size: 4, quant_type: 1 }
    const scales = [1, 10, 100, 1000]
    const result = runTensor(kind, [identity(3), codes, new Tensor('float32', scales, [4])], { attributes })
    const expected = [0, 1, 2].flatMap(k => [0, 1, 2, 3, 4].map(n => NF4[3 * n + k] * scales[(3 * n + k) >> 2]))
    expectNear(result, expected)
  })

  test('is the product without the transposition with transB 0', () => {
    const attributes = { K: 8, N: 2, block_size: 16, quant_type: 1, transB: 0 }
    const result = runTensor(kind, [identity(2), codes, new Tensor('float32', [1], [1])], { attributes })
    expect(result.dims).toEqual([2, 8])
    expectNear(result, NF4)
  })

  test('rounds float16 once', () => {
    const attributes = { K: 16, N: 1, block_size: 16, quant_type: 1 }
    const [a, scale] = [identity(16), new Tensor('float32', [3], [1])].map(tensor => convert(tensor, 'float16'))
    expectNear(
      convert(runTensor(kind, [a, codes, scale], { attributes }), 'float32'),
      NF4.map(value => 3 * value),
      5e-4
    )
  })

  test('infers and checks dims', () => {
    const attributes = { K: 16, N: 1, block_size: 16, quant_type: 0 }
    const facts = [fact('float32', ['b', 16]), fact('uint8', [8]), fact('float32', [1])]
    expect(dimsOf(inferOp(kind, facts, { attributes })[0])).toEqual(['b', 1])
    expect(errorOf(() => inferOp(kind, facts.with(0, fact('float32', ['b', 15])), { attributes })).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => inferOp(kind, facts.with(1, fact('uint8', [9])), { attributes })).code).toBe('dims-mismatch')
    expect(errorOf(() => inferOp(kind, facts.with(2, fact('float32', [2])), { attributes })).code).toBe('dims-mismatch')
    expect(errorOf(() => inferOp(kind, facts, { attributes: { ...attributes, quant_type: 2 } })).code).toBe(
      'unknown-attribute-value'
    )
  })
})
