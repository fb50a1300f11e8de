import { fail } from '../errors.ts'
import { type Dim, isConcrete } from '../shapes/dim.ts'
import { knownValue } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { elementsOf } from '../tensor/elements.ts'
import { dimsOf, type Made, rankOf, typeOf, type Writer } from './conversion.ts'

/** Elementwise operators that both dialects have, with IR's name where it is another. */
const NAMES = {
  Abs: 'Abs',
  Add: 'Add',
  And: 'LogicalAnd',
  Ceil: 'Ceiling',
  Cos: 'Cos',
  Div: 'Divide',
  Equal: 'Equal',
  Erf: 'Erf',
  Exp: 'Exp',
  Floor: 'Floor',
  Greater: 'Greater',
  GreaterOrEqual: 'GreaterEqual',
  Less: 'Less',
  LessOrEqual: 'LessEqual',
  Log: 'Log',
  Mul: 'Multiply',
  Neg: 'Negative',
  Not: 'LogicalNot',
  Or: 'LogicalOr',
  Pow: 'Power',
  Relu: 'ReLU',
  Sigmoid: 'Sigmoid',
  Sign: 'Sign',
  Sin: 'Sin',
  Softplus: 'SoftPlus',
  Sqrt: 'Sqrt',
  Sub: 'Subtract',
  Tanh: 'Tanh',
  Where: 'Select'
} as const

/** An elementwise operator that both dialects have, operands broadcast as in NumPy. */
export const elementwise = (w: Writer, name: keyof typeof NAMES, ...operands: readonly Made[]): Made =>
  w.node(w.dialect === 'onnx' ? name : NAMES[name], operands)

/** `Max` or `Min` of two. */
export const extreme = (w: Writer, name: 'Max' | 'Min', a: Made, b: Made): Made =>
  w.node(w.dialect === 'onnx' ? name : `${name}imum`, [a, b])

/** Types for which ONNX Runtime has no `Where`, with one that holds their numbers and for which it has. */
const CHOOSABLE: Readonly<Partial<Record<DType, DType>>> = {
  float16: 'float32',
  bfloat16: 'float32',
  int8: 'int32',
  int16: 'int32',
  uint16: 'int32',
  uint32: 'int64',
  bool: 'uint8'
}

/** `Where` for values of one type, which may be any. */
export function chosen(w: Writer, condition: Made, a: Made, b: Made): Made {
  const type = typeOf(a)
  const wide = w.dialect === 'onnx' ? (CHOOSABLE[type] ?? type) : type
  return w.cast(elementwise(w, 'Where', condition, w.cast(a, wide), w.cast(b, wide)), type)
}

/** Permutes axes; nothing where they stay in order. */
export const transposed = (w: Writer, x: Made, order: readonly number[]): Made =>
  order.every((axis, i) => axis === i)
    ? x
    : w.dialect === 'onnx'
      ? w.node('Transpose', [x], { perm: order })
      : w.node('Transpose', [x, w.constant('int64', order)])

/** Brings axes that {@link transposed} permuted by this order back. */
export function restored(w: Writer, x: Made, order: readonly number[]): Made {
  const back = order.map((_, axis) => order.indexOf(axis))
  return transposed(w, x, back)
}

/** Axes are an attribute in ONNX before opset 13, of reductions but ReduceSum before 18. */
const hasAxesAttribute = ({ dialect, opset }: Writer, type: string): boolean =>
  dialect === 'onnx' && opset < (/^Reduce(?!Sum$)/.test(type) ? 18 : 13)

const alongAxes = (w: Writer, type: 'Unsqueeze' | 'Squeeze', x: Made, axes: readonly number[]): Made =>
  axes.length === 0
    ? x
    : hasAxesAttribute(w, type)
      ? w.node(type, [x], { axes })
      : w.node(type, [x, w.constant('int64', axes)])

/** With dims of 1 at axes of the result. */
export const unsqueezed = (w: Writer, x: Made, axes: readonly number[]): Made => alongAxes(w, 'Unsqueeze', x, axes)

/** Without the dims of 1 at axes. */
export const squeezed = (w: Writer, x: Made, axes: readonly number[]): Made => alongAxes(w, 'Squeeze', x, axes)

/** The dims of a tensor as a list of int64. */
export const shapeOf = (w: Writer, x: Made): Made =>
  w.dialect === 'onnx' ? w.node('Shape', [x]) : w.node('ShapeOf', [x], { output_type: { dtype: 'int64' } })

/** Elements of a list, at constant positions, as a list. */
export const picked = (w: Writer, list: Made, at: readonly number[]): Made =>
  gathered(w, list, w.constant('int64', at), 0)

/** A dim of a tensor as a list of one: a constant where it is known. */
export function dimAt(w: Writer, x: Made, axis: number): Made {
  const dim = dimsOf(x)[axis]
  return typeof dim === 'number' ? w.constant('int64', [dim]) : picked(w, shapeOf(w, x), [axis])
}

/** Slices of a tensor along an axis; indices in range. */
export const gathered = (w: Writer, x: Made, indices: Made, axis: number): Made =>
  w.dialect === 'onnx'
    ? w.node('Gather', [x, indices], { axis })
    : w.node('Gather', [x, indices, w.scalar('int64', axis)], { batch_dims: 0 }, { since: 8 })

/** Joined along an axis; one tensor stays as it is. */
export const joined = (w: Writer, parts: readonly Made[], axis: number): Made =>
  parts.length === 1 ? parts[0] : w.node('Concat', parts, { axis })

