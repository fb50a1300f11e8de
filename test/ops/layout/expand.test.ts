import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, type Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const expand = (data: Tensor, ...shape: number[]): Tensor => runTensor(['onnx', 'Expand', 13], [data, ints(...shape)])
const broadcast = (opset: number, mode: string | undefined, data: Tensor, shape: Tensor, axes?: Tensor): Tensor =>
  runTensor(
    ['openvino', 'Broadcast', opset],
    axes ? [data, shape, axes] : [data, shape],
    mode === undefined ? {} : { attributes: { mode } }
  )

describe('ONNX Expand', () => {
  test('broadcasts dims of 1 on both sides', () => {
    const out = expand(iota([3, 1]), 2, 1, 2)
    expect(out.dims).toEqual([2, 3, 2])
    expect([...out.data]).toEqual([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2])
    expect(expand(iota([2, 3]), 1).dims).toEqual([2, 3])
    expect(expand(iota([2, 1]), 1, 0).dims).toEqual([2, 0])
    expect(expand(allocate('float32', [0, 1]), 3).dims).toEqual([0, 3])
    expect([...expand(iota([], 'string'), 2).data]).toEqual(['0', '0'])
  })

  test('refuses what does not fit', () => {
    expect(errorOf(() => expand(iota([2]), 3)).code).toBe('shape-mismatch')
    expect(errorOf(() => expand(iota([2]), 0)).code).toBe('shape-mismatch')
    expect(errorOf(() => expand(iota([2]), -1)).code).toBe('value-out-of-range')
    expect(errorOf(() => expand(iota([1]), 2 ** 31, 2 ** 31)).code).toBe('limit-exceeded')
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const data = iota([2, 1], type)
      const { slots } = DTYPES[type]
      const expected = [0, 0, 0, 1, 1, 1].flatMap(i => [...data.data.slice(i * slots, (i + 1) * slots)] as unknown[])
      expect([...broadcast(3, 'bidirectional', data, ints(2, 3)).data], type).toEqual(expected)
    }
  })
})

describe('OpenVINO Broadcast', () => {
  test('numpy broadcasts only the data', () => {
    expect(broadcast(1, 'numpy', iota([3, 1]), ints(2, 3, 2)).dims).toEqual([2, 3, 2])
    expect(broadcast(3, undefined, iota([1, 3]), ints(0, 3)).dims).toEqual([0, 3])
    expect(errorOf(() => broadcast(3, 'numpy', iota([2, 3]), ints(3))).code).toBe('rank-mismatch')
    expect(errorOf(() => broadcast(3, 'numpy', iota([3]), ints(1))).code).toBe('shape-mismatch')
  })

  test('explicit maps axes in order', () => {
    const out = broadcast(3, 'explicit', iota([3]), ints(2, 3, 2), ints(1))
    expect(out.dims).toEqual([2, 3, 2])
    expect([...out.data]).toEqual([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2])
    expect(broadcast(1, undefined, iota([2, 1]), ints(2, 3, 4), ints(0, 2)).dims).toEqual([2, 3, 4])
    expect([...broadcast(1, 'none', iota([]), ints(2), ints()).data]).toEqual([0, 0])
  })

  test('explicit refuses wrong mappings', () => {
    expect(errorOf(() => broadcast(3, 'explicit', iota([3]), ints(2, 3))).code).toBe('wrong-input-count')
    expect(errorOf(() => broadcast(3, 'explicit', iota([3, 2]), ints(2, 3), ints(1, 0))).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => broadcast(3, 'explicit', iota([3]), ints(2, 3), ints(-1))).code).toBe('value-out-of-range')
    expect(errorOf(() => broadcast(3, 'explicit', iota([3]), ints(2, 3), ints(0, 1))).code).toBe('dims-mismatch')
    expect(errorOf(() => broadcast(3, 'explicit', iota([3]), ints(2, 3), ints(0))).code).toBe('shape-mismatch')
    expect(errorOf(() => broadcast(1, 'bidirectional', iota([3]), ints(3))).code).toBe('unknown-attribute-value')
  })
})

describe('the shape rule of Expand', () => {
  const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['b', 's'])])
  const of = (data: readonly (number | string)[] | undefined, shape: Parameters<typeof inferOp>[1][number]): unknown =>
    dimsOf(inferOp(['onnx', 'Expand', 13], [fact('float32', data), shape])[0])

  test('symbols in the shape become dims', () => {
    expect(of([1, 1], dims)).toEqual(['b', 's'])
    expect(of([4, 1, 1], dims)).toEqual([4, 'b', 's'])
    expect(of([7, 3], fact('int64', [3]))).toEqual(['?', 7, 3])
    expect(of([7, 3], fact('int64', ['k']))).toBeUndefined()
    expect(of(undefined, ints(2, 3))).toBeUndefined()
  })

  test('the one-way modes give the shape that is asked for', () => {
    const way = (
      mode: string,
      data: readonly (number | string)[] | undefined,
      ...rest: Parameters<typeof inferOp>[1][number][]
    ): unknown =>
      dimsOf(inferOp(['openvino', 'Broadcast', 3], [fact('float32', data), ...rest], { attributes: { mode } })[0])
    expect(way('numpy', undefined, dims)).toEqual(['b', 's'])
    expect(way('numpy', [5], fact('int64', [2]))).toEqual(['?', 5])
    expect(way('explicit', ['n'], ints(2, 3), fact('int64', [1]))).toEqual([2, 3])
    expect(way('explicit', [5], fact('int64', [2]), ints(0))).toEqual([5, '?'])
  })

  test('moves values that are partly known', () => {
    const [n] = inferOp(['onnx', 'Slice', 13], [dims, ints(0), ints(1)])
    expect(valuesOf(inferOp(['onnx', 'Expand', 13], [n, ints(3)])[0])).toEqual(['b', 'b', 'b'])
  })
})
