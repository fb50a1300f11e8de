import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const NBITS: Kind = ['onnx', 'MatMulNBits', 1, 'com.microsoft']
const BNB4: Kind = ['onnx', 'MatMulBnb4', 1, 'com.microsoft']
/** Sums of float32 against sums in double precision, as a share of the largest result. */
const ROUNDING = 2e-6

const bytes = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'uint8',
    Uint8Array.from(noise(dims, seed, 128).data, x => 128 + Math.floor(x)),
    dims
  )

interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly bits: number
  readonly blockSize: number
  readonly zeros: 'none' | 'codes' | 'numbers'
  readonly hasBias: boolean
}

/** Inputs and attributes of MatMulNBits. */
function nbits({ m, n, k, bits, blockSize, zeros, hasBias }: Product) {
  const blocks = Math.ceil(k / blockSize)
  const points = {
    none: undefined,
    codes: bytes([n, Math.ceil((blocks * bits) / 8)], 3),
    numbers: noise([n, blocks], 4, 2 ** bits)
  }
  const inputs = [
    noise([m, k], 1),
    bytes([n, blocks, (blockSize * bits) / 8], 2),
    noise([n, blocks], 5),
    points[zeros],
    undefined,
    hasBias ? noise([n], 6) : undefined
  ]
  return { inputs, attributes: { K: k, N: n, bits, block_size: blockSize } }
}

const products = (largest: { m: number; n: number; k: number }): fc.Arbitrary<Product> =>
  fc.record({
    m: fc.integer({ min: 1, max: largest.m }),
    n: fc.integer({ min: 7, max: largest.n }),
    k: fc.integer({ min: 80, max: largest.k }),
    bits: fc.constantFrom(2, 4, 8),
    blockSize: fc.constantFrom(16, 32, 64, 128, 1024),
    zeros: fc.constantFrom('none', 'codes', 'numbers'),
    hasBias: fc.boolean()
  })

describe.each(['heap', 'array'] as const)('coded weights in WebAssembly, operands in an %s', region => {
  test('of MatMulNBits give the product of the reference, whatever the block, bits and zero points', () => {
    fc.assert(
      fc.property(products({ m: 9, n: 40, k: 700 }), product => {
        const { inputs, attributes } = nbits(product)
        expectEqual(NBITS, inputs, { region, attributes }, ROUNDING)
      }),
      { numRuns: 150 }
    )
  })

  test.each([2, 4, 8])('of %i bits take many rows', bits => {
    const { inputs, attributes } = nbits({ m: 261, n: 37, k: 300, bits, blockSize: 32, zeros: 'codes', hasBias: true })
    expectEqual(NBITS, inputs, { region, attributes }, ROUNDING)
  })

  test.each([0, 1])('of MatMulBnb4, quant_type %i, give the product of the reference', quant_type => {
    for (const [m, n, k, block_size] of [
      [1, 45, 256, 64],
      [3, 8, 96, 16],
      [4, 21, 640, 128],
      [17, 30, 320, 32]
    ] as const) {
      const attributes = { K: k, N: n, block_size, quant_type }
      const inputs = [noise([m, k], 1), bytes([(n * k) / 2], 2), noise([(n * k) / block_size], 3)]
      expectEqual(BNB4, inputs, { region, attributes }, ROUNDING)
    }
  })
})

test('several threads compute what one computes', () => {
  for (const m of [1, 40]) {
    const product = { m, n: 3000, k: 512, bits: 4, blockSize: 32, zeros: 'codes', hasBias: true } as const
    const { inputs, attributes } = nbits(product)
    const [one] = runAccelerated(NBITS, inputs, { attributes }) as Tensor[]
    const [two] = runAccelerated(NBITS, inputs, { attributes, threads: 2 }) as Tensor[]
    expect([...two.data]).toEqual([...one.data])
  }
})
