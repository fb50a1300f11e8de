import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

const ml = (type: string): Kind => ['onnx', type, 1, 'ai.onnx.ml']
const numbers = (count: number, seed: number): number[] => Array.from(noise([count], seed).data)

/** Labels are compared where float32 decides as double precision does: on noise, all. */
function expectClassified(kind: Kind, x: Tensor, attributes: Record<string, unknown>, tolerance = 1e-6): void {
  const options = { attributes: attributes as never, outputs: 2 }
  const [labels, scores] = runOp(kind, [x], options) as Tensor[]
  for (const region of ['heap', 'array'] as const) {
    const found = runAccelerated(kind, [x], { ...options, region: labels.type === 'string' ? 'array' : region })
    expect((found[0] as Tensor).data).toEqual(labels.data)
    expect(differenceOf(found[1] as Tensor, scores)).toBeLessThanOrEqual(tolerance)
  }
}

describe('linear models of ai.onnx.ml in WebAssembly', () => {
  test.each([1, 3])('LinearRegressor of %i targets', targets => {
    for (const intercepts of [[], numbers(targets, 5)]) {
      const attributes = { coefficients: numbers(targets * 29, 2), intercepts, targets }
      for (const region of ['heap', 'array'] as const)
        expectEqual(ml('LinearRegressor'), [noise([211, 29], 1, 3)], { region, attributes })
    }
  })

  test.each(['float64', 'int64', 'int32'] as const)('of %s, in double precision', type => {
    // Integers of 25 bits, which float32 would round.
    const scale = type === 'float64' ? 1 : 2 ** 25
    const x = convert(noise([301, 17], 1, scale), type)
    for (const region of ['heap', 'array'] as const)
      for (const intercepts of [[], [0.5, -2]]) {
        const attributes = { coefficients: numbers(2 * 17, 2), intercepts, targets: 2 }
        expectEqual(ml('LinearRegressor'), [x], { region, attributes }, 1e-7)
      }
    for (const post_transform of ['NONE', 'SOFTMAX', 'LOGISTIC']) {
      const few = numbers(5 * 17, 2).map(value => value / scale)
      const attributes = { coefficients: few, intercepts: [0.5, 0.4, 0.3, 0.5, 0.6], post_transform }
      expectClassified(ml('LinearClassifier'), x, { ...attributes, classlabels_ints: [3, 1, 4, 15, 9] })
      const one = { coefficients: few.slice(0, 17), intercepts: [0.25], post_transform }
      expectClassified(ml('LinearClassifier'), x, { ...one, classlabels_strings: ['no', 'yes'] })
    }
  })

  test.each(['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'])('LinearClassifier, %s', post_transform => {
    const x = noise([301, 17], 1, post_transform === 'PROBIT' ? 0.01 : 1)
    const attributes = { coefficients: numbers(5 * 17, 2), intercepts: [0.5, 0.4, 0.3, 0.5, 0.6], post_transform }
    expectClassified(ml('LinearClassifier'), x, { ...attributes, classlabels_ints: [3, 1, 4, 15, 9] }, 1e-5)
    const two = { coefficients: numbers(2 * 17, 2), post_transform, classlabels_ints: [7, 8] }
    expectClassified(ml('LinearClassifier'), x, two, 1e-5)
    const single = { coefficients: numbers(17, 2), post_transform, classlabels_ints: [7] }
    expectClassified(ml('LinearClassifier'), x, single, 1e-5)
    const one = { coefficients: numbers(17, 2), intercepts: [0.25], post_transform }
    expectClassified(ml('LinearClassifier'), x, { ...one, classlabels_strings: ['no', 'yes'] }, 1e-5)
  })

  test.each(['MAX', 'L1', 'L2'])('Normalizer by %s', norm => {
    const x = noise([301, 17], 1, 4)
    x.data.fill(0, 17, 34)
    for (const region of ['heap', 'array'] as const)
      expectEqual(ml('Normalizer'), [x], { region, attributes: { norm } }, 2e-7)
    // The reference computes all rows where float32 would not do for one.
    for (const odd of [NaN, Infinity, 1e-30, 1e-40]) {
      x.data.fill(odd, 51, 68)
      expectEqual(ml('Normalizer'), [x], { attributes: { norm } }, 2e-7)
    }
  })
})

test('few products, and post transforms of a regression, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const attributes = { coefficients: numbers(8, 2) }
  expect(() => runAccelerated(ml('LinearRegressor'), [noise([9, 8], 1)], { attributes })).toThrow(none)
  const transformed = { ...attributes, post_transform: 'PROBIT' }
  expect(() => runAccelerated(ml('LinearRegressor'), [noise([1000, 8], 1)], { attributes: transformed })).toThrow(none)
})
