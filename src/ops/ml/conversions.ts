import { fail } from '../../errors.ts'
import type { LinearModel } from '../../kernels/ml/linear.ts'
import type { Norm } from '../../kernels/ml/norms.ts'
import { L1, L2 } from '../../kernels/ml/norms.ts'
import type { PostTransform } from '../../kernels/ml/scores.ts'
import { elementwise, gathered, joined, reduced, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, multiplied, plus, softmaxed, sub, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Labels } from '../../op-kit/ml-labels.ts'
import { DTYPES, isFloat } from '../../tensor/dtype.ts'
import { arrayFeatureExtractor } from './array-feature-extractor.ts'
import { binarizer } from './binarizer.ts'
import { imputer } from './imputer.ts'
import { linearClassifier } from './linear-classifier.ts'
import { linearRegressor } from './linear-regressor.ts'
import { normalizer } from './normalizer.ts'
import { scaler } from './scaler.ts'

/** Numbers as floats that hold them; integers of 64 bits are rounded to float64, as the operators themselves do. */
function realsOf(w: Writer, x: Made): Made {
  const type = typeOf(x)
  return w.cast(x, isFloat(type) ? wideType(type) : DTYPES[type].bits > 16 ? 'float64' : 'float32')
}

/** Numbers for the positions of the last axis, or one for all. */
const alongLast = (w: Writer, x: Made, numbers: readonly (number | bigint)[]): Made =>
  numbers.length === 1 ? w.scalar(typeOf(x), numbers[0]) : w.constant(typeOf(x), numbers)

/** A vector is one row. */
const rowsOf = (w: Writer, x: Made): Made => (rankOf(x) === 1 ? unsqueezed(w, x, [0]) : x)

function extractorToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = rowsOf(w, call.operand('x'))
  if (typeOf(x) === 'string') fail('unsupported-op', 'OpenVINO gathers no strings')
  return [gathered(w, x, w.reshape(w.cast(call.operand('indices'), 'int64'), [-1]), rankOf(x) - 1)]
}

function scalerToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = realsOf(w, call.operand('x'))
  const [offset, factor] = ['offset', 'factor'].map(name => alongLast(w, x, call.param<readonly number[]>(name)))
  return [w.cast(mul(w, sub(w, x, offset), factor), 'float32')]
}

const binarizerToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => {
  const x = call.operand('x')
  const reals = realsOf(w, x)
  return [w.cast(elementwise(w, 'Greater', reals, w.scalar(typeOf(reals), call.param<number>('threshold'))), typeOf(x))]
}

/** Rows whose norm is 0 are divided by 1. */
function normalizerToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = realsOf(w, call.operand('x'))
  const last = [rankOf(x) - 1]
  const norm = call.param<Norm>('norm')
  const found = norm === L1 ? 'ReduceL1' : norm === L2 ? 'ReduceL2' : 'ReduceMax'
  const by = reduced(w, found, x, last, true)
  const isZero = elementwise(w, 'Equal', by, w.scalar(typeOf(x), 0))
  return [w.cast(div(w, x, elementwise(w, 'Where', isZero, w.scalar(typeOf(x), 1), by)), 'float32')]
}

function imputerToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const replaced = isFloat(type) ? call.param<number>('replacedFloat') : call.param<bigint>('replacedInteger')
  const values = call.param<readonly (number | bigint)[]>(isFloat(type) ? 'floats' : 'integers')
  const isMissing = Number.isNaN(replaced)
    ? w.node('IsNaN', [x])
    : elementwise(w, 'Equal', x, w.scalar(type, type === 'int64' ? replaced : Number(replaced)))
  const given = alongLast(w, x, type === 'int64' ? values : values.map(Number))
  return [elementwise(w, 'Where', isMissing, given, x)]
}

