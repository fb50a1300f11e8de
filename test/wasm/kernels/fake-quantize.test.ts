import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const FAKE_QUANTIZE = ['openvino', 'FakeQuantize', 1] as const

type Limits = readonly (readonly number[])[]

/** Low and high limits of numbers and of results, each of which lies along the axis of `dims` that is not 1. */
const limits = (lists: Limits, dims: readonly number[]): Tensor[] =>
  lists.map(list => new Tensor('float32', list, list.length === 1 ? [] : dims))

const ONE: Limits = [[-1.5], [2.5], [-1.5], [2.5]]

/** Noise with what lies in the middle between two levels, at the limits and beyond them, and what is no number. */
function numbers(dims: readonly number[], low: number, high: number, levels: number): Tensor<'float32'> {
  const x = noise(dims, 1, 1.5 * Math.max(Math.abs(low), Math.abs(high)))
  const step = (high - low) / (levels - 1)
  const middles = [0.5, 1.5, 2.5, levels - 1.5].map(level => low + level * step)
  const edges = [...middles, low, high, low - 1e-6, high + 1e-6, -Infinity, Infinity, NaN, 0, -0, 1e30]
  edges.forEach((edge, i) => i * 3 < x.data.length && (x.data[i * 3] = edge))
  return x
}

describe.each(['heap', 'array'] as const)('FakeQuantize of float32 in WebAssembly, operands in an %s', region => {
  test.each([2, 15, 16, 255, 256, 65536])('of %i levels, by one range', levels => {
    for (const count of [1, 2, 7, 64, 1001]) {
      const x = numbers([count], -1.5, 2.5, levels)
      expectEqual(FAKE_QUANTIZE, [x, ...limits(ONE, [])], { region, attributes: { levels } }, 0)
    }
  })

  test('a number between two levels has that of its quotient, not of a product by a reciprocal', () => {
    // With the product, the quotient 127.5 comes out as 127.49999999999999, and 190.5 as 190.50000000000003.
    for (const [high, levels, number] of [
      [3.125, 256, 1.5625],
      [1.625, 255, 1.21875]
    ]) {
      const x = new Tensor('float32', [number, 0, number], [3])
      expectEqual(
        FAKE_QUANTIZE,
        [x, ...limits([[0], [high], [0], [levels]], [])],
        { region, attributes: { levels } },
        0
      )
    }
  })

  test('results have other limits, which may be in reverse order, as those of numbers may', () => {
    for (const lists of [
      [[-1], [3], [0], [255]],
      [[2], [-2], [-7], [5]],
      [[-1], [1], [4], [-4]],
      [[0.5], [0.5], [1], [2]]
    ]) {
      const x = numbers([3, 50], lists[0][0], lists[1][0], 256)
      expectEqual(FAKE_QUANTIZE, [x, ...limits(lists, [])], { region, attributes: { levels: 256 } }, 0)
    }
  })

  test.each([
    { dims: [2, 3, 5, 7], along: [3, 1, 1] },
    { dims: [3, 130], along: [3, 1] },
    { dims: [3, 130], along: [1, 1, 3, 1] },
    { dims: [2, 3, 20000], along: [1, 3, 1] }
  ])('limits of $along in $dims', ({ dims, along }) => {
    const lists = [[-1, -2, -3], [1, 2.5, 3], [-1], [1, 2.5, 8]]
    const x = numbers(dims, -3, 3, 256)
    expectEqual(FAKE_QUANTIZE, [x, ...limits(lists, along)], { region, attributes: { levels: 256 } }, 0)
  })

  test('is shared by two threads', () => {
    const x = numbers([1, 40, 3000], -1.5, 2.5, 256)
    expectEqual(FAKE_QUANTIZE, [x, ...limits(ONE, [])], { region, threads: 2, attributes: { levels: 256 } }, 0)
  })
})

test('limits along the last axis, or along several, are left to the reference', () => {
  const run = (dims: readonly number[], own: readonly number[]) => () => {
    const list = new Tensor('float32', new Float32Array(own.reduce((a, b) => a * b)).fill(1), own)
    const zero = new Tensor('float32', [0], [])
    return runAccelerated(FAKE_QUANTIZE, [noise(dims, 1), zero, list, zero, list], { attributes: { levels: 256 } })
  }
  expect(run([4, 6], [6])).toThrow('no accelerated kernel is selected')
  expect(run([4, 6, 2], [4, 6, 1])).toThrow('no accelerated kernel is selected')
})
