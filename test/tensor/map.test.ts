import { describe, expect, it } from 'vitest'
import type { Element } from '../../src/tensor/elements.ts'
import { type Key, keyText, mapOf, mapType, valuesOf, withTypes } from '../../src/tensor/map.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

describe('mapOf', () => {
  it('keeps the order of its pairs and rounds values to their type', () => {
    const { entries } = mapOf('string', 'float32', [
      ['b', 0.1],
      ['a', NaN]
    ])
    expect([...entries]).toEqual([
      ['b', Math.fround(0.1)],
      ['a', NaN]
    ])
    expect(mapOf('string', 'float16', [['a', 0.1]]).entries.get('a')).toBe(0.0999755859375)
    expect(mapOf('string', 'complex64', [['a', [0.1, 2]]]).entries.get('a')).toEqual([Math.fround(0.1), 2])
    expect(mapOf('string', 'bool', [['a', true]]).entries.get('a')).toBe(true)
  })

  it('takes int64 keys as numbers and bigints, exact', () => {
    const { entries } = mapOf('int64', 'string', [
      [3, 'three'],
      [-(2n ** 63n), 'least']
    ])
    expect([...entries.keys()]).toEqual([3n, -(2n ** 63n)])
  })

  it.each([
    [() => mapOf('int64', 'float32', [['a', 1]]), 'type-mismatch', 'the key "a" is not of type int64'],
    [() => mapOf('int64', 'float32', [[0.5, 1]]), 'type-mismatch', 'the key 0.5 is not of type int64'],
    [() => mapOf('string', 'float32', [[1n, 1]]), 'type-mismatch', 'the key 1 is not of type string'],
    [() => mapOf('int64', 'float32', [[2n ** 63n, 1]]), 'value-out-of-range', 'does not fit int64'],
    [
      () =>
        mapOf('int64', 'float32', [
          [1, 1],
          [1n, 2]
        ]),
      'value-out-of-range',
      'the key 1 is there twice'
    ],
    [() => mapOf('string', 'string', [['a', 1]]), 'type-mismatch', 'a string tensor needs an array of strings'],
    [() => mapOf('int32' as never, 'float32', []), 'type-mismatch', 'keys of type "int32" are not known'],
    [() => mapOf('string', 'float' as never, []), 'type-mismatch', 'unknown element type "float"']
  ])('refuses keys and values of other types', (make, code, message) => {
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) as string }))
  })
})

describe('withTypes', () => {
  it('takes the types that are known, else what the first pair suggests', () => {
    const typesOf = (map: ReadonlyMap<Key | number, Element>, known: Parameters<typeof withTypes>[1] = {}): string => {
      const { keyType, valueType } = withTypes(map, known)
      return mapType(keyType, valueType)
    }
    const map = (key: Key | number, value: Element): Map<Key | number, Element> => new Map([[key, value]])
    expect(typesOf(map('a', 1))).toBe('map(string,float32)')
    expect(typesOf(map(1, 1n))).toBe('map(int64,int64)')
    expect(typesOf(map(1n, 'x'))).toBe('map(int64,string)')
    expect(typesOf(map(1n, true))).toBe('map(int64,bool)')
    expect(typesOf(new Map())).toBe('map(int64,float32)')
    expect(typesOf(new Map(), { keyType: 'string', valueType: 'float64' })).toBe('map(string,float64)')
  })
})

it('values of keys are a tensor in the order of the keys', () => {
  const map = mapOf('string', 'int64', [
    ['a', 1n],
    ['b', 2n]
  ])
  expect(valuesOf(map, ['b', 'a'])).toEqual(new Tensor('int64', [2n, 1n]))
})

it('a key in a message is quoted, and cut where it is long', () => {
  expect([3n, 'a"', 'x'.repeat(50)].map(keyText)).toEqual(['3', '"a\\""', `"${'x'.repeat(40)}…"`])
})
