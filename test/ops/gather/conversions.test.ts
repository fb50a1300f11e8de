import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats as floats } from '../random.ts'

const ints = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('int64', values.map(BigInt), dims)
const table = floats(1, [5, 3])
const indices = ints([0, 4, 2, 2])
const weights = floats(2, [4])

test.each([
  ['EmbeddingBagPacked', [table, ints([0, 4, 2, 2], [2, 2]), floats(2, [2, 2])], { reduction: 'sum' }],
  ['EmbeddingBagPacked', [table, ints([0, 4, 2, 2], [2, 2])], { reduction: 'mean' }],
  // The first row is in no bag, the second bag is empty.
  ['EmbeddingBagOffsets', [table, indices, ints([1, 3, 3]), ints([1], []), weights], { reduction: 'sum' }],
  ['EmbeddingBagOffsets', [table, indices, ints([1, 3, 3])], { reduction: 'mean' }],
  ['EmbeddingSegmentsSum', [table, indices, ints([0, 0, 2, 3]), ints([5], []), ints([1], []), weights], {}]
] as const)('%s of IR adds rows to their bags in ONNX', async (type, inputs, attributes) => {
  for (const isDynamic of [false, true])
    expect(
      await differenceInOther(['openvino', type, 15], inputs, { attributes, isDynamic, constants: [3, 4] })
    ).toBeLessThan(1e-6)
})
