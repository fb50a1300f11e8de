import { describe, expect, test } from 'vitest'
import {
  absElem,
  andElems,
  arithmetic,
  equalElems,
  folded,
  greaterElems,
  greaterOrEqualElems,
  lessElems,
  lessOrEqualElems,
  maxElems,
  notElem,
  orElems,
  signElem,
  xorElems
} from '../../src/shapes/elem.ts'
import type { Elem } from '../../src/shapes/fact.ts'
import { add, fresh, isSym, named, printInt, type Sym } from '../../src/shapes/sym.ts'

const n = named('n', 1, 10)
const m = named('m', 20, 30)
const plusOne = add(n, 1n) as Sym
const isUnknownFlag = (elem: Elem | undefined): boolean => isSym(elem) && elem.min === 0 && elem.max === 1

describe('arithmetic on elements', () => {
  const sum = arithmetic(add, (a, b) => a + b)

  test('whole numbers of floats go through symbols, fractions do not', () => {
    const result = sum([n, 2])
    expect(isSym(result) && printInt(result)).toBe('n+2')
    expect(sum([n, 0.5])).toBeUndefined()
    expect(sum([0.5, 0.25])).toBe(0.75)
  })

  test('a known result is of the operands’ kind', () => {
    expect(sum([2n, 3n])).toBe(5n)
    expect(sum([2, 3n])).toBe(5)
  })

  test('folds stop where nothing is known', () => {
    expect(folded(sum)([1n, 2n, 3n])).toBe(6n)
    expect(folded(sum)([n, 0.5, 1n])).toBeUndefined()
  })
})

describe('comparisons of elements', () => {
  test('are decided by bounds', () => {
    expect(lessElems([n, m])).toBe(true)
    expect(greaterElems([n, m])).toBe(false)
    expect(equalElems([n, m])).toBe(false)
    expect(greaterOrEqualElems([n, 1n])).toBe(true)
    expect(lessOrEqualElems([n, 10.5])).toBe(true)
    expect(lessElems([n, 0])).toBe(false)
  })

  test('are decided by the expressions where bounds are not enough', () => {
    expect(equalElems([n, n])).toBe(true)
    expect(lessElems([n, plusOne])).toBe(true)
    expect(greaterOrEqualElems([n, plusOne])).toBe(false)
    expect(equalElems([n, plusOne])).toBe(false)
  })

  test('are unknown else, and two unknowns differ', () => {
    expect(isUnknownFlag(equalElems([n, 5n]))).toBe(true)
    expect(isUnknownFlag(lessElems([fresh(0, 9), fresh(0, 9)]))).toBe(true)
  })

  test('take known elements as they are: NaN is equal to nothing, texts are compared', () => {
    expect(equalElems([NaN, NaN])).toBe(false)
    expect(equalElems(['a', 'a'])).toBe(true)
    expect(equalElems([true, true])).toBe(true)
  })
})

describe('logic of elements', () => {
  const flag = fresh(0, 1)

  test('one operand can decide', () => {
    expect(andElems([flag, false])).toBe(false)
    expect(orElems([true, flag])).toBe(true)
    expect(andElems([true, flag])).toBe(flag)
    expect(orElems([flag, false])).toBe(flag)
    expect(xorElems([flag, false])).toBe(flag)
    expect(isUnknownFlag(andElems([flag, flag]))).toBe(true)
  })

  test('not twice is the same', () => {
    const twice = notElem([notElem([flag]) as Elem])
    expect(isSym(twice) && twice.key).toBe(flag.key)
    expect(xorElems([true, true])).toBe(false)
  })
})

test('magnitude, sign and maximum follow from bounds', () => {
  expect(absElem([n])).toBe(n)
  expect(absElem([-3n])).toBe(3n)
  expect(signElem([n])).toBe(1n)
  expect(signElem([0n])).toBe(0n)
  expect(maxElems([n, 0n])).toBe(n)
  expect(maxElems([n, 15n])).toBe(15n)
})
