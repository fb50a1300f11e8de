import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import type { Constant } from '../../src/graph/graph.ts'
import { loadOnnx } from '../../src/onnx/load.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import {
  block,
  codesOf,
  encode,
  failure,
  loadBytes,
  loadGraph,
  modelAround,
  modelBytes,
  tag,
  TYPE,
  utf8,
  varint,
  watched
} from './encode.ts'

const constant = (tensor: object): Constant =>
  loadGraph({ initializer: [{ name: 'w', ...tensor }] }).initializers.get('w')!
const dataOf = (from: Constant): (number | bigint | string)[] => [...from.read().data]
const raw = (array: ArrayBufferView): Uint8Array => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

type Elements = readonly (number | bigint | string)[]
type Case = readonly [type: DType, code: number, fields: object, expected: Elements, dims?: readonly number[]]
/** A list of as many elements as are expected, where a case does not give its dims. */
const withDims = (cases: readonly Case[]): [DType, number, object, Elements, readonly number[]][] =>
  cases.map(([type, code, fields, expected, dims = [expected.length]]) => [type, code, fields, expected, dims])

describe('typed fields', () => {
  const cases: readonly Case[] = [
    ['float32', TYPE.FLOAT, { floatData: [1.5, -0, Infinity] }, [1.5, -0, Infinity]],
    ['complex64', TYPE.COMPLEX64, { floatData: [1, 2, 3, 4] }, [1, 2, 3, 4], [2]],
    ['float64', TYPE.DOUBLE, { doubleData: [Math.PI, 5e-324] }, [Math.PI, 5e-324]],
    ['complex128', TYPE.COMPLEX128, { doubleData: [1, -1] }, [1, -1], [1]],
    ['int64', TYPE.INT64, { int64Data: [0, -1, 2 ** 52] }, [0n, -1n, 2n ** 52n]],
    ['uint64', TYPE.UINT64, { uint64Data: [0, 2 ** 52] }, [0n, 2n ** 52n]],
    ['uint32', TYPE.UINT32, { uint64Data: [0, 2 ** 32 - 1] }, [0, 2 ** 32 - 1]],
    ['int32', TYPE.INT32, { int32Data: [-1, 2 ** 31 - 1, -(2 ** 31)] }, [-1, 2 ** 31 - 1, -(2 ** 31)]],
    ['int16', TYPE.INT16, { int32Data: [-32768, 32767] }, [-32768, 32767]],
    ['uint16', TYPE.UINT16, { int32Data: [0, 65535] }, [0, 65535]],
    ['int8', TYPE.INT8, { int32Data: [-128, 127] }, [-128, 127]],
    ['uint8', TYPE.UINT8, { int32Data: [0, 255] }, [0, 255]],
    // One byte each, as most zero points.
    ['int32', TYPE.INT32, { int32Data: [0, 1, 127] }, [0, 1, 127]],
    ['uint32', TYPE.UINT32, { uint64Data: [0, 1, 127] }, [0, 1, 127]],
    ['int16', TYPE.INT16, { int32Data: [0, 1, 127] }, [0, 1, 127]],
    ['uint16', TYPE.UINT16, { int32Data: [0, 1, 127] }, [0, 1, 127]],
    ['int8', TYPE.INT8, { int32Data: [0, 1, 127] }, [0, 1, 127]],
    ['uint8', TYPE.UINT8, { int32Data: [0, 1, 127] }, [0, 1, 127]],
    ['bool', TYPE.BOOL, { int32Data: [0, 1, 2] }, [0, 1, 1]],
    ['float16', TYPE.FLOAT16, { int32Data: [0x3c00, 0xfbff] }, [0x3c00, 0xfbff]],
    ['bfloat16', TYPE.BFLOAT16, { int32Data: [0x3f80, 0xff80] }, [0x3f80, 0xff80]],
    ['float8e4m3fn', TYPE.FLOAT8E4M3FN, { int32Data: [0x7e, 0xff] }, [0x7e, 0xff]],
    ['float8e4m3fnuz', TYPE.FLOAT8E4M3FNUZ, { int32Data: [0x80] }, [0x80]],
    ['float8e5m2', TYPE.FLOAT8E5M2, { int32Data: [0x7c] }, [0x7c]],
    ['float8e5m2fnuz', TYPE.FLOAT8E5M2FNUZ, { int32Data: [0x80] }, [0x80]],
    ['float8e8m0', TYPE.FLOAT8E8M0, { int32Data: [127] }, [127]],
    // onnx.proto: one entry holds a byte of packed elements, the first in the lowest bits.
    ['int4', TYPE.INT4, { int32Data: [0xf1, 0x08] }, [1, -1, -8], [3]],
    ['uint4', TYPE.UINT4, { int32Data: [0xf1, 0x08] }, [1, 15, 8], [3]],
    ['float4e2m1', TYPE.FLOAT4E2M1, { int32Data: [0xf1] }, [1, 15], [2]],
    ['int2', TYPE.INT2, { int32Data: [0b11_10_01_00, 0b10] }, [0, 1, -2, -1, -2], [5]],
    ['uint2', TYPE.UINT2, { int32Data: [0b11_10_01_00] }, [0, 1, 2, 3], [4]],
    ['string', TYPE.STRING, { stringData: [utf8('a'), utf8(''), utf8('é')] }, ['a', '', 'é']]
  ]

  test.each(withDims(cases))('of %s are decoded', (type, dataType, fields, expected, dims) => {
    const found = constant({ dataType, dims, ...fields })
    expect(found.type).toBe(type)
    expect(found.dims).toEqual(dims)
    expect(dataOf(found)).toEqual(expected)
    expect(found.raw).toBeUndefined()
  })

  test('of int64 are exact at their limits', () => {
    const bytes = [
      ...block(8, utf8('w')),
      ...tag(1, 0),
      2,
      ...tag(2, 0),
      TYPE.INT64,
      ...block(
        7,
        [
          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
          0x01
        ]
      )
    ]
    expect(dataOf(loadBytes(modelAround(block(5, bytes))).graph.initializers.get('w')!)).toEqual([
      2n ** 63n - 1n,
      -(2n ** 63n)
    ])
  })

  test('larger than a kilobyte are parsed from the file when read', () => {
    const int64Data = Array.from({ length: 5000 }, (_, i) => (i - 2500) * 1_000_003)
    const source = watched(
      bytesSource(
        'm',
        modelBytes({ graph: { initializer: [{ name: 'w', dims: [5000], dataType: TYPE.INT64, int64Data }] } })
      )
    )
    const found = loadOnnx(source, { file: 'm' }).graph.initializers.get('w')!
    const opening = source.reads.length
    expect(dataOf(found)).toEqual(int64Data.map(BigInt))
    expect(source.reads.length).toBe(opening + 1)
  })

  test('are counted where they take as many bytes as there should be numbers', () => {
    // More than a kilobyte, which is not read before it is asked for.
    const numbers = [...new Array<number>(1998).fill(1), 0x80, 1]
    const dims = [...tag(1, 0), ...varint(numbers.length)]
    const bytes = [...block(8, utf8('w')), ...dims, ...tag(2, 0), TYPE.INT32, ...block(5, numbers)]
    const { graph } = loadBytes(modelAround(block(5, bytes)))
    expect(failure(() => graph.initializers.get('w')!.read()).reason).toContain('2000 entries, 1999 are there')
  })

  test('may come one by one, in several packed runs, or mixed', () => {
    const tensor = (...parts: number[][]): Constant =>
      loadBytes(
        modelAround(block(5, [...block(8, utf8('w')), ...tag(1, 0), 4, ...parts.flat()]))
      ).graph.initializers.get('w')!
    const single = (value: number): number[] => [...tag(5, 0), value]
    const int32 = [...tag(2, 0), TYPE.INT32]
    expect(dataOf(tensor(int32, single(1), single(2), single(3), single(4)))).toEqual([1, 2, 3, 4])
    expect(dataOf(tensor(int32, block(5, [1, 2]), block(5, [3, 4])))).toEqual([1, 2, 3, 4])
    expect(dataOf(tensor(int32, single(1), block(5, [2, 3]), single(4)))).toEqual([1, 2, 3, 4])
    const float = (value: number): number[] => [...raw(Float32Array.of(value))]
    const floats = [...tag(2, 0), TYPE.FLOAT]
    expect(
      dataOf(
        tensor(floats, [...tag(4, 5), ...float(1)], block(4, [...float(2), ...float(3)]), [...tag(4, 5), ...float(4)])
      )
    ).toEqual([1, 2, 3, 4])
  })

  test.each([
    ['int8', TYPE.INT8, { int32Data: [256] }],
    ['uint8', TYPE.UINT8, { int32Data: [-129] }],
    ['float16', TYPE.FLOAT16, { int32Data: [65536] }],
    ['int4', TYPE.INT4, { int32Data: [256] }],
    ['uint32', TYPE.UINT32, { uint64Data: [2 ** 32] }]
  ])('of %s refuse a number that does not fit', (_, dataType, fields) => {
    expect(failure(() => constant({ dataType, dims: [1], ...fields }).read())).toMatchObject({
      code: 'invalid-file',
      message: expect.stringContaining('too large') as string
    })
  })

  test('with more or fewer entries than the dims ask for are a finding, and fail when read', () => {
    for (const int64Data of [
      [1, 2],
      [1, 2, 3, 4]
    ]) {
      const graph = loadGraph({ initializer: [{ name: 'w', dims: [3], dataType: TYPE.INT64, int64Data }] })
      expect(graph.findings).toMatchObject([
        { code: 'constant-size', severity: 'error', onlyIfNeeded: { value: 'w' }, place: { value: 'w' } }
      ])
      expect(graph.findings[0].message).toBe(
        `tensor "w" of type int64 and dims [3] needs 3 entries of int64_data, ${int64Data.length} are there`
      )
      expect(failure(() => graph.initializers.get('w')!.read()).code).toBe('invalid-file')
    }
  })

  test('whose number cannot be told without reading fail when read', () => {
    const graph = loadGraph({
      initializer: [{ name: 'w', dims: [1500], dataType: TYPE.INT64, int64Data: new Array<number>(2000).fill(1) }]
    })
    expect(graph.findings).toEqual([])
    expect(failure(() => graph.initializers.get('w')!.read()).reason).toBe(
      'tensor "w": its dims ask for 1500 entries, 1501 are there'
    )
  })

  test('of another type are no elements', () => {
    expect(
      codesOf(loadGraph({ initializer: [{ name: 'w', dims: [1], dataType: TYPE.FLOAT, int64Data: [1] }] }).findings)
    ).toEqual(['constant-size'])
  })
})

