import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const floats = (values: number[], dims = [values.length]): Tensor => new Tensor('float32', values, dims)
const zero = (type: 'uint8' | 'int8' | 'uint4' | 'int16', value: number): Tensor => new Tensor(type, [value], [])

describe('QuantizeLinear', () => {
  test('rounds ties to even, adds the zero point and saturates', () => {
    const x = floats([0, 1, 3, 5, 1000, -1000])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 10], [x, scalar(2, 'float32'), zero('uint8', 128)]))).toEqual([
      128, 128, 130, 130, 255, 0
    ])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 10], [x, scalar(2, 'float32')]))).toEqual([0, 0, 2, 2, 255, 0])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 21], [x, scalar(2, 'float32'), zero('uint4', 1)]))).toEqual([
      1, 1, 3, 3, 15, 0
    ])
  })

  test('has a scale for each position along an axis from version 13 on', () => {
    const x = floats([1, 2, 3, 4], [2, 2])
    const scales = floats([1, 2])
    const zeros = new Tensor('int8', [0, 1])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 13], [x, scales, zeros]))).toEqual([1, 2, 3, 3])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 13], [x, scales, zeros], { attributes: { axis: 0 } }))).toEqual([
      1, 2, 3, 3
    ])
    expect(errorOf(() => runTensor(['onnx', 'QuantizeLinear', 10], [x, scales, zeros])).code).toBe('shape-mismatch')
  })

  test('has a scale for each block from version 21 on, the last may be short', () => {
    const x = floats([1, 2, 3, 4, 5], [1, 5])
    const attributes = { block_size: 2, output_dtype: 3 }
    const out = runTensor(['onnx', 'QuantizeLinear', 21], [x, floats([1, 2, 5], [1, 3])], { attributes })
    expect(out.type).toBe('int8')
    expect(list(out)).toEqual([1, 2, 2, 2, 1])
    expect(
      errorOf(() =>
        runTensor(['onnx', 'QuantizeLinear', 21], [x, floats([1, 2], [1, 2])], { attributes: { block_size: 2 } })
      ).code
    ).toBe('shape-mismatch')
  })

  test('rounds the quotient to the precision asked for first', () => {
    const scale = scalar(1, 'float32')
    const to = (precision: number): unknown =>
      runTensor(['onnx', 'QuantizeLinear', 23], [floats([2049.2]), scale, zero('int16', 0)], {
        attributes: { precision }
      }).data[0]
    expect(to(0)).toBe(2049)
    expect(to(10)).toBe(2050)
  })

  test('8-bit floats saturate unless told otherwise', () => {
    const inputs = [floats([1e6]), scalar(1, 'float32'), new Tensor('float8e4m3fn', new Uint8Array([0]), [])]
    expect(list(runTensor(['onnx', 'QuantizeLinear', 19], inputs))).toEqual([0x7e])
    expect(list(runTensor(['onnx', 'QuantizeLinear', 19], inputs, { attributes: { saturate: 0 } }))).toEqual([0x7f])
  })

  test('of com.microsoft takes 16 bits, and scales along an axis', () => {
    const kind: Kind = ['onnx', 'QuantizeLinear', 1, 'com.microsoft']
    expect(list(runTensor(kind, [floats([-1, 1e6]), scalar(0.5, 'float32'), zero('int16', 7)]))).toEqual([5, 32767])
    const x = floats([1, 2, 3, 4], [2, 2])
    const scales = floats([1, 2])
    const zeros = new Tensor('uint8', [0, 1])
    expect(list(runTensor(kind, [x, scales, zeros], { attributes: { axis: 0 } }))).toEqual([1, 2, 3, 3])
    expect(runTensor(kind, [x, scales])).toMatchObject({ type: 'uint8', data: new Uint8Array([1, 1, 3, 2]) })
    expect(errorOf(() => runTensor(kind, [x, floats([1, 2, 3])])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(kind, [x, scales, zeros], { attributes: { axis: 2 } })).code).toBe(
      'axis-out-of-range'
    )
  })

  test('output_dtype and the zero point must agree on a quantized type', () => {
    const inputs = [floats([1]), scalar(1, 'float32')]
    const attributes = { output_dtype: 3 }
    const withZero = [...inputs, zero('uint8', 0)]
    expect(errorOf(() => runTensor(['onnx', 'QuantizeLinear', 21], withZero, { attributes })).code).toBe(
      'type-mismatch'
    )
    expect(
      errorOf(() => runTensor(['onnx', 'QuantizeLinear', 21], inputs, { attributes: { output_dtype: 1 } })).code
    ).toBe('type-not-allowed')
  })
})

