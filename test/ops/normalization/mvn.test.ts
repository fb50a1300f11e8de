import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints, iota } from '../values.ts'

const x = new Tensor('float64', [0, 4, 2, 10], [1, 2, 2])

describe('MeanVarianceNormalization', () => {
  test('takes the axes together, all but the channels by default', () => {
    expectNear(runTensor(['onnx', 'MeanVarianceNormalization', 13], [iota([2, 1, 1, 1])]), [-1, 1])
    expectNear(
      runTensor(['onnx', 'MeanVarianceNormalization', 13], [x], { attributes: { axes: [-1] } }),
      [-1, 1, -1, 1]
    )
  })

  test('before version 9 there are flags, as in ONNX Runtime', () => {
    const run = (attributes: Record<string, number>): Tensor =>
      runTensor(['onnx', 'MeanVarianceNormalization', 8], [new Tensor('float32', [0, 4, 2, 10], [1, 2, 2, 1])], {
        attributes
      })
    expectNear(run({}), [-1, 1, -1, 1])
    expectNear(run({ normalize_variance: 0 }), [-2, 2, -4, 4])
    expectNear(run({ across_channels: 1, normalize_variance: 0 }), [-4, 0, -2, 6])
    const deviation = Math.sqrt(14)
    expectNear(
      run({ across_channels: 1 }),
      [-4, 0, -2, 6].map(d => d / deviation)
    )
  })
})

describe('MVN', () => {
  test('version 1 normalizes spatial dims, with the channels if asked to', () => {
    const normalize = (attributes: Record<string, boolean | number | string>): Tensor =>
      runTensor(['openvino', 'MVN', 2], [x], { attributes: { eps: 0, normalize_variance: true, ...attributes } })
    expectNear(normalize({ across_channels: false }), [-1, 1, -1, 1])
    const deviation = Math.sqrt(14)
    expectNear(
      normalize({ across_channels: true }),
      [-4, 0, -2, 6].map(d => d / deviation)
    )
    expectNear(normalize({ reduction_axes: '1' }), [-1, -1, 1, 1])
    // What OpenVINO writes where it does not know the rank.
    expectNear(normalize({ across_channels: false, reduction_axes: '' }), [-1, 1, -1, 1])
    expectNear(normalize({ across_channels: false, normalize_variance: false }), [-2, 2, -4, 4])
  })

  test('version 6 adds epsilon to the variance or to its root', () => {
    const normalize = (mode: string): Tensor =>
      runTensor(['openvino', 'MVN', 6], [x, ints(2)], {
        attributes: { eps: 5, eps_mode: mode, normalize_variance: true }
      })
    expectNear(normalize('inside_sqrt'), [-2 / 3, 2 / 3, -4 / Math.sqrt(21), 4 / Math.sqrt(21)])
    expectNear(normalize('OUTSIDE_SQRT'), [-2 / 7, 2 / 7, -4 / 9, 4 / 9])
  })

  test('a far axis is refused, dims stay', () => {
    const attributes = { eps: 0, eps_mode: 'inside_sqrt', normalize_variance: true }
    expect(
      errorOf(() => inferOp(['openvino', 'MVN', 6], [fact('float32', ['n', 3]), ints(2)], { attributes })).code
    ).toBe('axis-out-of-range')
    expect(
      dimsOf(inferOp(['openvino', 'MVN', 6], [fact('float32', ['n', 3]), fact('int64', ['k'])], { attributes })[0])
    ).toEqual(['n', 3])
  })
})
