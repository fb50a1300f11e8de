import { describe, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { mask, visible } from '../attention-masks.ts'
import { expectEqual, noise } from '../compare.ts'

/** Float sums in another order, and exp by a polynomial. */
const TOLERANCE = 2e-6

describe.each(['heap', 'array'] as const)('attention in WebAssembly, operands in an %s', region => {
  test.each([0, 1, 2, 3].flatMap(mode => [1, 3, 12, 140].map(queries => [mode, queries] as const)))(
    'Attention-23 shows scores of mode %i: %i queries',
    (mode, queries) => {
      for (const [past, is_causal, softcap, masked] of [
        [0, 0, 0, undefined],
        [0, 1, 1.5, undefined],
        [150, 1, 0, mask([2, 1, queries, queries + 150], 7)],
        [150, 0, 1.5, visible([queries, queries + 150], 7)]
      ] as const) {
        const heads = [noise([2, 6, queries, 12], 1, 2), noise([2, 3, queries, 12], 2, 2), noise([2, 3, queries, 9], 3)]
        const cache = past > 0 ? [noise([2, 3, past, 12], 5, 2), noise([2, 3, past, 9], 6)] : []
        const attributes = { is_causal, softcap, qk_matmul_output_mode: mode }
        const options = { region, attributes, outputs: 4, unwanted: past > 0 ? [] : [1, 2], threads: 2 }
        expectEqual(['onnx', 'Attention', 23], [...heads, masked, ...cache], options, TOLERANCE)
      }
    }
  )

  test.each([
    [1, 300, 0, 20, -1],
    [1, 300, 1, 0, 5],
    [30, 20, 0, 4, 9],
    [150, 40, 1, 70, -1],
    [300, 0, 0, 130, 0],
    [300, 0, 0, -1, 40]
  ])('Attention-25 of %i queries after %i keys, causal: %i, in windows of %i and %i keys', (fresh, past, ...how) => {
    const [is_causal, left_window_size, right_window_size] = how
    const cache = past > 0 ? [noise([1, 2, past, 16], 5), noise([1, 2, past, 16], 6)] : []
    const inputs = [noise([1, 4, fresh, 16], 1, 2), noise([1, 2, fresh, 16], 2, 2), noise([1, 2, fresh, 16], 3)]
    const attributes = { is_causal, left_window_size, right_window_size }
    expectEqual(['onnx', 'Attention', 25], [...inputs, undefined, ...cache], { region, attributes }, TOLERANCE)
    for (const mode of past > 0 ? [0, 2, 3] : []) {
      const shown = { region, attributes: { ...attributes, qk_matmul_output_mode: mode }, outputs: 4 }
      expectEqual(['onnx', 'Attention', 25], [...inputs, undefined, ...cache], shown, TOLERANCE)
    }
  })

  test.each([3, 20])('Attention-25 of %i queries in windows that 32 bits cannot count', queries => {
    const inputs = [noise([1, 4, queries, 8], 1, 2), noise([1, 2, 30, 8], 2, 2), noise([1, 2, 30, 8], 3)]
    for (const size of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 40])
      for (const [left_window_size, right_window_size] of [
        [size, -1],
        [-1, size],
        [size, size],
        [size, 2],
        [2, size]
      ]) {
        const attributes = { left_window_size, right_window_size }
        expectEqual(['onnx', 'Attention', 25], inputs, { region, attributes }, TOLERANCE)
      }
  })

  test.each([
    [1, 10, -1],
    [9, 4, 3],
    [140, 50, -1]
  ])(
    'Attention-25 of %i queries in windows of %i and %i keys over keys that are no padding',
    (queries, left, right) => {
      const inputs = [noise([2, 6, queries, 8], 1, 2), noise([2, 3, 200, 8], 2, 2), noise([2, 3, 200, 12], 3)]
      const lengths = [new Tensor('int64', [190n, 150n], [2]), new Tensor('int64', [180n, 180n], [2])]
      const attributes = { left_window_size: left, right_window_size: right }
      for (const counts of lengths) {
        const given = [...inputs, undefined, undefined, undefined, counts]
        expectEqual(['onnx', 'Attention', 25], given, { region, attributes }, TOLERANCE)
      }
    }
  )
})
