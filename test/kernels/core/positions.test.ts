import { expect, test } from 'vitest'
import { positionsArray } from '../../../src/kernels/core/positions.ts'

test('positions are int32 as long as all of them fit', () => {
  expect(positionsArray(3, 2 ** 31 - 1)).toEqual(new Int32Array(3))
  expect(positionsArray(3, 2 ** 31)).toEqual(new Float64Array(3))
})
