import { expect, test } from 'vitest'
import { forestOf } from '../../../src/kernels/ml/forest.ts'
import { leafRef, MODES, type TreeNodes } from '../../../src/kernels/ml/tree-tests.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'
import { type Branch, branch, leaf, treeAttributes } from './trees.ts'

const REGRESSOR: Kind = ['onnx', 'TreeEnsembleRegressor', 3, 'ai.onnx.ml']
const ENSEMBLE: Kind = ['onnx', 'TreeEnsemble', 5, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runTensor>[2]>['attributes']

const column = (...x: number[]): Tensor => new Tensor('float32', x, [x.length, 1])
const regress = (trees: readonly Branch[], x: Tensor, more: Attributes = {}): number[] => [
  ...(runTensor(REGRESSOR, [x], { attributes: { n_targets: 1, ...treeAttributes('target', trees), ...more } })
    .data as Float32Array)
]
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const compare = (mode: string, missing = false): number[] =>
  regress([branch(mode, 1, leaf(1), leaf(0), 0, missing)], column(0, 1, 2, NaN, -Infinity, Infinity))

test('TreeEnsembleRegressor compares as the mode says; a missing value is false but for NEQ', () => {
  expect(compare('LEQ')).toEqual([1, 1, 0, 0, 1, 0])
  expect(compare('LT')).toEqual([1, 0, 0, 0, 1, 0])
  expect(compare('GTE')).toEqual([0, 1, 1, 0, 0, 1])
  expect(compare('GT')).toEqual([0, 0, 1, 0, 0, 1])
  expect(compare('EQ')).toEqual([0, 1, 0, 0, 0, 0])
  expect(compare('NEQ')).toEqual([1, 0, 1, 1, 1, 1])
})

test('TreeEnsembleRegressor sends a missing value to the true branch where the node says so', () => {
  expect(compare('LEQ', true)).toEqual([1, 1, 0, 1, 1, 0])
  expect(compare('LT', true)).toEqual([1, 0, 0, 1, 1, 0])
  expect(compare('GTE', true)).toEqual([0, 1, 1, 1, 0, 1])
  expect(compare('GT', true)).toEqual([0, 0, 1, 1, 0, 1])
  expect(compare('EQ', true)).toEqual([0, 1, 0, 1, 0, 0])
  expect(compare('NEQ', true)).toEqual([1, 0, 1, 1, 1, 1])
})

test('TreeEnsembleRegressor takes splits that are zero, infinite or NaN as numbers compare', () => {
  const at = (mode: string, split: number): number[] =>
    regress([branch(mode, split, leaf(1), leaf(0))], column(-Infinity, -0, 0, Infinity))
  expect(at('LT', 0)).toEqual([1, 0, 0, 0])
  expect(at('GTE', -0)).toEqual([0, 1, 1, 1])
  expect(at('LT', -Infinity)).toEqual([0, 0, 0, 0])
  expect(at('GT', -Infinity)).toEqual([0, 1, 1, 1])
  expect(at('LEQ', Infinity)).toEqual([1, 1, 1, 1])
  expect(at('LT', Infinity)).toEqual([1, 1, 1, 0])
  expect(at('EQ', 0)).toEqual([0, 1, 1, 0])
  for (const mode of ['LEQ', 'LT', 'GTE', 'GT', 'EQ']) expect(at(mode, NaN)).toEqual([0, 0, 0, 0])
  expect(at('NEQ', NaN)).toEqual([1, 1, 1, 1])
  const missing = (mode: string): number[] => regress([branch(mode, NaN, leaf(1), leaf(0), 0, true)], column(0, NaN))
  expect(missing('LT')).toEqual([0, 1])
  expect(missing('EQ')).toEqual([0, 1])
})

test('TreeEnsembleRegressor with one target takes the first vote of a leaf', () => {
  const nodes = treeAttributes('target', [branch('LEQ', 0, leaf(3), leaf(5)), branch('LEQ', 0, leaf(1), leaf(2))])
  const attributes = {
    ...nodes,
    target_treeids: [0, 0, 0, 1, 0, 1, 0],
    target_nodeids: [2, 1, 1, 2, 2, 1, 1],
    target_ids: [0, 0, 0, 0, 0, 0, 0],
    target_weights: [5, 3, 3, 2, 7, 1, 4]
  }
  const x = column(0, 1)
  for (const aggregate_function of ['SUM', 'AVERAGE', 'MIN', 'MAX']) {
    const of = (more: Attributes): number[] => [
      ...(runTensor(REGRESSOR, [x], { attributes: { n_targets: 1, ...more, aggregate_function } }).data as Float32Array)
    ]
    expect(of(attributes)).toEqual(of(nodes))
  }
  // Where there are more targets, votes for one of them are added up.
  const two = runTensor(REGRESSOR, [x], { attributes: { ...attributes, n_targets: 2 } })
  expect([...two.data]).toEqual([11, 0, 14, 0])
})

test('TreeEnsembleRegressor adds no base value to a target without a vote, where it has several', () => {
  const trees = [branch('LEQ', 0, leaf(5, 0), leaf(7, 2))]
  const of = (aggregate_function: string): number[] =>
    regress(trees, column(0, 1), { n_targets: 3, base_values: [1, 2, 3], aggregate_function })
  for (const aggregate of ['SUM', 'AVERAGE', 'MIN', 'MAX']) expect(of(aggregate)).toEqual([6, 0, 0, 0, 0, 10])
})

test('TreeEnsembleRegressor takes nodes that test one feature for one value after the other as a set', () => {
  // A chain of EQ nodes, each named by its position, with one node for all that are found and one for all others.
  const chain = (splits: readonly number[], { missing = [] as readonly number[], others = 0 } = {}): Attributes => {
    const count = splits.length
    const ids = upTo(count + 2)
    return {
      n_targets: 1,
      nodes_treeids: ids.map(() => 0),
      nodes_nodeids: ids,
      nodes_featureids: ids.map(() => 0),
      nodes_modes: ids.map(i => (i < count ? 'BRANCH_EQ' : 'LEAF')),
      nodes_values: [...splits, 0, 0],
      nodes_truenodeids: ids.map(i => (i < count ? count : 0)),
      nodes_falsenodeids: ids.map(i => (i < count - 1 ? i + 1 : i < count ? count + 1 : 0)),
      nodes_missing_value_tracks_true: ids.map(i => (missing.includes(i) ? 1 : 0)),
      target_treeids: [0, 0],
      target_nodeids: [count, count + 1],
      target_ids: [0, 0],
      target_weights: [1, others]
    }
  }
  const x = column(-Infinity, -1, 0, 1, 2, 2.5, 3, 5, 8, Infinity, NaN)
  const of = (splits: readonly number[], more?: Parameters<typeof chain>[1]): number[] => [
    ...(runTensor(REGRESSOR, [x], { attributes: chain(splits, more) }).data as Float32Array)
  ]
  expect(of([3, 8, -1, 2, 3])).toEqual([0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0])
  expect(of([3, -0], { others: -2 })).toEqual([-2, -2, 1, -2, -2, -2, 1, -2, -2, -2, -2])
  expect(of([Infinity, 1, -Infinity])).toEqual([1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0])
  expect(of([NaN, 1, NaN, 5])).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
  expect(of([3, 8, 5], { missing: [0, 1, 2] })).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1])
  // Where only some send a missing value to the true branch, the first of these does.
  expect(of([3, 8, 5, 1], { missing: [2] })).toEqual([0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1])

  // A node within a chain that something else leads to, and a chain that leads back to itself.
  const shared = { ...chain([3, 8, 5]), nodes_modes: ['BRANCH_GT', 'BRANCH_EQ', 'BRANCH_EQ', 'LEAF', 'LEAF'] }
  const entered = { ...shared, nodes_truenodeids: [2, 3, 3, 0, 0], nodes_falsenodeids: [1, 2, 4, 0, 0] }
  expect([...runTensor(REGRESSOR, [x], { attributes: entered }).data]).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
  const cycle = { ...chain([3, 8, 5]), nodes_falsenodeids: [1, 2, 0, 0, 0] }
  expect(errorOf(() => runTensor(REGRESSOR, [x], { attributes: cycle })).code).toBe('invalid-graph')
})

