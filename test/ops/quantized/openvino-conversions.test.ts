import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const MICROSOFT = 'com.microsoft'
const floats = (values: number[], dims: number[] = values.length === 1 ? [] : [values.length]): Tensor =>
  new Tensor('float32', values, dims)
const codes = (type: 'uint8' | 'int8', dims: number[], seed = 1): Tensor => {
  const count = dims.reduce((a, b) => a * b, 1)
  return new Tensor(
    type,
    Array.from({ length: count }, (_, i) => ((i * 37 + seed * 11) % 120) - (type === 'int8' ? 60 : 0)),
    dims
  )
}
const zero = (type: DType, ...values: number[]): Tensor =>
  new Tensor(type, values, values.length === 1 ? [] : [values.length])

describe('QuantizeLinear and DequantizeLinear in IR', () => {
  const x = randomFloats(1, [2, 4, 3])
  test.each([
    ['one scale', floats([0.013]), zero('uint8', 100), {}],
    ['one scale, int8', floats([0.013]), zero('int8', -3), {}],
    ['a scale for each channel', floats([0.013, 0.2, 0.05, 0.001]), zero('uint8', 100, 0, 128, 255), { axis: 1 }],
    ['no zero point', floats([0.013]), undefined, {}],
    ['blocks', randomPositive([2, 2, 3]), undefined, { axis: 1, block_size: 2 }]
  ])('%s', async (_, scale, point, attributes) => {
    expect(await differenceInOther(['onnx', 'QuantizeLinear', 21], [x, scale, point], { attributes })).toBe(0)
    const data = point?.type === 'int8' ? codes('int8', [2, 4, 3]) : codes('uint8', [2, 4, 3])
    expect(
      await differenceInOther(['onnx', 'DequantizeLinear', 21], [data, scale, point], { attributes })
    ).toBeLessThan(1e-5)
  })

  test('scale and zero point that follow from the data', async () => {
    for (const data of [x, floats([1, 2, 3]), floats([0, 0])])
      expect(await differenceInOther(['onnx', 'DynamicQuantizeLinear', 11], [data], { outputs: 3 })).toBeLessThan(1e-6)
  })
})

function randomPositive(dims: number[]): Tensor {
  const { data } = randomFloats(5, dims)
  return new Tensor(
    'float32',
    Float32Array.from(data as Float32Array, value => 0.01 + Math.abs(value)),
    dims
  )
}

describe('products and convolutions of codes in IR', () => {
  const [a, b] = [codes('uint8', [3, 4]), codes('int8', [4, 5], 2)]
  const [aZero, bZeros] = [zero('uint8', 60), zero('int8', 0, 1, -2, 3, 4)]
  const [scale, scales] = [floats([0.02]), floats([0.01, 0.02, 0.03, 0.04, 0.05])]

  test('with exact sums', async () => {
    expect(await differenceInOther(['onnx', 'MatMulInteger', 10], [a, b, aZero, bZeros])).toBe(0)
    const [x, w] = [codes('uint8', [1, 4, 6, 6]), codes('int8', [2, 2, 3, 3], 2)]
    const attributes = { group: 2, pads: [1, 0, 1, 0], strides: [2, 1] }
    expect(await differenceInOther(['onnx', 'ConvInteger', 10], [x, w, aZero], { attributes, constants: [1] })).toBe(0)
  })

  test('scaled to floats, with a bias', async () => {
    const bias = floats([1, 2, 3, 4, 5])
    expect(
      await differenceInOther(
        ['onnx', 'MatMulIntegerToFloat', 1, MICROSOFT],
        [a, b, scale, scales, aZero, bZeros, bias]
      )
    ).toBeLessThan(1e-4)
    expect(
      await differenceInOther(
        ['onnx', 'MatMulIntegerToFloat', 1, MICROSOFT],
        [a, b, scales, scale, aZero, bZeros, bias]
      )
    ).toBeLessThan(1e-4)
    expect(
      await differenceInOther(
        ['onnx', 'DynamicQuantizeMatMul', 1, MICROSOFT],
        [randomFloats(1, [3, 4]), b, scales, bZeros, bias]
      )
    ).toBeLessThan(1e-4)
  })

  test('quantized again', async () => {
    const y = [floats([0.31]), zero('uint8', 128)]
    expect(
      await differenceInOther(['onnx', 'QLinearMatMul', 10], [a, scale, aZero, b, scales, bZeros, ...y])
    ).toBeLessThanOrEqual(1)
    const [x, w] = [codes('uint8', [1, 2, 5, 5]), codes('int8', [2, 2, 3, 3], 2)]
    const bias = new Tensor('int32', [1000, -500], [2])
    expect(
      await differenceInOther(
        ['onnx', 'QLinearConv', 10],
        [x, scale, aZero, w, floats([0.01, 0.03]), zero('int8', 0, 0), ...y, bias],
        { constants: [3] }
      )
    ).toBeLessThanOrEqual(1)
  })
})

describe('operators of com.microsoft on codes in IR', () => {
  const x = codes('uint8', [2, 3, 4])
  const [scale, point] = [floats([0.02]), zero('uint8', 60)]
  const result = [floats([0.017]), zero('uint8', 33)]

  test.each(['QLinearAdd', 'QLinearMul'])('%s', async type => {
    const inputs = [x, scale, point, codes('uint8', [4], 3), floats([0.05]), undefined, ...result]
    expect(await differenceInOther(['onnx', type, 1, MICROSOFT], inputs)).toBeLessThanOrEqual(1)
  })

  test.each([
    ['QLinearSigmoid', {}],
    ['QLinearLeakyRelu', { alpha: 0.1 }]
  ])('%s', async (type, attributes) => {
    const inputs = [x, scale, point, ...result]
    expect(await differenceInOther(['onnx', type, 1, MICROSOFT], inputs, { attributes })).toBeLessThanOrEqual(1)
  })

  test('QLinearGlobalAveragePool', async () => {
    const inputs = [codes('uint8', [2, 3, 4, 5]), scale, point, ...result]
    expect(await differenceInOther(['onnx', 'QLinearGlobalAveragePool', 1, MICROSOFT], inputs)).toBeLessThanOrEqual(1)
  })
})
