import { type AnyUnaryLoops, unary, type UnaryLoop, unaryOnIntegers } from '../../kernels/core/elementwise.ts'
import { roundHalfAwayFromZero, roundHalfToEven } from '../../kernels/core/rounding.ts'
import * as kernels from '../../kernels/elementwise/unary.ts'
import { defineOp, type KernelContext, type Op, type OpVersion, params } from '../../op-kit/define.ts'
import { choice, derive, flag, is, type Source } from '../../op-kit/sources.ts'
import { FLOATS, INTEGERS, NUMERIC } from '../../op-kit/types.ts'
import { absElem, type ElemFunction, negElem, notElem, ofOne, roundedElem, signElem } from '../../shapes/elem.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DType, isInteger } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/**
 * An elementwise function of one operand. `exact`: it has loops of its own for integers. `fractional`: its results are
 * fractions, so integers are computed in double precision and rounded.
 */
export type UnaryFunction =
  | {
      readonly kind: 'exact'
      readonly loops: AnyUnaryLoops
      readonly result: 'same' | 'bool'
      readonly elem?: ElemFunction
      /** Of IsInf: the infinities for which it holds. */
      readonly infinities?: readonly number[]
    }
  | {
      readonly kind: 'fractional'
      readonly loop: UnaryLoop
      readonly elem?: ElemFunction
      /** Nanoseconds for one element, where more than those of other functions. */
      readonly cost?: number
      /** What {@link loop} computes, where the operator's name does not say it all: a slope, a variant of Gelu. */
      readonly alpha?: number
      /** Of Shrink: lambd and bias. */
      readonly shrink?: readonly [lambd: number, bias: number]
      readonly approximation?: 'none' | 'tanh'
    }

interface Params {
  function: UnaryFunction
}

const exact = (loops: AnyUnaryLoops, elem?: ElemFunction): UnaryFunction => ({
  kind: 'exact',
  loops,
  result: 'same',
  ...(elem && { elem })
})
const test = (loops: AnyUnaryLoops, elem?: ElemFunction): UnaryFunction => ({
  kind: 'exact',
  loops,
  result: 'bool',
  ...(elem && { elem })
})
export const fractional = (loop: UnaryLoop, elem?: ElemFunction): FractionalFunction => ({
  kind: 'fractional',
  loop,
  ...(elem && { elem })
})

type FractionalFunction = Extract<UnaryFunction, { kind: 'fractional' }>
type UnaryVersion = OpVersion<{ x: 'tensor' }, Params>

/** A version of an ONNX operator. */
export const onnx = (type: string, since: number, fn: Source<UnaryFunction>): UnaryVersion => ({
  type,
  since,
  bind: { function: fn }
})
/** A version of an operator of ONNX Runtime. */
export const microsoft = (type: string, fn: Source<UnaryFunction>): UnaryVersion => ({
  ...onnx(type, 1, fn),
  domain: 'com.microsoft'
})
/** A version of an OpenVINO operator, and the types that it takes. */
export const openvino = (
  type: string,
  since: number,
  types: readonly DType[],
  fn: Source<UnaryFunction>
): UnaryVersion => ({ ...onnx(type, since, fn), types: { x: types } })

/** An operator that applies a function to each element; the result has the operand's shape and type, or is boolean. */
export function unaryOp(
  name: string,
  onnxVersions: readonly UnaryVersion[],
  openvinoVersions: readonly UnaryVersion[]
): Op {
  return defineOp<{ x: 'tensor' }, Params>({
    name,
    operands: { x: 'tensor' },
    inPlace: ['x'],
    params: params<Params>(),
    onnx: onnxVersions,
    openvino: openvinoVersions,
    shape: ({ x }, { function: fn }) => [
      tensorFact(fn.kind === 'exact' && fn.result === 'bool' ? 'bool' : x.type, x.shape)
    ],
    elem: (elements, { function: fn }) => fn.elem?.(elements),
    run: ({ x }, { function: fn }, call) => applyUnary(fn, x, call)
  })
}

/**
 * Applies a function to each element. Fractional results for integers are rounded to the nearest integer, ties away
 * from zero, as the pages of OpenVINO ask.
 */
export function applyUnary(fn: UnaryFunction, x: Tensor, call: KernelContext): Generator<void> {
  if (fn.kind === 'exact') return unary(fn.loops, x, call.rawOutput())
  if (isInteger(x.type)) return unaryOnIntegers(fn.loop, roundHalfAwayFromZero, x, call.rawOutput())
  return unary({ float: fn.loop, ...(fn.cost !== undefined && { cost: fn.cost }) }, x, call.rawOutput())
}

