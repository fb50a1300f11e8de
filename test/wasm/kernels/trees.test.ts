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

test('few rows of few trees, and fewer rows than cells are worth, are left to the reference', () => {
  const attributes = { ...treeAttributes('target', forestOf(20, 1)), n_targets: 1 }
  const run = (): unknown => runAccelerated(ml('TreeEnsembleRegressor'), [rowsOf(3, 'float32')], { attributes })
  expect(run).toThrow('no accelerated kernel is selected')
})
