import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'ScaledSiLU', 1, 'com.microsoft']
const x = new Tensor('float32', [-2, -0.5, 0, 1, 3])
const two = new Tensor('float32', [2], [])
const attributes = { alpha: 0.5 }

// The numbers are those of ONNX Runtime 1.32.
test('ScaledSiLU takes its factor from the attribute, or from an operand of any float type', () => {
  expectNear(runTensor(KIND, [x], { attributes }), [-0.26894143, -0.10945588, 0, 0.31122968, 1.22636163])
  const doubled = [-0.07194484, -0.26894143, 0, 1.76159406, 5.98516464]
  expectNear(runTensor(KIND, [x, two], { attributes }), doubled)
  const half = runTensor(KIND, [convert(x, 'float16'), convert(two, 'bfloat16')])
  expect(half.type).toBe('float16')
  expectNear(half, doubled, 1e-3)
  expectNear(runTensor(KIND, [new Tensor('float32', [1], [])]), [1 / (1 + Math.exp(-1))])
})

test('ScaledSiLU takes a scalar factor, and keeps the shape', () => {
  expect(errorOf(() => runTensor(KIND, [x, new Tensor('float32', [2])])).code).toBe('rank-mismatch')
  expect(dimsOf(inferOp(KIND, [fact('float32', ['n', 3]), undefined])[0])).toEqual(['n', 3])
})
