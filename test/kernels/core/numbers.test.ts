import { describe, expect, test } from 'vitest'
import { convertedPaced } from '../../../src/kernels/core/convert-paced.ts'
import { doubles, readNumbers } from '../../../src/kernels/core/numbers.ts'
import { drain } from '../../../src/kernels/core/pace.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'

const HALVES = Uint16Array.from({ length: 1 << 10 }, (_, i) => i * 64 + (i % 64))
const BYTES = Uint8Array.from({ length: 256 }, (_, code) => code)

describe('numbers of few codes are those of a conversion', () => {
  test.each(['float16', 'bfloat16'] as const)('%s', type => {
    const codes = new Tensor(type, HALVES, [HALVES.length])
    expect(drain(readNumbers(codes))).toEqual(drain(convertedPaced(codes, 'float32')).data)
  })

  test.each(['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz', 'float8e8m0'] as const)('%s', type => {
    const codes = new Tensor(type, BYTES, [BYTES.length])
    expect(drain(readNumbers(codes))).toEqual(drain(convertedPaced(codes, 'float32')).data)
  })
})

test('numbers that are no codes are the elements themselves', () => {
  const data = Float32Array.of(1, 2)
  expect(drain(readNumbers(new Tensor('float32', data, [2])))).toBe(data)
})

test('numbers to compute with are zeros that nobody else has, and too many fail with a code', () => {
  for (const count of [0, 3, 511, 512]) {
    const [a, b] = [doubles(count).fill(1), doubles(count)]
    expect(a).toEqual(new Float64Array(count).fill(1))
    expect(b).toEqual(new Float64Array(count))
  }
  expect(() => doubles(2 ** 52)).toThrow(expect.objectContaining({ code: 'limit-exceeded' }))
})