describe('DequantizeLinear', () => {
  const x = new Tensor('uint8', [0, 128, 255, 3], [2, 2])

  test('subtracts the zero point and scales, by axis and by block', () => {
    expect(list(runTensor(['onnx', 'DequantizeLinear', 10], [x, scalar(2, 'float32'), zero('uint8', 128)]))).toEqual([
      -256, 0, 254, -250
    ])
    expect(list(runTensor(['onnx', 'DequantizeLinear', 13], [x, floats([1, 2])], { attributes: { axis: 0 } }))).toEqual(
      [0, 128, 510, 6]
    )
    expect(
      list(
        runTensor(['onnx', 'DequantizeLinear', 21], [x, floats([1, 2], [2, 1])], {
          attributes: { axis: 1, block_size: 2 }
        })
      )
    ).toEqual([0, 128, 510, 6])
  })

  test('gives the type of the scale, or output_dtype', () => {
    const scale = new Tensor('float16', new Uint16Array([0x3800]), [])
    const out = runTensor(['onnx', 'DequantizeLinear', 19], [new Tensor('uint8', [3]), scale])
    expect(out.type).toBe('float16')
    expect(list(out)).toEqual([0x3e00])
    expect(runTensor(['onnx', 'DequantizeLinear', 23], [x, scale], { attributes: { output_dtype: 1 } }).type).toBe(
      'float32'
    )
  })

  test('of com.microsoft takes 32 bits and 4 bits, and scales along an axis', () => {
    const kind: Kind = ['onnx', 'DequantizeLinear', 1, 'com.microsoft']
    const wide = new Tensor('int32', [-5, 70000])
    expect(list(runTensor(kind, [wide, scalar(0.5, 'float32')]))).toEqual([-2.5, 35000])
    expect(list(runTensor(kind, [x, floats([1, 2])], { attributes: { axis: 0 } }))).toEqual([0, 128, 510, 6])
    const nibbles = new Tensor('int4', [-8, 7])
    const half = new Tensor('float16', new Uint16Array([0x3800]), [])
    expect(runTensor(kind, [nibbles, half])).toMatchObject({ type: 'float16', data: new Uint16Array([0xc400, 0x4300]) })
  })

  test('dims stay symbolic', () => {
    expect(
      dimsOf(inferOp(['onnx', 'DequantizeLinear', 13], [fact('int8', ['n', 'c']), fact('float32', [3])])[0])
    ).toEqual(['n', 'c'])
    expect(
      errorOf(() => inferOp(['onnx', 'DequantizeLinear', 13], [fact('int8', ['n', 4]), fact('float32', [3])])).code
    ).toBe('shape-mismatch')
  })
})

test('DynamicQuantizeLinear covers the range of the data and 0', () => {
  const [y, scale, point] = runOp(['onnx', 'DynamicQuantizeLinear', 11], [floats([-1, 0, 3])], {
    outputs: 3
  }) as Tensor[]
  expect(list(scale)).toEqual([Math.fround(4 / 255)])
  expect(list(point)).toEqual([64])
  expect(list(y)).toEqual([0, 64, 255])
  const [constant, unit] = runOp(['onnx', 'DynamicQuantizeLinear', 11], [floats([0, 0])], { outputs: 3 }) as Tensor[]
  expect(list(constant)).toEqual([0, 0])
  expect(list(unit)).toEqual([Math.fround(1 / 255)])
})
