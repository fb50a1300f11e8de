import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import { errorOf } from '../harness.ts'
import { ints, iota } from '../values.ts'

const NAMES = { float16: 'f16', float32: 'f32', float64: 'f64' } as const

test.each([
  ['Selu', 6],
  ['HardSigmoid', 6],
  ['Swish', 24]
] as const)('parameters of %s are constants of the type of its data in IR', async (type, opset) => {
  for (const own of ['float16', 'float32', 'float64'] as const) {
    const x = iota([2, 3], own)
    const attributes = type === 'Swish' ? { alpha: 0.5 } : {}
    const { nodes } = inOther(modelOfNode(['onnx', type, opset], [x], { attributes })).graph
    const constants = nodes.filter(node => node.type === 'Const')
    expect(constants.length).toBeGreaterThan(0)
    for (const { attributes } of constants) expect(attributes.get('element_type')).toMatchObject({ value: NAMES[own] })
    expect(await differenceInOther(['onnx', type, opset], [x], { attributes })).toBeLessThan(2e-3)
  }
})

test('powers of two types are computed in one in IR, whose layer takes no others', async () => {
  const model = modelOfNode(['onnx', 'Pow', 13], [iota([3]), ints(2, 3, 4)])
  expect(typesOf(inOther(model))).toEqual(['Convert', 'Power'])
  const pairs = [
    [iota([3]), ints(2, 3, 4)],
    [iota([3], 'float16'), new Tensor('float32', [2, 0.5, 3])],
    [new Tensor('int32', [2 ** 24 + 1, 3001, 3]), new Tensor('float32', [1, 1, 2])],
    [new Tensor('int32', [3001, 3, 2]), iota([3], 'float16')]
  ] as const
  for (const [base, exponent] of pairs) expect(await differenceInOther(['onnx', 'Pow', 13], [base, exponent])).toBe(0)
})

test('the sign of int64 that is shifted to the right by 63 bits', async () => {
  const inputs = [ints(-5, 5, -(2n ** 63n), 2n ** 63n - 1n, -5), ints(63, 63, 63, 63, 1)]
  expect(await differenceInOther(['openvino', 'BitwiseRightShift', 15], inputs)).toBe(0)
})

test('Celu in IR takes a positive alpha only', async () => {
  const x = new Tensor('float32', [-2, 0, 3])
  expect(await differenceInOther(['onnx', 'Celu', 12], [x], { attributes: { alpha: 0.5 } })).toBeLessThan(1e-6)
  const model = modelOfNode(['onnx', 'Celu', 12], [x], { attributes: { alpha: -0.5 } })
  expect(errorOf(() => inOther(model)).message).toContain('alpha is -0.5')
})
