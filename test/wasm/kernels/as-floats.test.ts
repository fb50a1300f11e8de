import { describe, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { bits, expectEqual } from '../compare.ts'

const ml = (type: string): Kind => ['onnx', type, 1, 'ai.onnx.ml']

describe.each(['heap', 'array'] as const)('64-bit integers as floats, operands in an %s', region => {
  test('Scaler equals the reference', () => {
    const attributes = { offset: [0.5, -3.25, 1e6 + 0.5], scale: [2.5, 0.1, -1.5] }
    expectEqual(ml('Scaler'), [bits('int64', [400, 3])], { region, attributes }, 0)
  })

  test.each(['MAX', 'L1', 'L2'])('Normalizer equals the reference: %s', norm => {
    const small = new BigInt64Array(7000).map((_, i) => BigInt((i * 37) % 101) - (norm === 'MAX' ? 0n : 50n))
    // A row of zeros stays as it is.
    small.fill(0n, 70, 77)
    for (const x of [new Tensor('int64', small, [1000, 7]), bits('int64', [1000, 7])])
      expectEqual(ml('Normalizer'), [x], { region, attributes: { norm } }, 1e-6)
  })
})
