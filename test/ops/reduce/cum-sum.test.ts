import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const ONNX: Kind = ['onnx', 'CumSum', 14]
const axis = (value: number): Tensor => new Tensor('int32', [value], [])
const sums = (data: Tensor, at: number, attributes: Record<string, number> = {}): unknown[] => [
  ...runTensor(ONNX, [data, axis(at)], { attributes }).data
]

describe('CumSum', () => {
  const data = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])

  test('adds up along an axis, with or without the element itself, from either end', () => {
    expect(sums(data, 1)).toEqual([1, 3, 6, 4, 9, 15])
    expect(sums(data, -2)).toEqual([1, 2, 3, 5, 7, 9])
    expect(sums(data, 1, { exclusive: 1 })).toEqual([0, 1, 3, 0, 4, 9])
    expect(sums(data, 1, { reverse: 1 })).toEqual([6, 5, 3, 15, 11, 6])
    expect(sums(data, 0, { reverse: 1, exclusive: 1 })).toEqual([4, 5, 6, 0, 0, 0])
  })

  test('integers wrap', () => {
    expect(sums(new Tensor('int32', [2 ** 31 - 1, 1, 1]), 0)).toEqual([2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 1])
    expect(sums(new Tensor('uint32', [2 ** 32 - 1, 2]), 0)).toEqual([2 ** 32 - 1, 1])
    expect(sums(new Tensor('int64', [2n ** 63n - 1n, 1n]), 0)).toEqual([2n ** 63n - 1n, -(2n ** 63n)])
    expect(sums(new Tensor('uint64', [2n ** 64n - 1n, 2n]), 0)).toEqual([2n ** 64n - 1n, 1n])
  })

  test('float16 sums are rounded once', () => {
    const ones = convert(new Tensor('float32', [2048, 1, 1]), 'float16')
    expect([...convert(runTensor(ONNX, [ones, axis(0)]), 'float32').data]).toEqual([2048, 2048, 2050])
  })

  test('the axis is 0 by default in OpenVINO', () => {
    expect([...runTensor(['openvino', 'CumSum', 3], [data]).data]).toEqual([1, 2, 3, 5, 7, 9])
    expect([
      ...runTensor(['openvino', 'CumSum', 3], [data, axis(1)], { attributes: { exclusive: true } }).data
    ]).toEqual([0, 1, 3, 0, 4, 9])
  })

  test('the axis is checked, the shape kept', () => {
    expect(errorOf(() => sums(data, 2)).code).toBe('axis-out-of-range')
    expect(dimsOf(inferOp(ONNX, [fact('float32', ['n', 3]), fact('int64', [])])[0])).toEqual(['n', 3])
    expect(runTensor(ONNX, [new Tensor('float32', [], [0, 3]), axis(0)]).dims).toEqual([0, 3])
  })
})

describe('CumProd', () => {
  const products = (data: Tensor, at: number, attributes: Record<string, number> = {}): unknown[] => [
    ...runTensor(['onnx', 'CumProd', 26], [data, axis(at)], { attributes }).data
  ]

  test('multiplies along an axis, with or without the element itself, from either end', () => {
    const data = new Tensor('float32', [1, 2, 3, 4, 5, 6], [2, 3])
    expect(products(data, 1)).toEqual([1, 2, 6, 4, 20, 120])
    expect(products(data, -2)).toEqual([1, 2, 3, 4, 10, 18])
    expect(products(data, 1, { exclusive: 1 })).toEqual([1, 1, 2, 1, 4, 20])
    expect(products(data, 1, { reverse: 1 })).toEqual([6, 6, 3, 120, 30, 6])
    expect(products(data, 1, { exclusive: 1, reverse: 1 })).toEqual([6, 3, 1, 30, 6, 1])
  })

  test('integers wrap, their low bits exact', () => {
    expect(products(new Tensor('int32', [123456789, 987654321, 3]), 0)).toEqual([123456789, -67153019, -201459057])
    expect(products(new Tensor('uint32', [65537, 65537]), 0)).toEqual([65537, 131073])
    expect(products(new Tensor('int64', [2n ** 62n, 2n, 3n]), 0)).toEqual([2n ** 62n, -(2n ** 63n), -(2n ** 63n)])
    expect(products(new Tensor('uint64', [2n ** 63n, 3n]), 0)).toEqual([2n ** 63n, 2n ** 63n])
  })
})
