import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind: Kind = ['onnx', 'MatMulFpQ4', 1, 'com.microsoft']
const shape = (...dims: number[]): Tensor => new Tensor('int64', dims.map(BigInt), [dims.length])

/** A block of MLAS: a scale, a zero point where there is one, and bytes of which code `i` and `i + 16` share one. */
const block = (scale: number, zero: number | undefined, codeOf: (i: number) => number): number[] => [
  ...new Uint8Array(Float32Array.of(scale).buffer),
  ...(zero === undefined ? [] : [zero]),
  ...Array.from({ length: 16 }, (_, i) => codeOf(i) | (codeOf(i + 16) << 4))
]
const ones = (count: number, at: number): Tensor =>
  new Tensor(
    'float32',
    Float32Array.from({ length: count }, (_, i) => (i === at ? 1 : 0)),
    [1, count]
  )

test.each([0, 1])('MatMulFpQ4 of type %i multiplies with what MLAS has packed', blk_quant_type => {
  const zero = blk_quant_type === 0 ? undefined : 3
  const bytes = [
    ...block(0.5, zero, i => i % 16),
    ...block(2, zero, i => 15 - (i % 16)),
    ...block(-1, zero, i => (i * 3) % 16),
    ...block(4, zero, () => 15)
  ]
  const b = new Tensor('uint8', bytes, [bytes.length])
  for (const k of [0, 5, 17, 31, 32, 39]) {
    const result = runTensor(kind, [ones(40, k), b, shape(40, 2)], { attributes: { blk_quant_type } })
    const middle = zero ?? 8
    const first = k < 32 ? 0.5 * ((k % 16) - middle) : 2 * (15 - (k % 16) - middle)
    const second = k < 32 ? -(((k * 3) % 16) - middle) : 4 * (15 - middle)
    expect(result.dims).toEqual([1, 2])
    expectNear(result, [first, second])
  }
})

test('MatMulFpQ4 infers what the shape of B tells', () => {
  const facts = [fact('float32', ['m', 40]), fact('uint8', [84])]
  expect(dimsOf(inferOp(kind, [...facts, shape(40, 2)])[0])).toEqual(['m', 2])
  expect(dimsOf(inferOp(kind, [...facts, fact('int64', [2])])[0])?.[0]).toBe('m')
  expect(errorOf(() => inferOp(kind, [...facts, shape(40, 3)])).code).toBe('dims-mismatch')
  expect(errorOf(() => inferOp(kind, [...facts, shape(40)])).code).toBe('dims-mismatch')
  expect(errorOf(() => inferOp(kind, [...facts, shape(-40, 2)])).code).toBe('value-out-of-range')
  expect(errorOf(() => inferOp(kind, [fact('float32', ['m', 41]), facts[1], shape(40, 2)])).code).toBe('dims-mismatch')
})
