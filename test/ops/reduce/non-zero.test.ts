import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const ONNX: Kind = ['onnx', 'NonZero', 13]

describe('NonZero', () => {
  test('gives the coordinates of each element that is not zero', () => {
    const out = runTensor(ONNX, [new Tensor('int32', [1, 0, 1, 1], [2, 2])])
    expect(out.dims).toEqual([2, 3])
    expect([...out.data].map(Number)).toEqual([0, 1, 1, 0, 0, 1])
  })

  test('NaN is not zero, -0 is; text, wide integers and complex numbers have zeros too', () => {
    const found = (tensor: Tensor): number[] => [...runTensor(ONNX, [tensor]).data].map(Number)
    expect(found(new Tensor('float32', [NaN, -0, 0, 1e-40]))).toEqual([0, 3])
    expect(found(new Tensor('float16', new Uint16Array([0x8000, 0, 1, 0x7e00]), [4]))).toEqual([2, 3])
    expect(found(new Tensor('string', ['', 'a']))).toEqual([1])
    expect(found(new Tensor('int64', [2n ** 32n, 0n, -1n]))).toEqual([0, 2])
    expect(found(new Tensor('complex64', new Float32Array([0, 0, 0, 2, 3, 0]), [3]))).toEqual([1, 2])
  })

  test('a scalar has no coordinates', () => {
    expect(runTensor(ONNX, [new Tensor('float32', [3], [])]).dims).toEqual([0, 1])
    expect(runTensor(ONNX, [new Tensor('float32', [0], [])]).dims).toEqual([0, 0])
    expect(runTensor(ONNX, [allocate('float32', [2, 0, 3])]).dims).toEqual([3, 0])
  })

  test('OpenVINO chooses the type of the output', () => {
    expect(runTensor(['openvino', 'NonZero', 3], [new Tensor('bool', [true])]).type).toBe('int64')
    expect(
      runTensor(['openvino', 'NonZero', 3], [new Tensor('bool', [true])], { attributes: { output_type: 'i32' } }).data
    ).toEqual(new Int32Array([0]))
  })

  test('the number of elements bounds the shape', () => {
    expect(dimsOf(inferOp(ONNX, [fact('float32', [3, '0..4'])])[0])).toEqual([2, '0..12'])
    expect(dimsOf(inferOp(ONNX, [fact('float32')])[0])).toEqual(['?', '?'])
  })
})
