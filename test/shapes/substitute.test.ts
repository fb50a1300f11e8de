import { expect, test } from 'vitest'
import { isOneWith, substitute } from '../../src/shapes/substitute.ts'
import {
  add,
  broadcastOf,
  floorDiv,
  floorMod,
  type Int,
  maximum,
  minimum,
  mul,
  named,
  printInt,
  sub,
  type Sym,
  truncDiv
} from '../../src/shapes/sym.ts'

const n = named('n')
const m = named('m')
const put = (value: Int, is: Int): string => printInt(substitute(value, 'n', is))

test('a number or an expression takes the place of a name, within opaque parts too', () => {
  expect(put(add(mul(n, n), mul(2n, m)), 3n)).toBe('2*m+9')
  expect(put(minimum(64n, add(n, m)), sub(1n, m))).toBe('1')
  expect(put(floorDiv(add(n, 1n), 2n), add(m, 3n))).toBe('floor(m/2)+2')
  expect(
    [truncDiv(sub(n, 9n), 2n), floorMod(n, 8n), maximum(n, m), broadcastOf(n, m)].map(value => put(value, 1n))
  ).toEqual(['-4', '1', 'max(1, m)', 'm'])
  expect(substitute(m, 'n', 1n)).toBe(m)
})

test('one expression is 1 wherever another is', () => {
  const is = (a: Int, b: Int): boolean => isOneWith(a as Sym, b as Sym)
  expect(is(minimum(64n, n), n)).toBe(true)
  expect(is(minimum(1n, n), n)).toBe(true)
  expect(is(n, minimum(64n, n))).toBe(true)
  expect(is(n, minimum(1n, n))).toBe(false)
  expect(is(n, maximum(0n, n))).toBe(true)
  expect(is(n, maximum(1n, n))).toBe(false)
  expect(is(n, mul(n, m))).toBe(true)
  expect(is(mul(n, m), n)).toBe(false)
  expect(is(minimum(8n, add(n, m)), add(n, m))).toBe(true)
  expect(is(n, broadcastOf(n, m))).toBe(true)
  expect(is(m, n)).toBe(false)
})