/** An operator of both dialects; `type` is its name in IR where it differs. */
const both = (
  name: string,
  onnxSince: number,
  openvinoSince: number,
  types: readonly DType[],
  fn: UnaryFunction,
  type = name
): Op => unaryOp(name, [onnx(name, onnxSince, is(fn))], [openvino(type, openvinoSince, types, is(fn))])

const IS_INF: Source<UnaryFunction> = derive(node => {
  const positive = node.get(flag('detect_positive')) ?? true
  const negative = node.get(flag('detect_negative')) ?? true
  const infinities = [...(positive ? [Infinity] : []), ...(negative ? [-Infinity] : [])]
  return { ...test(kernels.isInfinity(positive, negative)), infinities }
})
const rounding = (loops: AnyUnaryLoops, floats: (a: number) => number): UnaryFunction =>
  exact(loops, roundedElem(floats))
const ROUND = rounding(kernels.ROUND, roundHalfToEven)
const ROUND_AWAY = rounding(kernels.ROUND_AWAY, roundHalfAwayFromZero)
const ROUND_BY_MODE = choice('mode', { half_to_even: ROUND, half_away_from_zero: ROUND_AWAY })
const BIT_NOT = is(exact(kernels.BIT_NOT))

/**
 * Elementwise functions of one operand. Floats are computed in double precision and rounded once; integers wrap, so
 * that the absolute value of the lowest one is itself.
 */
export const unaryOps: readonly Op[] = [
  both('Abs', 1, 1, NUMERIC, exact(kernels.ABS, absElem)),
  both('Neg', 1, 1, NUMERIC, exact(kernels.NEGATE, negElem), 'Negative'),
  both('Sign', 9, 1, NUMERIC, exact(kernels.SIGN, signElem)),
  both('Ceil', 1, 1, NUMERIC, rounding(kernels.CEIL, Math.ceil), 'Ceiling'),
  both('Floor', 1, 1, NUMERIC, rounding(kernels.FLOOR, Math.floor)),
  unaryOp('Round', [onnx('Round', 11, is(ROUND))], [openvino('Round', 5, NUMERIC, ROUND_BY_MODE)]),
  both('Not', 1, 1, ['bool'], test(kernels.NOT, notElem), 'LogicalNot'),
  unaryOp(
    'BitwiseNot',
    [onnx('BitwiseNot', 18, BIT_NOT)],
    [openvino('BitwiseNot', 13, [...INTEGERS, 'bool'], BIT_NOT)]
  ),
  both('IsNaN', 9, 10, FLOATS, test(kernels.IS_NAN)),
  unaryOp('IsInf', [onnx('IsInf', 10, IS_INF)], [openvino('IsInf', 10, FLOATS, IS_INF)]),
  unaryOp('IsFinite', [], [openvino('IsFinite', 10, FLOATS, is(test(kernels.IS_FINITE)))]),
  both(
    'Sqrt',
    1,
    1,
    NUMERIC,
    fractional(
      kernels.SQRT,
      ofOne(() => undefined, Math.sqrt)
    )
  ),
  unaryOp('Reciprocal', [onnx('Reciprocal', 1, is(fractional(kernels.RECIPROCAL)))], []),
  both('Exp', 1, 1, NUMERIC, fractional(kernels.EXP)),
  both('Log', 1, 1, NUMERIC, fractional(kernels.LOG)),
  both('Sin', 7, 1, NUMERIC, fractional(kernels.SIN)),
  both('Cos', 7, 1, NUMERIC, fractional(kernels.COS)),
  both('Tan', 7, 1, NUMERIC, fractional(kernels.TAN)),
  both('Asin', 7, 1, NUMERIC, fractional(kernels.ASIN)),
  both('Acos', 7, 1, NUMERIC, fractional(kernels.ACOS)),
  both('Atan', 7, 1, NUMERIC, fractional(kernels.ATAN)),
  both('Sinh', 9, 1, NUMERIC, fractional(kernels.SINH)),
  both('Cosh', 9, 1, NUMERIC, fractional(kernels.COSH)),
  both('Tanh', 1, 1, NUMERIC, fractional(kernels.TANH)),
  both('Asinh', 9, 4, NUMERIC, fractional(kernels.ASINH)),
  both('Acosh', 9, 4, NUMERIC, fractional(kernels.ACOSH)),
  both('Atanh', 9, 4, NUMERIC, fractional(kernels.ATANH)),
  both('Erf', 9, 1, NUMERIC, fractional(kernels.ERF))
]
