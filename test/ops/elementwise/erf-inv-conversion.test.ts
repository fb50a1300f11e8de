import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'

test('ErfInv in ONNX, in the middle and near its ends', async () => {
  const values = [0, 0.1, -0.5, 0.9, -0.99, 0.9999, -0.999999, 1, -1, 1.5]
  const x = new Tensor('float32', values, [values.length])
  expect(await differenceInOther(['openvino', 'ErfInv', 17], [x])).toBeLessThan(1e-4)
})
