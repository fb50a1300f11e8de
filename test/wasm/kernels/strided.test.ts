import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, runAccelerated } from '../compare.ts'

const SLICE = ['onnx', 'Slice', 13] as const
const list = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const TYPES: DType[] = ['uint8', 'float16', 'float32', 'int64', 'complex64']

describe.each(['heap', 'array'] as const)('slices and repetitions in WebAssembly, operands in an %s', region => {
  test.each([
    { dims: [40, 70], starts: [3, 5], ends: [33, 64], axes: [0, 1], steps: [1, 1] },
    { dims: [100, 70], starts: [0, 1], ends: [100, 70], axes: [0, 1], steps: [2, 3] },
    { dims: [40, 70], starts: [-1], ends: [-1000], axes: [1], steps: [-1] },
    { dims: [90, 71], starts: [-2, -1], ends: [-1000, -1000], axes: [0, 1], steps: [-3, -1] },
    { dims: [7, 9, 40], starts: [38], ends: [1], axes: [2], steps: [-2] },
    { dims: [600, 8], starts: [1], ends: [5], axes: [1], steps: [1] },
    { dims: [100, 24], starts: [-1], ends: [-1000], axes: [0], steps: [-1] },
    { dims: [3, 50, 9, 8], starts: [2, 40, 1], ends: [-1000, 2, 7], axes: [0, 1, 2], steps: [-1, -3, 1] },
    { dims: [3000], starts: [-3], ends: [-1000000], axes: [0], steps: [-1] }
  ])('Slice of $dims from $starts to $ends on axes $axes by $steps', ({ dims, starts, ends, axes, steps }) => {
    for (const type of TYPES) {
      const lists = [starts, ends, axes, steps].map(values => list(...values))
      expectEqual(SLICE, [bits(type, dims), ...lists], { region }, 0)
    }
  })

  test.each([
    [
      [30, 11],
      [3, 4]
    ],
    [
      [500, 1],
      [1, 19]
    ],
    [
      [4, 3, 50],
      [2, 1, 3]
    ],
    [
      [1, 700],
      [9, 1]
    ]
  ])('Tile of %j by %j', (dims, repeats) => {
    for (const type of TYPES) expectEqual(['onnx', 'Tile', 13], [bits(type, dims), list(...repeats)], { region }, 0)
  })

  test.each([
    [
      [60, 1],
      [60, 37]
    ],
    [
      [5, 1, 30],
      [5, 20, 30]
    ],
    [[1], [20, 300]],
    [
      [9, 1, 6, 1],
      [9, 8, 6, 17]
    ]
  ])('Expand of %j to %j', (dims, shape) => {
    for (const type of TYPES) expectEqual(['onnx', 'Expand', 13], [bits(type, dims), list(...shape)], { region }, 0)
  })

  test('are shared by two threads', () => {
    const operands = [bits('float32', [600, 900]), list(-1), list(-10_000), list(1), list(-1)]
    expectEqual(SLICE, operands, { region, threads: 2 }, 0)
  })
})

test('few bytes, and strings, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const reversed = [list(-1), list(-10_000), list(0), list(-1)]
  expect(() => runAccelerated(SLICE, [bits('float32', [100]), ...reversed])).toThrow(none)
  const words = new Tensor('string', Array.from({ length: 5000 }, String), [5000])
  expect(() => runAccelerated(SLICE, [words, ...reversed], { region: 'array' })).toThrow(none)
})
