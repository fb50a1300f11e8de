import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'CumSum', 14] as const
const axisOf = (axis: number): Tensor => new Tensor('int32', [axis], [])

const cases: readonly (readonly [dims: readonly number[], axis: number])[] = [
  [[3, 131], 1],
  [[131, 3], 0],
  [[2, 33, 17], 1],
  [[20, 530], 0],
  [[700], 0]
]

describe.each(['heap', 'array'] as const)('cumulative sums in WebAssembly, data in an %s', region => {
  test.each(['float32', 'float64', 'int32', 'uint32', 'int64', 'uint64'] as const)('%s', type => {
    for (const [i, [dims, axis]] of cases.entries()) {
      const data =
        type === 'float32'
          ? noise(dims, i)
          : type === 'float64'
            ? new Tensor(type, Float64Array.from(noise(dims, i).data), dims)
            : bits(type, dims, i)
      for (const [exclusive, reverse] of [
        [0, 0],
        [1, 0],
        [1, 1]
      ])
        expectEqual(KIND, [data, axisOf(axis)], { region, attributes: { exclusive, reverse } }, 0)
    }
  })
})

test('columns are shared by two threads', () => {
  expectEqual(KIND, [noise([140, 1000], 1), axisOf(0)], { threads: 2 }, 0)
})

test('few elements are left to the reference', () => {
  const ask = (): unknown => runAccelerated(KIND, [bits('int32', [9]), axisOf(0)])
  expect(ask).toThrow('no accelerated kernel is selected')
})
