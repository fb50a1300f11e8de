import { describe, expect, test } from 'vitest'
import { decodeMapProto, decodeOptionalProto, decodeSequenceProto, decodeTensorProto } from '../../src/onnx/values.ts'
import { mapOf } from '../../src/tensor/map.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { named } from '../fixtures/maps.ts'
import { block, encode, failure, TYPE, utf8, varint } from './encode.ts'

const floats = (...values: number[]): object => ({
  name: 't',
  dims: [values.length],
  dataType: TYPE.FLOAT,
  floatData: values
})
const tensorBytes = (...values: number[]): Uint8Array => encode('TensorProto', floats(...values))
const isFloats = (value: Value | undefined, expected: readonly number[]): void => {
  expect(value).toBeInstanceOf(Tensor)
  expect([...(value as Tensor<'float32'>).data]).toEqual(expected)
}
const kind = (elemType: number): number[] => [0x10, elemType]
const bytesOf = (...parts: ArrayLike<number>[]): Uint8Array => Uint8Array.from(parts.flatMap(part => Array.from(part)))

/** `key_type` and the keys of a MapProto. */
const mapKeys = (type: number, keys: readonly (bigint | string)[]): number[] => [
  ...kind(type),
  ...keys.flatMap(key => (typeof key === 'string' ? block(4, utf8(key)) : [0x18, ...varint(key)]))
]
/** A MapProto whose values are single float32. */
const mapBytes = (type: number, keys: readonly (bigint | string)[], values: readonly number[]): Uint8Array =>
  bytesOf(mapKeys(type, keys), block(5, bytesOf(kind(1), ...values.map(value => block(3, tensorBytes(value))))))

describe('a TensorProto file', () => {
  test('has a name and a tensor', () => {
    const { name, tensor } = decodeTensorProto(
      encode('TensorProto', { name: 'x', dims: [1, 2], dataType: TYPE.STRING, stringData: [utf8('a'), utf8('b')] })
    )
    expect(name).toBe('x')
    expect(tensor).toMatchObject({ type: 'string', dims: [1, 2], data: ['a', 'b'] })
  })

  test('of a kilobyte and more is read from the bytes themselves', () => {
    const rawData = new Uint8Array(Float32Array.from({ length: 1000 }, (_, i) => i).buffer)
    const bytes = Buffer.from(encode('TensorProto', { dims: [1000], dataType: TYPE.FLOAT, rawData }))
    expect([...(decodeTensorProto(bytes).tensor.data as Float32Array)]).toEqual(
      Array.from({ length: 1000 }, (_, i) => i)
    )
  })

  test.each([
    ['is empty', {}],
    ['has too few elements', { dims: [3], dataType: TYPE.FLOAT, floatData: [1] }],
    ['has an unknown type', { dims: [1], dataType: 77 }]
  ])('that %s is invalid', (_, message) => {
    expect(failure(() => decodeTensorProto(encode('TensorProto', message))).code).toBe('invalid-file')
  })

  test('cannot have its elements elsewhere', () => {
    const message = {
      dims: [1],
      dataType: TYPE.FLOAT,
      dataLocation: 1,
      externalData: [{ key: 'location', value: 'x' }]
    }
    expect(failure(() => decodeTensorProto(encode('TensorProto', message))).code).toBe('missing-file')
  })
})

describe('a SequenceProto file', () => {
  test('holds tensors', () => {
    const { values } = decodeSequenceProto(bytesOf(kind(1), block(3, tensorBytes(1)), block(3, tensorBytes(2, 3))))
    expect(values).toHaveLength(2)
    isFloats(values[1], [2, 3])
  })

  test('may be empty, also without a kind', () => {
    expect(decodeSequenceProto(bytesOf(kind(1)))).toEqual({ type: 'sequence', values: [] })
    expect(decodeSequenceProto(bytesOf())).toEqual({ type: 'sequence', values: [] })
  })

  test('holds sequences and optionals', () => {
    const inner = bytesOf(kind(1), block(3, tensorBytes(5)))
    const [sequence] = decodeSequenceProto(bytesOf(kind(3), block(5, inner))).values
    if (sequence.type === 'sequence') isFloats(sequence.values[0], [5])
    const optionals = decodeSequenceProto(
      bytesOf(kind(5), block(7, []), block(7, bytesOf(kind(1), block(3, tensorBytes(6)))))
    ).values
    expect(optionals[0]).toEqual({ type: 'optional', value: undefined })
    if (optionals[1].type === 'optional') isFloats(optionals[1].value, [6])
  })

  test('holds maps; an empty one has the types that are declared', () => {
    const declared = { kind: 'sequence', element: { kind: 'map', keyType: 'string', valueType: 'float64' } } as const
    const bytes = bytesOf(kind(4), block(6, mapBytes(8, ['a'], [1.5])), block(6, mapBytes(8, [], [])))
    expect(decodeSequenceProto(bytes, declared)).toEqual({
      type: 'sequence',
      values: [named({ a: 1.5 }), mapOf('string', 'float64', [])]
    })
  })

  test('of no known kind is refused', () => {
    expect(failure(() => decodeSequenceProto(bytesOf(kind(9)))).code).toBe('invalid-file')
  })
})

