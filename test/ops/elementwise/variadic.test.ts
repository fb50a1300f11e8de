import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]

describe('ONNX Max, Min, Mean and Sum', () => {
  test('broadcast any number of operands from version 8 on', () => {
    const out = runTensor(['onnx', 'Sum', 13], [iota([2, 1]), iota([3]), new Tensor('float32', [10], [])])
    expect(out.dims).toEqual([2, 3])
    expect(list(out)).toEqual([10, 11, 12, 11, 12, 13])
    expect(list(runTensor(['onnx', 'Mean', 13], [iota([3]), iota([3]), new Tensor('float32', [3], [])]))).toEqual(
      [1, 5 / 3, 7 / 3].map(Math.fround)
    )
  })

  test('before version 8 need equal shapes', () => {
    expect(list(runTensor(['onnx', 'Sum', 6], [iota([3]), iota([3])]))).toEqual([0, 2, 4])
    expect(errorOf(() => runTensor(['onnx', 'Sum', 6], [iota([3]), iota([1])])).code).toBe('shape-mismatch')
  })

  test('one operand is its own result', () => {
    expect(list(runTensor(['onnx', 'Mean', 13], [iota([2])]))).toEqual([0, 1])
  })

  test('NaN wins, integers are exact', () => {
    expect(
      list(runTensor(['onnx', 'Max', 13], [new Tensor('float32', [NaN, 1]), new Tensor('float32', [2, NaN])]))
    ).toEqual([NaN, NaN])
    expect(list(runTensor(['onnx', 'Min', 13], [ints(2n ** 60n + 1n), ints(2n ** 60n)]))).toEqual([2n ** 60n])
  })

  test('float16 is summed without rounding in between', () => {
    const half = (code: number): Tensor => new Tensor('float16', new Uint16Array([code]))
    // 2048 + 1 + 1: each sum of two would round back to 2048.
    expect(list(runTensor(['onnx', 'Sum', 13], [half(0x6800), half(0x3c00), half(0x3c00)]))).toEqual([0x6801])
  })

  test('the largest of symbolic sizes is followed', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n', 4])])[0]
    expect(valuesOf(inferOp(['onnx', 'Max', 13], [shape, ints(1)])[0])).toEqual(['max(1, n)', 4n])
    expect(
      dimsOf(inferOp(['onnx', 'Max', 13], [fact('float32', ['n']), fact('float32', [1]), fact('float32', [2, 1])])[0])
    ).toEqual([2, 'n'])
  })
})
