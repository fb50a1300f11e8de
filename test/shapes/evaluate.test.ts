import { expect, test } from 'vitest'
import { toDim } from '../../src/shapes/dim.ts'
import { evaluateDim } from '../../src/shapes/evaluate.ts'
import {
  add,
  broadcastOf,
  floorDiv,
  floorMod,
  fresh,
  maximum,
  minimum,
  mul,
  named,
  truncDiv
} from '../../src/shapes/sym.ts'

const [n, m] = [named('n'), named('m')]
const sizes = new Map([
  ['n', 7],
  ['m', 1]
])

test.each([
  ['a polynomial', add(mul(mul(n, n), 3n), add(m, -5n)), 143],
  ['a floor', floorDiv(n, 2n), 3],
  ['a floor of what is negative', floorDiv(add(m, -4n), 2n), -2],
  ['a division toward zero', truncDiv(add(m, -4n), 2n), -1],
  ['a remainder', floorMod(add(m, -4n), 5n), 2],
  ['the smaller', minimum(n, m), 1],
  ['the larger', maximum(n, mul(m, 9n)), 9],
  ['a broadcast', broadcastOf(n, m), 7],
  ['parts of parts', mul(floorDiv(add(n, floorDiv(n, 3n)), 2n), n), 28]
])('%s has a number where its parts have', (_, value, expected) => {
  expect(evaluateDim(toDim(value), sizes)).toBe(expected)
})

test('there is no number where a part has none, nor where the result is not exact or none', () => {
  expect(evaluateDim(toDim(add(n, fresh())), sizes)).toBeUndefined()
  expect(evaluateDim(toDim(mul(n, 2n ** 52n)), sizes)).toBeUndefined()
  expect(evaluateDim(toDim(floorDiv(n, add(m, -1n))), sizes)).toBeUndefined()
  expect(evaluateDim(toDim(broadcastOf(n, add(m, 4n))), sizes)).toBeUndefined()
})
