import { fail } from '../../errors.ts'
import type { Forest } from '../../kernels/ml/forest.ts'
import type { TreeClasses } from '../../kernels/ml/tree-classes.ts'
import type { TreeTargets } from '../../kernels/ml/tree-targets.ts'
import { elementwise, expanded, gathered, reduced } from '../../op-kit/conversion-kit.ts'
import { looped } from '../../op-kit/conversion-loops.ts'
import { add, mul, part, times, wideType } from '../../op-kit/conversion-parts.ts'
import { bothOf, labelOf, realsOf, rowsOf, transformed } from '../../op-kit/conversion-scores.ts'
import { sizeAt, sizeList } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Labels } from '../../op-kit/ml-labels.ts'
import type { DType } from '../../tensor/dtype.ts'
import { treeEnsembleClassifier } from './tree-ensemble-classifier.ts'
import { treeEnsembleRegressor } from './tree-ensemble-regressor.ts'

/** The most levels of trees whose nodes are written one after the other; more are a loop. */
const MAX_LEVELS = 32

/** The most votes that are written as a matrix. */
const MAX_VOTES = 2 ** 24

/** The cell of the leaf of each row in each tree, `[rows, trees]`: all trees are walked at once, level by level. */
function leafCells(w: Writer, x: Made, { roots, deepest, features, ...forest }: Forest): Made {
  const trees = roots.length
  const first = expanded(w, w.constant('int32', [...roots], [1, trees]), sizeList(w, [sizeAt(w, x, 0), trees]))
  if (deepest === 0) return first
  const [columns, next] = [forest.columns, forest.next].map(list => w.constant('int32', [...list]))
  const isLow = comparison(w, typeOf(x), forest.thresholds)
  const values = comparedOf(w, x, features)
  const below = (inner: Writer, cells: Made): Made => {
    const value = inner.node('GatherElements', [values, gathered(inner, columns, cells, 0)], { axis: 1 })
    return add(inner, gathered(inner, next, cells, 0), inner.cast(isLow(inner, value, cells), 'int32'))
  }
  if (deepest > MAX_LEVELS) {
    const count = w.scalar('int64', deepest)
    return looped(w, { count }, [first], (inner, _, [cells]) => ({ next: [below(inner, cells)] })).carried[0]
  }
  let cells = first
  for (let level = 0; level < deepest; level++) cells = below(w, cells)
  return cells
}

/** What is compared: some features, some of them negated. */
function comparedOf(w: Writer, x: Made, features: Int32Array): Made {
  const columns = Array.from(features, feature => (feature < 0 ? -1 - feature : feature))
  const values = gathered(w, x, w.constant('int64', columns), 1)
  if (features.every(feature => feature >= 0)) return values
  const signs = Array.from(features, feature => (feature < 0 ? -1 : 1))
  return mul(w, values, w.constant(typeOf(x), signs))
}

/**
 * Whether values are not above the thresholds of cells. Below 0 is said as such, since OpenVINO takes the largest
 * number below 0 for 0.
 */
function comparison(w: Writer, type: DType, exact: Float64Array): (inner: Writer, value: Made, cells: Made) => Made {
  const isSingle = type === 'float32'
  const belowZero = isSingle ? LEAST_SINGLE : -Number.MIN_VALUE
  const bounds = boundsFor(isSingle, exact)
  const thresholds = w.constant(
    type,
    bounds.map(bound => (bound === belowZero ? NaN : bound))
  )
  const notAbove = (inner: Writer, value: Made, cells: Made): Made =>
    elementwise(inner, 'LessOrEqual', value, gathered(inner, thresholds, cells, 0))
  if (!bounds.includes(belowZero)) return notAbove
  const limits = w.constant(
    type,
    bounds.map(bound => (bound === belowZero ? 0 : NaN))
  )
  return (inner, value, cells) => {
    const isBelow = elementwise(inner, 'Less', value, gathered(inner, limits, cells, 0))
    return elementwise(inner, 'Or', notAbove(inner, value, cells), isBelow)
  }
}

/** Thresholds in single precision are the largest numbers not above them, so that all numbers compare as before. */
function boundsFor(isSingle: boolean, thresholds: Float64Array): number[] {
  return Array.from(thresholds, threshold => {
    const near = isSingle ? Math.fround(threshold) : threshold
    return near > threshold ? singleBelow(near) : near
  })
}

/** The largest number of single precision below 0. */
const LEAST_SINGLE = -(2 ** -149)

const single = new Float32Array(1)
const bits = new Int32Array(single.buffer)

