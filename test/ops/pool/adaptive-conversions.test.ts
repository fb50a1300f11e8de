import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const sizes = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])

test.each([
  [[2, 3, 7], sizes(3)],
  [[2, 3, 5, 7], sizes(2, 7)],
  [[1, 2, 3, 4, 5], sizes(5, 2, 1)]
])('adaptive pools of %j in ONNX, indices included', async (dims, out) => {
  const x = randomFloats(1, dims)
  const options = { constants: [1] }
  expect(await differenceInOther(['openvino', 'AdaptiveAvgPool', 8], [x, out], options)).toBeLessThan(1e-6)
  for (const index_element_type of ['i64', 'i32'])
    expect(
      await differenceInOther(['openvino', 'AdaptiveMaxPool', 8], [x, out], {
        ...options,
        outputs: 2,
        attributes: { index_element_type }
      })
    ).toBe(0)
})

test('ceil of pools without padding in ONNX, whose VALID drops the window that is cut', async () => {
  const attributes = {
    kernel: [3],
    strides: [2],
    auto_pad: 'valid',
    rounding_type: 'ceil',
    pads_begin: [1],
    pads_end: [1]
  }
  for (const type of ['MaxPool', 'AvgPool'])
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', type, 1], [randomFloats(1, [1, 2, 6])], { attributes, isDynamic })
      ).toBeLessThan(1e-6)
})

test('indices of MaxPool that count from an axis on, in ONNX, where they count over all', async () => {
  for (const axis of [1, 2, -1])
    expect(
      await differenceInOther(['openvino', 'MaxPool', 8], [randomFloats(1, [2, 3, 4, 5])], {
        outputs: 2,
        attributes: {
          axis,
          kernel: [2, 2],
          strides: [2, 1],
          dilations: [1, 1],
          pads_begin: [0, 0],
          pads_end: [0, 0],
          index_element_type: 'i64'
        }
      })
    ).toBe(0)
})

test('means with padding by ceil in ONNX, unless they count cells beyond the padding, as ONNX does not', async () => {
  const windows = { kernel: [3], strides: [2], pads_begin: [1], pads_end: [0] }
  const attributes = { ...windows, rounding_type: 'ceil', 'exclude-pad': false }
  const difference = (size: number): Promise<number> =>
    differenceInOther(['openvino', 'AvgPool', 1], [randomFloats(1, [1, 2, size])], { attributes })
  expect(await difference(8)).toBeLessThan(1e-6)
  await expect(difference(7)).rejects.toThrow('cells beyond the padding')
})
