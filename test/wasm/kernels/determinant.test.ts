import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Det', 11] as const

describe.each(['heap', 'array'] as const)('Det in WebAssembly, operands in an %s', region => {
  test.each(['float32', 'float64'] as const)('equals the reference: %s', type => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 20 }), fc.nat(), (batch, n, seed) => {
        const dims = [batch, 1 + Math.floor(128 / n / n), n, n]
        const numbers = Array.from(noise(dims, seed).data)
        // Zeros, of which some matrices have too many, infinities and NaN.
        if (seed % 2) numbers.forEach((value, i) => (numbers[i] = i % 3 === seed % 3 ? 0 : value))
        if (seed % 5 === 0) numbers.splice(seed % numbers.length, 1, [NaN, Infinity, -Infinity][seed % 3])
        expectEqual(KIND, [new Tensor(type, numbers, dims)], { region }, 0)
      })
    )
  })
})

test('few elements, and matrices larger than scratch memory, are left to the reference', () => {
  for (const dims of [
    [3, 3],
    [0, 20, 20],
    [450, 450]
  ])
    expect(() => runAccelerated(KIND, [noise(dims, 1)])).toThrow('no accelerated kernel')
})
