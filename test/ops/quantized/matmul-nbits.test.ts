import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { noise } from '../../wasm/compare.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind: Kind = ['onnx', 'MatMulNBits', 1, 'com.microsoft']

/** Rows of codes packed as the operator has them, the first in the lowest bits, each row from a byte on. */
function pack(codes: readonly (readonly number[])[], bits: number): Uint8Array {
  const width = Math.ceil(((codes[0]?.length ?? 0) * bits) / 8)
  const bytes = new Uint8Array(codes.length * width)
  codes.forEach((row, r) =>
    row.forEach((code, i) => {
      bytes[r * width + Math.floor((i * bits) / 8)] |= code << ((i * bits) % 8)
    })
  )
  return bytes
}

const codesOf = (rows: number, columns: number, bits: number, seed: number): number[][] =>
  Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, i) => Math.imul(seed + 31 * r + i, 2654435761) >>> (32 - bits))
  )

interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly bits: number
  readonly blockSize: number
  readonly zeros: 'none' | 'codes' | 'numbers'
  readonly isSorted: boolean
  readonly isFlat: boolean
}

/** Inputs of a call, and its result by the formula of the operator. */
function example({ m, n, k, bits, blockSize, zeros, isSorted, isFlat }: Product) {
  const blocks = Math.ceil(k / blockSize)
  const codes = codesOf(n, blocks * blockSize, bits, 7)
  const [a, scales, bias, points] = [noise([m, k], 1), noise([n, blocks], 2), noise([n], 3), noise([n, blocks], 4, 9)]
  const zeroCodes = codesOf(n, blocks, bits, 99)
  const blockOf = Int32Array.from({ length: k }, (_, i) => (isSorted ? (i * 7) % blocks : Math.floor(i / blockSize)))
  const zeroAt = (row: number, block: number): number =>
    zeros === 'none' ? 2 ** (bits - 1) : zeros === 'codes' ? zeroCodes[row][block] : points.data[row * blocks + block]
  const expected: number[] = []
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = bias.data[j]
      for (let c = 0; c < k; c++) {
        const block = blockOf[c]
        sum += a.data[i * k + c] * (codes[j][c] - zeroAt(j, block)) * scales.data[j * blocks + block]
      }
      expected.push(sum)
    }
  const flat = (tensor: Tensor): Tensor =>
    isFlat ? new Tensor(tensor.type, tensor.data, [tensor.data.length]) : tensor
  const packedZeros = pack(zeroCodes, bits)
  const inputs = [
    a,
    new Tensor('uint8', pack(codes, bits), [n, blocks, (blockSize * bits) / 8]),
    flat(scales),
    zeros === 'none'
      ? undefined
      : flat(zeros === 'codes' ? new Tensor('uint8', packedZeros, [n, packedZeros.length / Math.max(1, n)]) : points),
    isSorted ? new Tensor('int32', blockOf, [k]) : undefined,
    bias
  ]
  return { inputs, expected, attributes: { K: k, N: n, bits, block_size: blockSize } }
}