test('TreeEnsembleRegressor walks few steps through a chain of tests for equality', () => {
  const nodes: TreeNodes = {
    modes: upTo(64).map(() => MODES.BRANCH_EQ),
    features: upTo(64).map(() => 0),
    splits: upTo(64),
    sets: new Map(),
    ifTrue: upTo(64).map(() => leafRef(0)),
    ifFalse: upTo(64).map(i => (i < 63 ? i + 1 : leafRef(1))),
    missingIsTrue: undefined
  }
  const leaves = { starts: Int32Array.of(0, 1, 2), targets: new Int32Array(2), weights: Float64Array.of(1, 2) }
  expect(forestOf(nodes, [0], leaves).deepest).toBe(8)
  // A root within it cuts it in two.
  expect(forestOf(nodes, [0, 32], leaves).deepest).toBe(14)
})

test('TreeEnsembleRegressor aggregates over trees', () => {
  const trees = [3, -1, 4].map(weight => branch('LEQ', 0, leaf(weight), leaf(-weight)))
  const of = (aggregate_function: string): number[] => regress(trees, column(0, 1), { aggregate_function })
  expect(of('SUM')).toEqual([6, -6])
  expect(of('AVERAGE')).toEqual([2, -2])
  expect(of('MIN')).toEqual([-1, -4])
  expect(of('MAX')).toEqual([4, 1])
  expect(regress(trees, column(0), { base_values: [10], aggregate_function: 'MAX' })).toEqual([14])
})

