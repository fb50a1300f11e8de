import { describe, expect, test } from 'vitest'
import { addDims, broadcastShapes, type Dim, hullDims, meetDims, namedDim, normalizeAxes, normalizeAxis, printDim, productOf, unknownDim } from '../../src/shapes/dim.ts'
import { errorOf } from '../ops/harness.ts'

const n = namedDim('n')
const print = (dims: readonly Dim[] | undefined): string[] | undefined => dims?.map(printDim)

describe('broadcasting', () => {
  test('aligns at the right and stretches 1', () => {
    expect(broadcastShapes([[4, 1, 3], [5, 1]])).toEqual([4, 5, 3])
    expect(broadcastShapes([[], [2]])).toEqual([2])
    expect(broadcastShapes([[0], [1]])).toEqual([0])
  })

  test('a symbol against a number other than 1 is that number', () => {
    expect(broadcastShapes([[n], [4]])).toEqual([4])
    expect(print(broadcastShapes([[n], [1]]))).toEqual(['n'])
    expect(print(broadcastShapes([[n], [n]]))).toEqual(['n'])
  })

  test('two symbols give the hull of both', () => {
    expect(print(broadcastShapes([[unknownDim(1, 4)], [unknownDim(1, 9)]]))).toEqual(['1..9'])
    expect(print(broadcastShapes([[unknownDim(2, 4)], [n]]))).toEqual(['2..4'])
  })

  test('refuses what no values can fit', () => {
    expect(errorOf(() => broadcastShapes([[2], [3]])).code).toBe('shape-mismatch')
    expect(errorOf(() => broadcastShapes([[unknownDim(2, 4)], [5]])).code).toBe('shape-mismatch')
    expect(errorOf(() => broadcastShapes([[0], [3]])).code).toBe('shape-mismatch')
  })
})

test('the meet of two dims is what both allow', () => {
  expect(meetDims(n, 4)).toBe(4)
  expect(meetDims(unknownDim(1, 3), 4)).toBeUndefined()
  expect(printDim(meetDims(unknownDim(1, 5), unknownDim(3, 9))!)).toBe('3..5')
  expect(meetDims(unknownDim(1, 5), unknownDim(5, 9))).toBe(5)
  expect(printDim(meetDims(unknownDim(), n)!)).toBe('n')
})

test('the hull of two dims holds both', () => {
  expect(hullDims(n, n)).toBe(n)
  expect(printDim(hullDims(2, 7))).toBe('2..7')
})

test('a product with a zero is zero', () => {
  expect(productOf([n, 0])).toBe(0)
  expect(printDim(productOf([n, 3, n]))).toBe('3*n*n')
})

test('sums beyond 2^53 are not rounded', () => {
  expect(printDim(addDims(Number.MAX_SAFE_INTEGER, 0))).toBe('9007199254740991')
})

test('axes count from the end and must be in range and distinct', () => {
  expect(normalizeAxis(-1, 3)).toBe(2)
  expect(errorOf(() => normalizeAxis(3, 3)).message).toBe('axis 3 is out of range for rank 3; expected -3..2')
  expect(errorOf(() => normalizeAxis(0, 0)).code).toBe('axis-out-of-range')
  expect(normalizeAxes([-1, 0], 2)).toEqual([1, 0])
  expect(errorOf(() => normalizeAxes([1, -1], 2)).code).toBe('value-out-of-range')
})
