import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const REGRESSOR: Kind = ['onnx', 'LinearRegressor', 1, 'ai.onnx.ml']
const CLASSIFIER: Kind = ['onnx', 'LinearClassifier', 1, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runOp>[2]>['attributes']

const near = (...values: number[]): unknown => values.map(value => expect.closeTo(value, 5) as number)
const row = (...x: number[]): Tensor => new Tensor('float32', x, [1, x.length])
const regress = (x: Tensor, attributes: Attributes): Tensor => runTensor(REGRESSOR, [x], { attributes })

test('LinearRegressor multiplies rows by a vector for each target', () => {
  expect(regress(iota([2, 2]), { coefficients: [1, 10, 2, -1], targets: 2, intercepts: [100, 0] })).toMatchObject({
    type: 'float32',
    dims: [2, 2],
    data: new Float32Array([110, -1, 132, 1])
  })
  expect(regress(iota([3]), { coefficients: [1, 2, 3] })).toMatchObject({ dims: [1, 1], data: new Float32Array([8]) })
  expect([...regress(ints(1, 2), { coefficients: [0.5, 0.25] }).data]).toEqual([1])
  expect(regress(iota([0, 2]), { coefficients: [1, 2] }).dims).toEqual([0, 1])
})

test('LinearRegressor transforms several targets, and one by PROBIT only', () => {
  const one = (post_transform: string): unknown => [...regress(row(0.25), { coefficients: [1], post_transform }).data]
  for (const post of ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO']) expect(one(post)).toEqual([0.25])
  expect(one('PROBIT')).toEqual([expect.closeTo(-0.674, 2)])
  const two = (post_transform: string): unknown => [
    ...regress(row(1), { coefficients: [Math.log(3), 0], targets: 2, post_transform }).data
  ]
  expect(two('SOFTMAX')).toEqual(near(0.75, 0.25))
  expect(two('SOFTMAX_ZERO')).toEqual(near(1, 0))
  expect(two('LOGISTIC')).toEqual(near(0.75, 0.5))
})

test('LinearRegressor wants coefficients that targets and features share', () => {
  const codeOf = (attributes: Attributes, x = row(1, 2)): string => errorOf(() => regress(x, attributes)).code
  expect(codeOf({})).toBe('missing-attribute')
  expect(codeOf({ coefficients: [1, 2, 3], targets: 2 })).toBe('unknown-attribute-value')
  expect(codeOf({ coefficients: [], targets: 2 })).toBe('unknown-attribute-value')
  expect(codeOf({ coefficients: [1, 2], targets: 0 })).toBe('unknown-attribute-value')
  expect(codeOf({ coefficients: [1, 2], intercepts: [1, 2] })).toBe('unknown-attribute-value')
  expect(codeOf({ coefficients: [1, 2, 3] })).toBe('dims-mismatch')
  expect(codeOf({ coefficients: [1, 2] }, iota([1, 2, 1]))).toBe('rank-mismatch')
  const of = (shape?: (number | string)[]): unknown =>
    inferOp(REGRESSOR, [fact('float32', shape)], { attributes: { coefficients: [1, 2, 3, 4], targets: 2 } })[0]
  expect(dimsOf(of(['n', 'f']) as never)).toEqual(['n', 2])
  expect(dimsOf(of() as never)).toEqual(['?', 2])
  expect(errorOf(() => of(['n', '3..'])).code).toBe('dims-mismatch')
})

const classify = (x: Tensor, attributes: Attributes): [labels: unknown[], scores: number[]] => {
  const [labels, scores] = runOp(CLASSIFIER, [x], { attributes, outputs: 2 })
  return [Array.from((labels as Tensor).data as ArrayLike<unknown>), [...((scores as Tensor).data as Float32Array)]]
}

test('LinearClassifier gives the label of the largest product, the first of equal ones', () => {
  const three = { coefficients: [1, 0, 0, 1, 1, 1], intercepts: [0, 0, -1], classlabels_strings: ['a', 'b', 'c'] }
  expect(classify(new Tensor('float32', [1, 0, 2, 3, 1, 1], [3, 2]), three)).toEqual([
    ['a', 'c', 'a'],
    [1, 0, 0, 2, 3, 4, 1, 1, 1]
  ])
  const softmax = classify(row(Math.log(3), 0), { ...three, intercepts: [0, 0, -1000], post_transform: 'SOFTMAX' })
  expect(softmax).toEqual([['a'], near(0.75, 0.25, 0)])
})

test('LinearClassifier with one vector for two classes gives 1 - s and s', () => {
  const one = { coefficients: [1, 1], intercepts: [0.5], classlabels_ints: [7, 9] }
  const x = new Tensor('int32', [1, 1, -1, 0], [2, 2])
  expect(classify(x, one)).toEqual([
    [9n, 7n],
    [-1.5, 2.5, 1.5, -0.5]
  ])
  expect(classify(x, { ...one, post_transform: 'SOFTMAX' })[1]).toEqual([-1.5, 2.5, 1.5, -0.5])
  expect(classify(x, { ...one, post_transform: 'LOGISTIC' })[1]).toEqual(near(0.075858, 0.924142, 0.622459, 0.377541))
  const [, probits] = classify(row(0.25, 0), { ...one, intercepts: [0], post_transform: 'PROBIT' })
  expect(probits[0]).toBe(-probits[1])
  expect(probits[1]).toBeCloseTo(-0.674, 2)
})

test('LinearClassifier finds the number of vectors where there are no intercepts', () => {
  const attributes = { coefficients: [1, 2], classlabels_ints: [7, 8] }
  expect(classify(row(3), attributes)).toEqual([[8n], [3, 6]])
  expect(classify(row(3, -2), attributes)).toEqual([[7n], [2, -1]])
  expect(classify(iota([2]), attributes)).toEqual([[8n], [-1, 2]])
})

test('LinearClassifier wants vectors that labels and features share', () => {
  const codeOf = (more: Attributes, x = row(1, 2)): string =>
    errorOf(() => classify(x, { coefficients: [1, 2, 3, 4], intercepts: [0, 0], classlabels_ints: [1, 2], ...more }))
      .code
  expect(codeOf({ classlabels_ints: [] })).toBe('missing-attribute')
  expect(codeOf({ intercepts: [1, 2, 3] })).toBe('unknown-attribute-value')
  expect(codeOf({ intercepts: [1] })).toBe('dims-mismatch')
  expect(codeOf({}, row(1))).toBe('dims-mismatch')
  const [labels, scores] = inferOp(CLASSIFIER, [fact('float64', ['n', 'f'])], {
    attributes: { coefficients: [1, 2, 3, 4], classlabels_ints: [1, 2] },
    outputs: 2
  })
  expect(dimsOf(labels)).toEqual(['n'])
  expect(dimsOf(scores)).toEqual(['n', 2])
})
