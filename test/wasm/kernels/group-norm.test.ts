import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const GROUP: Kind = ['onnx', 'GroupNorm', 1, 'com.microsoft']
const SKIP: Kind = ['onnx', 'SkipGroupNorm', 1, 'com.microsoft']
const TOLERANCE = 1e-6

/** Data, scale and shift of so many channels. */
const inputsOf = (dims: readonly number[], channels: number): Tensor[] => [
  noise(dims, 1, 3),
  noise([channels], 2),
  noise([channels], 3)
]

/** Dims of data with the channels last, and how many groups: blocks of one or several, of whole vectors or not. */
const CASES = [
  [[2, 9, 7, 12], 3],
  [[1, 5, 30, 40], 4],
  [[2, 16, 17, 20], 10],
  [[1, 3, 5, 33], 11],
  [[2, 3, 5, 33], 3],
  [[1, 4, 4, 7], 7],
  [[3, 1, 1, 64], 2],
  [[1, 40, 40, 5], 1],
  [[1, 2, 2, 96], 96]
] as const

describe.each(['heap', 'array'] as const)('GroupNorm in WebAssembly, operands in an %s', region => {
  test.each(CASES)('equals the reference, channels last: %j in %d groups', (dims, groups) => {
    for (const activation of [0, 1]) {
      const attributes = { groups, activation, epsilon: 1e-3 }
      expectEqual(GROUP, inputsOf(dims, dims[3]), { region, attributes }, TOLERANCE)
    }
  })

  test('equals the reference, channels first', () => {
    for (const [dims, groups] of [
      [[2, 12, 9, 7], 3],
      [[1, 6, 5, 3], 6]
    ] as const)
      for (const activation of [0, 1]) {
        const attributes = { groups, activation, channels_last: 0 }
        expectEqual(GROUP, inputsOf(dims, dims[1]), { region, attributes }, TOLERANCE)
      }
  })

  test('with a skip connection in each form, and a bias, equals the reference, with the sum or without', () => {
    for (const isLast of [true, false]) {
      const dims = isLast ? [2, 9, 7, 12] : [2, 12, 9, 7]
      const attributes = { groups: 3, activation: 1, channels_last: Number(isLast) }
      for (const form of [dims, isLast ? [2, 1, 1, 12] : [2, 12, 1, 1], [2, 12]])
        for (const bias of [[], [noise([12], 5)]]) {
          const inputs = [...inputsOf(dims, 12), noise(form, 4), ...bias]
          expectEqual(SKIP, inputs, { region, attributes }, TOLERANCE)
          expectEqual(SKIP, inputs, { region, attributes, outputs: 2 }, TOLERANCE)
          expectEqual(SKIP, inputs, { region, attributes, outputs: 2, unwanted: [1] }, TOLERANCE)
        }
    }
  })

  test('equals the reference where the mean is far from zero', () => {
    const data = noise([1, 40, 40, 8], 1).data.map(value => value + 1000)
    const inputs = [new Tensor('float32', data, [1, 40, 40, 8]), noise([8], 2), noise([8], 3)]
    expectEqual(GROUP, inputs, { region, attributes: { groups: 2, activation: 0 } }, TOLERANCE)
  })

  test('equal elements have variance 0', () => {
    const same = new Tensor('float32', new Float32Array(3200).fill(0.1), [1, 20, 20, 8])
    const attributes = { groups: 2, activation: 0, epsilon: 1e-12 }
    expectEqual(GROUP, [same, noise([8], 2), noise([8], 3)], { region, attributes }, TOLERANCE)
  })

  test('NaN and infinities reach what they reach in the reference', () => {
    const [x, ...lists] = inputsOf([2, 9, 7, 12], 12) as Tensor<'float32'>[]
    x.data[5] = NaN
    x.data[100] = Infinity
    x.data[900] = -Infinity
    for (const activation of [0, 1])
      expectEqual(GROUP, [x, ...lists], { region, attributes: { groups: 3, activation } }, TOLERANCE)
  })

  test('float16 is widened', () => {
    const half = (tensor: Tensor): Tensor => convert(tensor, 'float16')
    const [x, ...lists] = inputsOf([2, 9, 7, 12], 12)
    const attributes = { groups: 3, activation: 1 }
    // Codes of 16 bits are compared: near ties they differ by one.
    for (const factors of [lists, lists.map(half)]) {
      const expected = convert(
        runAccelerated(GROUP, [half(x), ...factors], { region, attributes })[0] as Tensor,
        'float32'
      )
      const wide = [half(x), ...factors].map(tensor => convert(tensor, 'float32'))
      const exact = runAccelerated(GROUP, wide, { region, attributes })[0] as Tensor<'float32'>
      exact.data.forEach((value, i) => {
        expect(Math.abs(Number(expected.data[i]) - value)).toBeLessThanOrEqual(2 ** -10 * Math.abs(value) + 1e-7)
      })
    }
  })
})

test('threads share blocks', () => {
  const inputs = inputsOf([2, 32, 32, 64], 64)
  expectEqual(GROUP, inputs, { attributes: { groups: 16, activation: 1 }, threads: 2 }, TOLERANCE)
})

test('few elements, and groups of more channels than scratch memory has room for, are left to the reference', () => {
  const none = 'no accelerated kernel'
  const attributes = { groups: 1, activation: 0 }
  expect(() => runAccelerated(GROUP, inputsOf([1, 1, 1, 8], 8), { attributes })).toThrow(none)
  const wide = 2 ** 15 + 1
  expect(() => runAccelerated(GROUP, inputsOf([1, 1, 1, wide], wide), { attributes })).toThrow(none)
})
