import { expect, test } from 'vitest'
import { allocate } from '../../../src/tensor/tensor.ts'
import { dimsOf, fact, inferOp, runTensor } from '../harness.ts'
import { valuesOf } from '../values.ts'

test('Size counts elements, also of empty tensors and scalars', () => {
  expect(runTensor(['onnx', 'Size', 1], [allocate('string', [2, 3])])).toMatchObject({
    type: 'int64',
    dims: [],
    data: new BigInt64Array([6n])
  })
  expect([...runTensor(['onnx', 'Size', 13], [allocate('complex64', [2, 0])]).data]).toEqual([0n])
  expect([...runTensor(['onnx', 'Size', 21], [allocate('int4', [])]).data]).toEqual([1n])
})

test('Size of symbolic dims is their product', () => {
  const [out] = inferOp(['onnx', 'Size', 13], [fact('float32', ['n', 3, 'm'])])
  expect(dimsOf(out)).toEqual([])
  expect(valuesOf(out)).toEqual(['3*m*n'])
  expect(valuesOf(inferOp(['onnx', 'Size', 13], [fact('float32', ['n', 0])])[0])).toEqual([0n])
})
