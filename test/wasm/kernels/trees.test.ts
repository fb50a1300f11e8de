import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { type Branch, branch, leaf, treeAttributes } from '../../ops/ml/trees.ts'
import { noise, runAccelerated } from '../compare.ts'

const FEATURES = 5
const MODES = ['LEQ', 'LT', 'GTE', 'GT', 'EQ', 'NEQ']
const ml = (type: string): Kind => ['onnx', type, 3, 'ai.onnx.ml']

/** A tree of tests that pseudo-random numbers choose, whose leaves vote for `targets` targets. */
function treeOf(seed: number, depth: number, targets: number): Branch {
  const [kind, split, feature, weight] = noise([4], seed).data
  const at = (value: number, count: number): number => Math.floor(((value + 1) / 2) * count)
  if (depth === 0 || (depth < 6 && kind > 0.7)) return leaf(weight, at(split, targets))
  const [yes, no] = [2 * seed + 1, 2 * seed + 2].map(next => treeOf(next, depth - 1, targets))
  return branch(MODES[at(kind, MODES.length)], Math.round(split * 4) / 4, yes, no, at(feature, FEATURES), weight > 0)
}

const forestOf = (count: number, targets: number): Branch[] =>
  Array.from({ length: count }, (_, i) => treeOf(1000 * i + 1, i % 9, targets))

/** Rows of quarters, so that some are equal to what they are compared with, and of missing numbers. */
function rowsOf(count: number, type: DType): Tensor {
  const numbers = Array.from(noise([count * FEATURES], 3).data, value => Math.round(value * 8) / 4)
  if (type === 'int64')
    return new Tensor(
      'int64',
      BigInt64Array.from(numbers, x => BigInt(Math.round(x))),
      [count, FEATURES]
    )
  numbers[7] = NaN
  return new Tensor(type as 'float32', numbers, [count, FEATURES])
}

describe.each(['heap', 'array'] as const)('trees in WebAssembly, rows in an %s', region => {
  test.each(['float32', 'float64', 'int64'] as const)('classify rows of %s as the reference does', type => {
    for (const [rows, count, labels] of [
      [300, 11, [3, 5, 7]],
      [1003, 150, [0, 1]],
      [42, 400, [1, 2, 3, 4]]
    ] as const)
      for (const post_transform of ['NONE', 'SOFTMAX']) {
        const attributes = { ...treeAttributes('class', forestOf(count, labels.length)), classlabels_int64s: labels }
        const options = { region, outputs: 2, threads: 2, attributes: { ...attributes, post_transform } }
        const expected = runOp(ml('TreeEnsembleClassifier'), [rowsOf(rows, type)], options) as Tensor[]
        const found = runAccelerated(ml('TreeEnsembleClassifier'), [rowsOf(rows, type)], options) as Tensor[]
        expect(found.map(({ data }) => data)).toEqual(expected.map(({ data }) => data))
      }
  })

  test.each(['SUM', 'AVERAGE', 'MIN', 'MAX'])(
    'give the %s of what leaves say as the reference does',
    aggregate_function => {
      for (const [rows, count, targets] of [
        [1000, 20, 1],
        [2050, 130, 3]
      ]) {
        const attributes = {
          ...treeAttributes('target', forestOf(count, targets)),
          n_targets: targets,
          aggregate_function
        }
        const options = { region, attributes }
        const [expected] = runOp(ml('TreeEnsembleRegressor'), [rowsOf(rows, 'float32')], options) as Tensor[]
        const [found] = runAccelerated(ml('TreeEnsembleRegressor'), [rowsOf(rows, 'float32')], options) as Tensor[]
        expect(found.data).toEqual(expected.data)
      }
    }
  )
})

/** A full tree of tests, `depth` of them on each way, whose leaves have votes that `leafOf` makes of a number. */
function fullTree(seed: number, depth: number, modes: readonly string[], leafOf: (weight: number) => Branch): Branch {
  const [mode, split, feature, weight] = noise([4], seed).data
  const at = (value: number, count: number): number => Math.floor(((value + 1) / 2) * count)
  if (depth === 0) return leafOf(weight)
  const [yes, no] = [2 * seed + 1, 2 * seed + 2].map(next => fullTree(next, depth - 1, modes, leafOf))
  return branch(modes[at(mode, modes.length)], Math.round(split * 4) / 4, yes, no, at(feature, FEATURES), weight > 0.9)
}

