import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints, iota } from '../values.ts'

const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])
const average = (x: Tensor, ...sizes: number[]): Tensor =>
  runTensor(['openvino', 'AdaptiveAvgPool', 8], [x, ints(...sizes)])
const highest = (x: Tensor, ...sizes: number[]): number[][] =>
  runOp(['openvino', 'AdaptiveMaxPool', 8], [x, ints(...sizes)], { outputs: 2 }).map(out =>
    [...((out as Tensor).data as Float32Array)].map(Number)
  )

describe('adaptive pools', () => {
  test('windows overlap where they do not come out even', () => {
    expectNear(average(row(1, 2, 4, 8, 16), 3), [1.5, 14 / 3, 12])
    expect(highest(row(1, 9, 4, 8, 2), 3)).toEqual([
      [9, 9, 8],
      [1, 1, 3]
    ])
  })

  test('there may be more windows than elements', () => {
    expectNear(average(row(1, 3), 5), [1, 1, 2, 3, 3])
  })

  test('indices count within a plane', () => {
    expect(highest(iota([2, 1, 2, 4]), 1, 2)).toEqual([
      [5, 7, 13, 15],
      [5, 7, 5, 7]
    ])
    expect(highest(iota([1, 1, 2, 2, 2]), 1, 1, 1)).toEqual([[7], [7]])
  })

  test('the type of the indices can be chosen', () => {
    const attributes = { index_element_type: 'i32' }
    const [, indices] = runOp(['openvino', 'AdaptiveMaxPool', 8], [row(1, 2), ints(1)], { attributes, outputs: 2 })
    expect(indices).toMatchObject({ type: 'int32' })
  })

  test('refuse sizes that do not fit and windows of nothing', () => {
    expect(errorOf(() => average(row(1, 2), 1, 1)).code).toBe('dims-mismatch')
    expect(errorOf(() => average(row(1, 2), -1)).code).toBe('value-out-of-range')
    expect(errorOf(() => average(allocate('float32', [1, 1, 0]), 2)).code).toBe('shape-mismatch')
    expect(errorOf(() => average(allocate('float32', [1, 2]), 2)).code).toBe('rank-mismatch')
    expect(errorOf(() => average(row(1, 2), 2 ** 40)).code).toBe('limit-exceeded')
    expect(average(allocate('float32', [0, 1, 3]), 2 ** 40).data.length).toBe(0)
    expect(average(row(1, 2), 0).dims).toEqual([1, 1, 0])
  })

  test('their shape rule takes the sizes as they are known', () => {
    const infer = (x: Parameters<typeof fact>[1], sizes: Tensor | ReturnType<typeof fact>): unknown =>
      dimsOf(inferOp(['openvino', 'AdaptiveAvgPool', 8], [fact('float32', x), sizes])[0])
    expect(infer(['n', 'c', '?', '?'], ints(7, 5))).toEqual(['n', 'c', 7, 5])
    expect(infer(['n', 'c', '?', '?'], fact('int64', [2]))).toEqual(['n', 'c', '?', '?'])
    expect(infer(undefined, ints(7))).toEqual(['?', '?', 7])
    expect(infer(undefined, fact('int64', ['?']))).toBeUndefined()
  })
})