describe('raw data', () => {
  const cases: readonly Case[] = [
    ['float32', TYPE.FLOAT, { rawData: raw(Float32Array.of(1, -2)) }, [1, -2]],
    ['int64', TYPE.INT64, { rawData: raw(BigInt64Array.of(-1n, 2n ** 62n)) }, [-1n, 2n ** 62n]],
    ['float16', TYPE.FLOAT16, { rawData: raw(Uint16Array.of(0x3c00)) }, [0x3c00]],
    ['complex128', TYPE.COMPLEX128, { rawData: raw(Float64Array.of(1, 2)) }, [1, 2], [1]],
    ['int8', TYPE.INT8, { rawData: Uint8Array.of(255) }, [-1]],
    ['float8e5m2', TYPE.FLOAT8E5M2, { rawData: Uint8Array.of(1, 2) }, [1, 2]]
  ]

  test.each(withDims(cases))(
    'of %s is read, and its place is known for reading by the row',
    (type, dataType, fields, expected, dims) => {
      const found = constant({ dataType, dims, ...fields })
      expect(found.type).toBe(type)
      expect(dataOf(found)).toEqual(expected)
      const { source, offset, length } = found.raw!
      expect(length).toBe(found.byteLength)
      expect(source.read(offset, length)).toEqual((fields as { rawData: Uint8Array }).rawData)
    }
  )

  test.each([
    ['int4', TYPE.INT4, [0x21, 0x0f], [1, 2, -1]],
    ['uint2', TYPE.UINT2, [0b00_11_10_01], [1, 2, 3]],
    ['bool', TYPE.BOOL, [0, 1, 7], [0, 1, 1]]
  ])('of %s are decoded, and their place and layout are known', (_, dataType, bytes, expected) => {
    const found = constant({ dataType, dims: [3], rawData: Uint8Array.from(bytes) })
    expect(dataOf(found)).toEqual(expected)
    expect(found.raw).toMatchObject({ length: bytes.length, layout: 'onnx' })
  })

  test.each([7, 9])('of %d bytes for 8 is a finding that names the tensor', length => {
    const graph = loadGraph({
      initializer: [{ name: 'w', dims: [2], dataType: TYPE.FLOAT, rawData: new Uint8Array(length) }]
    })
    expect(graph.findings).toMatchObject([
      { code: 'constant-size', message: `tensor "w" of type float32 and dims [2] needs 8 bytes, ${length} are there` }
    ])
    expect(failure(() => graph.initializers.get('w')!.read())).toMatchObject({
      code: 'invalid-file',
      place: { file: 'model.onnx', value: 'w' }
    })
    expect(graph.initializers.get('w')!.raw).toBeUndefined()
  })

  test('that is absent holds no elements', () => {
    expect(dataOf(constant({ dataType: TYPE.FLOAT, dims: [0, 4] }))).toEqual([])
    expect(codesOf(loadGraph({ initializer: [{ name: 'w', dims: [], dataType: TYPE.FLOAT }] }).findings)).toEqual([
      'constant-size'
    ])
  })

  test('cannot hold strings', () => {
    expect(
      codesOf(
        loadGraph({ initializer: [{ name: 'w', dims: [1], dataType: TYPE.STRING, rawData: utf8('a') }] }).findings
      )
    ).toEqual(['constant-size'])
  })
})

