import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import { randomFloats } from '../random.ts'

test.each([
  [[2], 3],
  [[0, -1], 4],
  [[1, 2, 3], 1],
  [[1], 4],
  [[2, 3], 2]
])('LRN of IR along axes %j in ONNX, size %i', async (axes, size) => {
  const list = new Tensor('int64', axes.map(BigInt), [axes.length])
  expect(
    await differenceInOther(['openvino', 'LRN', 1], [randomFloats(1, [2, 3, 4, 5]), list], {
      attributes: { alpha: 0.5, beta: 0.75, bias: 1.5, size },
      constants: [1]
    })
  ).toBeLessThan(1e-5)
})

test('LRN along the channels of data of rank 3, which ONNX Runtime does not take', async () => {
  const inputs = [randomFloats(1, [2, 6, 5]), new Tensor('int64', [1n], [1])]
  const attributes = { alpha: 0.5, beta: 0.75, bias: 2, size: 3 }
  const options = { attributes, constants: [1] }
  expect(typesOf(inOther(modelOfNode(['openvino', 'LRN', 1], inputs, options)))).not.toContain('LRN')
  expect(await differenceInOther(['openvino', 'LRN', 1], inputs, options)).toBeLessThan(1e-6)
})

test('even sizes of ONNX, whose regions are not those of OpenVINO, are refused in IR', () => {
  const attributes = { alpha: 0.5, beta: 0.75, bias: 2 }
  const inIr = (size: number): unknown =>
    inOther(modelOfNode(['onnx', 'LRN', 13], [randomFloats(1, [2, 6, 5, 1])], { attributes: { ...attributes, size } }))
  expect(() => inIr(3)).not.toThrow()
  expect(() => inIr(4)).toThrow('region')
})
