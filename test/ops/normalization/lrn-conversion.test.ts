import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

test.each([
  [[2], 3],
  [[0, -1], 4],
  [[1, 2, 3], 1]
])('LRN of IR along axes %j in ONNX, size %i', async (axes, size) => {
  const list = new Tensor('int64', axes.map(BigInt), [axes.length])
  expect(
    await differenceInOther(['openvino', 'LRN', 1], [randomFloats(1, [2, 3, 4, 5]), list], {
      attributes: { alpha: 0.5, beta: 0.75, bias: 1.5, size },
      constants: [1]
    })
  ).toBeLessThan(1e-5)
})