/** Put side by side along a new axis. */
export function stacked(w: Writer, parts: readonly Made[], axis: number): Made {
  const apart = parts.map(x => unsqueezed(w, x, [axis]))
  return joined(w, apart, axis)
}

/** `x[start:end:step]` along axes, by lists. */
export const sliced = (w: Writer, x: Made, starts: Made, ends: Made, axes: readonly number[], steps?: Made): Made => {
  const stepList =
    steps ??
    w.constant(
      'int64',
      axes.map(() => 1)
    )
  const axisList = w.constant('int64', axes)
  return w.dialect === 'onnx'
    ? w.node('Slice', [x, starts, ends, axisList, ...(steps ? [stepList] : [])])
    : w.node('Slice', [x, starts, ends, stepList, axisList])
}

/**
 * The largest or smallest elements along an axis and where they are, in order; of equal ones the first.
 * @returns the elements, and their positions as int64
 */
export const topOf = (w: Writer, x: Made, count: number, axis: number, mode: 'max' | 'min' = 'max'): readonly Made[] =>
  w.dialect === 'onnx'
    ? w.nodes(
        'TopK',
        [x, w.constant('int64', [count])],
        { axis, ...(mode === 'min' && { largest: 0 }) },
        { outputs: 2 }
      )
    : w.nodes(
        'TopK',
        [x, w.scalar('int64', count)],
        { axis, mode, sort: 'value', stable: true, index_element_type: { dtype: 'int64' } },
        { outputs: 2, since: 11 }
      )

type Reduction = 'ReduceSum' | 'ReduceMean' | 'ReduceMax' | 'ReduceMin' | 'ReduceProd' | 'ReduceL1' | 'ReduceL2'

/** A reduction over axes. */
export const reduced = (w: Writer, type: Reduction, x: Made, axes: readonly number[], keepDims: boolean): Made => {
  if (hasAxesAttribute(w, type)) return w.node(type, [x], { axes, keepdims: keepDims })
  const list = w.constant('int64', axes)
  return w.dialect === 'onnx'
    ? w.node(type, [x, list], { keepdims: keepDims })
    : w.node(type, [x, list], { keep_dims: keepDims })
}

/** Expanded to a shape, a list of int64: dims of both are broadcast to each other. */
export const expanded = (w: Writer, x: Made, shape: Made): Made =>
  w.dialect === 'onnx' ? w.node('Expand', [x, shape]) : w.node('Broadcast', [x, shape], { mode: 'bidirectional' })

/**
 * Reshaped to dims of which at most one is not known.
 * @throws NodewiseError `unsupported-op` where more are not known
 */
export function reshapedTo(w: Writer, x: Made, dims: readonly Dim[]): Made {
  if (dims.filter(dim => typeof dim !== 'number').length > 1)
    fail('unsupported-op', 'more than one dim of a reshaped tensor is not known before the model runs')
  return w.reshape(
    x,
    dims.map(dim => (typeof dim === 'number' ? dim : -1))
  )
}

/** Dims that are all known. @throws NodewiseError `unsupported-op` */
export function staticDims(x: Made, what: string): readonly number[] {
  const dims = dimsOf(x)
  return isConcrete(dims) ? dims : fail('unsupported-op', `the dims of ${what} are not known before the model runs`)
}

/** The elements of a value that is known before the model runs, as numbers. */
export function knownNumbers(x: Made | undefined): number[] | undefined {
  const known = x?.fact.kind === 'tensor' ? knownValue(x.fact) : undefined
  return known && elementsOf(known).map(Number)
}

const isOfRank = ({ fact }: Made, rank: number): boolean => fact.kind === 'tensor' && fact.shape?.length === rank

/** A scalar of a tensor of one element. */
export const asScalar = (w: Writer, x: Made): Made => (isOfRank(x, 0) ? x : w.reshape(x, []))

/** A list of one of a tensor of one element. */
export const asList = (w: Writer, x: Made): Made => (isOfRank(x, 1) ? x : w.reshape(x, [-1]))

/** The longest list of numbers that becomes a constant of a model. */
const MAX_LIST = 2 ** 24

/**
 * `0, 1, 2, …`
 * @throws NodewiseError `unsupported-op` for a list that is longer than any that a model needs
 */
export function upTo(count: number, from = 0): number[] {
  if (count > MAX_LIST)
    fail('unsupported-op', `it takes a list of ${count} numbers; a constant has ${MAX_LIST} at most`)
  return Array.from({ length: count }, (_, i) => from + i)
}

/** A zero of a type, as a scalar: the empty text for strings, false for booleans. */
export const zeroOf = (w: Writer, type: DType): Made =>
  w.scalar(type, type === 'string' ? '' : type === 'bool' ? false : 0)

/** Matrices transposed: the last two axes change places. */
export function swappedLast(w: Writer, x: Made): Made {
  const rank = rankOf(x)
  return transposed(w, x, [...upTo(rank - 2), rank - 1, rank - 2])
}

/** What is computed along the last axis, along another one, which changes places with it. */
export function asLast(w: Writer, x: Made, axis: number, compute: (x: Made) => Made): Made {
  const last = rankOf(x) - 1
  const order = upTo(last + 1).map(at => (at === axis ? last : at === last ? axis : at))
  return transposed(w, compute(transposed(w, x, order)), order)
}
