import { expect, test } from 'vitest'
import { countNonZero, nonZeroPositions } from '../../../src/kernels/core/non-zero.ts'
import { drain } from '../../../src/kernels/core/pace.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'

test.each([
  ['float32', [0, -0, 1e-45, NaN, -1, Infinity, 0], [2, 3, 4, 5]],
  ['float64', [0, -0, 5e-324, NaN, -1, 2 ** 40, 0], [2, 3, 4, 5]],
  ['int32', [0, 1, -1, -(2 ** 31), 0], [1, 2, 3]],
  ['int64', [0n, 1n, -1n, -(2n ** 63n), 2n ** 32n, 0n], [1, 2, 3, 4]],
  ['uint64', [0n, 2n ** 63n, 0n, 2n ** 31n], [1, 3]],
  ['int8', [0, -128, 127, 0, 1], [1, 2, 4]],
  ['uint16', [0, 65535, 0, 1, 32768], [1, 3, 4]],
  ['bool', [0, 1, 1, 0], [1, 2]],
  ['float16', [0, 0x8000, 1, 0x7e00], [2, 3]],
  ['bfloat16', [0, 0x8000, 1, 0xff80, 0], [2, 3]],
  ['int16', [0, 1, -32768, -1, 0], [1, 2, 3]],
  ['string', ['', 'a', ''], [1]],
  ['complex64', [0, 0, 0, 1, -0, 0, 2, 0], [1, 3]]
] as const)('positions of elements of %s that are not zero', (type, elements, positions) => {
  const data = new Tensor(type, elements)
  expect(Array.from(drain(nonZeroPositions(data)))).toEqual(positions)
})

test('many elements, chunk by chunk', () => {
  const flags = Uint8Array.from({ length: 60_000 }, (_, i) => Number(i % 7 === 0 || i % 1000 > 990))
  const expected = Array.from(flags.keys()).filter(i => flags[i] === 1)
  const found = drain(nonZeroPositions(new Tensor('bool', flags)))
  expect(found).toHaveLength(expected.length)
  expect(found.every((position, i) => position === expected[i])).toBe(true)
  expect(countNonZero(flags)).toBe(expected.length)
})
