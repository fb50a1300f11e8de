import { expect, test } from 'vitest'
import { oncePer } from '../../../src/kernels/core/once.ts'

test('a result is worked out once for each object, also where there is none', () => {
  let count = 0
  const sizeOf = oncePer((list: readonly number[], least: number) => {
    count++
    return list.length < least ? undefined : list.length
  })
  const [few, many] = [[1], [1, 2, 3]]
  expect([few, many, few, many].map(list => sizeOf(list, 2))).toEqual([undefined, 3, undefined, 3])
  expect(count).toBe(2)
  expect(sizeOf([1, 2, 3], 2)).toBe(3)
  expect(count).toBe(3)
})
