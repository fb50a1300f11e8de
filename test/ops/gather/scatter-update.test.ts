import { describe, expect, test } from 'vitest'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { named } from '../../../src/shapes/sym.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const UPDATE: Kind = ['openvino', 'ScatterUpdate', 3]
const ids = (values: number[], dims?: number[]): Tensor => new Tensor('int32', values, dims)
const floats = (values: number[], dims?: number[]): Tensor => new Tensor('float32', values, dims)
const axis = (value: number): Tensor => ids([value], [])

describe('ScatterUpdate', () => {
  const data = floats([-1, 1, -1, 3, 4, -1, 6, -1, 8, 9, -1, 11, 1, 13, 14], [3, 5])

  test('replaces slices along an axis', () => {
    const out = runTensor(UPDATE, [data, ids([0, 2]), floats([1, 1, 1, 1, 1, 2], [3, 2]), axis(-1)])
    expect([...out.data]).toEqual([1, 1, 1, 3, 4, 1, 6, 1, 8, 9, 1, 11, 2, 13, 14])
  })

  test('indices of any rank', () => {
    expect([
      ...runTensor(UPDATE, [floats([1, 2, 3]), ids([2, 0], [1, 2]), floats([8, 9], [1, 2]), axis(0)]).data
    ]).toEqual([9, 2, 8])
    expect([...runTensor(UPDATE, [floats([1, 2, 3]), ids([1], []), floats([7], []), axis(0)]).data]).toEqual([1, 7, 3])
  })

  test('refuses negative and far indices', () => {
    for (const bad of [-1, 5]) {
      const error = errorOf(() => runTensor(UPDATE, [data, ids([bad]), allocate('float32', [3, 1]), axis(1)]))
      expect(error.details).toEqual({ index: `${bad}`, position: [0], axis: 1, size: 5 })
    }
  })

  test('updates have the dims that indices and data give', () => {
    expect(errorOf(() => runTensor(UPDATE, [data, ids([0]), floats([1, 2, 3]), axis(1)])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(UPDATE, [data, ids([0]), floats([1, 2], [2, 1]), axis(1)])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(UPDATE, [data, ids([0]), floats([1, 2, 3], [3, 1]), axis(2)])).code).toBe(
      'axis-out-of-range'
    )
    expect(
      dimsOf(inferOp(UPDATE, [fact('float32', ['n', 5]), fact('int32'), fact('float32'), fact('int32', [])])[0])
    ).toEqual(['n', 5])
  })

  test('symbolic elements are moved as they are', () => {
    const n = named('n')
    const shape = tensorFact('int64', [2], { type: 'int64', dims: [2], data: [n, 5n] })
    const [out] = inferOp(UPDATE, [shape, ids([1]), new Tensor('int64', [7n]), axis(0)])
    expect(out.kind === 'tensor' && out.value?.data).toEqual([n, 7n])
  })
})
