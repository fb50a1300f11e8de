import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'ReduceLogSumExp', 18] as const
const axesOf = (...axes: readonly number[]): Tensor => new Tensor('int64', axes.map(BigInt), [axes.length])

describe.each(['heap', 'array'] as const)('ReduceLogSumExp in double precision, operands in an %s', region => {
  test('equals the reference: float64 and integers, any axes side by side', () => {
    const size = fc.integer({ min: 1, max: 9 })
    const types = fc.constantFrom('float64', 'int32', 'int64')
    fc.assert(
      fc.property(
        fc.tuple(size, size, size),
        types,
        fc.constantFrom<number[]>([0], [1], [2], [0, 1], [1, 2]),
        (small, type, axes) => {
          const dims = small.map((own, i) => (axes.includes(i) ? own + 12 : 4 * own + 12))
          const numbers = Array.from(noise(dims, small[0], 60).data, value =>
            type === 'float64' ? value : Math.round(value)
          )
          const data = type === 'int64' ? numbers.map(BigInt) : numbers
          const x = new Tensor(type, data, dims)
          expectEqual(KIND, [x, axesOf(...axes)], { region }, type === 'float64' ? 1e-15 : 0)
        }
      ),
      { numRuns: 60 }
    )
  })

  test('equals the reference: infinities, NaN and integers of any size', () => {
    const data = Array.from(noise([40, 70], 2, 900).data)
    for (const [i, value] of [NaN, Infinity, -Infinity].entries()) data[71 * i] = value
    data.fill(-Infinity, 700, 770)
    expectEqual(KIND, [new Tensor('float64', data, [40, 70]), axesOf(1)], { region }, 1e-15)
    expectEqual(KIND, [bits('int64', [40, 70]), axesOf(0)], { region }, 0)
  })
})

test('lines of few elements, and axes that lie apart, are left to the reference', () => {
  const x = new Tensor('float64', Array.from(noise([30, 3, 30], 1).data), [30, 3, 30])
  expect(product(x.dims)).toBe(2700)
  for (const axes of [[1], [0, 2]])
    expect(() => runAccelerated(KIND, [x, axesOf(...axes)])).toThrow('no accelerated kernel')
})
