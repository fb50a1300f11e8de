import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const plane = (values: number[], dims: number[], type: 'uint8' | 'float32' = 'uint8'): Tensor =>
  new Tensor(type, values, [1, ...dims])
const luma = [16, 235, 126, 126, 81, 145, 41, 16]
const RED = [90, 240]

test('grey has no colour, and red, green and blue are where the order says', () => {
  const y = plane([16, 235, 126, 126], [2, 2, 1])
  const grey = [...runTensor(['openvino', 'NV12toRGB', 8], [y, plane([128, 128], [1, 1, 2])]).data]
  expect(grey).toEqual([0, 0, 0, 255, 255, 255, 128, 128, 128, 128, 128, 128])
  const red = plane([81, 81, 81, 81], [2, 2, 1])
  expect([...runTensor(['openvino', 'NV12toRGB', 8], [red, plane(RED, [1, 1, 2])]).data].slice(0, 3)).toEqual([
    254, 0, 0
  ])
  expect([...runTensor(['openvino', 'NV12toBGR', 8], [red, plane(RED, [1, 1, 2])]).data].slice(0, 3)).toEqual([
    0, 0, 254
  ])
})

test('one tensor or one for each plane, and both layouts, give the same picture', () => {
  const y = plane(luma, [2, 4, 1], 'float32')
  const expected = [
    ...runTensor(['openvino', 'NV12toRGB', 8], [y, plane([90, 240, 54, 34], [1, 2, 2], 'float32')]).data
  ]
  expect([
    ...runTensor(['openvino', 'NV12toRGB', 8], [plane([...luma, 90, 240, 54, 34], [3, 4, 1], 'float32')]).data
  ]).toEqual(expected)
  expect([
    ...runTensor(['openvino', 'I420toRGB', 8], [plane([...luma, 90, 54, 240, 34], [3, 4, 1], 'float32')]).data
  ]).toEqual(expected)
  expect([
    ...runTensor(
      ['openvino', 'I420toRGB', 8],
      [y, plane([90, 54], [1, 2, 1], 'float32'), plane([240, 34], [1, 2, 1], 'float32')]
    ).data
  ]).toEqual(expected)
})

test('the shape follows the luma plane, which must be even', () => {
  expect(
    dimsOf(
      inferOp(['openvino', 'NV12toRGB', 8], [fact('uint8', ['n', 'h', 'w', 1]), fact('uint8', ['n', '?', '?', 2])])[0]
    )
  ).toEqual(['n', 'h', 'w', 3])
  expect(dimsOf(inferOp(['openvino', 'I420toBGR', 8], [fact('uint8', ['n', 9, 4, 1])])[0])).toEqual(['n', 6, 4, 3])
  expect(errorOf(() => inferOp(['openvino', 'I420toBGR', 8], [fact('uint8', [1, 8, 4, 1])])).code).toBe('dims-mismatch')
  expect(
    errorOf(() => inferOp(['openvino', 'NV12toRGB', 8], [fact('uint8', [1, 4, 4, 1]), fact('uint8', [1, 2, 3, 2])]))
      .code
  ).toBe('dims-mismatch')
  expect(
    errorOf(() => inferOp(['openvino', 'I420toRGB', 8], [fact('uint8', [1, 4, 4, 1]), fact('uint8', [1, 2, 2, 1])]))
      .code
  ).toBe('wrong-input-count')
})
