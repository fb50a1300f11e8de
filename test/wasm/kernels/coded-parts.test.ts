import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { columnsOfPart } from '../../../src/wasm/kernels/coded-parts.ts'
import type { Kind } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const NBITS: Kind = ['onnx', 'MatMulNBits', 1, 'com.microsoft']
const BNB4: Kind = ['onnx', 'MatMulBnb4', 1, 'com.microsoft']
const ROUNDING = 2e-6

interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly bits: number
  readonly zeros: 'none' | 'codes' | 'numbers'
}

/** Inputs and attributes of MatMulNBits with blocks of 32 and a bias. */
function nbits({ m, n, k, bits: width, zeros }: Product) {
  const blocks = Math.ceil(k / 32)
  const points = {
    none: undefined,
    codes: bits('uint8', [n, Math.ceil((blocks * width) / 8)], 3),
    numbers: noise([n, blocks], 4, 2 ** width)
  }
  const codes = bits('uint8', [n, blocks, 4 * width], 2)
  const inputs = [noise([m, k], 1), codes, noise([n, blocks], 5), points[zeros], undefined, noise([n], 6)]
  return { inputs, attributes: { K: k, N: n, bits: width, block_size: 32 } }
}

test('parts have whole panels, and as many columns as fit, or what is least', () => {
  expect(columnsOfPart(1, 10_000)).toBe(10_000)
  expect(columnsOfPart(16, 152_000)).toBe(16_384)
  expect(columnsOfPart(100, 152_000) % 64).toBe(0)
  expect(columnsOfPart(1 << 20, 152_000)).toBe(64)
})

describe('by parts, a product is that of the reference', () => {
  test.each([
    { bits: 4, zeros: 'none' },
    { bits: 4, zeros: 'codes' },
    { bits: 4, zeros: 'numbers' },
    { bits: 2, zeros: 'codes' },
    { bits: 8, zeros: 'codes' }
  ] as const)('MatMulNBits, %j', ({ bits: width, zeros }) => {
    const product = { m: 9, n: 40_003, k: 70, bits: width, zeros }
    expect(columnsOfPart(product.m, product.n)).toBeLessThan(product.n / 1.2)
    const { inputs, attributes } = nbits(product)
    expectEqual(NBITS, inputs, { region: 'array', attributes }, ROUNDING)
  })

  test('MatMulBnb4', () => {
    const [m, n, k, block_size] = [7, 60_001, 64, 32]
    const inputs = [noise([m, k], 1), bits('uint8', [(n * k) / 2], 2), noise([(n * k) / block_size], 3)]
    expectEqual(BNB4, inputs, { region: 'array', attributes: { K: k, N: n, block_size, quant_type: 1 } }, ROUNDING)
  })

  test.each(['none', 'codes', 'numbers'] as const)('packed weights, zero points: %s', zeros => {
    for (const m of [3, 6, 70]) {
      const { inputs, attributes } = nbits({ m, n: Math.ceil(300_000 / m) + 3, k: 70, bits: 4, zeros })
      const constants = { b: 1, scales: 2, ...(inputs[3] && { zeros: 3 }) }
      const options = { attributes: { ...attributes, accuracy_level: 4 }, constants }
      // On the heap the product is computed as a whole.
      const [whole] = runAccelerated(NBITS, inputs, { ...options, region: 'heap' }) as Tensor<'float32'>[]
      const [parts] = runAccelerated(NBITS, inputs, { ...options, region: 'array' }) as Tensor<'float32'>[]
      expect(Buffer.compare(bytesOf(parts), bytesOf(whole))).toBe(0)
    }
  })
})

const bytesOf = ({ data }: Tensor<'float32'>): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength)
