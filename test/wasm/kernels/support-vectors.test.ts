import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

const ml = (type: string): Kind => ['onnx', type, 1, 'ai.onnx.ml']
const numbers = (count: number, seed: number, scale = 1): number[] => Array.from(noise([count], seed, scale).data)

const kernels = [
  { kernel_type: 'LINEAR', kernel_params: [0, 0, 0] },
  { kernel_type: 'RBF', kernel_params: [0.07, 0, 0] },
  { kernel_type: 'POLY', kernel_params: [0.1, 0.2, 1] },
  { kernel_type: 'POLY', kernel_params: [0.1, 0.2, 2] },
  { kernel_type: 'POLY', kernel_params: [0.1, 0.2, 3] },
  { kernel_type: 'POLY', kernel_params: [0.01, 1.2, 2.5] },
  { kernel_type: 'SIGMOID', kernel_params: [0.1, 0.2, 0] }
]

describe.each(kernels)('support vectors in WebAssembly, $kernel_type $kernel_params', kernel => {
  // The last has more kernel values than are computed at once.
  test.each([
    [40, 13, 23],
    [301, 7, 18],
    [700, 5, 403]
  ])('SVMRegressor of %i rows of %i features and %i vectors', (rows, features, count) => {
    const attributes = {
      ...kernel,
      n_supports: count,
      support_vectors: numbers(count * features, 3),
      coefficients: numbers(count, 4),
      rho: [0.3]
    }
    const x = noise([rows, features], 1)
    for (const region of ['heap', 'array'] as const) expectEqual(ml('SVMRegressor'), [x], { region, attributes }, 2e-6)
    expectEqual(ml('SVMRegressor'), [x], { threads: 2, attributes }, 2e-6)
  })

  test.each([2, 4])('SVMClassifier of %i classes, by decisions and by probabilities', classes => {
    const features = 9
    const perClass = [11, 8, 1, 6].slice(0, classes)
    const count = perClass.reduce((a, b) => a + b)
    const pairs = (classes * (classes - 1)) / 2
    const attributes = {
      ...kernel,
      support_vectors: numbers(count * features, 3),
      vectors_per_class: perClass,
      coefficients: numbers(count * (classes - 1), 4),
      rho: numbers(pairs, 5, 0.1),
      classlabels_ints: [7, 5, 3, 2].slice(0, classes)
    }
    const platt = { prob_a: numbers(pairs, 6).map(a => a - 2), prob_b: numbers(pairs, 7, 0.1) }
    const x = noise([203, features], 1)
    for (const own of [attributes, { ...attributes, ...platt }])
      for (const post_transform of ['NONE', 'LOGISTIC', 'SOFTMAX'])
        for (const region of ['heap', 'array'] as const) {
          const options = { region, outputs: 2, attributes: { ...own, post_transform } }
          const [labels, scores] = runOp(ml('SVMClassifier'), [x], options) as Tensor[]
          const found = runAccelerated(ml('SVMClassifier'), [x], options) as Tensor[]
          expect(found[0].data).toEqual(labels.data)
          expect(differenceOf(found[1], scores)).toBeLessThanOrEqual(5e-6)
        }
  })
})

test('one class is 1 or -1', () => {
  const attributes = {
    ...kernels[1],
    n_supports: 20,
    support_vectors: numbers(20 * 6, 3),
    coefficients: numbers(20, 4),
    rho: [0.01],
    one_class: 1
  }
  expectEqual(ml('SVMRegressor'), [noise([200, 6], 1)], { attributes }, 0)
})

test.each(['float64', 'int64', 'int32'] as const)('rows of %s are rounded to single precision', type => {
  const [rows, features, count] = [120, 6, 20]
  const own = Array.from(noise([rows * features], 1, 9).data, value => (type === 'float64' ? value : Math.round(value)))
  const x = new Tensor(type as 'float64', own, [rows, features])
  const rounded = new Tensor('float32', own, [rows, features])
  const attributes = {
    kernel_type: 'RBF',
    kernel_params: [0.02, 0, 0],
    support_vectors: numbers(count * features, 3, 9),
    coefficients: numbers(count, 4),
    rho: [0.1]
  }
  const regressor = { region: 'heap' as const, attributes: { ...attributes, n_supports: count } }
  const [sums] = runAccelerated(ml('SVMRegressor'), [x], regressor) as Tensor[]
  expect(sums.data).toEqual((runAccelerated(ml('SVMRegressor'), [rounded], regressor) as Tensor[])[0].data)
  const classes = { ...attributes, vectors_per_class: [12, 8], classlabels_ints: [4, 2] }
  const classifier = { region: 'heap' as const, outputs: 2, attributes: classes }
  const [labels, scores] = runAccelerated(ml('SVMClassifier'), [x], classifier) as Tensor[]
  const expected = runAccelerated(ml('SVMClassifier'), [rounded], classifier) as Tensor[]
  expect([labels.data, scores.data]).toEqual(expected.map(({ data }) => data))
})
