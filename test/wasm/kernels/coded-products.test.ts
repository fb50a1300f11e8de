import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { type AcceleratedOptions, differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

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

  test('of MatMulBnb4 whose blocks go on from row to row', () => {
    const given = (m: number, n: number, k: number, block_size: number): [Tensor[], AcceleratedOptions] => [
      [noise([m, k], 1), bytes([(n * k) / 2], 2), noise([Math.ceil((n * k) / block_size)], 3)],
      { region, attributes: { K: k, N: n, block_size, quant_type: 1 } }
    ]
    for (const [m, n, k] of [
      [1, 45, 96],
      [5, 32, 160],
      [20, 7, 48]
    ] as const) {
      const [inputs, options] = given(m, n, k, 64)
      expectEqual(BNB4, inputs, { ...options, constants: { largest: 2 } }, ROUNDING)
      // Scales that may be others in each run are not packed.
      expectEqual(BNB4, inputs, options, ROUNDING)
    }
    const [inputs, options] = given(3, 10, 24, 64)
    expect(() => runAccelerated(BNB4, inputs, options)).toThrow('no accelerated kernel')
  })
})

/** A rounded to integers of 8 bits in blocks, and how far each element is from what it was, at most. */
function rounded(a: Tensor, k: number, blockSize: number): { numbers: Tensor; steps: number[] } {
  const data = a.data as Float32Array
  const numbers = new Float32Array(data.length)
  const steps: number[] = []
  for (let row = 0; row < data.length; row += k)
    for (let from = row; from < row + k; from += blockSize) {
      const block = data.subarray(from, Math.min(row + k, from + blockSize))
      const scale = Math.fround(Math.max(...block.map(Math.abs)) / 127)
      const inverse = Math.fround(1 / scale)
      block.forEach((x, i) => {
        const whole = Math.fround(x * inverse)
        numbers[from + i] = scale * Math.sign(whole) * Math.round(Math.abs(whole))
        steps.push(scale / 2)
      })
    }
  return { numbers: new Tensor('float32', numbers, a.dims), steps }
}

/** Input positions of what is packed; rows of A are rounded by codes of 4 bits only where these are. */
const constantsOf = (inputs: readonly (Tensor | undefined)[]): Record<string, number> => ({
  ...{ b: 1, scales: 2 },
  ...(inputs[3] && { zeros: 3 })
})

