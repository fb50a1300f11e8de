import { expect, test } from 'vitest'
import { asDim, broadcastDim, type Dim, mayMatch, toInt } from '../../src/shapes/dim.ts'
import { substitute } from '../../src/shapes/substitute.ts'
import {
  add,
  ceilDiv,
  floorDiv,
  floorMod,
  hasFresh,
  type Int,
  maximum,
  maxOf,
  minimum,
  minOf,
  mul,
  named,
  sub,
  truncDiv
} from '../../src/shapes/sym.ts'
import fc from '../fixtures/random-cases.ts'

/**
 * Random expressions; the functions are exact on numbers, so one tree gives the expression and, for numbers, what it
 * is.
 */
type Tree = readonly ['n' | 'm'] | readonly [number] | readonly [keyof typeof OPERATIONS, Tree, Tree]
const OPERATIONS = { add, sub, mul, floorDiv, ceilDiv, truncDiv, floorMod, minimum, maximum }

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree; node: Tree }>(tie => ({
  leaf: fc.oneof(fc.constant(['n'] as const), fc.constant(['m'] as const), fc.tuple(fc.integer({ min: -3, max: 5 }))),
  node: fc.tuple(
    fc.constantFrom(...(Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[])),
    tie('tree'),
    tie('tree')
  ),
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('node'))
}))
const size = fc.bigInt({ min: 0n, max: 6n })

const DIVISIONS: readonly string[] = ['floorDiv', 'ceilDiv', 'truncDiv', 'floorMod']

function build(expression: Tree, n: Int, m: Int): Int {
  if (expression.length === 3) {
    const [a, b] = [build(expression[1], n, m), build(expression[2], n, m)]
    fc.pre(b !== 0n || !DIVISIONS.includes(expression[0]))
    return OPERATIONS[expression[0]](a, b)
  }
  return typeof expression[0] === 'number' ? BigInt(expression[0]) : expression[0] === 'n' ? n : m
}

const number = (expression: Tree, n: bigint, m: bigint): bigint => build(expression, n, m) as bigint
const symbolic = (expression: Tree): Int => build(expression, named('n'), named('m'))
const put = (value: Int, n: bigint, m: bigint): Int => substitute(substitute(value, 'n', n), 'm', m)
const holds = (value: Int, is: bigint): boolean => minOf(value) <= is && is <= maxOf(value)
const RUNS = { numRuns: 1000, seed: 5 }

test('an expression holds what it is for any sizes, and numbers in the place of names give just that', () => {
  fc.assert(
    fc.property(tree, size, size, (expression, n, m) => {
      const value = symbolic(expression)
      const is = number(expression, n, m)
      expect(holds(value, is)).toBe(true)
      if (!hasFresh(value)) expect(put(value, n, m)).toBe(is)
    }),
    RUNS
  )
})

test('a broadcast of dims is what NumPy makes of any sizes that fit', () => {
  fc.assert(
    fc.property(tree, tree, size, size, (left, right, n, m) => {
      const [a, b] = [number(left, n, m), number(right, n, m)]
      fc.pre(a >= 0n && b >= 0n && (a === b || a === 1n || b === 1n))
      const dims: readonly Dim[] = [left, right].map(side => asDim(dimOf(symbolic(side))))
      const result = broadcastDim(dims[0], dims[1])
      const is = a === 1n ? b : a
      if (result === undefined) return expect.fail('they fit')
      const value = toInt(result)
      expect(holds(value, is)).toBe(true)
      expect(mayMatch(result, Number(is))).toBe(true)
      if (!hasFresh(value)) expect(put(value, n, m)).toBe(is)
    }),
    RUNS
  )
})

const dimOf = (value: Int): Dim => (typeof value === 'bigint' ? Number(value) : value)
