import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]

describe('ONNX MatMul', () => {
  test('follows NumPy for every pair of ranks', () => {
    const dims = (a: number[], b: number[]): readonly number[] =>
      runTensor(['onnx', 'MatMul', 13], [iota(a), iota(b)]).dims
    expect(dims([3], [3])).toEqual([])
    expect(dims([3], [3, 2])).toEqual([2])
    expect(dims([2, 3], [3])).toEqual([2])
    expect(dims([4, 2, 3], [3])).toEqual([4, 2])
    expect(dims([3], [4, 3, 2])).toEqual([4, 2])
    expect(dims([5, 1, 2, 3], [4, 3, 2])).toEqual([5, 4, 2, 2])
    expect(dims([0, 3], [3, 2])).toEqual([0, 2])
  })

  test('batches are broadcast', () => {
    const out = runTensor(['onnx', 'MatMul', 13], [iota([2, 1, 1, 2]), iota([3, 2, 1])])
    expect(out.dims).toEqual([2, 3, 1, 1])
    expect(list(out)).toEqual([1, 3, 5, 3, 13, 23])
  })

  test('an empty inner dim gives zeros', () => {
    expect(list(runTensor(['onnx', 'MatMul', 13], [allocate('float32', [2, 0]), allocate('float32', [0, 2])]))).toEqual(
      [0, 0, 0, 0]
    )
  })

  test('integers came with version 9', () => {
    expect(list(runTensor(['onnx', 'MatMul', 9], [ints(2n ** 40n), ints(3)]))).toEqual([3n * 2n ** 40n])
    expect(errorOf(() => runTensor(['onnx', 'MatMul', 1], [ints(1), ints(1)])).code).toBe('type-not-allowed')
  })

  test('float16 is rounded once', () => {
    const half = (...codes: number[]): Tensor => new Tensor('float16', new Uint16Array(codes))
    expect(
      list(runTensor(['onnx', 'MatMul', 13], [half(0x6800, 0x3c00, 0x3c00), half(0x3c00, 0x3c00, 0x3c00)]))
    ).toEqual([0x6801])
  })

  test('scalars and inner dims that differ are refused', () => {
    expect(errorOf(() => runTensor(['onnx', 'MatMul', 13], [scalar(1, 'float32'), iota([1])])).code).toBe(
      'rank-mismatch'
    )
    expect(errorOf(() => runTensor(['onnx', 'MatMul', 13], [iota([2, 3]), iota([2, 3])])).code).toBe('shape-mismatch')
  })

  test('shapes stay symbolic', () => {
    expect(
      dimsOf(inferOp(['onnx', 'MatMul', 13], [fact('float32', ['n', 's', 8]), fact('float32', [8, 'v'])])[0])
    ).toEqual(['n', 's', 'v'])
    expect(
      dimsOf(
        inferOp(['onnx', 'MatMul', 13], [fact('float32', ['n', 1, 's', '?']), fact('float32', ['h', '?', 't'])])[0]
      )
    ).toEqual(['n', 'h', 's', 't'])
    expect(dimsOf(inferOp(['onnx', 'MatMul', 13], [fact('float32'), fact('float32', [8])])[0])).toBeUndefined()
  })
})

describe('OpenVINO MatMul', () => {
  test('transposes the last two dims, lists never', () => {
    const [a, b] = [iota([3, 2]), iota([4, 3])]
    const out = runTensor(['openvino', 'MatMul', 1], [a, b], { attributes: { transpose_a: true, transpose_b: true } })
    expect(out.dims).toEqual([2, 4])
    expect(list(out)).toEqual([10, 28, 46, 64, 13, 40, 67, 94])
    expect(
      list(
        runTensor(['openvino', 'MatMul', 1], [iota([3]), iota([3])], {
          attributes: { transpose_a: true, transpose_b: true }
        })
      )
    ).toEqual([5])
  })

  test('transposed shapes stay symbolic', () => {
    const attributes = { transpose_b: true }
    expect(
      dimsOf(
        inferOp(['openvino', 'MatMul', 1], [fact('float32', ['n', 8]), fact('float32', ['m', 8])], { attributes })[0]
      )
    ).toEqual(['n', 'm'])
  })

  test('int8 products wrap as int8', () => {
    const bytes = (...values: number[]): Tensor => new Tensor('int8', values)
    expect(list(runTensor(['openvino', 'MatMul', 1], [bytes(100, 1), bytes(2, 3)]))).toEqual([-53])
  })
})

describe('MatMulInteger', () => {
  const a = new Tensor('uint8', [255, 1, 2, 3], [2, 2])
  const b = new Tensor('int8', [-128, 4, 5, 6], [2, 2])

  test('subtracts zero points: one for all, by row of a, by column of b', () => {
    expect(list(runTensor(['onnx', 'MatMulInteger', 10], [a, b]))).toEqual([-32635, 1026, -241, 26])
    const rows = new Tensor('uint8', [255, 2])
    const columns = new Tensor('int8', [-128, 4])
    const out = runTensor(['onnx', 'MatMulInteger', 10], [a, b, rows, columns])
    expect(out.type).toBe('int32')
    expect(list(out)).toEqual([-254 * 133, -254 * 2, 133, 2])
    expect(list(runTensor(['onnx', 'MatMulInteger', 10], [a, b, undefined, new Tensor('int8', [1])]))).toEqual([
      255 * -129 + 4,
      255 * 3 + 5,
      2 * -129 + 12,
      6 + 15
    ])
  })

  test('a zero point that fits no dim is refused', () => {
    expect(errorOf(() => runTensor(['onnx', 'MatMulInteger', 10], [a, b, new Tensor('uint8', [1, 2, 3])])).code).toBe(
      'shape-mismatch'
    )
  })
})
