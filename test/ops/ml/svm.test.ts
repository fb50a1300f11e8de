import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { ints } from '../values.ts'

const REGRESSOR: Kind = ['onnx', 'SVMRegressor', 1, 'ai.onnx.ml']
const CLASSIFIER: Kind = ['onnx', 'SVMClassifier', 1, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runOp>[2]>['attributes']

const near = (...values: number[]): unknown => values.map(value => expect.closeTo(value, 5) as number)
const row = (...x: number[]): Tensor => new Tensor('float32', x, [1, x.length])
const regress = (x: Tensor, more: Attributes): unknown => [
  ...runTensor(REGRESSOR, [x], {
    attributes: { support_vectors: [1, 2, -1, 0], n_supports: 2, coefficients: [1, 10], rho: [0.5], ...more }
  }).data
]

test('SVMRegressor weighs kernel values of a row and support vectors', () => {
  const kernel_params = [0.5, 1, 3]
  // Products with the vectors are 7 and -3, squared distances 4 and 20.
  const x = row(3, 2)
  expect(regress(x, { kernel_type: 'LINEAR' })).toEqual([7 - 30 + 0.5])
  expect(regress(x, { kernel_type: 'POLY', kernel_params })).toEqual([4.5 ** 3 + 10 * (-0.5) ** 3 + 0.5])
  expect(regress(x, { kernel_type: 'RBF', kernel_params })).toEqual(near(Math.exp(-2) + 10 * Math.exp(-10) + 0.5))
  expect(regress(x, { kernel_type: 'SIGMOID', kernel_params })).toEqual(
    near(Math.tanh(4.5) + 10 * Math.tanh(-0.5) + 0.5)
  )
})

test('SVMRegressor of one class gives 1 or -1, and no post transform changes a result', () => {
  expect(regress(new Tensor('float32', [3, 2, -3, -2], [2, 2]), { one_class: 1 })).toEqual([-1, 1])
  for (const post_transform of ['SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'])
    expect(regress(row(0, 0), { post_transform })).toEqual([0.5])
})

test('SVMRegressor without support vectors multiplies features, whatever the kernel', () => {
  expect(regress(ints(2, 3), { n_supports: 0, kernel_type: 'RBF' })).toEqual([32.5])
})

test('SVMRegressor wants lists that fit', () => {
  const codeOf = (more: Attributes, x = row(1, 2)): string => errorOf(() => regress(x, more)).code
  expect(codeOf({ coefficients: [1] })).toBe('unknown-attribute-value')
  expect(codeOf({ support_vectors: [1, 2, 3] })).toBe('unknown-attribute-value')
  expect(codeOf({ rho: [] })).toBe('unknown-attribute-value')
  expect(codeOf({ n_supports: -1 })).toBe('unknown-attribute-value')
  expect(codeOf({ n_supports: 2 ** 40 })).toBe('unknown-attribute-value')
  expect(codeOf({ kernel_params: [1] })).toBe('unknown-attribute-value')
  expect(codeOf({ kernel_type: 'CUBE' })).toBe('unknown-attribute-value')
  expect(codeOf({ post_transform: 'TANH' })).toBe('unknown-attribute-value')
  expect(codeOf({}, row(1))).toBe('dims-mismatch')
})

const TWO = {
  support_vectors: [1, -1],
  vectors_per_class: [1, 1],
  coefficients: [0.3, -0.5],
  rho: [0.25],
  kernel_type: 'LINEAR'
}
const classify = (x: Tensor, attributes: Attributes): [labels: unknown[], scores: number[]] => {
  const [labels, scores] = runOp(CLASSIFIER, [x], { attributes, outputs: 2 })
  return [Array.from((labels as Tensor).data as ArrayLike<unknown>), [...((scores as Tensor).data as Float32Array)]]
}

test('SVMClassifier decides between two classes, the first above 0', () => {
  const labels = { classlabels_ints: [7, 8] }
  const x = new Tensor('float32', [1, -1], [2, 1])
  expect(classify(x, { ...TWO, ...labels })).toEqual([[7n, 8n], near(-1.05, 1.05, 0.55, -0.55)])
  const of = (post_transform: string): number[] => classify(row(1), { ...TWO, ...labels, post_transform })[1]
  expect(of('LOGISTIC')).toEqual(near(0.259225, 0.740775))
  expect(of('SOFTMAX')).toEqual(near(-0.05, 1.05))
  expect(of('SOFTMAX_ZERO')).toEqual(near(-0.05, 1.05))
})

/** Class 0 has the vectors 1 and 2, class 1 has -1, class 2 has -3. */
const THREE = {
  support_vectors: [1, 2, -1, -3],
  vectors_per_class: [2, 1, 1],
  coefficients: [0.5, 1, 2, 3, 4, 5, 6, 7],
  rho: [1, -2, 3],
  classlabels_strings: ['a', 'b', 'c']
}

test('SVMClassifier takes the votes of all pairs of three classes', () => {
  // With x = 1: 0.5*1 + 1*2 - 2*1 + 1; 4*1 + 5*2 - 3*3 - 2; -6*1 - 7*3 + 3.
  expect(classify(row(1), THREE)).toEqual([['a'], [1.5, 3, -24]])
  expect(classify(row(-2), THREE)).toEqual([['b'], [0, -12, 57]])
  expect(classify(row(1), { ...THREE, post_transform: 'LOGISTIC' })[1]).toEqual(near(0.817574, 0.952574, 0))
})

test('SVMClassifier couples the probabilities of pairs as libsvm does', () => {
  const platt = { prob_a: [-1, -0.5, -0.1], prob_b: [0.2, 0, -0.3] }
  const [labels, scores] = classify(row(1), { ...THREE, ...platt })
  expect(labels).toEqual(['a'])
  // Taken from ONNX Runtime 1.32.
  expect(scores).toEqual(near(0.708473, 0.105327, 0.186199))
  const two = { ...TWO, classlabels_ints: [7, 8], prob_a: [-2], prob_b: [0.5] }
  const p = 1 / (1 + Math.exp(-2 * 1.05 + 0.5))
  const [, pair] = classify(row(1), two)
  expect(pair).toEqual([expect.closeTo(p, 2), expect.closeTo(1 - p, 2)])
})

test('SVMClassifier without support vectors multiplies by a vector for each class', () => {
  const linear = { coefficients: [1, 0, 0, 1], rho: [0.25], classlabels_ints: [7, 8], kernel_type: 'RBF' }
  expect(classify(new Tensor('float32', [2, 1, -2, -1], [2, 2]), linear)).toEqual([
    [7n, 8n],
    [2.25, 1.25, -1.75, -0.75]
  ])
})

test('SVMClassifier wants lists that fit', () => {
  const codeOf = (more: Attributes, x = row(1)): string => errorOf(() => classify(x, { ...THREE, ...more })).code
  expect(codeOf({ coefficients: [1, 2] })).toBe('unknown-attribute-value')
  expect(codeOf({ rho: [1] })).toBe('unknown-attribute-value')
  expect(codeOf({ prob_a: [1, 2, 3] })).toBe('missing-attribute')
  expect(codeOf({ prob_a: [1, 2, 3], prob_b: [1] })).toBe('unknown-attribute-value')
  expect(codeOf({ vectors_per_class: [2, 2] })).toBe('unknown-attribute-value')
  expect(codeOf({ vectors_per_class: [-1, 3, 2] })).toBe('unknown-attribute-value')
  expect(codeOf({ vectors_per_class: [2 ** 50, 1, 1] })).toBe('unknown-attribute-value')
  expect(codeOf({}, row(1, 2))).toBe('dims-mismatch')
})

test('SVMClassifier has as many scores as classes, or as pairs', () => {
  const of = (attributes: Attributes): unknown =>
    inferOp(CLASSIFIER, [fact('float32', ['n', '?'])], { attributes, outputs: 2 }).map(dimsOf)
  expect(of({ ...THREE, classlabels_strings: ['a', 'b', 'c'] })).toEqual([['n'], ['n', 3]])
  expect(of({ ...TWO, classlabels_ints: [1, 2] })).toEqual([['n'], ['n', 2]])
})
