import { expect, test } from 'vitest'
import { drain } from '../../src/kernels/core/pace.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { narrowTypeOf } from '../../src/wasm/pack-narrow.ts'

/** What is found of a matrix of ones of which the last element is another number. */
function found(last: number, length = 1 << 19): string | undefined {
  const data = new Float32Array(length).fill(1)
  data[length - 1] = last
  return drain(narrowTypeOf(new Tensor('float32', data, [length])))
}

test.each([
  [0, 'uint16'],
  [-0, 'uint16'],
  [1 + 2 ** -10, 'uint16'],
  [-(128 - 2 ** -4), 'uint16'],
  [2 ** -24, 'uint16'],
  // The kernels that widen codes of float16 know these numbers only.
  [128, 'bfloat16'],
  [-(2 ** -25), 'bfloat16'],
  [1e-45, undefined],
  [2 ** 100, 'bfloat16'],
  [Infinity, 'bfloat16'],
  [NaN, 'bfloat16'],
  [1 + 2 ** -11, undefined],
  [128 + 2 ** -4, undefined]
])('a matrix of ones and %d is one of codes of %s', (last, type) => {
  expect(found(last)).toBe(type)
})

test('a matrix of few elements is left as it is', () => {
  expect(found(0, (1 << 19) - 1)).toBeUndefined()
})

test('a matrix is looked at to its end', () => {
  expect(found(0.1, (1 << 20) + 5)).toBeUndefined()
})
