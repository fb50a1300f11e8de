import { fail } from '../../errors.ts'
import type { Aggregate } from '../../kernels/ml/collector.ts'
import { POST_TRANSFORMS } from '../../kernels/ml/scores.ts'
import { regressByTrees, type TreeTargets } from '../../kernels/ml/tree-targets.ts'
import { params } from '../../op-kit/define.ts'
import { indexedForest } from '../../op-kit/indexed-forest.ts'
import { checkFeatures } from '../../op-kit/ml-shape.ts'
import { checkTargets, namedForest, numbersOf } from '../../op-kit/named-forest.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, int, type NodeFacts, optional } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Model extends TreeTargets {
  /** Whether the result has the type of the input; else it is float32. */
  readonly keepsType: boolean
}

/** Rules of {@link treeEnsembleRegressor}. */
export const treeEnsembleRegressorRules = defineRules({
  name: 'TreeEnsembleRegressor',
  operands: { x: 'tensor' },
  params: params<{ model: Model }>(),
  onnx: [
    { domain: 'ai.onnx.ml', since: 1, bind: { model: derive(regressorOf) } },
    { domain: 'ai.onnx.ml', type: 'TreeEnsemble', since: 5, bind: { model: derive(ensembleOf) } }
  ],

  shape: ({ x }, { model: { forest, targets, keepsType } }) => [
    tensorFact(keepsType ? x.type : 'float32', [checkFeatures(x, forest.featureCount), targets])
  ]
})

/**
 * What the leaves of decision trees say for each target: sum, mean over all trees, smallest or largest. Of a single
 * target a leaf says what its first vote does, of several targets one without a vote gets 0 and no base value, and of
 * the post transforms only PROBIT changes a single target, all as in ONNX Runtime. As there, NaN also goes to the true
 * branch of BRANCH_NEQ, and `post_transform` 1 of TreeEnsemble-5 is LOGISTIC and 2 SOFTMAX, though its text has them
 * the other way round.
 * ai.onnx.ml TreeEnsembleRegressor-1, -3, -5 and TreeEnsemble-5.
 */
export const treeEnsembleRegressor = /* @__PURE__ */ withKernel(treeEnsembleRegressorRules, {
  run({ x }, { model }, call) {
    return regressByTrees(model, x, call.rawOutput())
  }
})

const AGGREGATES: Readonly<Record<Aggregate, Aggregate>> = { AVERAGE: 'AVERAGE', SUM: 'SUM', MIN: 'MIN', MAX: 'MAX' }

function regressorOf(node: NodeFacts): Model {
  const targets = checkTargets(node.get(optional(int('n_targets'))))
  const base = Array.from(numbersOf(node, 'base_values') ?? [])
  if (base.length > 0 && base.length !== targets)
    fail('unknown-attribute-value', `there are ${base.length} base values and ${targets} targets; they must be as many`)
  return {
    forest: namedForest(node, 'target', targets),
    targets,
    base,
    aggregate: node.get(choice('aggregate_function', AGGREGATES)) ?? 'SUM',
    post: node.get(choice('post_transform', POST_TRANSFORMS)) ?? 'NONE',
    keepsType: false
  }
}

/** The numbers of TreeEnsemble-5 for what its forerunners have names for. */
const NUMBERED_AGGREGATES = ['AVERAGE', 'SUM', 'MIN', 'MAX'] as const
/** As ONNX Runtime counts. The text has SOFTMAX before LOGISTIC; the reference implementation applies neither. */
const NUMBERED_TRANSFORMS = ['NONE', 'LOGISTIC', 'SOFTMAX', 'SOFTMAX_ZERO', 'PROBIT'] as const

function ensembleOf(node: NodeFacts): Model {
  const targets = checkTargets(node.get(optional(int('n_targets'))))
  return {
    forest: indexedForest(node, targets),
    targets,
    base: [],
    aggregate: numbered(node, 'aggregate_function', NUMBERED_AGGREGATES),
    post: numbered(node, 'post_transform', NUMBERED_TRANSFORMS),
    keepsType: true
  }
}

function numbered<T>(node: NodeFacts, name: string, values: readonly T[]): T {
  const value = node.get(int(name)) ?? -1
  return (
    values[value] ??
    fail('unknown-attribute-value', `attribute "${name}" is ${value}; 0 to ${values.length - 1} is expected`)
  )
}
