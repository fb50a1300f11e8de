import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import type { Kind } from '../harness.ts'
import { randomFloats as floats, picks } from '../random.ts'
import { branch, leaf, treeAttributes } from './trees.ts'

const kind = (type: string, since = 1): Kind => ['onnx', type, since, 'ai.onnx.ml']

type Attributes = Record<string, number[] | string[] | number | string>

/** Chains of `depth` tests, whose true branches are leaves; each leaf votes for some of `targets`. */
function chains(trees: number, depth: number, votes: 'class' | 'target', targets: number, voters: number): Attributes {
  const nodes: [tree: number, id: number, mode: string, feature: number, value: number, yes: number, no: number][] = []
  const said: [tree: number, id: number, target: number, weight: number][] = []
  for (let tree = 0; tree < trees; tree++) {
    const ends = (id: number): void => {
      nodes.push([tree, id, 'LEAF', 0, 0, 0, 0])
      for (let i = 0; i < voters; i++)
        said.push([tree, id, (tree + i) % targets, (picks(tree * 99 + id + i, 9) - 3) / 8])
    }
    for (let level = 0; level < depth; level++) {
      const mode = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GT', 'BRANCH_GTE', 'BRANCH_EQ'][(tree + level) % 5]
      nodes.push([tree, 2 * level, mode, (tree + level) % 3, ((level % 7) - 3) / 4, 2 * level + 1, 2 * level + 2])
      ends(2 * level + 1)
    }
    ends(2 * depth)
  }
  return {
    nodes_treeids: nodes.map(node => node[0]),
    nodes_nodeids: nodes.map(node => node[1]),
    nodes_modes: nodes.map(node => node[2]),
    nodes_featureids: nodes.map(node => node[3]),
    nodes_values: nodes.map(node => node[4]),
    nodes_truenodeids: nodes.map(node => node[5]),
    nodes_falsenodeids: nodes.map(node => node[6]),
    nodes_missing_value_tracks_true: nodes.map((_, i) => i % 2),
    [`${votes}_treeids`]: said.map(one => one[0]),
    [`${votes}_nodeids`]: said.map(one => one[1]),
    [`${votes}_ids`]: said.map(one => one[2]),
    [`${votes}_weights`]: said.map(one => one[3])
  }
}

const x = new Tensor('float32', [...floats(1, [9, 3]).data, 0.25, -0.5, NaN, 0, -0.75, 0.5], [11, 3])
const inputs = [
  x,
  floats(2, [3]),
  new Tensor('float64', [0.1, -0.5, 0.25, NaN, 0, 1], [2, 3]),
  new Tensor('int64', [1n, 0n, -1n], [1, 3])
]

describe('decision trees of ai.onnx.ml in IR', () => {
  test.each([
    [{ trees: 3, depth: 4, targets: 1, voters: 1 }, {}],
    [
      { trees: 3, depth: 40, targets: 1, voters: 1 },
      { base_values: [0.5], aggregate_function: 'AVERAGE' }
    ],
    [{ trees: 2, depth: 0, targets: 1, voters: 1 }, {}],
    [
      { trees: 4, depth: 5, targets: 2, voters: 1 },
      { base_values: [0.5, -1], post_transform: 'SOFTMAX' }
    ],
    [{ trees: 1, depth: 5, targets: 3, voters: 2 }, { post_transform: 'LOGISTIC' }]
  ])('TreeEnsembleRegressor of %j with %j', async ({ trees, depth, targets, voters }, more) => {
    const attributes = { ...chains(trees, depth, 'target', targets, voters), n_targets: targets, ...more }
    for (const data of inputs)
      for (const isDynamic of [false, true])
        expect(await differenceInOther(kind('TreeEnsembleRegressor'), [data], { attributes, isDynamic })).toBeLessThan(
          1e-6
        )
  })

  test.each([
    [{ trees: 3, depth: 4, targets: 1, voters: 1 }, [3, 5], {}],
    [{ trees: 3, depth: 4, targets: 1, voters: 1 }, [3, 5], { post_transform: 'LOGISTIC', base_values: [0.125] }],
    [{ trees: 3, depth: 4, targets: 2, voters: 2 }, [3, 5], {}],
    [{ trees: 3, depth: 4, targets: 1, voters: 1 }, [3], {}],
    [{ trees: 6, depth: 6, targets: 3, voters: 1 }, [3, -5, 9], { post_transform: 'SOFTMAX' }],
    [{ trees: 2, depth: 6, targets: 4, voters: 4 }, [3, -5, 9, 0], {}],
    [{ trees: 1, depth: 6, targets: 3, voters: 1 }, [3, -5, 9], { base_values: [0.1, 0.2, 0.3] }]
  ])('TreeEnsembleClassifier of %j, labels %j, with %j', async ({ trees, depth, targets, voters }, labels, more) => {
    const attributes = { ...chains(trees, depth, 'class', targets, voters), classlabels_int64s: labels, ...more }
    for (const data of inputs)
      expect(await differenceInOther(kind('TreeEnsembleClassifier'), [data], { attributes, outputs: 2 })).toBeLessThan(
        1e-6
      )
  })

  test.each(['LEQ', 'LT', 'GT', 'GTE', 'EQ', 'NEQ'])('BRANCH_%s of the neighbours of a threshold', async mode => {
    for (const split of [0.1, 0, -3]) {
      const near = Math.fround(split)
      const step = split === 0 ? 2 ** -149 : 2 ** (Math.floor(Math.log2(Math.abs(split))) - 23)
      const data = new Tensor('float32', [near, near - step, near + step, -0, Infinity, -Infinity, NaN], [7, 1])
      const attributes = { ...treeAttributes('target', [branch(mode, split, leaf(1), leaf(2))]), n_targets: 1 }
      expect(await differenceInOther(kind('TreeEnsembleRegressor'), [data], { attributes })).toBe(0)
    }
  })

  test('numbers below 0 are said to be below 0: OpenVINO takes subnormal thresholds for 0', () => {
    const said = (mode: string): string[] => {
      const attributes = { ...treeAttributes('target', [branch(mode, 0, leaf(1), leaf(2))]), n_targets: 1 }
      return typesOf(inOther(modelOfNode(kind('TreeEnsembleRegressor'), [floats(1, [2, 1])], { attributes })))
    }
    expect([said('LT').includes('Less'), said('LEQ').includes('Less')]).toEqual([true, false])
  })

  test('deep trees are a loop; what IR cannot say is refused with its reason', () => {
    const said =
      (type: string, attributes: Attributes, outputs: number): (() => string[]) =>
      () =>
        typesOf(inOther(modelOfNode(kind(type), [x], { attributes, outputs })))
    expect(said('TreeEnsembleRegressor', { ...chains(2, 40, 'target', 1, 1), n_targets: 1 }, 1)()).toContain('Loop')
    expect(said('TreeEnsembleRegressor', { ...chains(2, 4, 'target', 1, 1), n_targets: 1 }, 1)()).not.toContain('Loop')
    const most = { ...chains(2, 4, 'target', 1, 1), n_targets: 1, aggregate_function: 'MAX' }
    expect(said('TreeEnsembleRegressor', most, 1)).toThrow('the MAX is taken')
    const few = { ...chains(2, 4, 'class', 3, 1), classlabels_int64s: [0, 1, 2] }
    expect(said('TreeEnsembleClassifier', few, 2)).toThrow('no tree may vote for')
    const named = { ...chains(2, 4, 'class', 1, 1), classlabels_strings: ['a', 'b'] }
    expect(said('TreeEnsembleClassifier', named, 2)).toThrow('strings')
  })
})
