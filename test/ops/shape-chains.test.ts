import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/shapes/fact.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind } from './harness.ts'
import { ints, scalar, valuesOf } from './values.ts'

const onnx = (type: string, inputs: (Fact | Tensor)[], attributes = {}): Fact =>
  inferOp(['onnx', type, 18] as Kind, inputs, { attributes })[0]
const openvino = (type: string, inputs: (Fact | Tensor)[], attributes = {}): Fact =>
  inferOp(['openvino', type, 8] as Kind, inputs, { attributes })[0]

describe('the chains that exporters write resolve', () => {
  test('Shape, Gather, Unsqueeze, Concat, Reshape: heads of an attention', () => {
    const x = fact('float32', ['batch', 'seq', 768])
    const dims = onnx('Shape', [x])
    const one = (index: number): Fact => onnx('Unsqueeze', [onnx('Gather', [dims, scalar(index)]), ints(0)])
    const heads = onnx('Concat', [one(0), one(1), ints(12, 64)], { axis: 0 })
    expect(valuesOf(heads)).toEqual(['batch', 'seq', 12n, 64n])
    const split = onnx('Reshape', [x, heads])
    expect(dimsOf(split)).toEqual(['batch', 'seq', 12, 64])
    const turned = onnx('Transpose', [split], { perm: [0, 2, 1, 3] })
    expect(
      dimsOf(
        onnx('Reshape', [
          onnx('Transpose', [turned], { perm: [0, 2, 1, 3] }),
          onnx('Concat', [one(0), one(1), ints(-1)], { axis: 0 })
        ])
      )
    ).toEqual(['batch', 'seq', 768])
  })

  test('Shape, Slice, Concat, Expand: a mask for every batch', () => {
    const dims = onnx('Shape', [fact('int64', ['batch', 'seq'])])
    const target = onnx(
      'Concat',
      [onnx('Slice', [dims, ints(0), ints(1)]), ints(1), onnx('Slice', [dims, ints(1), ints(2n ** 63n - 1n)]), ints(1)],
      { axis: 0 }
    )
    expect(dimsOf(onnx('Expand', [fact('bool', [1, 1, 1, 'seq']), target]))).toEqual(['batch', 1, 'seq', 'seq'])
  })

  test('Shape, Gather, Range, Unsqueeze: positions', () => {
    const length = onnx('Gather', [onnx('Shape', [fact('int64', ['batch', 'seq'])]), scalar(1)])
    expect(dimsOf(onnx('Unsqueeze', [onnx('Range', [scalar(0), length, scalar(1)]), ints(0)]))).toEqual([1, 'seq'])
  })

  test('ConstantOfShape and Tile take symbols', () => {
    const dims = onnx('Shape', [fact('float32', ['n', 'm'])])
    expect(dimsOf(onnx('ConstantOfShape', [dims]))).toEqual(['n', 'm'])
    expect(dimsOf(onnx('Tile', [fact('float32', [1, 4]), dims]))).toEqual(['n', '4*m'])
  })

  test('a rank that no tensor has is refused at once', () => {
    const long = ints(...new Array<number>(100_000).fill(1))
    const x = fact('float32', ['n'])
    for (const run of [
      () => onnx('Reshape', [x, long]),
      () => onnx('Expand', [x, long]),
      () => onnx('Tile', [x, long]),
      () => onnx('Unsqueeze', [x, long]),
      () => onnx('ConstantOfShape', [long]),
      () => openvino('StridedSlice', [x, long, long], { begin_mask: [], end_mask: [] })
    ])
      expect(errorOf(run).code).toBe('limit-exceeded')
  })

  test('ShapeOf, StridedSlice, Concat, Reshape in OpenVINO', () => {
    const x = fact('float32', ['n', 'c', 'h', 'w'])
    const batch = openvino(
      'StridedSlice',
      [openvino('ShapeOf', [x], { output_type: 'i32' }), ints(0), ints(1), ints(1)],
      { begin_mask: [0], end_mask: [0] }
    )
    expect(valuesOf(batch)).toEqual(['n'])
    const wide = inferOp(['openvino', 'ShapeOf', 1], [x])[0]
    const first = openvino('Gather', [wide, ints(0), scalar(0)])
    const shape = openvino('Concat', [first, ints(-1)], { axis: 0 })
    expect(dimsOf(openvino('Reshape', [x, shape], { special_zero: true }))).toEqual(['n', 'c*h*w'])
    expect(dimsOf(openvino('Broadcast', [fact('float32', []), wide], { mode: 'numpy' }))).toEqual(['n', 'c', 'h', 'w'])
  })
})
