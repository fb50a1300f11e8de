import { describe, expect, test } from 'vitest'
import { tensorOfBytes } from '../../src/tensor/bytes.ts'
import { failure } from '../onnx/encode.ts'

describe('tensorOfBytes', () => {
  test('is a view of aligned bytes', () => {
    const bytes = new Uint8Array(Float32Array.of(1.5, -2).buffer)
    const tensor = tensorOfBytes('float32', [2], bytes, 'onnx')
    expect([...(tensor.data as Float32Array)]).toEqual([1.5, -2])
    expect((tensor.data as Float32Array).buffer).toBe(bytes.buffer)
  })

  test('copies bytes that lie askew, also those of a Buffer', () => {
    const bytes = Buffer.from([0, 1, 0, 0, 0, 0, 0, 0, 0])
    expect(tensorOfBytes('int64', [1], bytes.subarray(1), 'onnx').data).toEqual(BigInt64Array.of(1n))
  })

  test('reads complex elements as pairs', () => {
    const tensor = tensorOfBytes('complex64', [1], new Uint8Array(Float32Array.of(3, 4).buffer), 'onnx')
    expect([...(tensor.data as Float32Array)]).toEqual([3, 4])
  })

  test('unpacks types narrower than a byte', () => {
    expect([...(tensorOfBytes('int4', [3], Uint8Array.of(0xf1, 0x08), 'onnx').data as Int8Array)]).toEqual([1, -1, -8])
  })

  test('makes every byte of a bool 0 or 1', () => {
    expect([...(tensorOfBytes('bool', [3], Uint8Array.of(0, 1, 255), 'onnx').data as Uint8Array)]).toEqual([0, 1, 1])
  })

  test.each([
    ['float32', 4 * 6 - 1],
    ['float32', 25],
    ['int4', 2],
    ['int4', 4],
    ['uint8', 0]
  ] as const)('refuses %s [2, 3] of %d bytes', (type, length) => {
    expect(failure(() => tensorOfBytes(type, [2, 3], new Uint8Array(length), 'onnx')).code).toBe('invalid-file')
  })

  test('refuses strings', () => {
    expect(failure(() => tensorOfBytes('string', [0], new Uint8Array(0), 'onnx')).code).toBe('invalid-file')
  })
})
