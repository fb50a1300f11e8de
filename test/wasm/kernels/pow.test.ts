import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Pow', 13] as const

/** Noise with edges of the functions in front. */
function numbers(dims: readonly number[]): Tensor {
  const tensor = noise(dims, 1, 4)
  const edges = [0, -0, 1, -1, Infinity, -Infinity, NaN, 1e-40, -1e-40, 1e-20, 1e13, -1e13, 3e38]
  edges.forEach((edge, i) => {
    tensor.data[i] = edge
  })
  return tensor
}

describe.each(['heap', 'array'] as const)('powers of float32 in WebAssembly, operands in an %s', region => {
  test.each([2, 3, 0.5, -1, 1.7, 0])('equal the reference: exponent %d', exponent => {
    // Each range of magnitudes is compared alone, since the tolerance is a share of the largest.
    for (const base of [numbers([2051]), noise([3, 1, 700], 2)])
      for (const dims of [[], [1], [1, 1]])
        expectEqual(KIND, [base, new Tensor('float32', [exponent], dims)], { region }, 2e-7)
  })

  test('equal the reference: an exponent of int64', () => {
    expectEqual(KIND, [numbers([3000]), new Tensor('int64', new BigInt64Array([2n]), [])], { region }, 0)
  })

  test('of zeros keep the sign of the reference', () => {
    const base = new Tensor('float32', new Float32Array(2048).fill(-0), [2048])
    for (const [exponent, zero] of [
      [0.5, 0],
      [3, -0],
      [2, 0]
    ]) {
      const [out] = runAccelerated(KIND, [base, new Tensor('float32', [exponent], [])], { region }) as Tensor[]
      expect(out.data[2047]).toBe(zero)
    }
  })
})

test('powers that broadcast the base, and of few elements, are left to the reference', () => {
  const two = new Tensor('float32', [2], [1, 1])
  expect(() => runAccelerated(KIND, [noise([100], 1), two])).toThrow('no accelerated kernel')
  expect(() => runAccelerated(KIND, [noise([1], 1), noise([3000], 2)])).toThrow('no accelerated kernel')
})
