import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'

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

test('a picture becomes luma and the chroma of the mean of 2 x 2 pixels, in one tensor or two', () => {
  const rgb = new Tensor('float32', [255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255], [1, 2, 2, 3])
  const values = (type: string, attributes = {}, index = 0): number[] =>
    Array.from((runOp(['openvino', type, 17], [rgb], { attributes, outputs: 2 })[index] as Tensor).data, Number)
  const expected = [81.535, 81.535, 40.99, 40.99, 165.1025, 174.92]
  values('RGBtoNV12').forEach((value, i) => expect(value).toBeCloseTo(expected[i], 4))
  values('RGBtoNV12', { single_plane: false }).forEach((value, i) => expect(value).toBeCloseTo(expected[i], 4))
  values('RGBtoNV12', { single_plane: false }, 1).forEach((value, i) => expect(value).toBeCloseTo(expected[4 + i], 4))
  expect(values('BGRtoNV12')[0]).toBeCloseTo(40.99, 4)
})

test('8-bit pictures go to luma and chroma and back', () => {
  const picture = new Tensor(
    'uint8',
    Array.from({ length: 48 }, (_, i) => [200, 100, 50][i % 3]),
    [2, 2, 4, 3]
  )
  const planes = runTensor(['openvino', 'RGBtoNV12', 17], [picture])
  expect(planes.dims).toEqual([2, 3, 4, 1])
  const back = runTensor(['openvino', 'NV12toRGB', 8], [planes])
  back.data.forEach((value, i) => expect(Math.abs(Number(value) - [200, 100, 50][i % 3])).toBeLessThanOrEqual(2))
})

test('the shape of planes follows that of the picture, whose sides must be even', () => {
  const picture = fact('uint8', ['n', 4, 6, 3])
  const infer = (attributes = {}, input = picture): unknown =>
    inferOp(['openvino', 'RGBtoNV12', 17], [input], { attributes, outputs: 2 }).map(dimsOf)
  expect(infer()).toEqual([['n', 6, 6, 1]])
  expect(infer({ single_plane: false })).toEqual([
    ['n', 4, 6, 1],
    ['n', 2, 3, 2]
  ])
  expect(errorOf(() => infer({}, fact('uint8', [1, 3, 6, 3]))).code).toBe('dims-mismatch')
  expect(errorOf(() => infer({}, fact('uint8', [1, 4, 6, 1]))).code).toBe('dims-mismatch')
  expect(errorOf(() => infer({}, fact('uint8', [4, 6, 3]))).code).toBe('rank-mismatch')
})
