import { describe, expect, test } from 'vitest'
import { addDims, type Dim, namedDim, printDim, unknownDim } from '../../src/shapes/dim.ts'
import { type Fact, factOf, mapFact, tensorFact } from '../../src/shapes/fact.ts'
import { hullFacts, Widening } from '../../src/shapes/merge.ts'
import { named } from '../../src/shapes/sym.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { named as namedMap } from '../fixtures/maps.ts'
import { errorOf } from '../ops/harness.ts'

const dims = (fact: Fact | undefined): string | undefined =>
  fact?.kind === 'tensor' && fact.shape ? fact.shape.map(printDim).join(' ') : undefined
const floats = (...shape: Dim[]): Fact => tensorFact('float32', shape)
const valued = (...values: number[]): Fact =>
  tensorFact('int64', [values.length], new Tensor('int64', values.map(BigInt)))

describe('the hull of two facts', () => {
  test('keeps equal dims and the bounds of others', () => {
    expect(dims(hullFacts(floats(2, namedDim('n'), 3), floats(2, namedDim('n'), unknownDim(5, 7))))).toBe('2 n 3..7')
    expect(dims(hullFacts(floats(2), floats(2, 3)))).toBeUndefined()
    expect(dims(hullFacts(floats(2), tensorFact('float32', undefined)))).toBeUndefined()
  })

  test('keeps integers that are equal, and bounds of others', () => {
    const hull = hullFacts(valued(1, 5), valued(1, 9))
    expect(hull).toMatchObject({ value: { data: [1n, { min: 5, max: 9 }] } })
    expect(hullFacts(valued(1), valued(1))).toEqual(valued(1))
    expect(hullFacts(valued(1), tensorFact('int64', [1]))).not.toHaveProperty('value')
  })

  test('one symbol with two sets of bounds may lie in either, in dims and in values', () => {
    const list = (min: number): Fact => tensorFact('int64', [1], { type: 'int64', dims: [1], data: [named('n', min)] })
    expect(hullFacts(list(3), list(1))).toMatchObject({ value: { data: [{ key: 'n', min: 1 }] } })
    expect(hullFacts(floats(namedDim('n', 3)), floats(namedDim('n', 1)))).toMatchObject({
      shape: [{ key: 'n', min: 1 }]
    })
  })

  test('takes the type that one side knows; two types contradict each other', () => {
    expect(hullFacts(tensorFact(undefined, [1]), floats(1))).toMatchObject({ type: 'float32' })
    expect(errorOf(() => hullFacts(floats(1), tensorFact('int64', [1]))).code).toBe('type-mismatch')
    expect(errorOf(() => hullFacts(floats(1), { kind: 'sequence', element: floats(1) })).code).toBe('type-mismatch')
  })

  test('an empty sequence adds nothing but its type', () => {
    const empty: Fact = { kind: 'sequence', element: tensorFact('float32', undefined), length: 0 }
    expect(hullFacts(empty, { kind: 'sequence', element: floats(2), length: 3 })).toMatchObject({
      element: { shape: [2] },
      length: { min: 0, max: 3 }
    })
    expect(
      errorOf(() => hullFacts(empty, { kind: 'sequence', element: tensorFact('int64', [2]), length: 3 })).code
    ).toBe('type-mismatch')
  })

  test('maps agree in the types of their keys and values, as far as these are known', () => {
    expect(hullFacts(mapFact('string', undefined), mapFact(undefined, 'float32'))).toEqual(mapFact('string', 'float32'))
    expect(errorOf(() => hullFacts(mapFact('string', 'float32'), mapFact('int64', 'float32'))).code).toBe(
      'type-mismatch'
    )
    expect(errorOf(() => hullFacts(mapFact('string', 'float32'), mapFact('string', 'float64'))).code).toBe(
      'type-mismatch'
    )
    expect(errorOf(() => hullFacts(mapFact('string', 'float32'), floats(1))).message).toBe('it is a map and a tensor')
    const known = factOf(namedMap({ a: 1 }))
    expect(hullFacts(known, known)).toEqual(known)
    expect(hullFacts(known, mapFact('string', 'float32'))).toEqual(mapFact('string', 'float32'))
  })

  test('an optional and what it holds are an optional', () => {
    expect(hullFacts({ kind: 'optional', element: floats(2) }, floats(3))).toMatchObject({
      kind: 'optional',
      element: { shape: [{ min: 2, max: 3 }] }
    })
  })
})

describe('growing a fact round a loop', () => {
  /** Grows until nothing changes; the steps on the way. */
  const grow = (start: Fact, next: (fact: Fact) => Fact): (string | undefined)[] => {
    const widening = new Widening()
    const seen = [dims(start)]
    for (let state = start; seen.length < 20;) {
      const grown = widening.grow(state, next(state))
      if (grown === undefined) return seen
      seen.push(dims(grown))
      state = grown
    }
    throw new Error('it does not end')
  }
  const changed = (fact: Fact, change: (dim: Dim) => Dim): Fact =>
    floats(...(fact.kind === 'tensor' ? (fact.shape ?? []) : []).map(change))

  test('ends at once where nothing changes', () => {
    expect(grow(floats(2, namedDim('n')), fact => fact)).toEqual(['2 n'])
  })

  test('gives up a bound that keeps moving', () => {
    expect(grow(floats(1), fact => changed(fact, dim => addDims(dim, 1)))).toEqual(['1', '1..2', '1..'])
  })

  test('holds every size that comes round, and no more', () => {
    expect(grow(floats(3), () => floats(5))).toEqual(['3', '3..5'])
  })

  test('takes an unknown from outside for the one unknown that it is', () => {
    const outside = unknownDim()
    expect(grow(floats(outside), fact => fact)).toEqual(['?'])
    expect(grow(floats(outside), fact => changed(fact, dim => addDims(dim, 1)))).toEqual(['?', '?'])
  })

  test('gives up the rank that changes, and values', () => {
    expect(grow(floats(1), () => floats(1, 1))).toEqual(['1', undefined])
    expect(new Widening().grow(valued(1), valued(2))).not.toHaveProperty('value')
    expect(new Widening().grow(valued(1), valued(1))).toBeUndefined()
  })
})
