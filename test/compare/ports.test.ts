import { expect, test } from 'vitest'
import { outputDistance } from '../../src/compare/ports.ts'
import { mapOf } from '../../src/tensor/map.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'

const CLOSE = { rtol: 1e-3, atol: 1e-5 }
const one = (value: number): Tensor => new Tensor('float32', [value])
const map = (...entries: [string, number][]): Value => mapOf('string', 'float32', entries)
const optional = (value?: Value): Value => ({ type: 'optional', value })
const list = (...values: Value[]): Value => ({ type: 'sequence', values })

test('values that are built alike are measured', () => {
  const equal = (a: Value, b: Value): boolean | undefined => outputDistance(a, b, CLOSE).distance?.equal
  expect(equal(map(['a', 1], ['b', 2]), map(['b', 2], ['a', 1]))).toBe(true)
  expect(equal(map(['a', 1], ['b', 2]), map(['a', 2], ['b', 1]))).toBe(false)
  expect(equal(optional(one(1)), optional(one(1)))).toBe(true)
  expect(equal(optional(one(1)), optional(one(2)))).toBe(false)
  expect(equal(optional(), optional())).toBe(true)
  expect(equal(list(one(1), one(2)), list(one(1), one(3)))).toBe(false)
})

test.each<[string, Value, Value]>([
  ['maps of other keys', map(['a', 1]), map(['b', 1])],
  ['maps of other keys', map(['a', 1]), map(['a', 1], ['b', 1])],
  ['maps of other keys', map(['a', 1], ['b', 1]), map(['a', 1])],
  ['only one of the two is present', optional(one(1)), optional()],
  ['only one of the two is present', optional(), optional(one(1))],
  ['value 1: dims [1] and [2]', list(one(0), one(1)), list(one(0), new Tensor('float32', [1, 2]))],
  ['sequences of 1 and 0 values', list(one(0)), list()]
])('values that are built otherwise have no distance: %s', (problem, a, b) => {
  expect(outputDistance(a, b, CLOSE)).toEqual({ problem })
})
