import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints } from '../values.ts'

const f32 = (dims: number[], ...data: number[]): Tensor => new Tensor('float32', data, dims)
const BUCKETIZE: Kind = ['openvino', 'Bucketize', 3]
const SEARCH: Kind = ['openvino', 'SearchSorted', 15]
const found = (tensor: Tensor): number[] => [...(tensor.data as BigInt64Array)].map(Number)

describe('Bucketize', () => {
  const x = f32([2, 3], 3, 50, 10, -1, 0, 5)
  const boundaries = f32([3], 0, 5, 10)

  test('a boundary belongs to the bucket on its left or, if asked, on its right', () => {
    expect(found(runTensor(BUCKETIZE, [x, boundaries], { attributes: { output_type: 'i64' } }))).toEqual([
      1, 3, 2, 0, 0, 1
    ])
    const right = runTensor(BUCKETIZE, [x, boundaries], { attributes: { output_type: 'i32', with_right_bound: false } })
    expect([right.type, right.dims, found(right)]).toEqual(['int32', [2, 3], [1, 3, 3, 0, 1, 2]])
  })

  test('types may differ and compare exactly', () => {
    const wide = new Tensor('int64', [2n ** 53n, 2n ** 53n + 1n])
    expect(
      found(runTensor(BUCKETIZE, [wide, new Tensor('float64', [2 ** 53])], { attributes: { output_type: 'i64' } }))
    ).toEqual([0, 1])
    expect(
      found(runTensor(BUCKETIZE, [new Tensor('uint8', [1, 2]), ints(1, 2)], { attributes: { output_type: 'i64' } }))
    ).toEqual([0, 1])
  })

  test('without boundaries everything is in bucket 0', () => {
    expect(found(runTensor(BUCKETIZE, [x, f32([0])], { attributes: { output_type: 'i64' } }))).toEqual([
      0, 0, 0, 0, 0, 0
    ])
  })

  test('other output types and boundaries of rank 2 are refused', () => {
    expect(errorOf(() => runTensor(BUCKETIZE, [x, boundaries], { attributes: { output_type: 'f32' } })).code).toBe(
      'type-not-allowed'
    )
    expect(
      errorOf(() => runTensor(BUCKETIZE, [x, f32([1, 3], 0, 5, 10)], { attributes: { output_type: 'i64' } })).code
    ).toBe('rank-mismatch')
  })
})

describe('SearchSorted', () => {
  const sorted = f32([2, 4], 1, 2, 2, 3, 10, 20, 30, 40)
  const x = f32([2, 3], 2, 0, 9, 20, 25, 50)

  test('finds the first or the last place in the row of each value', () => {
    expect(found(runTensor(SEARCH, [sorted, x]))).toEqual([1, 0, 4, 1, 2, 4])
    expect(found(runTensor(SEARCH, [sorted, x], { attributes: { right_mode: true } }))).toEqual([3, 0, 4, 2, 2, 4])
  })

  test('one sequence serves values of any shape', () => {
    const one = f32([3], 1, 2, 3)
    expect(found(runTensor(SEARCH, [one, f32([2, 1, 2], 0, 2, 3, 4)]))).toEqual([0, 1, 2, 3])
    expect(runTensor(SEARCH, [one, f32([], 2)]).dims).toEqual([])
  })

  test('rows that differ, scalars and types that differ are refused', () => {
    expect(errorOf(() => runTensor(SEARCH, [sorted, f32([3, 1], 1, 2, 3)])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(SEARCH, [sorted, f32([2], 1, 2)])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(SEARCH, [f32([], 1), x])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(SEARCH, [sorted, new Tensor('int32', [1, 2], [2, 1])])).code).toBe('type-mismatch')
  })

  test('the shape is that of the values', () => {
    expect(dimsOf(inferOp(SEARCH, [fact('float32', ['n', 9]), fact('float32', ['n', 'k'])])[0])).toEqual(['n', 'k'])
  })
})
