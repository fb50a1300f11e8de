import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const DFT = ['onnx', 'DFT', 20] as const
const STFT = ['onnx', 'STFT', 17] as const
const scalar = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [])
const list = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
/** Sums of n numbers near 1 are near the square root of n. */
const TOLERANCE = 2e-6

describe.each(['heap', 'array'] as const)('transforms in WebAssembly, numbers in an %s', region => {
  test.each([1, 2, 3, 4, 8, 30, 61, 64, 77, 100, 256, 400, 1000])('of %i points', n => {
    const lines = Math.ceil(1100 / n) + 1
    for (const parts of [1, 2])
      for (const inverse of [0, 1])
        expectEqual(
          DFT,
          [noise([lines, n, parts], n), undefined, scalar(1)],
          { region, attributes: { inverse } },
          TOLERANCE
        )
  })

  test.each([0, 1, 2])('along axis %i of lines that lie apart', axis => {
    expectEqual(DFT, [noise([5, 12, 7, 2], axis), undefined, scalar(axis)], { region }, TOLERANCE)
  })

  test.each([
    [40, 'cut off'],
    [60, 'filled with zeros']
  ])('of %i points, to which lines are %s', length => {
    expectEqual(DFT, [noise([9, 50, 2], 1), scalar(length), scalar(1)], { region }, TOLERANCE)
  })

  test.each([16, 17])('of the half of %i points that does not mirror the other', n => {
    const onesided = 1
    expectEqual(DFT, [noise([21, n, 1], 1), undefined, scalar(1)], { region, attributes: { onesided } }, TOLERANCE)
  })

  test.each([
    ['DFT', [6, 10, 12, 2], [1, 2], undefined],
    ['IDFT', [6, 10, 12, 2], [2, 0], [9, 8]],
    ['RDFT', [6, 10, 12], [1, 2], undefined],
    ['RDFT', [6, 10, 12], [-1, 0], [-1, 4]],
    ['IRDFT', [6, 10, 7, 2], [1, 2], undefined],
    ['IRDFT', [6, 10, 7, 2], [0, 2], [6, 15]],
    ['IRDFT', [40, 3, 2], [1], [30]]
  ] as const)('%s of OpenVINO, dims %j, axes %j, lengths %j', (name, dims, axes, lengths) => {
    const kind = ['openvino', name, name.startsWith('R') || name.startsWith('IR') ? 9 : 7] as const
    expectEqual(kind, [noise([...dims], 1), list(...axes), lengths && list(...lengths)], { region }, TOLERANCE)
  })

  test.each([
    { dims: [2, 300], length: 64, step: 10, onesided: 1 },
    { dims: [2, 300, 1], window: 48, step: 16, onesided: 1 },
    { dims: [1, 500, 1], window: 50, length: 50, step: 7, onesided: 0 },
    { dims: [2, 300, 2], window: 32, length: 32, step: 5, onesided: 0 }
  ])('STFT of %j', ({ dims, window, length, step, onesided }) => {
    const given = [noise(dims, 1), scalar(step), window && noise([window], 2), length && scalar(length)]
    expectEqual(
      STFT,
      given.map(value => value || undefined),
      { region, attributes: { onesided } },
      TOLERANCE
    )
  })

  test.each([false, true])('STFT of OpenVINO, frames transposed: %s', transpose_frames => {
    const given = [noise([2, 300], 1), noise([40], 2), scalar(40), scalar(11)]
    expectEqual(['openvino', 'STFT', 15], given, { region, attributes: { transpose_frames } }, TOLERANCE)
  })
})

test('lines are shared by two threads', () => {
  expectEqual(DFT, [noise([3000, 128, 2], 1), undefined, scalar(1)], { threads: 2 }, TOLERANCE)
})

test.each([
  [[8, 67, 2], 'a large prime factor'],
  [[1, 20_000, 2], 'more points than fit into the cache'],
  [[3, 5, 2], 'few points']
])('%j is left to the reference: %s', dims => {
  const ask = (): unknown => runAccelerated(DFT, [noise(dims, 1), undefined, scalar(1)])
  expect(ask).toThrow('no accelerated kernel is selected')
})
