import { describe, expect, test } from 'vitest'
import {
  add,
  bounded,
  ceilDiv,
  floorDiv,
  floorMod,
  fresh,
  type Int,
  maximum,
  maxOf,
  mayBeEqual,
  minimum,
  minOf,
  mul,
  named,
  printInt,
  sameInt,
  sub,
  truncDiv
} from '../../src/shapes/sym.ts'

const n = named('n')
const m = named('m')

describe('the normal form', () => {
  test('equal expressions have equal keys', () => {
    expect(sameInt(mul(2n, n), add(n, n))).toBe(true)
    expect(sameInt(mul(add(n, 1n), add(n, -1n)), sub(mul(n, n), 1n))).toBe(true)
    expect(sameInt(mul(n, m), mul(m, n))).toBe(true)
    expect(sameInt(n, m)).toBe(false)
  })

  test('terms that cancel leave a number', () => {
    expect(sub(add(n, 5n), n)).toBe(5n)
    expect(mul(n, 0n)).toBe(0n)
  })

  test('two unknowns are never equal', () => {
    expect(sameInt(fresh(), fresh())).toBe(false)
  })

  test('an expression of too many terms keeps only its bounds', () => {
    let sum: Int = 0n
    for (let i = 0; i < 40; i++) sum = add(sum, named(`x${i}`, 0, 10))
    expect(maxOf(sum)).toBe(400)
    expect(printInt(sum)).toBe('0..400')
  })
})

describe('bounds', () => {
  test('follow sums, products and signs', () => {
    const x = named('x', 2, 5)
    expect([minOf(add(x, 3n)), maxOf(add(x, 3n))]).toEqual([5, 8])
    expect([minOf(mul(x, -2n)), maxOf(mul(x, -2n))]).toEqual([-10, -4])
    expect([minOf(mul(x, n)), maxOf(mul(x, n))]).toEqual([0, Infinity])
  })

  test('beyond 2^53 are infinite', () => {
    expect(maxOf(mul(named('x', 0, Number.MAX_SAFE_INTEGER), 2n))).toBe(Infinity)
  })

  test('that meet make a number', () => {
    expect(bounded(n, 4, 4)).toBe(4n)
    expect(bounded(named('x', 0, 3), 4, 9)).toBeUndefined()
  })
})

describe('division', () => {
  test('is exact where every term allows it', () => {
    expect(printInt(floorDiv(mul(12n, n), 4n))).toBe('3*n')
    expect(printInt(floorDiv(mul(named('h', 1), n), named('h', 1)))).toBe('n')
  })

  test('by a symbol that may be zero is not exact', () => {
    expect(floorDiv(mul(n, m), m)).not.toBe(n)
  })

  test('the same division gives the same symbol', () => {
    expect(sameInt(floorDiv(n, 2n), floorDiv(n, 2n))).toBe(true)
    expect(printInt(floorDiv(add(n, 1n), 2n))).toBe('floor((n+1)/2)')
  })

  test('rounds as named, on numbers of both signs', () => {
    expect([floorDiv(-7n, 2n), truncDiv(-7n, 2n), ceilDiv(-7n, 2n), ceilDiv(7n, 2n), floorMod(-7n, 2n)]).toEqual([
      -4n,
      -3n,
      -3n,
      4n,
      1n
    ])
  })

  test('rounding up is a floor, exact where it can be', () => {
    expect(printInt(ceilDiv(n, 2n))).toBe('floor((n+1)/2)')
    expect(printInt(ceilDiv(mul(4n, n), 2n))).toBe('2*n')
    expect([ceilDiv(7n, 2n), ceilDiv(-7n, 2n), ceilDiv(8n, 2n)]).toEqual([4n, -3n, 4n])
  })

  test('what is a multiple leaves the floor', () => {
    expect(printInt(floorDiv(add(mul(2n, n), 1n), 2n))).toBe('n')
    expect(printInt(floorDiv(add(n, 5n), 2n))).toBe('floor((n+1)/2)+2')
  })

  test('bounds of a quotient follow those of its arguments', () => {
    const half = floorDiv(named('x', 3, 9), 2n)
    expect([minOf(half), maxOf(half)]).toEqual([1, 4])
  })

  test('a remainder is less than the divisor', () => {
    const rest = floorMod(n, 8n)
    expect([minOf(rest), maxOf(rest)]).toEqual([0, 7])
  })
})

test('minimum and maximum are decided when a difference has a sign', () => {
  expect(minimum(n, add(n, 1n))).toBe(n)
  expect(sameInt(maximum(n, add(n, 1n)), add(n, 1n))).toBe(true)
  expect(printInt(minimum(n, m))).toBe('min(m, n)')
})

test('minimum and maximum take in what they are made of', () => {
  const least = minimum(n, m)
  expect(minimum(n, least)).toBe(least)
  expect(maximum(n, least)).toBe(n)
  expect(minimum(add(n, 1n), least)).toBe(least)
  expect(maximum(m, maximum(n, m))).toEqual(maximum(n, m))
  expect(minimum(maximum(n, m), m)).toBe(m)
})

test('two expressions may be equal unless a proof says no', () => {
  expect(mayBeEqual(n, m)).toBe(true)
  expect(mayBeEqual(n, add(n, 1n))).toBe(false)
  expect(mayBeEqual(named('x', 1, 3), 4n)).toBe(false)
  expect(mayBeEqual(mul(2n, n), 6n)).toBe(true)
  expect(mayBeEqual(mul(2n, n), 7n)).toBe(false)
  expect(mayBeEqual(add(mul(4n, n), 1n), mul(2n, m))).toBe(false)
})

test('prints names, and intervals where something has no name', () => {
  expect(printInt(sub(mul(2n, mul(n, m)), 3n))).toBe('2*m*n-3')
  expect(printInt(fresh(1, 10))).toBe('1..10')
  expect(printInt(add(fresh(1), 2n))).toBe('3..')
  expect(printInt(fresh(0))).toBe('?')
})
