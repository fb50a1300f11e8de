import { expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { Budget } from '../../src/runtime/memory.ts'

const ALONE = { bytes: 0, giveUp: () => false }

test('strings count against the memory of JavaScript too, until they are given up', () => {
  const budget = new Budget(2 ** 30, ALONE, 1000 * 64)
  const strings = budget.allocate('string', [600], 'heap', true)
  budget.hold(strings)
  expect(() => budget.allocate('string', [600], 'heap', true)).toThrow(NodewiseError)
  expect(budget.allocate('float32', [100_000], 'array', true).dims).toEqual([100_000])
  budget.release(strings)
  expect(budget.allocate('string', [600], 'heap', true).dims).toEqual([600])
})