describe.each([
  ['as they are', ['LEQ', 'LT']],
  ['negated', ['LEQ', 'LT', 'GT', 'GTE', 'EQ']]
])('votes of trees that compare features %s', (_, modes) => {
  const TARGETS = 3
  const all = (weight: number): Branch => ({ votes: [0, 1, 2].map(target => [target, weight / (target + 1)] as const) })
  test.each([
    ['for one target', 1, () => leaf],
    ['for each target', TARGETS, () => all],
    ['for one target of several', TARGETS, (tree: number) => (weight: number) => leaf(weight, (tree * 2) % TARGETS)],
    ['for one target, and none for another one', TARGETS, (tree: number) => (weight: number) => leaf(weight, tree % 2)]
  ] as const)('%s are added up as the reference does', (__, targets, leafOf) => {
    const trees = Array.from({ length: 9 }, (___, i) => fullTree(7 * i + 1, i % 6, modes, leafOf(i)))
    for (const aggregate_function of ['SUM', 'AVERAGE'])
      for (const [type, rows] of [
        ['float32', 101],
        ['float64', 1030],
        ['int64', 67]
      ] as const) {
        const attributes = { ...treeAttributes('target', trees), n_targets: targets, aggregate_function }
        const [expected] = runOp(ml('TreeEnsembleRegressor'), [rowsOf(rows, type)], { attributes }) as Tensor[]
        const [found] = runAccelerated(ml('TreeEnsembleRegressor'), [rowsOf(rows, type)], { attributes }) as Tensor[]
        expect(found.data).toEqual(expected.data)
      }
  })
})

test.each(['float32', 'float64', 'int64'] as const)('a tree whose leaves are classes answers rows of %s', type => {
  const CLASSES = 40
  // Rows of quarters between -2 and 2 get to some of the classes.
  const chain = (i: number): Branch =>
    i === CLASSES - 1 ? leaf(2, i) : branch('LT', (i - 19) / 2, leaf(2, i), chain(i + 1), 1)
  const attributes = {
    ...treeAttributes('class', [chain(0)]),
    classlabels_int64s: Array.from({ length: CLASSES }, (_, i) => 100 + i)
  }
  const x = rowsOf(300, type)
  const rows = Array.from({ length: 300 }, (_, row) => Number(x.data[row * FEATURES + 1]))
  const classOf = (value: number): number => {
    const first = Array.from({ length: CLASSES - 1 }, (_, i) => i).find(i => value < (i - 19) / 2)
    return first ?? CLASSES - 1
  }
  for (const region of ['heap', 'array'] as const) {
    const options = { region, outputs: 2, attributes }
    const [labels, scores] = runAccelerated(ml('TreeEnsembleClassifier'), [x], options) as Tensor[]
    expect([...labels.data]).toEqual(rows.map(value => BigInt(100 + classOf(value))))
    const expected = rows.flatMap(value => Array.from({ length: CLASSES }, (_, i) => (i === classOf(value) ? 2 : 0)))
    expect([...scores.data]).toEqual(expected)
  }
})

test('numbers between two of single precision divide rows of float32 as in double precision', () => {
  const [tiny, huge] = [1e-45, 3.4028234663852886e38]
  const numbers = [0, -0, tiny, -tiny, huge, -huge, Infinity, -Infinity, NaN, 1, -1, 0.1]
  const trees = [0, huge, -huge, 1, -1, 0.1].flatMap((split, i) =>
    ['LT', 'LEQ', 'GT', 'GTE'].map((mode, j) => branch(mode, split, leaf(2 ** (4 * i + j)), leaf(0)))
  )
  const attributes = { ...treeAttributes('target', trees), n_targets: 1 }
  const rows = new Tensor('float32', numbers, [numbers.length, 1])
  const [expected] = runOp(ml('TreeEnsembleRegressor'), [rows], { attributes }) as Tensor[]
  const [found] = runAccelerated(ml('TreeEnsembleRegressor'), [rows], { attributes }) as Tensor[]
  expect(found.data).toEqual(expected.data)
})

test('few rows of few trees are left to the reference', () => {
  const attributes = { ...treeAttributes('target', forestOf(20, 1)), n_targets: 1 }
  const run = (): unknown => runAccelerated(ml('TreeEnsembleRegressor'), [rowsOf(3, 'float32')], { attributes })
  expect(run).toThrow('no accelerated kernel is selected')
})
