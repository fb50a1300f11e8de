import { describe, expect, test } from 'vitest'
import { rotation } from '../../../src/op-kit/rotation.ts'
import fc from '../../fixtures/random-cases.ts'
import { differenceOf, noise, onHeap, runPlanned } from '../compare.ts'

describe('rotary positions in WebAssembly', () => {
  test('of any sizes and angles equal the reference', () => {
    const size = (max: number) => fc.integer({ min: 1, max })
    const sizes = fc.record({
      batch: size(3),
      heads: size(4),
      rows: size(9),
      half: size(40),
      ofBatch: fc.boolean(),
      ofHead: fc.boolean(),
      rank: fc.constantFrom(2, 3, 4),
      perElement: fc.boolean(),
      interleaved: fc.boolean(),
      rowsFirst: fc.boolean(),
      isOnHeap: fc.boolean()
    })
    fc.assert(
      fc.property(sizes, ({ batch, heads, rows, half, ofBatch, ofHead, rank, ...given }) => {
        const { perElement, interleaved, rowsFirst, isOnHeap } = given
        fc.pre(batch * heads * rows * half >= 64)
        const columns = perElement ? 2 * half : half
        const angles = [ofBatch ? batch : 1, ofHead ? heads : 1, rows, columns].slice(-rank)
        const place = isOnHeap ? onHeap : <T>(tensor: T): T => tensor
        const operands = {
          x: place(noise(rowsFirst ? [batch, rows, heads, 2 * half] : [batch, heads, rows, 2 * half], 1, 4)),
          cos: place(noise(angles, 2)),
          sin: place(noise(angles, 3))
        }
        const parameters = { interleaved, rowsFirst }
        const [own, fast] = [false, true].map(isAccelerated =>
          runPlanned(rotation, operands, parameters, [batch, heads, rows, 2 * half], isAccelerated)
        )
        expect(differenceOf(fast, own)).toBeLessThan(1e-6)
      }),
      { numRuns: 200, seed: 11 }
    )
  })
})
