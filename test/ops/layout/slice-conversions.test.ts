import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

test('lists of different types, one of them an input, become lists of one type in ONNX', async () => {
  const inputs = [
    randomFloats(3, [4, 5]),
    new Tensor('int64', [3n, 0n], [2]),
    new Tensor('int32', [0, 4], [2]),
    new Tensor('int64', [-1n, 2n], [2]),
    new Tensor('int32', [0, 1], [2])
  ]
  for (const constants of [[1, 3], [2, 4], []])
    expect(await differenceInOther(['openvino', 'Slice', 8], inputs, { constants })).toBe(0)
})

test('a masked index of StridedSlice is the first one in ONNX, too', async () => {
  const list = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [1])
  const inputs = [randomFloats(3, [4, 5]), list(2), list(3)]
  const masks = { end_mask: '', new_axis_mask: '', shrink_axis_mask: '1', ellipsis_mask: '' }
  for (const begin_mask of ['1', '0'])
    for (const constants of [[1, 2], []])
      expect(
        await differenceInOther(['openvino', 'StridedSlice', 1], inputs, {
          attributes: { ...masks, begin_mask },
          constants
        })
      ).toBe(0)
})