test('TreeEnsembleRegressor keeps targets apart, and gives 0 to one without a leaf', () => {
  const votes: Branch = {
    votes: [
      [0, 2],
      [2, -5],
      [0, 1]
    ]
  }
  const trees = [branch('LEQ', 0, votes, leaf(7, 2)), leaf(1, 2)]
  const of = (aggregate_function: string): number[] =>
    regress(trees, column(0, 1), { n_targets: 3, aggregate_function })
  expect(of('SUM')).toEqual([3, 0, -4, 0, 0, 8])
  expect(of('MIN')).toEqual([1, 0, -5, 0, 0, 1])
  expect(of('MAX')).toEqual([2, 0, 1, 0, 0, 7])
  expect(of('AVERAGE')).toEqual([1.5, 0, -2, 0, 0, 4])
})

test('TreeEnsembleRegressor transforms several targets, and one by PROBIT only', () => {
  const one = (post_transform: string): number[] => regress([leaf(0.25)], column(0), { post_transform })
  for (const post of ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO']) expect(one(post)).toEqual([0.25])
  expect(one('PROBIT')[0]).toBeCloseTo(-0.674, 2)
  const two = (post_transform: string): number[] =>
    regress(
      [
        {
          votes: [
            [0, Math.log(3)],
            [1, 0]
          ]
        }
      ],
      column(0),
      { n_targets: 2, post_transform }
    )
  const near = (values: number[]): unknown => values.map(value => expect.closeTo(value, 5) as number)
  expect(two('SOFTMAX')).toEqual(near([0.75, 0.25]))
  expect(two('SOFTMAX_ZERO')).toEqual(near([1, 0]))
  expect(two('LOGISTIC')).toEqual(near([0.75, 0.5]))
  expect(two('PROBIT')).toEqual([NaN, -Infinity])
})

test('TreeEnsembleRegressor takes a vector as one row, and every type of input', () => {
  const trees = [branch('LT', 2, leaf(1), leaf(0), 1)]
  expect(regress(trees, new Tensor('float32', [9, 1]))).toEqual([1])
  expect(regress(trees, new Tensor('int32', [9, 1, 0, 2], [2, 2]))).toEqual([1, 0])
  expect(regress(trees, ints(9, 1))).toEqual([1])
  expect(regress(trees, new Tensor('float64', [9, 2 - 2 ** -52]))).toEqual([1])
  expect(regress(trees, iota([0, 2]))).toEqual([])
})

test('TreeEnsembleRegressor takes splits and weights of double precision', () => {
  const { nodes_values, target_weights, ...others } = treeAttributes('target', [branch('LEQ', 0, leaf(0), leaf(1))])
  expect(nodes_values).toHaveLength(3)
  expect(target_weights).toHaveLength(2)
  const attributes = {
    n_targets: 1,
    ...others,
    nodes_values_as_tensor: new Tensor('float64', [1 + 2 ** -50, 0, 0]),
    target_weights_as_tensor: new Tensor('float64', [1, 2])
  }
  const x = new Tensor('float64', [1 + 2 ** -50, 1 + 2 ** -49], [2, 1])
  expect([...runTensor(REGRESSOR, [x], { attributes }).data]).toEqual([1, 2])
})

test('TreeEnsembleRegressor gives the same whatever the number of rows, features and trees', () => {
  const deep = (depth: number, weight: number): Branch =>
    depth === 0
      ? leaf(weight)
      : branch(depth % 3 === 0 ? 'GT' : 'LEQ', weight % 7, deep(depth - 1, 2 * weight), leaf(-weight), depth % 3)
  const trees = Array.from({ length: 9 }, (_, i) => deep(i, i + 1))
  const walk = (node: Branch, row: number[]): number => {
    if ('votes' in node) return node.votes[0][1]
    const x = row[node.feature]
    return walk((node.mode === 'BRANCH_GT' ? x > node.split : x <= node.split) ? node.yes : node.no, row)
  }
  const rows = Array.from({ length: 131 }, (_, i) => [i % 7, (i * 5) % 11, (i * 3) % 8])
  const wanted = rows.map(row => trees.reduce((sum, tree) => sum + walk(tree, row), 0))
  for (const count of [1, 3, 4, 6, 131]) {
    const x = new Tensor('float32', rows.slice(0, count).flat(), [count, 3])
    expect(regress(trees, x)).toEqual(wanted.slice(0, count))
  }
})

test('TreeEnsembleRegressor walks a chain of very many nodes', () => {
  const count = 100_000
  const ids = Array.from({ length: count + 2 }, (_, i) => i)
  const attributes = {
    n_targets: 1,
    tree_roots: [0],
    nodes_splits: new Tensor('float32', new Float32Array(ids.slice(0, count))),
    nodes_modes: new Tensor('uint8', new Uint8Array(count)),
    nodes_featureids: new Array<number>(count).fill(0),
    nodes_truenodeids: new Array<number>(count).fill(0),
    nodes_trueleafs: new Array<number>(count).fill(1),
    nodes_falsenodeids: ids.slice(0, count).map(i => (i === count - 1 ? 1 : i + 1)),
    nodes_falseleafs: ids.slice(0, count).map(i => (i === count - 1 ? 1 : 0)),
    leaf_targetids: [0, 0],
    leaf_weights: new Tensor('float32', [1, 2])
  }
  expect([...runTensor(ENSEMBLE, [column(0, count, count - 1)], { attributes }).data]).toEqual([1, 2, 1])
})

test('TreeEnsembleRegressor refuses trees that are none', () => {
  const good = treeAttributes('target', [branch('LEQ', 0, leaf(1), leaf(2))])
  const codeOf = (more: Attributes): string =>
    errorOf(() => runTensor(REGRESSOR, [column(0)], { attributes: { n_targets: 1, ...good, ...more } })).code
  const wrong = 'unknown-attribute-value'
  expect(codeOf({ nodes_modes: ['BRANCH_LEQ', 'BRANCH_LEQ', 'LEAF'], nodes_falsenodeids: [2, 2, 0] })).toBe(
    'invalid-graph'
  )
  expect(codeOf({ nodes_truenodeids: [0, 0, 0] })).toBe('invalid-graph')
  expect(codeOf({ nodes_truenodeids: [7, 0, 0] })).toBe(wrong)
  expect(codeOf({ nodes_truenodeids: [-1, 0, 0] })).toBe(wrong)
  expect(codeOf({ nodes_featureids: [0] })).toBe(wrong)
  expect(codeOf({ nodes_featureids: [-1, 0, 0] })).toBe(wrong)
  expect(codeOf({ nodes_featureids: [2 ** 40, 0, 0] })).toBe(wrong)
  expect(codeOf({ nodes_nodeids: [0, 1, 1] })).toBe(wrong)
  expect(codeOf({ nodes_modes: ['BRANCH_LEQ', 'LEAF', 'TWIG'] })).toBe(wrong)
  expect(codeOf({ nodes_missing_value_tracks_true: [1] })).toBe(wrong)
  expect(codeOf({ target_ids: [0, 1] })).toBe(wrong)
  expect(codeOf({ target_nodeids: [1, 5] })).toBe(wrong)
  expect(codeOf({ target_weights: [1] })).toBe(wrong)
  expect(codeOf({ base_values: [1, 2] })).toBe(wrong)
  expect(codeOf({ n_targets: 0 })).toBe(wrong)
  expect(codeOf({ n_targets: 2 ** 40 })).toBe('limit-exceeded')
  expect(codeOf({ nodes_values_as_tensor: new Tensor('float64', [1, 2, 3]) })).toBe(wrong)
})

test('TreeEnsembleRegressor knows the rows of its output', () => {
  const attributes = { n_targets: 2, ...treeAttributes('target', [branch('LEQ', 0, leaf(1), leaf(2), 3)]) }
  const of = (shape?: (number | string)[]): unknown => inferOp(REGRESSOR, [fact('float64', shape)], { attributes })[0]
  expect(of()).toMatchObject({ type: 'float32' })
  expect(dimsOf(of(['n', 'f']) as never)).toEqual(['n', 2])
  expect(dimsOf(of([4]) as never)).toEqual([1, 2])
  expect(errorOf(() => of(['n', 3])).code).toBe('dims-mismatch')
  expect(errorOf(() => of([2, 4, 1])).code).toBe('rank-mismatch')
})

/** One node in front of leaves 0 and 1, which weigh 1 and 2. */
const ensemble = {
  n_targets: 1,
  tree_roots: [0],
  nodes_splits: new Tensor('float32', [1]),
  nodes_modes: new Tensor('uint8', [0]),
  nodes_featureids: [0],
  nodes_truenodeids: [0],
  nodes_falsenodeids: [1],
  nodes_trueleafs: [1],
  nodes_falseleafs: [1],
  leaf_targetids: [0, 0],
  leaf_weights: new Tensor('float32', [1, 2])
}
const grow = (x: Tensor, more: Attributes = {}): Tensor =>
  runTensor(ENSEMBLE, [x], { attributes: { ...ensemble, ...more } })

test('TreeEnsemble walks nodes by their positions, in the type of the input', () => {
  expect(grow(column(0, 1, 2))).toMatchObject({ type: 'float32', dims: [3, 1], data: new Float32Array([1, 1, 2]) })
  const half = { nodes_splits: new Tensor('float16', [0x3c00]), leaf_weights: new Tensor('float16', [0x3c00, 0x4000]) }
  expect(grow(new Tensor('float16', [0x3c00, 0x3c01], [2, 1]), half)).toMatchObject({
    type: 'float16',
    data: new Uint16Array([0x3c00, 0x4000])
  })
  expect(
    grow(new Tensor('float64', [1 + 2 ** -52], [1, 1]), { leaf_weights: new Tensor('float64', [1, 1 / 3]) }).data
  ).toEqual(new Float64Array([1 / 3]))
  expect([...grow(column(0, 2), { tree_roots: [0, 0] }).data]).toEqual([2, 4])
})

test('TreeEnsemble tests membership in sets', () => {
  const of = (members: number[], x: Tensor, missing = 0): number[] => [
    ...(grow(x, {
      nodes_modes: new Tensor('uint8', [6]),
      membership_values: new Tensor('float32', [...members, NaN]),
      nodes_missing_value_tracks_true: [missing]
    }).data as Float32Array)
  ]
  expect(of([5, -1, 3, 3], column(-2, -1, 0, 3, 4, 5, 6, NaN))).toEqual([2, 1, 2, 1, 2, 1, 2, 2])
  expect(of([5, -1, 3, 3], column(-2, -1, 0, 3, 4, 5, 6, NaN), 1)).toEqual([2, 1, 2, 1, 2, 1, 2, 1])
  expect(of([Infinity, 0], column(-Infinity, 0, 1, Infinity))).toEqual([2, 1, 2, 1])
  expect(of([], column(0, NaN))).toEqual([2, 2])
  expect(of([], column(0, NaN), 1)).toEqual([2, 1])
  const many = Array.from({ length: 25 }, (_, i) => 3 * i)
  const x = Array.from({ length: 80 }, (_, i) => i - 2)
  expect(of(many, column(...x))).toEqual(x.map(value => (many.includes(value) ? 1 : 2)))
})

test('TreeEnsemble numbers aggregates and post transforms, the latter as ONNX Runtime does', () => {
  const two = { n_targets: 2, tree_roots: [0, 0], leaf_weights: new Tensor('float32', [Math.log(3), 2]) }
  const of = (more: Attributes): number[] => [...(grow(column(0), { ...two, ...more }).data as Float32Array)]
  const near = (...values: number[]): unknown => values.map(value => expect.closeTo(value, 5) as number)
  expect(of({ aggregate_function: 0 })).toEqual(near(Math.log(3), 0))
  expect(of({ aggregate_function: 2 })).toEqual(near(Math.log(3), 0))
  expect(of({ aggregate_function: 0, post_transform: 1 })).toEqual(near(0.75, 0.5))
  expect(of({ aggregate_function: 0, post_transform: 2 })).toEqual(near(0.75, 0.25))
  expect(errorOf(() => of({ aggregate_function: 4 })).code).toBe('unknown-attribute-value')
  expect(errorOf(() => of({ post_transform: -1 })).code).toBe('unknown-attribute-value')
})

test('TreeEnsemble refuses positions that are not there, and sets that do not fit', () => {
  const codeOf = (more: Attributes): string => errorOf(() => grow(column(0), more)).code
  const wrong = 'unknown-attribute-value'
  expect(codeOf({ nodes_trueleafs: [0] })).toBe('invalid-graph')
  expect(codeOf({ nodes_truenodeids: [2] })).toBe(wrong)
  expect(codeOf({ tree_roots: [1] })).toBe(wrong)
  expect(codeOf({ tree_roots: [] })).toBe(wrong)
  expect(codeOf({ nodes_modes: new Tensor('uint8', [7]) })).toBe(wrong)
  expect(codeOf({ nodes_modes: new Tensor('uint8', [6]) })).toBe(wrong)
  expect(codeOf({ membership_values: new Tensor('float32', [1, NaN]) })).toBe(wrong)
  expect(codeOf({ leaf_targetids: [0, 1] })).toBe(wrong)
  expect(codeOf({ leaf_targetids: [0] })).toBe(wrong)
})
