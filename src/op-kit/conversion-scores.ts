import { fail } from '../errors.ts'
import type { FirstScore, PostTransform } from '../kernels/ml/scores.ts'
import { DTYPES, isFloat } from '../tensor/dtype.ts'
import { elementwise, gathered, joined, topOf, unsqueezed } from './conversion-kit.ts'
import { plus, softmaxed, wideType } from './conversion-parts.ts'
import { type Made, rankOf, typeOf, type Writer } from './conversion.ts'
import type { Labels } from './ml-labels.ts'

// What the models of ai.onnx.ml share when they are said in IR.

/** Numbers as floats that hold them; integers of 64 bits are rounded to float64, as the operators themselves do. */
export function realsOf(w: Writer, x: Made): Made {
  const type = typeOf(x)
  return w.cast(x, isFloat(type) ? wideType(type) : DTYPES[type].bits > 16 ? 'float64' : 'float32')
}

/** A vector is one row. */
export const rowsOf = (w: Writer, x: Made): Made => (rankOf(x) === 1 ? unsqueezed(w, x, [0]) : x)

/** Scores of several classes; a single one is only changed by PROBIT. */
export function transformed(w: Writer, scores: Made, count: number, post: PostTransform): Made {
  if (post === 'NONE' || (count === 1 && post !== 'PROBIT')) return scores
  if (post === 'SOFTMAX') return softmaxed(w, scores, 1)
  if (post === 'LOGISTIC') return elementwise(w, 'Sigmoid', scores)
  return fail('unsupported-op', `OpenVINO has no operator for the post transform ${post}`)
}

/** The label of the largest of several scores, or of whether one is above a bound. */
export function labelOf(w: Writer, scores: Made, count: number, { type, values }: Labels, bound = 0): Made {
  if (type === 'string') return fail('unsupported-op', 'OpenVINO has no labels that are strings')
  if (count === 1) {
    const isSecond = elementwise(w, 'Greater', w.reshape(scores, [-1]), w.scalar(typeOf(scores), bound))
    return elementwise(w, 'Where', isSecond, w.scalar(type, values[1]), w.scalar(type, values[0]))
  }
  const [, largest] = topOf(w, scores, 1, 1)
  return gathered(w, w.constant(type, values), w.reshape(largest, [-1]), 0)
}

/** The scores of two classes, of which the second's is computed. */
export function bothOf(w: Writer, score: Made, post: PostTransform, first: FirstScore): Made {
  const negative = elementwise(w, 'Neg', score)
  if (post === 'LOGISTIC') return elementwise(w, 'Sigmoid', joined(w, [negative, score], 1))
  if (post === 'PROBIT') return transformed(w, score, 2, post)
  return joined(w, [first === 'minus' ? negative : plus(w, negative, 1), score], 1)
}
