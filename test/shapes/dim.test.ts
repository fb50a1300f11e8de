import { describe, expect, test } from 'vitest'
import {
  addDims,
  asDim,
  broadcastDim,
  broadcastShapes,
  type Dim,
  floorDivDims,
  hullDims,
  maxDims,
  mayMatch,
  meetDims,
  minDim,
  minDims,
  mulDims,
  namedDim,
  normalizeAxes,
  normalizeAxis,
  printDim,
  productOf,
  subDims,
  unknownDim
} from '../../src/shapes/dim.ts'
import { errorOf } from '../ops/harness.ts'

const n = namedDim('n')
const print = (dims: readonly Dim[] | undefined): string[] | undefined => dims?.map(printDim)

test('a product that no double holds is the largest number, which is still one', () => {
  const huge = new Array<number>(30).fill(2 ** 40)
  expect(productOf(huge)).toBe(Number.MAX_VALUE)
  expect(mulDims(productOf(huge), 2)).toBe(Number.MAX_VALUE)
  expect(addDims(productOf(huge), 1)).toBe(Number.MAX_VALUE)
  expect(subDims(0, productOf(huge))).toBe(-Number.MAX_VALUE)
})

describe('broadcasting', () => {
  test('aligns at the right and broadcasts dims of 1', () => {
    expect(
      broadcastShapes([
        [4, 1, 3],
        [5, 1]
      ])
    ).toEqual([4, 5, 3])
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

  const of = (a: Dim, b: Dim): [string, string] => [printDim(broadcastDim(a, b)!), printDim(broadcastDim(b, a)!)]

  test('is the one of which a 1 makes the other 1, whichever comes first', () => {
    expect(of(n, minDims(64, n))).toEqual(['n', 'n'])
    expect(of(n, minDims(1, n))).toEqual(['n', 'n'])
    expect(of(n, maxDims(1, subDims(n, 3)))).toEqual(['n', 'n'])
    expect(of(subDims(floorDivDims(n, 2), 1), maxDims(0, subDims(floorDivDims(n, 2), 1)))).toEqual([
      'floor(n/2)-1',
      'floor(n/2)-1'
    ])
    expect(of(mulDims(n, namedDim('m')), minDims(9, n))).toEqual(['m*n', 'm*n'])
  })

  test('is neither where a 1 of each leaves the other open', () => {
    expect(of(n, floorDivDims(n, 2))).toEqual(['broadcast(floor(n/2), n)', 'broadcast(floor(n/2), n)'])
    expect(of(n, subDims(n, 1))[0]).toBe('broadcast(n, n-1)')
    expect(of(minDims(64, n), minDims(n, namedDim('m')))[0]).toBe('broadcast(min(64, n), min(m, n))')
  })

  test('of two names has a name of its own, which takes in both', () => {
    const both = broadcastDim(n, namedDim('m'))!
    expect(of(n, namedDim('m'))).toEqual(['broadcast(m, n)', 'broadcast(m, n)'])
    expect(of(both, n)).toEqual(['broadcast(m, n)', 'broadcast(m, n)'])
  })

  test('never broadcasts what cannot be 1', () => {
    expect(of(mulDims(2, n), namedDim('m'))).toEqual(['2*n', '2*n'])
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

test('the hull of one dim with two sets of bounds may lie in either', () => {
  const known = asDim(subDims(n, 3))
  const hull = hullDims(addDims(known, 3), n)
  expect([printDim(hull), minDim(addDims(known, 3)), minDim(hull), minDim(subDims(hull, 1))]).toEqual(['n', 3, 0, -1])
})

test('what is known of a sum is known of its parts', () => {
  const count = asDim(subDims(floorDivDims(n, 5), 2))
  expect(minDim(addDims(count, 2))).toBe(2)
  expect(printDim(maxDims(0, subDims(addDims(count, 1), 1)))).toBe('floor(n/5)-2')
  const gap = asDim(subDims(n, namedDim('m')))
  expect(minDim(addDims(gap, 1))).toBe(1)
})

test('names that read like expressions are no expressions', () => {
  expect(mayMatch(subDims(namedDim('2*n'), mulDims(2, n)), 5)).toBe(true)
  expect(printDim(subDims(namedDim('n+1'), addDims(n, 1)))).toBe('n+1-n-1')
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
