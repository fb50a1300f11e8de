import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, valuesOf } from '../values.ts'

const filled = (shape: Tensor, value?: Tensor): Tensor =>
  runTensor(['onnx', 'ConstantOfShape', 21], [shape], value ? { attributes: { value } } : {})

test('ConstantOfShape gives float32 zeros unless told', () => {
  expect(filled(ints(2, 1))).toMatchObject({ type: 'float32', dims: [2, 1], data: new Float32Array(2) })
  expect(filled(ints()).dims).toEqual([])
  expect(filled(ints(3, 0)).dims).toEqual([3, 0])
})

test('ConstantOfShape takes type and bits from the value', () => {
  expect(filled(ints(3), new Tensor('int64', [2n ** 53n + 1n]))).toMatchObject({
    type: 'int64',
    data: new BigInt64Array(3).fill(2n ** 53n + 1n)
  })
  expect([...filled(ints(2), new Tensor('bool', [1], [1])).data]).toEqual([1, 1])
  expect([...filled(ints(2, 2), new Tensor('bfloat16', new Uint16Array([0x7fc1]), [])).data]).toEqual([
    0x7fc1, 0x7fc1, 0x7fc1, 0x7fc1
  ])
})

test('ConstantOfShape refuses negative and absurd sizes and values of two elements', () => {
  expect(errorOf(() => filled(ints(2, -1))).code).toBe('value-out-of-range')
  expect(errorOf(() => filled(ints(2 ** 40, 2 ** 40))).code).toBe('limit-exceeded')
  expect(errorOf(() => filled(ints(2), new Tensor('float32', [1, 2]))).code).toBe('unknown-attribute-value')
})

test('symbols become dims, and elements are known before the run', () => {
  const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2])])
  expect(dimsOf(inferOp(['onnx', 'ConstantOfShape', 9], [dims])[0])).toEqual(['n', 2])
  expect(dimsOf(inferOp(['onnx', 'ConstantOfShape', 9], [fact('int64', [2])])[0])).toEqual(['?', '?'])
  expect(dimsOf(inferOp(['onnx', 'ConstantOfShape', 9], [fact('int64', ['k'])])[0])).toBeUndefined()
  expect(
    valuesOf(
      inferOp(['onnx', 'ConstantOfShape', 9], [ints(2)], { attributes: { value: new Tensor('int64', [7n]) } })[0]
    )
  ).toEqual([7n, 7n])
})
