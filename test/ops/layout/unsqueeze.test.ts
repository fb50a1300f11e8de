import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const data = iota([3, 4, 5])

describe('Unsqueeze', () => {
  test('puts dims of 1 at the axes of the output, in any order', () => {
    expect(runTensor(['onnx', 'Unsqueeze', 1], [data], { attributes: { axes: [0, 4] } }).dims).toEqual([1, 3, 4, 5, 1])
    expect(runTensor(['onnx', 'Unsqueeze', 11], [data], { attributes: { axes: [-1, 1] } }).dims).toEqual([
      3, 1, 4, 5, 1
    ])
    expect(runTensor(['onnx', 'Unsqueeze', 13], [data, ints(2, 1)]).dims).toEqual([3, 1, 1, 4, 5])
    expect(runTensor(['openvino', 'Unsqueeze', 1], [iota([]), scalar(0)]).dims).toEqual([1])
    expect(runTensor(['openvino', 'Unsqueeze', 1], [data, ints(-5, 3)]).dims).toEqual([1, 3, 4, 1, 5])
  })

  test('refuses an axis named twice, far axes, and negative ones in version 1', () => {
    expect(errorOf(() => runTensor(['onnx', 'Unsqueeze', 13], [data, ints(1, -4)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(['onnx', 'Unsqueeze', 13], [data, ints(4)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(['onnx', 'Unsqueeze', 1], [data], { attributes: { axes: [-1] } })).code).toBe(
      'axis-out-of-range'
    )
    expect(errorOf(() => runTensor(['onnx', 'Unsqueeze', 1], [data])).code).toBe('missing-attribute')
    expect(errorOf(() => runTensor(['openvino', 'Unsqueeze', 1], [data, iota([1])])).code).toBe('type-not-allowed')
  })

  test('keeps symbols, and the rank when only the number of axes is known', () => {
    expect(dimsOf(inferOp(['onnx', 'Unsqueeze', 13], [fact('float32', ['n', 'm']), ints(1)])[0])).toEqual(['n', 1, 'm'])
    expect(dimsOf(inferOp(['onnx', 'Unsqueeze', 13], [fact('float32', ['n', 'm']), fact('int64', [2])])[0])).toEqual([
      '?',
      '?',
      '?',
      '?'
    ])
    expect(
      dimsOf(inferOp(['onnx', 'Unsqueeze', 13], [fact('float32', ['n']), fact('int64', ['k'])])[0])
    ).toBeUndefined()
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2])])
    expect(valuesOf(inferOp(['onnx', 'Unsqueeze', 13], [dims, ints(0)])[0])).toEqual(['n', 2n])
  })
})

describe('ExpandDims', () => {
  const expanded = (axis: Tensor): readonly number[] =>
    runTensor(['onnx', 'ExpandDims', 1, 'com.microsoft'], [data, axis]).dims
  const axis = (...axes: number[]): Tensor => new Tensor('int32', axes)

  test('puts one dim of 1 at the axis', () => {
    expect(expanded(scalar(1, 'int32'))).toEqual([3, 1, 4, 5])
    expect(expanded(scalar(-1, 'int32'))).toEqual([3, 4, 5, 1])
    expect(expanded(axis(-4))).toEqual([1, 3, 4, 5])
    expect(errorOf(() => expanded(axis(4))).code).toBe('axis-out-of-range')
    expect(errorOf(() => expanded(axis(0, 1))).code).toBe('dims-mismatch')
    expect(dimsOf(inferOp(['onnx', 'ExpandDims', 1, 'com.microsoft'], [fact('bool', ['n']), axis(0)])[0])).toEqual([
      1,
      'n'
    ])
  })
})
