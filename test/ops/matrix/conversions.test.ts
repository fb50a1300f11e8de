import { expect, test } from 'vitest'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
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

test.each([
  [' i j , j k -> i k ', 'ij,jk->ik'],
  ['bA,Ac', 'bA,Ac->bc'],
  ['...i,i...j', '...i,i...j->...j']
])('the equation %j of Einsum without spaces and with its result in IR', async (equation, said) => {
  const inputs = [randomFloats(1, [2, 3]), randomFloats(2, [3, 4])]
  const other = inOther(modelOfNode(['onnx', 'Einsum', 12], inputs, { attributes: { equation } }))
  expect(other.graph.nodes.find(({ type }) => type === 'Einsum')?.attributes.get('equation')).toMatchObject({
    value: said
  })
  expect(await differenceInOther(['onnx', 'Einsum', 12], inputs, { attributes: { equation } })).toBe(0)
})
