import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const minusOnes = (dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)).fill(-1), dims)
const slope = (...values: number[]): Tensor => new Tensor('float32', values)

describe('PRelu', () => {
  test('scales only what is negative', () => {
    expect(list(runTensor(['onnx', 'PRelu', 16], [slope(-2, 0, 3, NaN), slope(0.5)]))).toEqual([-1, 0, 3, NaN])
    expect(list(runTensor(['onnx', 'PRelu', 16], [new Tensor('int32', [-2, 3]), new Tensor('int32', [5])]))).toEqual([
      -10, 3
    ])
  })

  test('a list of slopes belongs to the channels before version 7, to the last dim after', () => {
    expect(list(runTensor(['onnx', 'PRelu', 6], [minusOnes([1, 2, 2]), slope(3, 4)]))).toEqual([-3, -3, -4, -4])
    expect(list(runTensor(['onnx', 'PRelu', 7], [minusOnes([1, 2, 2]), slope(3, 4)]))).toEqual([-3, -4, -3, -4])
  })

  test('in IR a list belongs to the channels where the sizes agree, else to the last dim', () => {
    expect(list(runTensor(['openvino', 'PReLU', 1], [minusOnes([1, 2, 2]), slope(3, 4)]))).toEqual([-3, -3, -4, -4])
    expect(list(runTensor(['openvino', 'PReLU', 1], [minusOnes([1, 3, 2]), slope(3, 4)]))).toEqual([
      -3, -4, -3, -4, -3, -4
    ])
  })

  test('in IR slopes may be of another floating-point type, and the result is of that of x', () => {
    const half = new Tensor('float16', Uint16Array.of(0xbc00, 0x4000, 0xc200), [3])
    const result = runTensor(['openvino', 'PReLU', 1], [half, slope(0.1, 1, 0.5)])
    expect([result.type, list(result)]).toEqual(['float16', [0xae66, 0x4000, 0xbe00]])
    expect(errorOf(() => runTensor(['onnx', 'PRelu', 16], [half, slope(2)])).code).toBe('type-mismatch')
  })

  test('x is never broadcast to the slope', () => {
    expect(errorOf(() => runTensor(['onnx', 'PRelu', 16], [minusOnes([1]), slope(1, 2)])).code).toBe('shape-mismatch')
    expect(
      errorOf(() => runTensor(['onnx', 'PRelu', 16], [minusOnes([2]), new Tensor('float32', [1, 2], [1, 2])])).code
    ).toBe('shape-mismatch')
  })

  test('the result has the shape of x, while an unknown channel size leaves the question open', () => {
    expect(
      dimsOf(inferOp(['openvino', 'PReLU', 1], [fact('float32', ['n', 'c', 7]), fact('float32', [3])])[0])
    ).toEqual(['n', 'c', 7])
  })
})
