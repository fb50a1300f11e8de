import { describe, expect, test } from 'vitest'
import { mapFact } from '../../../src/shapes/fact.ts'
import { mapOf } from '../../../src/tensor/map.ts'
import { type MapValue, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, inferOp, type Kind, runTensor } from '../harness.ts'

const CAST: Kind = ['onnx', 'CastMap', 1, 'ai.onnx.ml']
const map = (pairs: Record<number, number>): MapValue =>
  mapOf(
    'int64',
    'float32',
    Object.entries(pairs).map(([key, value]) => [Number(key), value])
  )
const texts = mapOf('int64', 'string', [
  [5, ' -1.5'],
  [2, '12']
])
const cast = (x: MapValue, attributes: Record<string, string | number> = {}): Tensor =>
  runTensor(CAST, [x], { attributes })

describe('CastMap', () => {
  test('puts values by ascending key', () => {
    const x = mapOf('int64', 'float32', [
      [2n ** 60n, 3],
      [-7, 1.5],
      [4, -2.25]
    ])
    expect(cast(x)).toEqual(new Tensor('float32', [1.5, -2.25, 3], [1, 3]))
    expect(cast(x, { max_map: -4 }).dims).toEqual([1, 3])
    expect(cast(map({})).dims).toEqual([1, 0])
  })

  test('or each at the position that its key is, up to max_map', () => {
    const sparse = { map_form: 'SPARSE', max_map: 4 }
    expect(cast(map({ 3: 1.5, 0: 2, 4: 9 }), sparse)).toEqual(new Tensor('float32', [2, 0, 0, 1.5], [1, 4]))
    expect(cast(map({}), sparse).data).toEqual(new Float32Array(4))
    expect(cast(map({ 0: 7, 1: 8 }), { map_form: 'SPARSE' })).toEqual(new Tensor('float32', [7], [1, 1]))
    expect(errorOf(() => cast(mapOf('int64', 'float32', [[-1, 1]]), sparse)).message).toBe(
      'the map has the key -1; as positions keys must be 0 or more'
    )
  })

  // What ONNX Runtime 1.32 gives.
  test('casts floats to integers and to text', () => {
    expect(cast(map({ 1: 1.5, 2: -2.75, 3: NaN }), { cast_to: 'TO_INT64' })).toEqual(
      new Tensor('int64', [1n, -2n, -(2n ** 63n)], [1, 3])
    )
    expect(cast(map({ 1: 1e20, 2: 0.1, 3: -Infinity }), { cast_to: 'TO_STRING' })).toEqual(
      new Tensor('string', ['100000002004087734272.000000', '0.100000', '-inf'], [1, 3])
    )
    expect(cast(map({ 1: 5 }), { cast_to: 'TO_STRING', map_form: 'SPARSE', max_map: 3 }).data).toEqual([
      '0.f',
      '5.000000',
      '0.f'
    ])
    expect(cast(map({ 1: 5 }), { cast_to: 'TO_INT64', map_form: 'SPARSE', max_map: 3 }).data).toEqual(
      new BigInt64Array([0n, 5n, 0n])
    )
  })

  test('casts text to numbers, fractions of integers cut off', () => {
    expect(cast(texts)).toEqual(new Tensor('float32', [12, -1.5], [1, 2]))
    expect(cast(texts, { cast_to: 'TO_INT64' })).toEqual(new Tensor('int64', [12n, -1n], [1, 2]))
    expect(cast(texts, { cast_to: 'TO_STRING' }).data).toEqual(['12', ' -1.5'])
    expect(errorOf(() => cast(mapOf('int64', 'string', [[1, 'one']]))).code).toBe('value-out-of-range')
    expect(errorOf(() => cast(mapOf('int64', 'string', [[1, '1e30']]), { cast_to: 'TO_INT64' })).code).toBe(
      'value-out-of-range'
    )
  })

  test('has as many columns as max_map where it is sparse; else the map decides', () => {
    const columns = (attributes: Record<string, string | number>): unknown =>
      inferOp(CAST, [mapFact('int64', 'float32')], { attributes })[0]
    expect(columns({ map_form: 'SPARSE', max_map: 9, cast_to: 'TO_STRING' })).toMatchObject({
      type: 'string',
      shape: [1, 9]
    })
    expect(dimsOf(columns({}) as ReturnType<typeof inferOp>[0])?.[0]).toBe(1)
    expect(columns({})).toMatchObject({ type: 'float32', shape: [1, { min: 0, max: Infinity }] })
  })

  test('refuses keys of strings, and words and sizes that it does not know', () => {
    expect(errorOf(() => cast(mapOf('string', 'float32', []))).code).toBe('type-not-allowed')
    expect(errorOf(() => cast(map({}), { cast_to: 'TO_DOUBLE' })).code).toBe('unknown-attribute-value')
    expect(errorOf(() => cast(map({}), { map_form: 'ROUND' })).code).toBe('unknown-attribute-value')
    for (const size of [0, -3])
      expect(errorOf(() => cast(map({}), { map_form: 'SPARSE', max_map: size })).code).toBe('unknown-attribute-value')
  })
})