describe('a tensor that no constant can be', () => {
  const only = (tensor: object): ReturnType<typeof loadGraph> =>
    loadGraph({ initializer: [{ name: 'w', ...tensor }], node: [{ opType: 'Relu', input: ['w'], output: ['y'] }] })

  test.each([0, 27, 99])('has element type %d: a finding, and no initializer', dataType => {
    const graph = only({ dataType, dims: [1], rawData: new Uint8Array(4) })
    expect(graph.findings).toMatchObject([{ code: 'unknown-type', severity: 'error', onlyIfNeeded: { value: 'w' } }])
    expect(graph.initializers.size).toBe(0)
    expect(graph.values.has('w')).toBe(true)
  })

  test('has a negative dim', () => {
    expect(only({ dataType: TYPE.FLOAT, dims: [2, -1] }).findings).toMatchObject([
      { code: 'negative-dim', message: 'tensor "w" has a negative dim: [2, -1]' }
    ])
  })

  test('has more elements than can be counted', () => {
    expect(codesOf(only({ dataType: TYPE.FLOAT, dims: [2 ** 40, 2 ** 40] }).findings)).toEqual(['constant-size'])
  })

  test('is a segment of another', () => {
    expect(
      codesOf(only({ dataType: TYPE.FLOAT, dims: [1], segment: { begin: 0, end: 4 }, floatData: [1] }).findings)
    ).toEqual(['tensor-segment'])
  })
})

test('dims that claim more than the file holds take no memory', () => {
  const graph = loadGraph({
    initializer: [
      { name: 'w', dims: [2 ** 40], dataType: TYPE.STRING },
      { name: 'v', dims: [2 ** 33], dataType: TYPE.INT8, int32Data: [1] }
    ]
  })
  expect(codesOf(graph.findings)).toEqual(['constant-size', 'constant-size'])
  for (const found of graph.initializers.values()) expect(failure(() => found.read()).code).toBe('invalid-file')
})

test('bytes of strings are those of their text', () => {
  expect(constant({ dims: [2], dataType: TYPE.STRING, stringData: [utf8('abc'), utf8('é')] }).byteLength).toBe(5)
  expect(encode('TensorProto', {}).length).toBe(0)
})
