import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, runOp, runTensor } from '../harness.ts'
import { iota, scalar } from '../values.ts'

const x = iota([4])
const yes = new Tensor('bool', [1], [])

test('inference passes the data and keeps every element', () => {
  for (const version of [6, 7, 10, 12, 22]) {
    expect([...runTensor(['onnx', 'Dropout', version], [x]).data], `${version}`).toEqual([0, 1, 2, 3])
  }
  const [, mask] = runOp(['onnx', 'Dropout', 13], [x, scalar(0.9, 'float32')], { outputs: 2 }) as Tensor[]
  expect(mask.type).toBe('bool')
  expect([...mask.data]).toEqual([1, 1, 1, 1])
})

test('the mask has the type of the data before version 10', () => {
  expect(runOp(['onnx', 'Dropout', 7], [x], { outputs: 2 })[1]).toMatchObject({ type: 'float32' })
})

test('training drops by chance and scales the rest', () => {
  // The harness draws 0.5 every time.
  const [kept] = runOp(['onnx', 'Dropout', 13], [x, scalar(0.25, 'float32'), yes]) as Tensor[]
  expect([...kept.data]).toEqual([0, 1, 2, 3].map(value => Math.fround(value / 0.75)))
  const [dropped, mask] = runOp(['onnx', 'Dropout', 13], [x, scalar(0.75, 'float32'), yes], { outputs: 2 }) as Tensor[]
  expect([...dropped.data]).toEqual([0, 0, 0, 0])
  expect([...mask.data]).toEqual([0, 0, 0, 0])
  expect(errorOf(() => runTensor(['onnx', 'Dropout', 13], [x, scalar(1, 'float32'), yes])).code).toBe(
    'value-out-of-range'
  )
})
