import { describe, expect, it } from 'vitest'
import { ALL_DTYPES, type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { isPacked, type Layout, pack, packedBytes, unpack } from '../../src/tensor/packing.ts'

const PACKED = ALL_DTYPES.filter(isPacked)
const LAYOUTS: Layout[] = ['onnx', 'openvino']

const cases = PACKED.flatMap(type => LAYOUTS.map(layout => ({ type, layout })))

describe.each(cases)('$type in the layout of $layout', ({ type, layout }) => {
  const { bits, kind } = DTYPES[type]
  const codesOf = (count: number): Uint8Array | Int8Array =>
    kind === 'int'
      ? Int8Array.from({ length: count }, (_, i) => ((i * 5) % 2 ** bits) - 2 ** (bits - 1))
      : Uint8Array.from({ length: count }, (_, i) => (i * 5) % 2 ** bits)

  it('gives back the codes that were packed, for every length up to 40', () => {
    for (let count = 0; count <= 40; count++) {
      const codes = codesOf(count)
      const bytes = pack(type, codes, layout)
      expect(bytes.length).toBe(packedBytes(type, count, layout))
      expect(unpack(type, bytes, count, layout)).toEqual(codes)
    }
  })

  it('refuses a buffer that is too short', () => {
    const least = Math.ceil((9 * bits) / 8)
    expect(() => unpack(type, new Uint8Array(least - 1), 9, layout)).toThrow(
      `9 elements of type ${type} need ${least} bytes, ${least - 1} are there`
    )
  })
})

describe('pack', () => {
  const hex = (type: DType, codes: number[], layout: Layout): string =>
    Buffer.from(pack(type, new Uint8Array(codes), layout)).toString('hex')

  it('puts the first element into the lowest bits for ONNX', () => {
    expect(hex('uint4', [1, 2, 3], 'onnx')).toBe('2103')
    expect(hex('uint2', [0, 1, 2, 3, 3], 'onnx')).toBe('e403')
    expect(hex('float4e2m1', [7, 8], 'onnx')).toBe('87')
    expect(Buffer.from(pack('int4', new Int8Array([-1, 2, -8]), 'onnx')).toString('hex')).toBe('2f08')
    expect(Buffer.from(pack('int2', new Int8Array([-1, 1, -2, 0]), 'onnx')).toString('hex')).toBe('27')
  })

  it('writes what OpenVINO 2026.4 writes', () => {
    expect(hex('uint1', [1, 0, 0, 0, 0, 0, 0, 1, 1], 'openvino')).toBe('8180')
    expect(hex('uint2', [0, 1, 2, 3, 3], 'openvino')).toBe('e403')
    expect(hex('uint3', [0, 1, 2, 3, 4, 5, 6, 7, 5], 'openvino')).toBe('1b1b0f400080')
    expect(hex('uint4', [1, 2, 3], 'openvino')).toBe('2103')
    expect(hex('uint6', [0, 1, 33, 63, 5], 'openvino')).toBe('011f0b500000')
    expect(hex('nf4', [3, 12], 'openvino')).toBe('c3')
  })
})

describe('unpack', () => {
  it('extends the sign of signed types', () => {
    expect(unpack('int4', new Uint8Array([0x8f]), 2, 'onnx')).toEqual(new Int8Array([-1, -8]))
    expect(unpack('int2', new Uint8Array([0b11100100]), 4, 'onnx')).toEqual(new Int8Array([0, 1, -2, -1]))
  })

  it('takes the bytes that OpenVINO may cut off as zero', () => {
    const whole = pack('uint3', new Uint8Array([3, 2, 1, 1]), 'openvino')
    expect(unpack('uint3', whole.subarray(0, 2), 4, 'openvino')).toEqual(new Uint8Array([3, 2, 1, 1]))
  })

  it('does not know types of whole bytes', () => {
    expect(() => unpack('uint8', new Uint8Array(1), 1, 'onnx')).toThrow('uint8 is not packed')
    expect(() => packedBytes('string', 1, 'onnx')).toThrow('string is not packed')
  })
})
