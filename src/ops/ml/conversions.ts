import { fail } from '../../errors.ts'
import type { LinearModel } from '../../kernels/ml/linear.ts'
import type { Norm } from '../../kernels/ml/norms.ts'
import { L1, L2 } from '../../kernels/ml/norms.ts'
import type { PostTransform } from '../../kernels/ml/scores.ts'
import { elementwise, gathered, reduced } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, multiplied, sub } from '../../op-kit/conversion-parts.ts'
import { bothOf, labelOf, realsOf, rowsOf, transformed } from '../../op-kit/conversion-scores.ts'
import {
  type Conversions,
  dimsOf,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Labels } from '../../op-kit/ml-labels.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { arrayFeatureExtractor } from './array-feature-extractor.ts'
import { binarizer } from './binarizer.ts'
import { imputer } from './imputer.ts'
import { linearClassifier } from './linear-classifier.ts'
import { linearRegressor } from './linear-regressor.ts'
import { normalizer } from './normalizer.ts'
import { scaler } from './scaler.ts'
import { treeRules } from './tree-conversions.ts'

/** Numbers for the positions of the last axis, or one for all. */
const alongLast = (w: Writer, x: Made, numbers: readonly (number | bigint)[]): Made =>
  numbers.length === 1 ? w.scalar(typeOf(x), numbers[0]) : w.constant(typeOf(x), numbers)

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
  if (columns !== 2) return columns
  const [features] = knownSizes('the number of features', dimsOf(x).at(-1))
  return coefficients.length / features
}

function classifierToOpenvino(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const x = rowsOf(w, realsOf(w, call.operand('x')))
  const model = call.param<Classes>('model')
  const post = call.param<PostTransform>('post')
  const count = vectorCount(model, x)
  const products = productsOf(w, x, model, count)
  const scores = count < model.columns ? bothOf(w, products, post, 'one-minus') : transformed(w, products, count, post)
  return [call.wanted(0) ? labelOf(w, products, count, model.labels) : undefined, w.cast(scores, 'float32')]
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
    toOpenvino(linearClassifier, classifierToOpenvino),
    ...treeRules
  ],
  leniencies: []
}
