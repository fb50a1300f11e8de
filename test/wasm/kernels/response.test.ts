import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const LRN = ['onnx', 'LRN', 13] as const

describe.each(['heap', 'array'] as const)('LRN of float32 in WebAssembly, operands in an %s', region => {
  test.each([
    [[2, 9, 7, 6], 5],
    [[1, 3, 101], 5],
    [[1, 16, 33], 4],
    [[1, 64, 5, 5], 1],
    [[2, 200, 3], 64]
  ])('dims %j, windows of %i', (dims, size) => {
    for (const beta of [0.75, 0.5])
      for (const [alpha, bias] of [
        [1e-4, 1],
        [0.9, 2]
      ])
        expectEqual(LRN, [noise(dims, 1, 20)], { region, attributes: { size, alpha, beta, bias } }, 1e-6)
  })

  test.each([2, 4, 5])('the region of IR has as many elements on both sides, windows of %i', size => {
    const axes = new Tensor('int64', [1n], [1])
    const attributes = { size, alpha: 0.9, beta: 0.75, bias: 2 }
    expectEqual(['openvino', 'LRN', 1], [noise([2, 9, 7, 6], 1, 20), axes], { region, attributes }, 1e-6)
  })

  test('is shared by two threads', () => {
    expectEqual(LRN, [noise([1, 64, 60, 60], 1, 9)], { region, threads: 2, attributes: { size: 5 } })
  })
})

test('other powers, and long windows, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const run = (attributes: Record<string, number>) => () => runAccelerated(LRN, [noise([1, 90, 9], 1)], { attributes })
  expect(run({ size: 5, beta: 0.7 })).toThrow(none)
  expect(run({ size: 65 })).toThrow(none)
})
