import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const KIND: Kind = ['onnx', 'SwiGLU', 28]

test('SwiGLU gates the second operand by the Swish of the first', () => {
  const gate = [-2, 0, 3]
  const value = [5, 7, -2]
  const expected = (alpha: number): number[] => gate.map((x, i) => (x / (1 + Math.exp(-alpha * x))) * value[i])
  const operands = [new Tensor('float64', gate), new Tensor('float64', value)]
  expect([...runTensor(KIND, operands).data]).toEqual(expected(1))
  expect([...runTensor(KIND, operands, { attributes: { alpha: 0.5 } }).data]).toEqual(expected(0.5))
  const half = runTensor(
    KIND,
    operands.map(operand => convert(operand, 'float16'))
  )
  expect([...half.data]).toEqual([...convert(new Tensor('float64', expected(1)), 'float16').data])
})

test('SwiGLU takes operands of one shape', () => {
  expect(dimsOf(inferOp(KIND, [fact('float32', ['n', '?']), fact('float32', ['?', 4])])[0])).toEqual(['n', 4])
  expect(errorOf(() => inferOp(KIND, [fact('float32', [2, 1]), fact('float32', [2, 4])])).code).toBe('shape-mismatch')
})
