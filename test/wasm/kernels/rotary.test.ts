import { describe, expect, test } from 'vitest'
import { rotation } from '../../../src/op-kit/rotation.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { errorOf, type Kind, runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, onHeap, runAccelerated, runPlanned } from '../compare.ts'

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

  const ONNX: Kind = ['onnx', 'RotaryEmbedding', 23]
  const MICROSOFT: Kind = ['onnx', 'RotaryEmbedding', 1, 'com.microsoft']
  const at = (rows: readonly number[], ...dims: number[]): Tensor => new Tensor('int64', rows.map(BigInt), dims)
  const [flat, apart] = [
    [2, 5, 3 * 16],
    [2, 3, 5, 16]
  ].map((dims, i) => noise(dims, i, 4))
  const [cos, sin, partCos, partSin] = [8, 8, 6, 6].map((half, i) => noise([20, half], i + 3))
  const [following, scattered] = [at([4, 5, 6, 7, 8, 4, 5, 6, 7, 8], 2, 5), at([4, 19, 0, 7, 7, 4, 5, 6, 7, 8], 2, 5)]
  const part = { rotary_embedding_dim: 12 }

  test.each<readonly [string, Kind, readonly Tensor[], Readonly<Record<string, number>>]>([
    ['heads apart', ONNX, [apart, cos, sin, scattered], {}],
    ['heads in rows', ONNX, [flat, cos, sin, scattered], { num_heads: 3 }],
    ['positions that follow one another', ONNX, [flat, cos, sin, following], { num_heads: 3, interleaved: 1 }],
    ['angles for each token', ONNX, [apart, noise([2, 5, 8], 7), noise([2, 5, 8], 8)], {}],
    ['angles for each token of all batches', ONNX, [flat, noise([1, 5, 8], 7), noise([1, 5, 8], 8)], { num_heads: 3 }],
    ['a part of each head', ONNX, [apart, partCos, partSin, following], part],
    ['com.microsoft: a first position', MICROSOFT, [flat, at([15], 1), cos, sin], {}],
    ['com.microsoft: positions', MICROSOFT, [apart, scattered, cos, sin], { interleaved: 1 }],
    ['com.microsoft: a part of each head', MICROSOFT, [flat, scattered, partCos, partSin], { ...part, num_heads: 3 }]
  ])('as a node of its own equal the reference: %s', (_, kind, inputs, attributes) => {
    for (const region of ['heap', 'array'] as const) expectEqual(kind, inputs, { region, attributes }, 2e-7)
  })

  test('of a position beyond the tables fail as those of the reference', () => {
    for (const [kind, inputs] of [
      [ONNX, [apart, cos, sin, at([4, 20, 0, 7, 7, 4, 5, 6, 7, 8], 2, 5)]],
      [MICROSOFT, [apart, at([16], 1), cos, sin]],
      [MICROSOFT, [apart, at([-1], 1), cos, sin]]
    ] as const)
      expect(errorOf(() => runAccelerated(kind, inputs))).toEqual(errorOf(() => runOp(kind, inputs)))
  })
})
