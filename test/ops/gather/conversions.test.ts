import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats as floats, picks } from '../random.ts'

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

test('GatherTree of IR is a loop in ONNX: lengths, end tokens, any type', async () => {
  const [steps, batch, beams] = [5, 2, 3]
  const count = steps * batch * beams
  const numbers = (type: 'int32' | 'float32', seed: number, limit: number, dims: readonly number[]): Tensor =>
    new Tensor(
      type,
      Array.from({ length: count }, (_, i) => picks(seed + i, limit)),
      dims
    )
  for (const type of ['int32', 'float32'] as const) {
    const dims = [steps, batch, beams]
    const lengths = new Tensor(type, [3, 9], [2])
    const inputs = [numbers(type, 1, 6, dims), numbers(type, 99, beams, dims), lengths, new Tensor(type, [4], [])]
    for (const isDynamic of [false, true])
      expect(await differenceInOther(['openvino', 'GatherTree', 1], inputs, { isDynamic })).toBe(0)
  }
})

test.each([0, 1, -1])('an axis that is an input, here %i: Gather, ScatterUpdate, Split', async axis => {
  const data = floats(1, [4, 4])
  const at = ints([3, 1, 0], [3, 1])
  const axisOf = ints([axis], [])
  expect(await differenceInOther(['openvino', 'Gather', 8], [data, ints([3, -9, 0], [3, 1]), axisOf])).toBe(0)
  const updates = floats(2, axis === 0 ? [3, 1, 4] : [4, 3, 1])
  expect(await differenceInOther(['openvino', 'ScatterUpdate', 3], [data, at, updates, axisOf])).toBe(0)
  const attributes = { num_splits: 2 }
  expect(await differenceInOther(['openvino', 'Split', 1], [data, axisOf], { attributes, outputs: 2 })).toBe(0)
})

test('an order of Transpose that is an input', async () => {
  const inputs = [floats(1, [2, 3, 4]), ints([2, 0, 1])]
  for (const isDynamic of [false, true])
    expect(await differenceInOther(['openvino', 'Transpose', 1], inputs, { isDynamic })).toBe(0)
})

test.each(['sum', 'prod', 'min', 'max', 'mean', 'none'])(
  'ScatterElementsUpdate, %s, with and without what was there',
  async reduction => {
    for (const type of ['float32', 'int32'] as const) {
      const numbers = (seed: number, dims: readonly number[]): Tensor =>
        new Tensor(
          type,
          Array.from({ length: dims[0] * dims[1] }, (_, i) => picks(seed + i, 19) - 9),
          dims
        )
      const inputs = [numbers(1, [3, 4]), ints([0, 2, 0, 0, -1, 0], [3, 2]), numbers(9, [3, 2]), ints([1], [])]
      for (const use_init_val of [true, false])
        expect(
          await differenceInOther(['openvino', 'ScatterElementsUpdate', 12], inputs, {
            attributes: { reduction, use_init_val },
            constants: [3]
          })
        ).toBeLessThan(1e-6)
    }
  }
)

test('updates without a reduction need no attribute, which opset 15 does not have', async () => {
  const data = floats(1, [4, 3])
  const at = ints([2, 0], [2, 1])
  const options = { writtenOpset: 15 }
  const inputs = [data, at, floats(2, [2, 3])]
  expect(await differenceInOther(['openvino', 'ScatterNDUpdate', 15], inputs, options)).toBe(0)
})

test.each([undefined, 0, -1, 1])('Compress of ONNX gathers in IR what the condition keeps, axis %s', async axis => {
  const attributes = axis === undefined ? {} : { axis }
  for (const condition of [new Tensor('bool', [1, 0, 1], [3]), new Tensor('bool', [0, 0], [2])])
    for (const options of [{ constants: [1] }, { isDynamic: true }])
      expect(
        await differenceInOther(['onnx', 'Compress', 11], [floats(1, [3, 4]), condition], { attributes, ...options })
      ).toBe(0)
})
