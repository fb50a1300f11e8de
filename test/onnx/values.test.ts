import { describe, expect, test } from 'vitest'
import { decodeOptionalProto, decodeSequenceProto, decodeTensorProto } from '../../src/onnx/values.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { block, encode, failure, TYPE, utf8 } from './encode.ts'

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
const bytesOf = (...parts: number[][]): Uint8Array => Uint8Array.from(parts.flat())

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

  test('with maps or of no known kind is refused', () => {
    expect(failure(() => decodeSequenceProto(bytesOf(kind(4)))).code).toBe('type-not-allowed')
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

  test('with a map or of no known kind is refused', () => {
    expect(failure(() => decodeOptionalProto(bytesOf(kind(4)))).code).toBe('type-not-allowed')
    expect(failure(() => decodeOptionalProto(bytesOf(kind(9)))).code).toBe('invalid-file')
  })
})