describe('accuracy_level 4', () => {
  const shape = { m: 3, n: 37, k: 450, hasBias: true } as const

  test.each([
    { ...shape, bits: 4, blockSize: 32, zeros: 'codes' },
    { ...shape, bits: 4, blockSize: 32, zeros: 'none' },
    { ...shape, bits: 4, blockSize: 64, zeros: 'none' },
    { ...shape, bits: 8, blockSize: 16, zeros: 'codes' },
    { ...shape, bits: 2, blockSize: 128, zeros: 'numbers' },
    { ...shape, bits: 4, blockSize: 512, zeros: 'numbers' },
    { ...shape, m: 9, bits: 4, blockSize: 32, zeros: 'codes' },
    { ...shape, m: 36, bits: 4, blockSize: 64, zeros: 'none' },
    { ...shape, m: 1, k: 670, bits: 4, blockSize: 32, zeros: 'codes' },
    { ...shape, m: 2, k: 670, bits: 4, blockSize: 32, zeros: 'numbers' },
    { ...shape, m: 7, k: 670, bits: 4, blockSize: 32, zeros: 'codes' },
    { ...shape, m: 9, k: 670, bits: 4, blockSize: 64, zeros: 'numbers' },
    { ...shape, m: 5, k: 700, bits: 4, blockSize: 512, zeros: 'numbers' },
    { ...shape, m: 5, k: 700, bits: 4, blockSize: 512, zeros: 'codes' },
    { ...shape, m: 6, k: 65, bits: 4, blockSize: 32, zeros: 'none' },
    { ...shape, n: 92, bits: 4, blockSize: 64, zeros: 'codes' },
    { ...shape, n: 92, m: 9, bits: 4, blockSize: 32, zeros: 'numbers' }
  ] as const)('rounds rows of A to integers of 8 bits, block by block: %j', product => {
    const { inputs, attributes } = nbits(product)
    const options = { attributes: { ...attributes, accuracy_level: 4 } }
    const [found] = runAccelerated(NBITS, inputs, { ...options, constants: constantsOf(inputs) }) as Tensor[]
    const { numbers, steps } = rounded(inputs[0]!, product.k, product.blockSize)
    const [same] = runOp(NBITS, [numbers, ...inputs.slice(1)], options) as Tensor[]
    expect(differenceOf(found, same)).toBeLessThan(ROUNDING)

    const identity = Float32Array.from({ length: product.k ** 2 }, (_, i) => Number(i % (product.k + 1) === 0))
    const eye = new Tensor('float32', identity, [product.k, product.k])
    const [weights] = runOp(NBITS, [eye, ...inputs.slice(1, 5)], options) as Tensor[]
    const [exact] = runOp(NBITS, inputs, options) as Tensor[]
    for (const [at, value] of (exact.data as Float32Array).entries()) {
      const row = Math.floor(at / product.n)
      let bound = 1e-5
      for (let i = 0; i < product.k; i++)
        bound += steps[row * product.k + i] * Math.abs(Number(weights.data[i * product.n + (at % product.n)]))
      expect(Math.abs(Number(found.data[at]) - value)).toBeLessThan(1.001 * bound)
    }
  })

  test.each([
    { bits: 8, zeros: 'codes' },
    { bits: 2, zeros: 'none' }
  ] as const)('rounds nothing where there are many rows of codes like %j', product => {
    const { inputs, attributes } = nbits({ ...shape, ...product, m: 9, blockSize: 64 })
    expectEqual(NBITS, inputs, { attributes: { ...attributes, accuracy_level: 4 } }, ROUNDING)
  })

  test.each([1, 9])('rounds nothing where codes of 4 bits are no constants, and are not packed, of %i rows', m => {
    const { inputs, attributes } = nbits({ ...shape, m, bits: 4, blockSize: 32, zeros: 'codes' })
    expectEqual(NBITS, inputs, { attributes: { ...attributes, accuracy_level: 4 } }, ROUNDING)
  })

  test('rounds nothing where four rows are too long for the memory of a kernel', () => {
    const [m, n, k] = [5, 8, 180_000]
    const product = { m, n, k, bits: 4, blockSize: 32, zeros: 'none', hasBias: false } as const
    const { inputs, attributes } = nbits(product)
    const options = { attributes: { ...attributes, accuracy_level: 4 } }
    const [found] = runAccelerated(NBITS, inputs, { ...options, constants: constantsOf(inputs) }) as Tensor[]
    const [exact] = runOp(NBITS, inputs, options) as Tensor[]
    expect(differenceOf(found, exact)).toBeLessThan(1e-4)
  })

  test.each([
    [32, 1],
    [128, 1],
    [1024, 1],
    [32, 7],
    [1024, 7]
  ])('sums of a block of %i are exact, the largest too, of %i rows', (blockSize, m) => {
    const [n, k] = [9, 2048]
    const product = { m, n, k, bits: 4, blockSize, zeros: 'none', hasBias: false } as const
    const { inputs, attributes } = nbits(product)
    // The unit is 1, so that nothing is rounded.
    const a = new Tensor(
      'float32',
      Float32Array.from({ length: m * k }, (_, i) => (i % 3 === 0 ? -127 : 127)),
      [m, k]
    )
    const codes = new Tensor(
      'uint8',
      Uint8Array.from({ length: (n * k) / 2 }, (_, i) => [255, 0, 240, 15][i < k / 2 ? 0 : (i * 7 + (i >> 5)) % 4]),
      inputs[1]!.dims
    )
    const ones = new Tensor('float32', new Float32Array((n * k) / blockSize).fill(1), inputs[2]!.dims)
    const options = { attributes: { ...attributes, accuracy_level: 4 } }
    const constants = { b: 1, scales: 2 }
    const [y] = runAccelerated(NBITS, [a, codes, ones], { ...options, constants }) as Tensor[]
    const [expected] = runOp(NBITS, [a, codes, ones], options) as Tensor[]
    expect([...y.data]).toEqual([...expected.data])
  })

  test.each([2, 5])('keeps blocks of zeros, and what is no number, of %i rows', m => {
    const { inputs, attributes } = nbits({ ...shape, m, bits: 4, blockSize: 32, zeros: 'none', hasBias: false })
    const a = inputs[0]!.data as Float32Array
    a.fill(0, 0, shape.k)
    a[shape.k + 70] = NaN
    const options = { attributes: { ...attributes, accuracy_level: 4 }, constants: constantsOf(inputs) }
    const [y] = runAccelerated(NBITS, inputs, options) as Tensor[]
    const values = [...(y.data as Float32Array)]
    expect(values.slice(0, shape.n).every(value => value === 0)).toBe(true)
    expect(values.slice(shape.n, 2 * shape.n).every(Number.isNaN)).toBe(true)
  })
})

test.each([0, 4])('several threads compute what one computes, accuracy_level %i', accuracy_level => {
  for (const m of [1, 40]) {
    const product = { m, n: 3000, k: 512, bits: 4, blockSize: 32, zeros: 'codes', hasBias: true } as const
    const { inputs, attributes } = nbits(product)
    const options = { attributes: { ...attributes, accuracy_level }, constants: constantsOf(inputs) }
    const [one] = runAccelerated(NBITS, inputs, options) as Tensor[]
    const [two] = runAccelerated(NBITS, inputs, { ...options, threads: 2 }) as Tensor[]
    expect([...two.data]).toEqual([...one.data])
  }
})
