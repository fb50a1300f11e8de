import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

test('StringConcat joins in pairs and broadcasts', () => {
  const out = runTensor(
    ['onnx', 'StringConcat', 20],
    [new Tensor('string', ['a', 'b'], [2, 1]), new Tensor('string', ['', 'y', 'é'], [3])]
  )
  expect(out.dims).toEqual([2, 3])
  expect(out.data).toEqual(['a', 'ay', 'aé', 'b', 'by', 'bé'])
  expect(
    runTensor(['onnx', 'StringConcat', 20], [new Tensor('string', ['a'], []), new Tensor('string', ['b'], [])]).data
  ).toEqual(['ab'])
  expect(dimsOf(inferOp(['onnx', 'StringConcat', 20], [fact('string', ['n', 1]), fact('string', [3])])[0])).toEqual([
    'n',
    3
  ])
})

test('StringConcat refuses strings that get too long', () => {
  const half = new Tensor('string', ['x'.repeat(2 ** 28)])
  expect(errorOf(() => runTensor(['onnx', 'StringConcat', 20], [half, half])).code).toBe('limit-exceeded')
})
