import { expect, test } from 'vitest'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { bits, noise, runAccelerated } from './compare.ts'

// A process of its own: the heap never becomes smaller, so what it has grown to tells of all that has run there.
test('a product whose result is an array of the caller does not take as much of the heap again', () => {
  const [m, n, k] = [200, 80_000, 32]
  const inputs = [noise([m, k], 1), bits('uint8', [n, 1, 16], 2), noise([n, 1], 5)]
  const [{ data }] = runAccelerated(['onnx', 'MatMulNBits', 1, 'com.microsoft'], inputs, {
    region: 'array',
    attributes: { K: k, N: n, bits: 4, block_size: 32 }
  }) as Tensor<'float32'>[]
  expect(data.byteLength).toBe(64_000_000)
  expect(heapStats().reserved).toBeLessThan(data.byteLength / 2)
})