/** The largest number of single precision below one that is not the least. */
function singleBelow(x: number): number {
  if (x === 0) return LEAST_SINGLE
  single[0] = x
  bits[0] += x > 0 ? -1 : 1
  return single[0]
}

/** The sums of the votes of all trees in double precision, `[rows, targets]`. */
function votesOf(w: Writer, cells: Made, forest: Forest, targets: number): Made {
  const { next, thresholds, leafOf, leaves, sums } = forest
  if (targets === 1) return reduced(w, 'ReduceSum', gathered(w, w.constant('float64', [...sums]), cells, 0), [1], true)
  if (next.length * targets > MAX_VOTES) fail('unsupported-op', `votes of ${next.length} nodes for ${targets} targets`)
  const votes = new Float64Array(next.length * targets)
  for (let cell = 0; cell < next.length; cell++) {
    if (!Number.isNaN(thresholds[cell])) continue
    const leaf = leafOf[cell]
    for (let i = leaves.starts[leaf]; i < leaves.starts[leaf + 1]; i++)
      votes[cell * targets + leaves.targets[i]] += leaves.weights[i]
  }
  const table = w.constant('float64', [...votes], [next.length, targets])
  return reduced(w, 'ReduceSum', gathered(w, table, cells, 0), [1], false)
}

/** Whether each target gets a vote of some tree, whatever leaf a row comes to. */
function areAllVoted({ roots, next, thresholds, leafOf, leaves }: Forest, targets: number): boolean {
  const voted = new Set<number>()
  roots.forEach((root, tree) => {
    const end = roots[tree + 1] ?? next.length
    let always: Set<number> | undefined
    for (let cell = root; cell < end; cell++) {
      // A test may lead into another tree.
      if (next[cell] < root || next[cell] >= end) return
      if (!Number.isNaN(thresholds[cell])) continue
      const own = new Set(leaves.targets.subarray(leaves.starts[leafOf[cell]], leaves.starts[leafOf[cell] + 1]))
      always = always ? new Set([...always].filter(target => own.has(target))) : own
    }
    for (const target of always ?? []) voted.add(target)
  })
  return voted.size === targets
}

const withBase = (w: Writer, votes: Made, base: readonly number[]): Made =>
  base.length === 0 ? votes : add(w, votes, w.constant('float64', base))

function regressorToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const model = call.param<TreeTargets & { readonly keepsType: boolean }>('model')
  const { forest, targets, aggregate, base, post, keepsType } = model
  if (aggregate !== 'SUM' && aggregate !== 'AVERAGE') fail('unsupported-op', `trees of which the ${aggregate} is taken`)
  if (base.length > 0 && targets > 1 && !areAllVoted(forest, targets))
    fail('unsupported-op', 'targets that no tree may vote for, which get no base value')
  const rows = rowsOf(w, realsOf(w, x))
  const votes = votesOf(w, leafCells(w, rows, forest), forest, targets)
  const totals = withBase(w, aggregate === 'SUM' ? votes : times(w, votes, 1 / forest.roots.length), base)
  return [w.cast(transformed(w, totals, targets, post), keepsType ? typeOf(x) : 'float32')]
}

function classifierToOpenvino(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const x = call.operand('x')
  const model = call.param<TreeClasses & { readonly labels: Labels }>('model')
  const { forest, labels, columns, targets, base, post, first, threshold } = model
  if (targets > 2 && base.length < targets && !areAllVoted(forest, targets))
    fail('unsupported-op', 'classes that no tree may vote for, which are not chosen before others')
  const rows = rowsOf(w, realsOf(w, x))
  const votes = votesOf(w, leafCells(w, rows, forest), forest, targets)
  const some =
    base.length > 0 && base.length < targets ? [...base, ...Array<number>(targets - base.length).fill(0)] : base
  // Votes for rows of other types than float64 are rounded before they are compared.
  const totals = w.cast(withBase(w, votes, some), wideType(typeOf(x)))
  const scores = targets < columns ? bothOf(w, totals, post, first) : transformed(w, totals, columns, post)
  const label = (): Made =>
    threshold === undefined
      ? labelOf(w, totals, targets, labels)
      : labelOf(w, targets > 1 ? part(w, totals, 1, targets - 1, targets) : totals, 1, labels, threshold)
  return [call.wanted(0) ? label() : undefined, w.cast(scores, 'float32')]
}

/** Decision trees of ai.onnx.ml in words of IR. */
export const treeRules: readonly Conversion[] = [
  toOpenvino(treeEnsembleRegressor, regressorToOpenvino),
  toOpenvino(treeEnsembleClassifier, classifierToOpenvino)
]
