import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

test('MaxRoiPool in OpenVINO IR is ROIPooling', async () => {
  const rois = new Tensor('float32', [0, 0, 0, 9, 9, 1, 3, 2, 12, 15], [2, 5])
  expect(
    await differenceInOther(['onnx', 'MaxRoiPool', 1], [randomFloats(1, [2, 3, 8, 9]), rois], {
      attributes: { pooled_shape: [2, 3], spatial_scale: 0.5 }
    })
  ).toBe(0)
})
