import { fail } from '../errors.ts'
import type { Elem } from '../shapes/fact.ts'
import { isSym } from '../shapes/sym.ts'
import type { DType } from '../tensor/dtype.ts'
import { asList, asScalar, elementwise, extreme, joined, picked, shapeOf, upTo } from './conversion-kit.ts'
import { dimsOf, type Made, rankOf, type SourceCall, type Writer } from './conversion.ts'

/** A number that may be known only while the model runs: then it is a list of one int64. */
export type Size = number | Made

/** The dims of a tensor. */
export const sizesOf = (w: Writer, x: Made): Size[] => upTo(rankOf(x)).map(axis => sizeAt(w, x, axis))

/** A dim of a tensor. */
export function sizeAt(w: Writer, x: Made, axis: number): Size {
  const dim = dimsOf(x)[axis]
  return typeof dim === 'number' ? dim : picked(w, shapeOf(w, x), [axis])
}

const asMade = (w: Writer, size: Size): Made => (typeof size === 'number' ? w.constant('int64', [size]) : size)

/** Several sizes as one list: a constant where all are known. */
export function sizeList(w: Writer, sizes: readonly Size[]): Made {
  if (isKnown(sizes)) return w.constant('int64', sizes)
  return joined(
    w,
    sizes.map(size => asMade(w, size)),
    0
  )
}

/** A size as a scalar. */
export const sizeScalar = (w: Writer, size: Size): Made =>
  typeof size === 'number' ? w.scalar('int64', size) : w.reshape(size, [])

/** Whether all are known before the model runs. */
export const isKnown = (sizes: readonly Size[]): sizes is readonly number[] =>
  sizes.every(size => typeof size === 'number')

const folded =
  (name: 'Add' | 'Sub' | 'Mul' | 'Div', compute: (a: number, b: number) => number, neutral: number) =>
  (w: Writer, a: Size, b: Size): Size => {
    if (b === neutral) return a
    if (typeof a === 'number' && typeof b === 'number') return compute(a, b)
    return elementwise(w, name, asMade(w, a), asMade(w, b))
  }

/** `a + b` */
export const addSizes = folded('Add', (a, b) => a + b, 0)
/** `a - b` */
export const subSizes = folded('Sub', (a, b) => a - b, 0)
/** `a * b` */
export const mulSizes = folded('Mul', (a, b) => a * b, 1)
/** `a / b` of sizes that are not negative, rounded down. */
export const floorDivSizes = folded('Div', (a, b) => Math.floor(a / b), 1)

/** The larger or the smaller of two. */
export const extremeSize = (w: Writer, name: 'Max' | 'Min', a: Size, b: Size): Size =>
  typeof a === 'number' && typeof b === 'number'
    ? Math[name === 'Max' ? 'max' : 'min'](a, b)
    : extreme(w, name, asMade(w, a), asMade(w, b))

/** The product of sizes: 1 of none. */
export const productOfSizes = (w: Writer, sizes: readonly Size[]): Size =>
  sizes.reduce((product, size) => mulSizes(w, product, size), 1)

/** Reshaped to dims that may be known only while the model runs. */
export function reshapedBy(w: Writer, x: Made, sizes: readonly Size[]): Made {
  const isOpen = sizes.filter(size => typeof size !== 'number').length === 1 && !sizes.includes(0)
  const shape = sizeList(w, isOpen ? sizes.map(size => (typeof size === 'number' ? size : -1)) : sizes)
  if (w.dialect === 'openvino') return w.node('Reshape', [x, shape], { special_zero: false }, { since: 1 })
  const mayBeZero = sizes.includes(0) || !(isOpen || isKnown(sizes))
  return mayBeZero ? reshapedExactly(w, x, shape) : w.node('Reshape', [x, shape])
}

/** The first opset whose Reshape may take a 0 as a dim: before, it is the dim of the input at that place. */
const ALLOWS_ZERO = 14

/**
 * Reshaped to a list of dims, in which 0 is none. For ONNX.
 * @throws NodewiseError `unsupported-op` where a dim may be 0, and the opset cannot say that
 */
export function reshapedExactly(w: Writer, x: Made, dims: Made): Made {
  if (w.opset >= ALLOWS_ZERO) return w.node('Reshape', [x, dims], { allowzero: 1 })
  if (!arePositive(dims))
    fail('unsupported-op', `a dim of a Reshape may be 0, which no opset before ${ALLOWS_ZERO} can say`)
  return w.node('Reshape', [x, dims])
}

/** Whether the elements of a list are known to be greater than 0. */
function arePositive({ fact }: Made): boolean {
  const value = fact.kind === 'tensor' ? fact.value : undefined
  if (value === undefined) return false
  return Array.from<Elem>(value.data).every(item => (isSym(item) ? item.min : Number(item)) > 0)
}

/** `start, start + 1, …, end - 1` as int64. */
export const counted = (w: Writer, start: Size, end: Size): Made =>
  isKnown([start, end]) && (end as number) - (start as number) <= 16
    ? w.constant('int64', upTo(Math.max(0, (end as number) - (start as number)), start as number))
    : w.dialect === 'onnx'
      ? w.node('Range', [sizeScalar(w, start), sizeScalar(w, end), w.scalar('int64', 1)])
      : w.node(
          'Range',
          [sizeScalar(w, start), sizeScalar(w, end), w.scalar('int64', 1)],
          { output_type: { dtype: 'int64' } },
          { since: 4 }
        )

/**
 * The input that gives a parameter.
 * @throws NodewiseError `unsupported-op` where none does
 */
export const inputOf = (call: SourceCall, name: string): Made =>
  call.source(name) ?? fail('unsupported-op', `${name} is not known`)

/** A parameter that is a list: a constant, or the input that gives it. */
export const listParameter = (call: SourceCall, name: string, w: Writer, type: DType = 'int64'): Made =>
  call.knows(name)
    ? w.constant(type, call.param<readonly number[]>(name))
    : asList(w, w.cast(inputOf(call, name), type))

/**
 * The entries of a parameter that is a list, of a length that follows from others where it is given.
 * @throws NodewiseError `unsupported-op` where the number of them is not known
 */
export function sizesParameter(call: SourceCall, name: string, w: Writer, length?: number): Size[] {
  if (call.knows(name)) return [...call.param<readonly number[]>(name)]
  const list = listParameter(call, name, w)
  const count = length ?? dimsOf(list)[0]
  if (typeof count !== 'number') return fail('unsupported-op', `the length of ${name} is not known`)
  return upTo(count).map(at => picked(w, list, [at]))
}

/** A parameter that is a number. */
export const sizeParameter = (call: SourceCall, name: string, w: Writer): Size =>
  call.knows(name) ? call.param<number>(name) : w.reshape(w.cast(inputOf(call, name), 'int64'), [1])

/** The same as a scalar. */
export const numberParameter = (call: SourceCall, name: string, w: Writer, type: DType = 'int64'): Made =>
  call.knows(name) ? w.scalar(type, call.param<number>(name)) : asScalar(w, w.cast(inputOf(call, name), type))
