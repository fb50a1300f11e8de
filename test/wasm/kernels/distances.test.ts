import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const CDIST = ['onnx', 'CDist', 1, 'com.microsoft'] as const

describe.each(['heap', 'array'] as const)('distances in WebAssembly, operands in an %s', region => {
  test.each(['sqeuclidean', 'euclidean'])('%s', metric => {
    for (const [rows, count, features] of [
      [240, 7, 6],
      [1, 300, 5],
      [37, 19, 2],
      [3, 16, 129],
      [40, 33, 1]
    ]) {
      const inputs = [noise([rows, features], 1), noise([count, features], 2)]
      expectEqual([...CDIST], inputs, { region, attributes: { metric } }, 1e-6)
    }
  })

  test('of rows with NaN and infinite elements', () => {
    const data = Float32Array.from(noise([40, 8], 1).data)
    data[3] = NaN
    data[20] = Infinity
    const inputs = [new Tensor('float32', data, [40, 8]), noise([9, 8], 2)]
    expectEqual([...CDIST], inputs, { region, attributes: { metric: 'euclidean' } }, 1e-6)
  })
})

test('distances of few rows, and of float64, are left to the reference', () => {
  const refused = (...inputs: Tensor[]): void =>
    expect(() => runAccelerated([...CDIST], inputs)).toThrow('no accelerated kernel')
  refused(noise([5, 6], 1), noise([7, 6], 2))
  const wide = new Tensor('float64', new Float64Array(6000), [1000, 6])
  refused(wide, wide)
})
