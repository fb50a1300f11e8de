import { describe, expect, it } from 'vitest'
import {
  ALL_DTYPES,
  dtypeFromName,
  dtypeFromOnnx,
  dtypeName,
  DTYPES,
  dtypesOf,
  is64BitInteger,
  isFloat,
  isInteger
} from '../../src/tensor/dtype.ts'

describe('DTYPES', () => {
  it('numbers the types as onnx.proto does', () => {
    const numbers = ALL_DTYPES.map(type => [DTYPES[type].onnx ?? 0, type] as const).filter(([number]) => number > 0)
    expect(numbers.sort(([a], [b]) => a - b)).toEqual([
      [1, 'float32'],
      [2, 'uint8'],
      [3, 'int8'],
      [4, 'uint16'],
      [5, 'int16'],
      [6, 'int32'],
      [7, 'int64'],
      [8, 'string'],
      [9, 'bool'],
      [10, 'float16'],
      [11, 'float64'],
      [12, 'uint32'],
      [13, 'uint64'],
      [14, 'complex64'],
      [15, 'complex128'],
      [16, 'bfloat16'],
      [17, 'float8e4m3fn'],
      [18, 'float8e4m3fnuz'],
      [19, 'float8e5m2'],
      [20, 'float8e5m2fnuz'],
      [21, 'uint4'],
      [22, 'int4'],
      [23, 'float4e2m1'],
      [24, 'float8e8m0'],
      [25, 'uint2'],
      [26, 'int2']
    ])
  })

  it.each(ALL_DTYPES.filter(type => type !== 'string'))('%s has storage at least as wide as its bits', type => {
    const { array, bits, slots } = DTYPES[type]
    expect((array?.BYTES_PER_ELEMENT ?? 0) * slots * 8).toBe(Math.max(8, bits))
  })

  it('spells ports of an IR as OpenVINO does', () => {
    expect([
      DTYPES.float32.precision,
      DTYPES.int64.precision,
      DTYPES.bool.precision,
      DTYPES.uint1.precision,
      DTYPES.float8e4m3fn.precision
    ]).toEqual(['FP32', 'I64', 'BOOL', 'BIN', 'F8E4M3'])
  })
})

describe('names', () => {
  it('are found in both spellings', () => {
    expect([dtypeFromName('float32'), dtypeFromName('f32'), dtypeFromName('boolean'), dtypeFromName('bool')]).toEqual([
      'float32',
      'float32',
      'bool',
      'bool'
    ])
    expect([dtypeFromName('FP32'), dtypeFromName('constructor'), dtypeFromName('')]).toEqual([
      undefined,
      undefined,
      undefined
    ])
  })

  it("are OpenVINO's only where it has the type", () => {
    expect([dtypeName('int64', 'openvino'), dtypeName('int64', 'onnx'), dtypeName('complex64', 'openvino')]).toEqual([
      'i64',
      'int64',
      'complex64'
    ])
  })

  it("are found by ONNX's number", () => {
    expect([dtypeFromOnnx(1), dtypeFromOnnx(26), dtypeFromOnnx(0), dtypeFromOnnx(99)]).toEqual([
      'float32',
      'int2',
      undefined,
      undefined
    ])
  })
})

describe('kinds', () => {
  it('divide the types', () => {
    expect(dtypesOf('float', 'int', 'uint', 'bool', 'string', 'complex')).toEqual(ALL_DTYPES)
    expect(dtypesOf('complex')).toEqual(['complex64', 'complex128'])
    expect(ALL_DTYPES.filter(is64BitInteger)).toEqual(['int64', 'uint64'])
    expect([isInteger('uint3'), isInteger('bool'), isFloat('nf4'), isFloat('complex64')]).toEqual([
      true,
      false,
      true,
      false
    ])
  })
})
