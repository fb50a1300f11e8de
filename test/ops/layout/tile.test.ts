import { describe, expect, test } from 'vitest'
import { allocate } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

describe('Tile', () => {
  test('repeats along every axis', () => {
    const out = runTensor(['onnx', 'Tile', 13], [iota([2, 2], 'string'), ints(2, 2)])
    expect(out.dims).toEqual([4, 4])
    expect(out.data).toEqual(['0', '1', '0', '1', '2', '3', '2', '3', '0', '1', '0', '1', '2', '3', '2', '3'])
    expect(runTensor(['onnx', 'Tile', 6], [iota([2, 1]), ints(0, 3)]).dims).toEqual([0, 3])
    expect(runTensor(['onnx', 'Tile', 6], [iota([]), ints()]).dims).toEqual([])
    expect([...runTensor(['onnx', 'Tile', 13], [iota([1, 2], 'complex128'), ints(1, 2)]).data]).toEqual([
      0, 0, 1, 1, 0, 0, 1, 1
    ])
  })

  test('version 1 repeats one axis; its numbers are floats', () => {
    expect([
      ...runTensor(['onnx', 'Tile', 1], [iota([2, 2]), scalar(2, 'float32'), scalar(1, 'float32')]).data
    ]).toEqual([0, 1, 0, 1, 2, 3, 2, 3])
    expect(
      errorOf(() => runTensor(['onnx', 'Tile', 1], [iota([2]), scalar(1.5, 'float32'), scalar(0, 'float32')])).code
    ).toBe('value-out-of-range')
    expect(
      errorOf(() => runTensor(['onnx', 'Tile', 1], [iota([2]), scalar(2, 'float32'), scalar(1, 'float32')])).code
    ).toBe('axis-out-of-range')
  })

  test('ONNX wants one repeat an axis, OpenVINO fills up in front', () => {
    expect(errorOf(() => runTensor(['onnx', 'Tile', 13], [iota([2, 1]), ints(3)])).code).toBe('dims-mismatch')
    expect(runTensor(['openvino', 'Tile', 1], [iota([2, 3]), ints(2, 2, 2)]).dims).toEqual([2, 4, 6])
    expect(runTensor(['openvino', 'Tile', 1], [iota([4, 2, 3]), ints(2, 2)]).dims).toEqual([4, 4, 6])
    expect([...runTensor(['openvino', 'Tile', 1], [iota([2]), ints(2, 1)]).data]).toEqual([0, 1, 0, 1])
  })

  test('refuses negative repeats and outputs beyond all memory', () => {
    expect(errorOf(() => runTensor(['onnx', 'Tile', 13], [iota([2]), ints(-1)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(['onnx', 'Tile', 13], [allocate('int8', [4]), ints(2n ** 50n)])).code).toBe(
      'limit-exceeded'
    )
  })

  test('multiplies symbols', () => {
    const [n] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n'])])
    expect(dimsOf(inferOp(['onnx', 'Tile', 13], [fact('float32', ['m']), n])[0])).toEqual(['m*n'])
    expect(dimsOf(inferOp(['onnx', 'Tile', 13], [fact('float32', ['m', 4]), fact('int64', ['k'])])[0])).toEqual([
      '?',
      '?'
    ])
    expect(dimsOf(inferOp(['onnx', 'Tile', 13], [fact('float32'), ints(2, 3)])[0])).toEqual(['?', '?'])
    expect(dimsOf(inferOp(['openvino', 'Tile', 1], [fact('float32', [2]), fact('int64', ['k'])])[0])).toBeUndefined()
    expect(
      dimsOf(inferOp(['onnx', 'Tile', 1], [fact('float32', [2, 3]), fact('float32', []), scalar(1, 'float32')])[0])
    ).toEqual([2, '?'])
    expect(valuesOf(inferOp(['onnx', 'Tile', 13], [n, ints(3)])[0])).toEqual(['n', 'n', 'n'])
  })
})
