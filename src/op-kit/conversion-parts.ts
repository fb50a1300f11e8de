import { type DType, isFloat } from '../tensor/dtype.ts'
import { elementwise, reduced, sliced, swappedLast, upTo } from './conversion-kit.ts'
import { type Size, sizeList } from './conversion-sizes.ts'
import { type Made, type NewAttributes, rankOf, type SourceCall, typeOf, type Writer } from './conversion.ts'
import type { Written } from './source-types.ts'

// What rules say of an operator by, in either dialect: arithmetic, and what the dialects have under other names or with
// other attributes.

/** `a + b` */
export const add = (w: Writer, a: Made, b: Made): Made => elementwise(w, 'Add', a, b)
/** `a - b` */
export const sub = (w: Writer, a: Made, b: Made): Made => elementwise(w, 'Sub', a, b)
/** `a * b` */
export const mul = (w: Writer, a: Made, b: Made): Made => elementwise(w, 'Mul', a, b)
/** `a / b` */
export const div = (w: Writer, a: Made, b: Made): Made => elementwise(w, 'Div', a, b)
/** `x * factor` */
export const times = (w: Writer, x: Made, factor: number): Made =>
  factor === 1 ? x : mul(w, x, w.scalar(typeOf(x), factor))
/** `x + summand` */
export const plus = (w: Writer, x: Made, summand: number): Made =>
  summand === 0 ? x : add(w, x, w.scalar(typeOf(x), summand))
/** `x + summand` where it is given. */
export const withAdded = (w: Writer, x: Made, summand: Made | undefined): Made =>
  summand ? add(w, x, w.cast(summand, typeOf(x))) : x

/** The type in which rules compute: runtimes compute 16-bit floats in float32 and round at the end, or not at all. */
export const wideType = (type: DType): DType => (type === 'float64' ? type : 'float32')

/** A number in the type in which rules compute. */
export const widened = (w: Writer, x: Made): Made => w.cast(x, isFloat(typeOf(x)) ? wideType(typeOf(x)) : 'float32')

/** A rule for a function of the operand `x` that is computed in a type that is wide enough. */
export const ofWide =
  (compute: (w: Writer, x: Made, call: SourceCall) => Made) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const x = call.operand('x')
    return [w.cast(compute(w, widened(w, x), call), typeOf(x))]
  }

/** Products of the matrices in the last two dims: `a b`, or `a bᵀ`. */
export const multiplied = (w: Writer, a: Made, b: Made, transposesB = false): Made =>
  w.dialect === 'onnx'
    ? w.node('MatMul', [a, transposesB ? swappedLast(w, b) : b])
    : w.node('MatMul', [a, b], { transpose_a: false, transpose_b: transposesB })

/** Softmax along one axis. */
export const softmaxed = (w: Writer, x: Made, axis: number): Made => w.node('Softmax', [x], { axis })

/** The nearest integers, ties to even. */
export const rounded = (w: Writer, x: Made): Made =>
  w.dialect === 'onnx' ? w.node('Round', [x]) : w.node('Round', [x], { mode: 'half_to_even' })

/** Held within bounds. */
export const clamped = (w: Writer, x: Made, min: number, max: number): Made =>
  w.dialect === 'onnx'
    ? w.node('Clip', [x, w.scalar(typeOf(x), min), w.scalar(typeOf(x), max)])
    : w.node('Clamp', [x], { min, max })

/** Parts along an axis, of these sizes, which are an attribute in ONNX before opset 13. */
export function split(w: Writer, x: Made, axis: number, sizes: readonly number[]): readonly Made[] {
  if (sizes.length === 1) return [x]
  const outputs = sizes.length
  if (w.dialect === 'onnx' && w.opset < 13) return w.nodes('Split', [x], { axis, split: sizes }, { outputs })
  const list = w.constant('int64', sizes)
  return w.dialect === 'onnx'
    ? w.nodes('Split', [x, list], { axis }, { outputs })
    : w.nodes('VariadicSplit', [x, w.scalar('int64', axis), list], {}, { outputs })
}

/** Parts of equal sizes along an axis; since opset 18 ONNX says their number. */
export const splitEvenly = (w: Writer, x: Made, axis: number, count: number): readonly Made[] =>
  count === 1
    ? [x]
    : w.dialect === 'onnx'
      ? w.nodes('Split', [x], { axis, ...(w.opset >= 18 && { num_outputs: count }) }, { outputs: count })
      : w.nodes('Split', [x, w.scalar('int64', axis)], { num_splits: count }, { outputs: count })

/** What GridSample calls linear interpolation: ONNX has another word for it before opset 20. */
export const linearSampling = ({ dialect, opset }: Writer): 'linear' | 'bilinear' =>
  dialect === 'onnx' && opset < 20 ? 'bilinear' : 'linear'