describe('an OptionalProto file', () => {
  test('holds a tensor, a sequence, an optional or nothing', () => {
    isFloats(decodeOptionalProto(bytesOf(kind(1), block(3, tensorBytes(4)))).value, [4])
    expect(decodeOptionalProto(bytesOf(kind(3), block(5, kind(1)))).value).toEqual({ type: 'sequence', values: [] })
    expect(decodeOptionalProto(bytesOf(kind(5), block(7, []))).value).toEqual({ type: 'optional', value: undefined })
    expect(decodeOptionalProto(bytesOf())).toEqual({ type: 'optional', value: undefined })
  })

  test('holds a map', () => {
    const bytes = bytesOf(kind(4), block(6, mapBytes(8, ['a'], [1.5])))
    expect(decodeOptionalProto(bytes)).toEqual({ type: 'optional', value: named({ a: 1.5 }) })
  })

  test('of no known kind is refused', () => {
    expect(failure(() => decodeOptionalProto(bytesOf(kind(9)))).code).toBe('invalid-file')
  })
})

describe('a MapProto file', () => {
  test('holds keys of 64 bits or texts, and a tensor of one element for each', () => {
    expect([...decodeMapProto(mapBytes(7, [-1n, 2n ** 62n], [1.5, 2])).entries]).toEqual([
      [-1n, 1.5],
      [2n ** 62n, 2]
    ])
    expect(decodeMapProto(mapBytes(8, ['ä', ''], [1.5, 2]))).toEqual(named({ ä: 1.5, '': 2 }))
    const texts = encode('TensorProto', { dataType: TYPE.STRING, stringData: [utf8('x')] })
    const values = block(5, bytesOf(kind(1), block(3, texts)))
    expect(decodeMapProto(bytesOf(kind(7), [0x18, 5], values))).toEqual(mapOf('int64', 'string', [[5n, 'x']]))
  })

  test('may be empty: then its values are of the declared type, or float32', () => {
    expect(decodeMapProto(bytesOf(kind(7)))).toEqual(mapOf('int64', 'float32', []))
    expect(decodeMapProto(bytesOf(kind(7)), { kind: 'map', keyType: 'int64', valueType: 'string' })).toEqual(
      mapOf('int64', 'string', [])
    )
  })

  const int64 = encode('TensorProto', { dataType: TYPE.INT64, int64Data: [1] })
  test.each([
    ['with keys of other types', mapBytes(6, [], []), 'type-not-allowed'],
    ['without a type of its keys', bytesOf(), 'type-not-allowed'],
    ['with more keys than values', mapBytes(8, ['a', 'b'], [1]), 'invalid-file'],
    ['with a key twice', mapBytes(8, ['a', 'a'], [1, 2]), 'value-out-of-range'],
    ['with lists for values', bytesOf(mapKeys(8, ['a']), block(5, block(3, tensorBytes(1, 2)))), 'invalid-file'],
    ['with sequences for values', bytesOf(mapKeys(8, ['a']), block(5, bytesOf(kind(3), block(5, [])))), 'invalid-file'],
    [
      'with values of two types',
      bytesOf(mapKeys(8, ['a', 'b']), block(5, bytesOf(block(3, tensorBytes(1)), block(3, int64)))),
      'invalid-file'
    ]
  ])('%s is refused', (_, bytes, code) => {
    expect(failure(() => decodeMapProto(bytes)).code).toBe(code)
  })
})
