import { describe, expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { dequantized, quantizationOf, recode, requantize } from '../../../src/kernels/quantized/codes.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'

const every = Array.from({ length: 256 }, (_, i) => i)

describe('codes', () => {
  test('stand for (code - zero) * scale', () => {
    const codes = new Tensor('int8', [-128, 0, 127])
    expect([...drain(dequantized(codes, { scale: 0.5, zero: -1 })).data]).toEqual([-63.5, 0.5, 64])
    const scale = new Tensor('float32', [0.25])
    expect(quantizationOf(scale, undefined)).toEqual({ scale: 0.25, zero: 0 })
    expect(quantizationOf(scale, new Tensor('int8', [-3], []))).toEqual({ scale: 0.25, zero: -3 })
  })

  test('are the nearest, ties to even before the zero point is added, and saturate', () => {
    const out = allocate('uint8', [6])
    drain(requantize(new Tensor('float64', [0.25, 0.75, 1.25, -100, 1000, NaN]), { scale: 0.5, zero: 1 }, out))
    expect([...out.data]).toEqual([1, 3, 3, 0, 255, 0])
  })

  test('come back unchanged from numbers, all of both types', () => {
    for (const [type, zero] of [
      ['uint8', 77],
      ['int8', -3]
    ] as const) {
      const codes = new Tensor(type, type === 'int8' ? every.map(code => code - 128) : every)
      const out = allocate(type, [256])
      const quantization = { scale: Math.fround(0.0123), zero }
      drain(requantize(drain(dequantized(codes, quantization)), quantization, out))
      expect(out.data).toEqual(codes.data)
      drain(recode(codes, quantization, out, quantization))
      expect(out.data).toEqual(codes.data)
    }
  })

  test('are read where a view starts', () => {
    const bytes = new Uint8Array([9, 9, 200, 3])
    const view = new Tensor('int8', new Int8Array(bytes.buffer, 2, 2), [2])
    const out = allocate('int8', [2])
    drain(recode(view, { scale: 1, zero: 0 }, out, { scale: 2, zero: 0 }))
    expect([...out.data]).toEqual([-28, 2])
  })

  test('may go through a function on the way', () => {
    const out = allocate('uint8', [3])
    const square = (x: ArrayLike<number>, to: { [i: number]: number }, from: number, end: number): void => {
      for (let i = from; i < end; i++) to[i] = x[i] * x[i]
    }
    drain(recode(new Tensor('int8', [-2, 3, 100]), { scale: 0.5, zero: 0 }, out, { scale: 0.25, zero: 0 }, square))
    expect([...out.data]).toEqual([4, 9, 255])
  })
})