/** `x[from:to]` along an axis; `to` may be beyond the end, or negative and so count from there. */
export const part = (w: Writer, x: Made, axis: number, from: Size, to: Size): Made =>
  sliced(w, x, sizeList(w, [from]), sizeList(w, [to]), [axis])

/** Zeros before and after the elements along an axis. */
export function padded(w: Writer, x: Made, axis: number, before: number, after: number): Made {
  if (before === 0 && after === 0) return x
  const rank = rankOf(x)
  const at = axis < 0 ? axis + rank : axis
  const list = (count: number): number[] => upTo(rank).map(i => (i === at ? count : 0))
  const zero = w.scalar(typeOf(x), 0)
  return w.dialect === 'onnx'
    ? w.node('Pad', [x, w.constant('int64', [...list(before), ...list(after)]), zero])
    : w.node('Pad', [x, w.constant('int64', list(before)), w.constant('int64', list(after)), zero], {
        pad_mode: 'constant'
      })
}

/** `x * sigmoid(alpha * x)` */
export const sigmoidWeighted = (w: Writer, x: Made, alpha: number): Made =>
  mul(w, x, elementwise(w, 'Sigmoid', times(w, x, alpha)))

/** Gelu by erf. */
export function geluByErf(w: Writer, x: Made): Made {
  if (w.dialect === 'openvino') return w.node('Gelu', [x], { approximation_mode: 'ERF' }, { since: 7 })
  const tail = plus(w, elementwise(w, 'Erf', times(w, x, Math.SQRT1_2)), 1)
  return mul(w, times(w, x, 0.5), tail)
}

/** Gelu by tanh. */
export function geluByTanh(w: Writer, x: Made): Made {
  if (w.dialect === 'openvino') return w.node('Gelu', [x], { approximation_mode: 'TANH' }, { since: 7 })
  const cubic = mul(w, x, plus(w, times(w, mul(w, x, x), 0.044715), 1))
  const tail = plus(w, elementwise(w, 'Tanh', times(w, cubic, Math.sqrt(2 / Math.PI))), 1)
  return mul(w, times(w, x, 0.5), tail)
}

/** Attributes of the node by name, as the file writes them: for nodes of ONNX that have the same ones. */
export function ownAttributes({ node }: SourceCall, names: readonly string[]): NewAttributes {
  const own: Record<string, Written> = {}
  for (const name of names) {
    const attribute = node.attributes.get(name)
    if (attribute === undefined) continue
    const { kind, value } = attribute
    if (kind === 'int' || kind === 'float' || kind === 'string' || kind === 'ints' || kind === 'floats')
      own[name] = value
  }
  return own
}

/** A tensor normalized along axes, and what it was normalized by, all with dims of 1 there. */
export interface Normalized {
  readonly y: Made
  readonly mean: Made
  /** The reciprocal of the standard deviation. */
  readonly inverse: Made
}

/** `(x - mean) / sqrt(variance + epsilon)` along the axes from one on. */
export function normalizedFrom(w: Writer, x: Made, axis: number, epsilon: number): Normalized {
  const axes = upTo(rankOf(x) - axis, axis)
  const mean = reduced(w, 'ReduceMean', x, axes, true)
  const centered = sub(w, x, mean)
  const variance = reduced(w, 'ReduceMean', mul(w, centered, centered), axes, true)
  const inverse = div(w, w.scalar(typeOf(x), 1), elementwise(w, 'Sqrt', plus(w, variance, epsilon)))
  return { y: mul(w, centered, inverse), mean, inverse }
}

/** The same along any axes, as IR has it in one node. */
export const normalizedByMvn = (w: Writer, x: Made, axes: readonly number[], epsilon: number): Made =>
  w.node(
    'MVN',
    [x, w.constant('int64', axes)],
    { normalize_variance: true, eps: epsilon, eps_mode: 'inside_sqrt' },
    { since: 6 }
  )

/** The same along the last axis, by one node where there is one. */
export const normalizedLast = (w: Writer, x: Made, epsilon: number): Made =>
  w.dialect === 'onnx'
    ? normalizedFrom(w, x, rankOf(x) - 1, epsilon).y
    : normalizedByMvn(w, x, [rankOf(x) - 1], epsilon)

/** The root mean square over the axes from one on, with dims of 1 there. */
export function rootMeanSquare(w: Writer, x: Made, axis: number, epsilon: number): Made {
  const mean = reduced(w, 'ReduceMean', mul(w, x, x), upTo(rankOf(x) - axis, axis), true)
  return elementwise(w, 'Sqrt', plus(w, mean, epsilon))
}

/** Divided by {@link rootMeanSquare}. */
export const byRootMeanSquare = (w: Writer, x: Made, axis: number, epsilon: number): Made =>
  div(w, x, rootMeanSquare(w, x, axis, epsilon))
