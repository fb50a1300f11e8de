import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { type Branch, branch, leaf, treeAttributes } from './trees.ts'

const KIND: Kind = ['onnx', 'TreeEnsembleClassifier', 3, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runOp>[2]>['attributes']

const column = (...x: number[]): Tensor => new Tensor('float32', x, [x.length, 1])
const classify = (trees: readonly Branch[], x: Tensor, more: Attributes): [labels: unknown[], scores: number[]] => {
  const [labels, scores] = runOp(KIND, [x], { attributes: { ...treeAttributes('class', trees), ...more }, outputs: 2 })
  return [Array.from((labels as Tensor).data as ArrayLike<unknown>), [...((scores as Tensor).data as Float32Array)]]
}
const near = (...values: number[]): unknown => values.map(value => expect.closeTo(value, 5) as number)
const twig = (low: number, high: number, target = 0): Branch => branch('LEQ', 0, leaf(low, target), leaf(high, target))
const PAIR = { classlabels_int64s: [10, 20] }

test('TreeEnsembleClassifier sums votes and gives the label of the largest sum', () => {
  const trees = [twig(1, 5, 0), twig(2, 1, 1), leaf(3, 2)]
  expect(classify(trees, column(0, 1), { classlabels_int64s: [7, -3, 5] })).toEqual([
    [5n, 7n],
    [1, 2, 3, 5, 1, 3]
  ])
  const named = { classlabels_strings: ['a', 'b', 'c'], base_values: [0, 9, 0] }
  expect(classify(trees, column(0, 1), named)).toEqual([
    ['b', 'b'],
    [1, 11, 3, 5, 10, 3]
  ])
})

test('TreeEnsembleClassifier decides before the post transform', () => {
  const trees = [leaf(1, 0), leaf(2, 1), leaf(3, 2)]
  const of = (post_transform: string): unknown =>
    classify(trees, column(0), { classlabels_int64s: [7, 8, 9], post_transform })
  const e = Math.E
  expect(of('SOFTMAX')).toEqual([[9n], near(1 / (1 + e + e * e), e / (1 + e + e * e), (e * e) / (1 + e + e * e))])
  expect(of('LOGISTIC')).toEqual([[9n], near(0.731059, 0.880797, 0.952574)])
  expect(of('PROBIT')).toEqual([[9n], [Infinity, NaN, NaN]])
})

test('TreeEnsembleClassifier does not choose a class without a vote before one that has one', () => {
  const labels = { classlabels_int64s: [10, 20, 30] }
  expect(classify([leaf(-1, 1)], column(0), labels)).toEqual([[20n], [0, -1, 0]])
  expect(classify([leaf(-1, 1)], column(0), { ...labels, base_values: [-5, -6, -3] })).toEqual([[30n], [-5, -7, -3]])
})

test('TreeEnsembleClassifier counts votes of 0, also where all leaves vote for all classes', () => {
  const all = (...weights: number[]): Branch => ({ votes: weights.map((weight, target) => [target, weight]) })
  const labels = { classlabels_int64s: [10, 20, 30, 40] }
  const few = [branch('LEQ', 0, all(0, 0, 0, -1), all(0, 0, 5, 0)), all(-1, 0, 0, 0)]
  expect(classify(few, column(0, 1), labels)).toEqual([
    [20n, 30n],
    [-1, 0, 0, -1, -1, 0, 5, 0]
  ])
  const many = [branch('LEQ', 0, all(1, 2, 3, 4), all(9, 0, 1, 1)), all(1, 1, 1, 1)]
  expect(classify(many, column(0, 1), labels)).toEqual([
    [40n, 10n],
    [2, 3, 4, 5, 10, 1, 2, 2]
  ])
  // The last leaf votes for none: the row has votes of the first tree alone.
  const none = [all(-2, -3, -4, -1), branch('LEQ', 0, all(0, 0, 0, 0), { votes: [] })]
  expect(classify(none, column(0, 1), labels)[0]).toEqual([40n, 40n])
  expect(classify([branch('LEQ', 0, all(0, 0, -1, 0), { votes: [[2, -1]] })], column(1), labels)[0]).toEqual([30n])
})

test('TreeEnsembleClassifier makes two scores of one, by whether a vote is negative', () => {
  expect(classify([twig(1, -1)], column(0, 1), PAIR)).toEqual([
    [20n, 10n],
    [-1, 1, 1, -1]
  ])
  expect(classify([twig(0.75, 0.5)], column(0, 1), PAIR)).toEqual([
    [20n, 10n],
    [0.25, 0.75, 0.5, 0.5]
  ])
  expect(classify([twig(1, -1)], column(0, 1), { ...PAIR, base_values: [5] })).toEqual([
    [20n, 20n],
    [-6, 6, -4, 4]
  ])
  const of = (post_transform: string): number[] => classify([twig(1, -1)], column(0), { ...PAIR, post_transform })[1]
  expect(of('LOGISTIC')).toEqual(near(0.268941, 0.731059))
  expect(of('SOFTMAX')).toEqual([-1, 1])
  expect(of('SOFTMAX_ZERO')).toEqual([-1, 1])
  expect(of('PROBIT')).toEqual([-Infinity, Infinity])
})

test('TreeEnsembleClassifier takes votes for both of two classes, or the second alone, as they are', () => {
  const both: Branch = branch(
    'LEQ',
    0,
    {
      votes: [
        [0, 1],
        [1, 2]
      ]
    },
    leaf(-1, 0)
  )
  expect(classify([both], column(0, 1), PAIR)).toEqual([
    [20n, 20n],
    [1, 2, -1, 0]
  ])
  expect(classify([both], column(0, 1), { ...PAIR, base_values: [5, 1] })).toEqual([
    [10n, 10n],
    [6, 3, 4, 1]
  ])
  expect(classify([both], column(0), { ...PAIR, post_transform: 'SOFTMAX' })[1]).toEqual(near(0.268941, 0.731059))
  expect(classify([twig(0.75, 0.25, 1)], column(0, 1), PAIR)).toEqual([
    [20n, 10n],
    [0, 0.75, 0, 0.25]
  ])
  expect(classify([twig(1, -1, 1)], column(0, 1), PAIR)).toEqual([
    [20n, 10n],
    [0, 1, 0, -1]
  ])
})

test('TreeEnsembleClassifier judges float32 sums by what their own scores say', () => {
  const tenths = Array.from({ length: 5 }, () => leaf(0.10000000149011612))
  expect(classify(tenths, column(0), PAIR)).toEqual([[10n], [0.5, 0.5]])
  expect(classify(tenths, new Tensor('float64', [0], [1, 1]), PAIR)[0]).toEqual([20n])
})

test('TreeEnsembleClassifier gives 1 and 0 where there is one label', () => {
  expect(classify([twig(1, -1)], column(0, 1), { classlabels_int64s: [10] })).toEqual([
    [1n, 0n],
    [1, -1]
  ])
  expect(classify([twig(1, -1)], column(0, 1), { classlabels_strings: ['x'] })[0]).toEqual(['1', '0'])
})

test('TreeEnsembleClassifier wants labels of one kind, and base values that fit', () => {
  const codeOf = (more: Attributes): string => errorOf(() => classify([twig(1, 2)], column(0), more)).code
  expect(codeOf({})).toBe('missing-attribute')
  expect(codeOf({ ...PAIR, classlabels_strings: ['a', 'b'] })).toBe('unknown-attribute-value')
  expect(codeOf({ ...PAIR, base_values: [1, 2, 3] })).toBe('unknown-attribute-value')
  expect(codeOf({ classlabels_int64s: [1, 2, 3], base_values: [1] })).toBe('unknown-attribute-value')
  expect(codeOf({ ...PAIR, class_ids: [0, 2] })).toBe('unknown-attribute-value')
})

test('TreeEnsembleClassifier has a label and a score of each class for each row', () => {
  const attributes = { ...treeAttributes('class', [twig(1, 2)]), classlabels_strings: ['a', 'b', 'c'] }
  const [labels, scores] = inferOp(KIND, [fact('int64', ['n', 'f'])], { attributes, outputs: 2 })
  expect(labels).toMatchObject({ type: 'string' })
  expect(dimsOf(labels)).toEqual(['n'])
  expect(scores).toMatchObject({ type: 'float32' })
  expect(dimsOf(scores)).toEqual(['n', 3])
})