/** A product with a vector for each of `count` results, and what is added to each. */
function productsOf(w: Writer, x: Made, { coefficients, intercepts }: LinearModel, count: number): Made {
  const vectors = w.constant(typeOf(x), [...coefficients], [count, coefficients.length / count])
  const products = multiplied(w, x, vectors, true)
  return intercepts.length === 0 ? products : add(w, products, w.constant(typeOf(x), [...intercepts]))
}

/** Scores of several classes; a single one is only changed by PROBIT. */
function transformed(w: Writer, scores: Made, count: number, post: PostTransform): Made {
  if (post === 'NONE' || (count === 1 && post !== 'PROBIT')) return scores
  if (post === 'SOFTMAX') return softmaxed(w, scores, 1)
  if (post === 'LOGISTIC') return elementwise(w, 'Sigmoid', scores)
  return fail('unsupported-op', `OpenVINO has no operator for the post transform ${post}`)
}

function regressorToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = rowsOf(w, realsOf(w, call.operand('x')))
  const targets = call.param<number>('targets')
  const products = productsOf(w, x, call.param<LinearModel>('model'), targets)
  return [w.cast(transformed(w, products, targets, call.param('post')), 'float32')]
}

interface Classes extends LinearModel {
  readonly labels: Labels
  readonly columns: number
}

/** How many vectors there are: one for each label, or one for two. */
function vectorCount({ columns, intercepts, coefficients }: Classes, x: Made): number {
  if (intercepts.length > 0) return intercepts.length
  const features = dimsOf(x).at(-1)
  if (columns !== 2) return columns
  return typeof features === 'number'
    ? coefficients.length / features
    : fail('unsupported-op', 'the number of features is not known before the model runs')
}

/** The label of the largest of several products, or by the sign of one. */
function labelOf(w: Writer, products: Made, count: number, { type, values }: Labels): Made {
  if (type === 'string') return fail('unsupported-op', 'OpenVINO has no labels that are strings')
  if (count === 1) {
    const isSecond = elementwise(w, 'Greater', w.reshape(products, [-1]), w.scalar(typeOf(products), 0))
    return elementwise(w, 'Where', isSecond, w.scalar(type, values[1]), w.scalar(type, values[0]))
  }
  const how = { axis: 1, mode: 'max', sort: 'value', stable: true, index_element_type: { dtype: 'int64' as const } }
  const [, largest] = w.nodes('TopK', [products, w.scalar('int64', 1)], how, { outputs: 2, since: 11 })
  return gathered(w, w.constant(type, values), w.reshape(largest, [-1]), 0)
}

function classifierToOpenvino(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const x = rowsOf(w, realsOf(w, call.operand('x')))
  const model = call.param<Classes>('model')
  const post = call.param<PostTransform>('post')
  const count = vectorCount(model, x)
  const products = productsOf(w, x, model, count)
  const scores = count < model.columns ? bothOf(w, products, post) : transformed(w, products, count, post)
  return [call.wanted(0) ? labelOf(w, products, count, model.labels) : undefined, w.cast(scores, 'float32')]
}

/** The scores of two classes, of which the second's is computed: `1 - s` and `s` where nothing transforms them. */
function bothOf(w: Writer, score: Made, post: PostTransform): Made {
  const negative = elementwise(w, 'Neg', score)
  if (post === 'LOGISTIC') return elementwise(w, 'Sigmoid', joined(w, [negative, score], 1))
  if (post === 'PROBIT') return transformed(w, score, 2, post)
  return joined(w, [plus(w, negative, 1), score], 1)
}

/** Classical models of ai.onnx.ml in words of IR. */
export const mlConversions: Conversions = {
  rules: [
    toOpenvino(arrayFeatureExtractor, extractorToOpenvino),
    toOpenvino(scaler, scalerToOpenvino),
    toOpenvino(binarizer, binarizerToOpenvino),
    toOpenvino(normalizer, normalizerToOpenvino),
    toOpenvino(imputer, imputerToOpenvino),
    toOpenvino(linearRegressor, regressorToOpenvino),
    toOpenvino(linearClassifier, classifierToOpenvino)
  ],
  leniencies: []
}
