import { expect, test } from 'vitest'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const [x, other] = [1, 2].map(seed => randomFloats(seed, [2, 3, 8]))
const bias = randomFloats(5, [8])

test('BiasGelu, FastGelu and scaled products of ONNX Runtime in IR', async () => {
  for (const type of ['BiasGelu', 'FastGelu'])
    expect(await differenceInOther(['onnx', type, 1, 'com.microsoft'], [x, bias])).toBeLessThan(1e-5)
  expect(
    await differenceInOther(['onnx', 'FusedMatMul', 1, 'com.microsoft'], [x, other], {
      attributes: { alpha: 0.25, transB: 1 }
    })
  ).toBeLessThan(1e-5)
})

test('BiasAdd and BiasSplitGelu in IR', async () => {
  const domain = 'com.microsoft'
  expect(await differenceInOther(['onnx', 'BiasAdd', 1, domain], [x, bias, other])).toBeLessThan(1e-6)
  expect(await differenceInOther(['onnx', 'BiasSplitGelu', 1, domain], [x, bias])).toBeLessThan(1e-5)
})
