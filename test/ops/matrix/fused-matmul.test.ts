import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { allocate, type Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const fused: Kind = ['onnx', 'FusedMatMul', 1, 'com.microsoft']
const list = (tensor: Tensor): number[] => [...(tensor.data as Float32Array)]

/** Element `position` of a tensor after `moveaxis(0, -2)` and a transposition, each where asked. */
function elementOf(x: Tensor, moves: boolean, swaps: boolean, position: readonly number[]): number {
  const last = position.length - 1
  const unswapped = swaps ? [...position.slice(0, -2), position[last], position[last - 1]] : position
  const at = moves ? [unswapped[last - 1], ...unswapped.slice(0, -2), unswapped[last]] : unswapped
  return x.data[at.reduce((sum, i, axis) => sum * x.dims[axis] + i, 0)] as number
}

describe('FusedMatMul', () => {
  test.each([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1]
  ])('moves batches and transposes, A: %i %i', (transBatchA, transA) => {
    const [m, k, n] = [2, 3, 4]
    const [rows, columns] = transA ? [k, m] : [m, k]
    const a = iota(transBatchA ? [rows, 5, columns] : [5, rows, columns])
    const b = iota([n, 5, k])
    const attributes = { transA, transBatchA, transB: 1, transBatchB: 1, alpha: 0.5 }
    const result = runTensor(fused, [a, b], { attributes })
    expect(result.dims).toEqual([5, m, n])
    const expected: number[] = []
    for (let batch = 0; batch < 5; batch++)
      for (let i = 0; i < m; i++)
        for (let j = 0; j < n; j++) {
          let sum = 0
          for (let p = 0; p < k; p++)
            sum +=
              elementOf(a, transBatchA === 1, transA === 1, [batch, i, p]) * elementOf(b, true, true, [batch, p, j])
          expected.push(sum / 2)
        }
    expect(list(result)).toEqual(expected)
  })

  test('broadcasts batches that are moved', () => {
    const result = runTensor(fused, [iota([2, 1, 3, 3]), iota([3, 4])], { attributes: { transBatchA: 1 } })
    expect(result.dims).toEqual([1, 3, 2, 4])
    expect(list(result).slice(0, 4)).toEqual([20, 23, 26, 29])
    expect(
      dimsOf(
        inferOp(fused, [fact('float32', ['m', 'b', 3]), fact('float32', [3, 'n'])], {
          attributes: { transBatchA: 1 }
        })[0]
      )
    ).toEqual(['b', 'm', 'n'])
  })

  test('finds the next matrix where each has one row after it is moved or transposed', () => {
    const b = iota([3, 2])
    expect(list(runTensor(fused, [iota([2, 3, 1]), b], { attributes: { transA: 1 } }))).toEqual([10, 13, 28, 40])
    expect(list(runTensor(fused, [iota([1, 2, 3]), b], { attributes: { transBatchA: 1 } }))).toEqual([10, 13, 28, 40])
  })

  test('has nothing to transpose or move in a vector', () => {
    const attributes = { transA: 1, transBatchA: 1, alpha: 2 }
    expect(list(runTensor(fused, [iota([3]), iota([3, 2])], { attributes }))).toEqual([20, 26])
  })

  test('rounds float16 once', () => {
    const [a, b] = [convert(iota([1, 2]), 'float16'), convert(iota([2, 1]), 'float16')]
    expect(convert(runTensor(fused, [a, b], { attributes: { alpha: 0.1 } }), 'float32').data[0]).toBeCloseTo(0.1, 4)
  })

  test('holds the inner dims against each other after the transposition', () => {
    const error = errorOf(() => runTensor(fused, [iota([4, 3]), iota([4, 2])]))
    expect(error.code).toBe('shape-mismatch')
    expect(runTensor(fused, [iota([4, 3]), iota([4, 2])], { attributes: { transA: 1 } }).dims).toEqual([3, 2])
  })

  test('TransposeMatMul is its old name', () => {
    const result = runTensor(['onnx', 'TransposeMatMul', 1, 'com.microsoft'], [iota([3, 2]), iota([3, 1])], {
      attributes: { transA: 1, alpha: 3 }
    })
    expect(list(result)).toEqual([30, 39])
  })
})

test('MatMulInteger16 sums products of 16-bit integers as int32, which wraps', () => {
  const kind: Kind = ['onnx', 'MatMulInteger16', 1, 'com.microsoft']
  const full = (type: 'int16' | 'uint16', value: number, dims: readonly number[]): Tensor => {
    const tensor = allocate(type, dims)
    tensor.data.fill(value)
    return tensor
  }
  const lowest = runTensor(kind, [full('int16', -32768, [1, 3]), full('int16', -32768, [3, 1])])
  expect([lowest.type, [...lowest.data]]).toEqual(['int32', [-1073741824]])
  expect([...runTensor(kind, [full('int16', -7, [2]), full('uint16', 65535, [2])]).data]).toEqual([-917490])
})

test('Inverse of com.microsoft inverts each matrix', () => {
  const [a, b] = [iota([1, 1]), iota([2, 2])]
  const kind: Kind = ['onnx', 'Inverse', 1, 'com.microsoft']
  expect(errorOf(() => runTensor(kind, [a])).code).toBe('value-out-of-range')
  expect(list(runTensor(kind, [b]))).toEqual([-1.5, 0.5, 1, 0])
})