describe('MatMulNBits', () => {
  test('is the product with the decoded weights, whatever the block, bits and zero points', () => {
    fc.assert(
      fc.property(
        fc.record<Product>({
          m: fc.integer({ min: 1, max: 6 }),
          n: fc.integer({ min: 1, max: 9 }),
          k: fc.integer({ min: 1, max: 100 }),
          bits: fc.constantFrom(2, 4, 8),
          blockSize: fc.constantFrom(16, 32, 64),
          zeros: fc.constantFrom('none', 'codes', 'numbers'),
          isSorted: fc.boolean(),
          isFlat: fc.boolean()
        }),
        product => {
          const { inputs, expected, attributes } = example(product)
          const result = runTensor(kind, inputs, { attributes })
          expect(result.dims).toEqual([product.m, product.n])
          const largest = Math.max(1, ...expected.map(Math.abs))
          toNumbers(result).forEach((value, i) => expect(Math.abs(value - expected[i])).toBeLessThan(1e-5 * largest))
        }
      ),
      { numRuns: 60 }
    )
  })

  const product: Product = {
    m: 3,
    n: 5,
    k: 40,
    bits: 4,
    blockSize: 16,
    zeros: 'codes',
    isSorted: false,
    isFlat: false
  }

  test.each<DType>(['float16', 'bfloat16'])('takes A, scales and bias of %s', type => {
    const { inputs, attributes } = example(product)
    const rounded = inputs.map(tensor => tensor && (tensor.type === 'float32' ? convert(tensor, type) : tensor))
    const widened = rounded.map(tensor => tensor && (tensor.type === type ? convert(tensor, 'float32') : tensor))
    const expected = convert(runTensor(kind, widened, { attributes }), type)
    expect([...runTensor(kind, rounded, { attributes }).data]).toEqual([...expected.data])
  })

  test('keeps the leading dims of A; a vector gives a vector', () => {
    const { inputs, expected, attributes } = example({ ...product, m: 6 })
    const [a, ...rest] = inputs
    const shaped = (...dims: number[]): Tensor =>
      runTensor(
        kind,
        [
          new Tensor(
            'float32',
            (a!.data as Float32Array).slice(
              0,
              dims.reduce((x, y) => x * y)
            ),
            dims
          ),
          ...rest
        ],
        {
          attributes
        }
      )
    expect(shaped(1, 2, 3, 40).dims).toEqual([1, 2, 3, 5])
    expectNear(shaped(40), expected.slice(0, 5), 1e-5)
    expect(runTensor(kind, [allocate('float32', [0, 40]), ...rest], { attributes }).dims).toEqual([0, 5])
  })

  test('decodes rows that fill more than one panel', () => {
    const { inputs, expected, attributes } = example({ ...product, m: 5, n: 40, k: 8000, blockSize: 128 })
    const largest = Math.max(...expected.map(Math.abs))
    toNumbers(runTensor(kind, inputs, { attributes })).forEach((value, i) =>
      expect(Math.abs(value - expected[i])).toBeLessThan(1e-5 * largest)
    )
  })

  test('has the dims of A with N last', () => {
    const { inputs, attributes } = example(product)
    const facts = [fact('float32', ['b', 's', 40]), ...inputs.slice(1)]
    expect(dimsOf(inferOp(kind, facts, { attributes })[0])).toEqual(['b', 's', 5])
    expect(dimsOf(inferOp(kind, facts.with(0, fact('float32')), { attributes })[0])).toBeUndefined()
  })

  test.each([
    [0, fact('float32', ['b', 41]), 'dims-mismatch'],
    [0, fact('float32', []), 'rank-mismatch'],
    [1, fact('uint8', [5, 3, 7]), 'dims-mismatch'],
    [1, fact('uint8', [120]), 'rank-mismatch'],
    [2, fact('float32', [5, 2]), 'dims-mismatch'],
    [2, fact('float16', [5, 3]), 'type-mismatch'],
    [3, fact('uint8', [5, 3]), 'dims-mismatch'],
    [3, fact('float32', [5, 2]), 'dims-mismatch'],
    [3, fact('float16', [5, 3]), 'type-mismatch'],
    [4, fact('int32', [41]), 'dims-mismatch'],
    [4, new Tensor('int32', new Array<number>(40).fill(3), [40]), 'index-out-of-range'],
    [4, new Tensor('int32', new Array<number>(40).fill(-1), [40]), 'index-out-of-range'],
    [5, fact('float32', [4]), 'dims-mismatch']
  ])('checks input %i, case %#', (at, given, code) => {
    const { inputs, attributes } = example(product)
    expect(errorOf(() => inferOp(kind, inputs.with(at, given as never), { attributes })).code).toBe(code)
  })

  test('checks blocks when it runs; those of columns beyond K are not read', () => {
    const { inputs, expected, attributes } = example(product)
    const blockOf = Int32Array.from({ length: 48 }, (_, i) => (i < 40 ? Math.floor(i / 16) : 77))
    expectNear(runTensor(kind, inputs.with(4, new Tensor('int32', blockOf, [48])), { attributes }), expected, 1e-5)
    blockOf[39] = 3
    const error = errorOf(() => runTensor(kind, inputs.with(4, new Tensor('int32', blockOf, [48])), { attributes }))
    expect(error).toMatchObject({ code: 'index-out-of-range', details: { index: '3', position: [39] } })
  })

  test('refuses weights in the order of a device', () => {
    const { inputs, attributes } = example(product)
    expect(errorOf(() => runTensor(kind, inputs, { attributes: { ...attributes, weight_prepacked: 1 } })).code).toBe(
      'unknown-attribute-value'
    )
  })
})
