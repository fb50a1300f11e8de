import { expect, test } from 'vitest'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

test.each([false, true])('Inverse in ONNX, by determinants; adjoint %s', async adjoint => {
  for (const dims of [
    [1, 1],
    [2, 2],
    [3, 4, 4],
    [2, 1, 5, 5]
  ])
    expect(
      await differenceInOther(['openvino', 'Inverse', 14], [randomFloats(3, dims)], { attributes: { adjoint } })
    ).toBeLessThan(1e-3)
})

test('dims below the ellipses of Einsum: ONNX has as many of every operand', async () => {
  const attributes = { equation: '...ij,b...jk,k->b...ik' }
  const inputs = [randomFloats(1, [2, 3, 4]), randomFloats(2, [2, 5, 2, 4, 3]), randomFloats(3, [3])]
  expect(await differenceInOther(['openvino', 'Einsum', 7], inputs, { attributes })).toBeLessThan(1e-6)
})
