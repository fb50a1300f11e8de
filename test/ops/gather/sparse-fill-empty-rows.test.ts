import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const KIND: Kind = ['openvino', 'SparseFillEmptyRows', 16]
const tuples = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length / 2, 2])

function fill(values: Tensor, dims: number[], indices: Tensor, fallback: Tensor): unknown[][] {
  return (runOp(KIND, [values, ints(...dims), indices, fallback], { outputs: 3 }) as Tensor[]).map(({ data }) =>
    Array.from(data as ArrayLike<unknown>, item => (typeof item === 'bigint' ? Number(item) : item))
  )
}

describe('SparseFillEmptyRows', () => {
  test('puts a default at the start of each empty row', () => {
    expect(
      fill(new Tensor('float32', [1, 2, 3, 4]), [5, 6], tuples(0, 1, 0, 3, 2, 0, 3, 1), scalar(9, 'float32'))
    ).toEqual([
      [0, 1, 0, 3, 1, 0, 2, 0, 3, 1, 4, 0],
      [1, 2, 9, 3, 4, 9],
      [0, 1, 0, 0, 1]
    ])
  })

  test('sorts elements by row and column, equal ones as they came', () => {
    expect(fill(ints(1, 2, 3, 4), [2, 3], tuples(1, 2, 1, 0, 0, 1, 1, 0), scalar(9))).toEqual([
      [0, 1, 1, 0, 1, 0, 1, 2],
      [3, 2, 4, 1],
      [0, 0]
    ])
  })

  test('without elements every row gets a default, without rows nothing does', () => {
    expect(fill(new Tensor('float32', []), [2, 3], new Tensor('int64', [], [0, 2]), scalar(9, 'float32'))).toEqual([
      [0, 0, 1, 0],
      [9, 9],
      [1, 1]
    ])
    expect(fill(new Tensor('float32', []), [0, 3], new Tensor('int64', [], [0, 2]), scalar(9, 'float32'))).toEqual([
      [],
      [],
      []
    ])
  })

  test('refuses indices beyond the matrix and operands that do not fit', () => {
    const one = new Tensor('float32', [1])
    expect(errorOf(() => fill(one, [2, 3], tuples(2, 0), scalar(9, 'float32')))).toMatchObject({
      code: 'index-out-of-range',
      details: { position: [0, 0], axis: 0, size: 2 }
    })
    expect(errorOf(() => fill(one, [2, 3], tuples(0, 3), scalar(9, 'float32')))).toMatchObject({
      details: { position: [0, 1], axis: 1, size: 3 }
    })
    expect(errorOf(() => fill(one, [2, 3], tuples(0, 0, 1, 1), scalar(9, 'float32'))).code).toBe('dims-mismatch')
    expect(errorOf(() => fill(one, [2, 3, 4], tuples(0, 0), scalar(9, 'float32'))).code).toBe('dims-mismatch')
    expect(errorOf(() => fill(one, [-2, 3], tuples(0, 0), scalar(9, 'float32'))).code).toBe('value-out-of-range')
    expect(errorOf(() => fill(one, [2, 3], tuples(0, 0), scalar(9, 'float64'))).code).toBe('type-mismatch')
    expect(errorOf(() => fill(one, [2, 3], tuples(0, 0), new Tensor('float32', [9]))).code).toBe('rank-mismatch')
  })

  test('a matrix of too many rows is refused before memory is taken', () => {
    expect(errorOf(() => fill(new Tensor('float32', [1]), [2 ** 50, 3], tuples(0, 0), scalar(9, 'float32'))).code).toBe(
      'limit-exceeded'
    )
  })

  test('the number of elements lies between what is there and one more for each row', () => {
    const facts = [fact('float32', [4]), ints(6, 9), fact('int64', [4, 2]), fact('float32', [])]
    expect(inferOp(KIND, facts, { outputs: 3 }).map(dimsOf)).toEqual([['6..10', 2], ['6..10'], [6]])
    expect(
      inferOp(KIND, [fact('float32', [1]), ints(6, 9), tuples(0, 0), fact('float32', [])], { outputs: 3 }).map(dimsOf)
    ).toEqual([[6, 2], [6], [6]])
  })
})
