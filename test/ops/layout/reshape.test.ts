import { describe, expect, test } from 'vitest'
import type { Fact } from '../../../src/shapes/fact.ts'
import { allocate, type Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const onnx = (data: Tensor, shape: number[], allowzero = 0): Tensor =>
  runTensor(['onnx', 'Reshape', 14], [data, ints(...shape)], { attributes: { allowzero } })
const openvino = (data: Tensor, shape: number[], special: boolean): Tensor =>
  runTensor(['openvino', 'Reshape', 1], [data, ints(...shape)], { attributes: { special_zero: special } })

describe('Reshape', () => {
  test('works one -1 out and copies dims for 0', () => {
    expect(onnx(iota([2, 3, 4]), [-1, 6]).dims).toEqual([4, 6])
    expect(onnx(iota([2, 3, 4]), [0, -1]).dims).toEqual([2, 12])
    expect(onnx(iota([2, 3, 4]), [2, 0, 1, -1]).dims).toEqual([2, 3, 1, 4])
    expect(onnx(iota([1, 1]), []).dims).toEqual([])
    expect([...onnx(iota([2, 3], 'string'), [3, 2]).data]).toEqual(['0', '1', '2', '3', '4', '5'])
  })

  test('version 1 has the shape as an attribute', () => {
    expect(runTensor(['onnx', 'Reshape', 1], [iota([2, 3])], { attributes: { shape: [0, -1, 1] } }).dims).toEqual([
      2, 3, 1
    ])
  })

  test('allowzero and special_zero say what 0 is', () => {
    expect(onnx(allocate('int8', [0, 3]), [3, 0], 1).dims).toEqual([3, 0])
    expect(onnx(allocate('int8', [0, 3]), [-1, 3], 1).dims).toEqual([0, 3])
    expect(openvino(allocate('int8', [2, 0]), [0, 4], false).dims).toEqual([0, 4])
    expect(openvino(iota([2, 3, 4]), [0, 0, 2, -1], true).dims).toEqual([2, 3, 2, 2])
  })

  test('dims at the same place say nothing about the -1, so that an empty batch keeps its other dims', () => {
    expect(onnx(allocate('float32', [0, 3, 4]), [0, -1]).dims).toEqual([0, 12])
    expect(openvino(allocate('float32', [0, 5]), [0, -1], false).dims).toEqual([0, 5])
  })

  test('refuses shapes that cannot be', () => {
    expect(errorOf(() => onnx(iota([2, 3]), [-1, -1])).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(iota([2, 3]), [-2, 3])).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(iota([2, 3]), [2, 3, 0])).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(allocate('int8', [0, 3]), [-1, 0], 1)).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(iota([2, 3]), [4, -1])).code).toBe('shape-mismatch')
    expect(errorOf(() => openvino(allocate('int8', [2, 0, 3]), [0, -1], false)).code).toBe('shape-mismatch')
    expect(errorOf(() => onnx(iota([2, 3]), [5])).message).toBe('shape [5] holds 5 elements, data of shape [2, 3] 6')
  })
})

describe('the shape rule of Reshape', () => {
  const of = (data: readonly (number | string)[] | undefined, shape: Fact | Tensor, attributes = {}): unknown =>
    dimsOf(inferOp(['onnx', 'Reshape', 14], [fact('float32', data), shape], { attributes })[0])
  const shapeOf = (...dims: (number | string)[]): Fact => inferOp(['onnx', 'Shape', 15], [fact('float32', dims)])[0]

  test('divides symbolic dims exactly', () => {
    expect(of(['b', 's', 768], ints(0, -1, 64))).toEqual(['b', '12*s', 64])
    expect(of(['b', 's', 768], ints(-1, 768))).toEqual(['b*s', 768])
    expect(of(['b', 12, 's', 64], ints(-1, 64))).toEqual(['12*b*s', 64])
    expect(of(['n', 3], ints(0, 0))).toEqual(['n', 3])
  })

  test('symbols in the shape cancel those of the data', () => {
    const [b, s] = ['b', 's'].map(name => shapeOf(name))
    const list = (...parts: (Fact | Tensor)[]): Fact =>
      inferOp(['onnx', 'Concat', 13], parts, { attributes: { axis: 0 } })[0]
    expect(of(['b', 's', 768], list(b, s, ints(12, -1)))).toEqual(['b', 's', 12, 64])
    expect(of(['b', 's', 768], list(s, ints(-1)))).toEqual(['s', '768*b'])
    expect(of(['b', 7], list(inferOp(['onnx', 'Add', 14], [b, ints(1)])[0], ints(-1)))).toEqual([
      'b+1',
      'floor(7*b/(b+1))'
    ])
    const grown = inferOp(['onnx', 'Concat', 13], [fact('float32', ['b', 4]), fact('float32', [1, 4])], {
      attributes: { axis: 0 }
    })[0]
    expect(
      dimsOf(
        inferOp(
          ['onnx', 'Reshape', 14],
          [grown, list(inferOp(['onnx', 'Shape', 15], [grown], { attributes: { end: 1 } })[0], ints(2, -1))]
        )[0]
      )
    ).toEqual(['b+1', 2, 2])
  })

  test('an unknown element is worked out like -1 when it is the only one', () => {
    expect(of([2, 6], fact('int64', [1]))).toEqual([12])
    expect(of([2, 6], fact('int64', [3]))).toEqual(['?', '?', '?'])
    expect(of([2, 6], fact('int64', ['k']))).toBeUndefined()
    expect(of(undefined, ints(0, -1, 3))).toEqual(['?', '?', 3])
  })

  test('finds contradictions before the run', () => {
    expect(errorOf(() => of([2, 3], ints(7))).code).toBe('shape-mismatch')
    expect(errorOf(() => of([2, '1..2'], ints(7))).code).toBe('shape-mismatch')
    expect(errorOf(() => of([2, 'n'], ints(7))).code).toBe('shape-mismatch')
    expect(of([2, 'n'], ints(8))).toEqual([8])
  })

  test('moves values that are partly known', () => {
    expect(valuesOf(inferOp(['onnx', 'Reshape', 14], [shapeOf('n', 3), ints(2, 1)])[0])).toEqual(['n', 3n])
  })
})
