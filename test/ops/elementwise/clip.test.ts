import { describe, expect, test } from 'vitest'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { named } from '../../../src/shapes/sym.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, scalar, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const x = new Tensor('float32', [-5, 0.5, 7, NaN])

describe('ONNX Clip', () => {
  test('takes bounds from attributes before version 11', () => {
    expect(list(runTensor(['onnx', 'Clip', 6], [x], { attributes: { min: -1, max: 1 } }))).toEqual([-1, 0.5, 1, NaN])
    expect(list(runTensor(['onnx', 'Clip', 1], [x], { attributes: { max: 1 } }))).toEqual([-5, 0.5, 1, NaN])
  })

  test('takes bounds from inputs from version 11 on, each of which may be left out', () => {
    expect(list(runTensor(['onnx', 'Clip', 13], [x, scalar(-1, 'float32'), scalar(1, 'float32')]))).toEqual([
      -1,
      0.5,
      1,
      NaN
    ])
    expect(list(runTensor(['onnx', 'Clip', 13], [x, undefined, scalar(1, 'float32')]))).toEqual([-5, 0.5, 1, NaN])
    expect(list(runTensor(['onnx', 'Clip', 13], [x]))).toEqual([-5, 0.5, 7, NaN])
  })

  test('a lower bound above the upper one gives the upper one', () => {
    expect(list(runTensor(['onnx', 'Clip', 13], [x, scalar(3, 'float32'), scalar(2, 'float32')]))).toEqual([
      2,
      2,
      2,
      NaN
    ])
    expect(list(runTensor(['onnx', 'Clip', 13], [ints(-5, 9), scalar(3), scalar(2)]))).toEqual([2n, 2n])
  })

  test('a bound of NaN bounds nothing', () => {
    const [nan, one] = [scalar(NaN, 'float32'), scalar(1, 'float32')]
    expect(list(runTensor(['onnx', 'Clip', 13], [x, nan, one]))).toEqual([-5, 0.5, 1, NaN])
    expect(list(runTensor(['onnx', 'Clip', 13], [x, one, nan]))).toEqual([1, 1, 7, NaN])
    expect(list(runTensor(['onnx', 'Clip', 13], [x, nan, nan]))).toEqual([-5, 0.5, 7, NaN])
    expect(list(runTensor(['onnx', 'Clip', 6], [x], { attributes: { min: NaN, max: 1 } }))).toEqual([-5, 0.5, 1, NaN])
    const attributes = { min: NaN, max: NaN }
    expect(list(runTensor(['openvino', 'Clamp', 1], [ints(-9, 9)], { attributes }))).toEqual([-9n, 9n])
    expect(valuesOf(inferOp(['onnx', 'Clip', 13], [scalar(7, 'float32'), nan, one])[0])).toEqual([1])
  })

  test('64-bit integers are exact', () => {
    const big = 2n ** 60n
    expect(list(runTensor(['onnx', 'Clip', 13], [ints(big + 1n, big - 1n), ints(big)]))).toEqual([big + 1n, big])
  })

  test('a bound must be one element of the same type', () => {
    expect(errorOf(() => runTensor(['onnx', 'Clip', 13], [ints(1), ints(1, 2)])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(['onnx', 'Clip', 13], [ints(1), scalar(1, 'float32')])).code).toBe('type-mismatch')
  })

  test('a symbol of a float type is not bounded by the whole number below a fraction', () => {
    const n = named('n')
    const x = tensorFact('float32', [1], { type: 'float32', dims: [1], data: [n] })
    const clip = (max: number): unknown => inferOp(['onnx', 'Clip', 6], [x], { attributes: { max } })[0]
    expect(clip(2.5)).toEqual(tensorFact('float32', [1]))
    expect(clip(2)).toMatchObject({ value: { data: [{ max: 2 }] } })
  })

  test('symbols are bounded', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n', 9])])[0]
    expect(valuesOf(inferOp(['onnx', 'Clip', 13], [shape, scalar(0), scalar(4)])[0])).toEqual(['min(4, n)', 4n])
    expect(valuesOf(inferOp(['onnx', 'Clip', 13], [shape, undefined, scalar(4)])[0])).toEqual(['min(4, n)', 4n])
  })
})

describe('OpenVINO Clamp', () => {
  test('rounds the bounds of integers inwards', () => {
    const attributes = { min: -1.5, max: 2.5 }
    expect(list(runTensor(['openvino', 'Clamp', 1], [new Tensor('int32', [-9, 9])], { attributes }))).toEqual([-1, 2])
    expect(list(runTensor(['openvino', 'Clamp', 1], [ints(-9, 9)], { attributes }))).toEqual([-1n, 2n])
  })

  test('a bound beyond the type bounds at its end', () => {
    const attributes = { min: -1e30, max: -3 }
    expect(list(runTensor(['openvino', 'Clamp', 1], [new Tensor('uint8', [7])], { attributes }))).toEqual([0])
    expect(list(runTensor(['openvino', 'Clamp', 1], [new Tensor('uint64', [7n])], { attributes }))).toEqual([0n])
    expect(
      list(runTensor(['openvino', 'Clamp', 1], [ints(-(2n ** 63n))], { attributes: { min: -1e30, max: 1e30 } }))
    ).toEqual([-(2n ** 63n)])
  })
})
