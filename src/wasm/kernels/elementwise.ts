import { ROUND } from '../../kernels/elementwise/unary.ts'
import { alignedShape, type Broadcast } from '../../op-kit/broadcast.ts'
import type { Selection } from '../../op-kit/define.ts'
import type { Activation } from '../../op-kit/fused.ts'
import { slopeAxis, type SlopeParams } from '../../op-kit/slopes.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  areFloat32,
  arrayOf,
  type Candidate,
  floatBits,
  jobKernel,
  jobSelection,
  type Selector,
  selectorFor
} from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { broadcastTemplate, isByParts, placedByParts } from './broadcast-loops.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 14
/** Numbers of the functions in ../assembly/f32/unary.ts. */
const UNARY = {
  clip: 1,
  silu: 2,
  gelu: 3,
  geluTanh: 4,
  sigmoid: 5,
  tanh: 6,
  leakyRelu: 7,
  hardSigmoid: 8,
  hardSwish: 9,
  elu: 10,
  exp: 11,
  abs: 12,
  negate: 13,
  sqrt: 14,
  reciprocal: 15,
  floor: 16,
  ceil: 17,
  round: 18,
  log: 19,
  erf: 20,
  square: 21,
  cube: 40,
  root: 41,
  swish: 42,
  sign: 43,
  celu: 44,
  selu: 45,
  thresholdedRelu: 46,
  softsign: 47,
  mish: 48,
  shrink: 49,
  softplus: 50,
  divided: 51,
  affine: 52,
  reaching: 53,
  scaledTanh: 54
} as const

/** A function of one element by its number, with its parameters. */
export type UnaryCall = readonly [name: keyof typeof UNARY, p?: number, q?: number]

/** The arguments by which a kernel knows a function. */
export const unaryArguments = ([name, p = 0, q = 0]: UnaryCall): number[] => [UNARY[name], floatBits(p), floatBits(q)]

/** The last arguments of a kernel that applies a function to its result, or none. */
export const activationArguments = (activation: Activation | undefined): readonly number[] =>
  activation ? unaryArguments([activation.name, activation.p ?? 0, activation.q ?? 0]) : NO_ACTIVATION
const NO_ACTIVATION: readonly number[] = [0, 0, 0]

/** An operator whose function needs no parameters. */
export const selectUnary =
  (fn: UnaryCall, cost = 1): Selector =>
  call =>
    unarySelection(call, fn, cost)

/** Functions with the parameter alpha. */
export const selectWithAlpha = (name: 'leakyRelu' | 'elu' | 'celu' | 'thresholdedRelu', cost: number): Selector =>
  selectorFor<{ readonly function: { readonly alpha?: number } }>(call => {
    const { alpha } = call.parameters.function
    // Celu of a negative alpha grows as exp does, and float32 loses digits.
    const isServed = alpha !== undefined && (name !== 'celu' || alpha > 0)
    return isServed ? unarySelection(call, [name, alpha], cost) : undefined
  })

/** Shrink, whose parameters float32 holds: those of a file do. */
export const selectShrink = selectorFor<{ readonly function: { readonly shrink?: readonly [number, number] } }>(
  call => {
    const { shrink } = call.parameters.function
    return shrink?.every(value => Math.fround(value) === value)
      ? unarySelection(call, ['shrink', ...shrink], 1)
      : undefined
  }
)

/** Swish, whose slope is a parameter. */
export const selectSwish = selectorFor<{ readonly beta: number }>(call =>
  unarySelection(call, ['swish', call.parameters.beta], 6)
)

/** Round, where ties go to even elements. */
export const selectRound = selectorFor<{ readonly function: { readonly loops?: unknown } }>(call =>
  call.parameters.function.loops === ROUND ? unarySelection(call, ['round'], 1) : undefined
)

export const selectHardSigmoid = selectorFor<{ readonly alpha: number; readonly beta: number }>(call =>
  unarySelection(call, ['hardSigmoid', call.parameters.alpha, call.parameters.beta], 1)
)

export const selectSelu = selectorFor<{ readonly alpha: number; readonly gamma: number }>(call =>
  unarySelection(call, ['selu', call.parameters.alpha, call.parameters.gamma], 6)
)

interface GeluFunction {
  readonly approximation?: 'none' | 'tanh'
}

/** Gelu by erf or by tanh, and its cost; undefined where the function is none of both. */
export const geluCall = ({ approximation }: GeluFunction): readonly [UnaryCall, cost: number] | undefined =>
  approximation && [[approximation === 'tanh' ? 'geluTanh' : 'gelu'], 10]

export const selectGelu = selectorFor<{ readonly function: GeluFunction }>(call => {
  const gelu = geluCall(call.parameters.function)
  return gelu && unarySelection(call, ...gelu)
})

/** Work of an element in bytes that could be copied in the same time, for a function of cost 1. */
const ELEMENT_WORK = 8

/** @param cost of one element, in those of Relu */
function unarySelection({ op, operands }: Candidate<unknown>, fn: UnaryCall, cost: number): Selection | undefined {
  const { x } = operands
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
  const template = unaryTemplate(product(x.dims), fn, cost)
  return jobSelection(op, template, ['x'])
}

/** The arguments are those of UnaryArguments in ../assembly/f32/elementwise.ts. */
export const unaryTemplate = (count: number, fn: UnaryCall, cost: number): JobTemplate => ({
  kernel: 'unary',
  blocks: count,
  blockBytes: 4,
  tile: Math.ceil(TILE / cost / 4) * 4,
  work: count * ELEMENT_WORK * cost,
  ...placedByParts([{ dims: [count], width: 4 }], { blocks: count, blockBytes: 4 }, 1),
  args: unaryArguments(fn)
})

/** Clip: bounds that are operands are read in every run. */
export const selectClip = selectorFor<{ readonly low: number; readonly high: number }>(call => {
  const { x, min, max } = call.operands
  const { low, high } = call.parameters
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
  const count = product(x.dims)
  if (min === undefined && max === undefined) return unarySelection(call, ['clip', low, high], 1)
  const kernel = jobKernel(call.op, given => {
    const [lower, upper] = [given.min, given.max].map(bound => bound && Number(bound.data[0]))
    return {
      template: unaryTemplate(count, ['clip', lower ?? -Infinity, upper ?? Infinity], 1),
      inputs: [arrayOf(given.x!)]
    }
  })
  return { kernel, looksAt: ['min', 'max'], isByParts: isByParts(unaryTemplate(count, ['clip'], 1)) }
})

/** Numbers of the functions in ../assembly/f32/elementwise.ts. */
const BINARY = {
  add: 0,
  subtract: 1,
  multiply: 2,
  divide: 3,
  maximum: 4,
  minimum: 5,
  prelu: 6,
  squaredDifference: 7,
  power: 8
} as const

/** An elementwise function of two operands, broadcast by NumPy's rules. */
export const selectBinary = (name: keyof typeof BINARY): Selector =>
  selectorFor<{ readonly broadcast?: Broadcast }>(({ op, operands, parameters, dims }) => {
    const { a, b } = operands
    if (parameters.broadcast && parameters.broadcast.mode === 'aligned') return undefined
    if (a === undefined || b === undefined || !areFloat32(operands) || product(dims) < MIN_ELEMENTS) return undefined
    const template = binaryTemplate(name, a.dims, b.dims, dims)
    return template && jobSelection(op, template, ['a', 'b'])
  })

/** PRelu, whose slopes are broadcast to x. */
export const selectPRelu = selectorFor<SlopeParams>(({ op, operands, parameters, dims }) => {
  const { x, slope } = operands
  if (x === undefined || slope?.type !== x.type || product(dims) < MIN_ELEMENTS) return undefined
  const axis = slopeAxis(parameters.list, x.dims, slope.dims) ?? -1
  const aligned = alignedShape(x.dims.length, slope.dims, axis)
  const template =
    x.type === 'float32'
      ? binaryTemplate('prelu', x.dims, aligned, dims)
      : arithmeticTemplate('prelu', x.type, x.dims, aligned, dims)
  return template && jobSelection(op, template, ['x', 'slope'])
})

/**
 * The arguments are those of BinaryArguments in ../assembly/f32/elementwise.ts.
 * @param cost of one element, in those of Add
 * @param then applied to the result
 * @returns undefined where there are more loops than arguments have room for
 */
export function binaryTemplate(
  name: keyof typeof BINARY,
  aDims: readonly number[],
  bDims: readonly number[],
  dims: readonly number[],
  cost = 1,
  then?: UnaryCall
): JobTemplate | undefined {
  const strided = [aDims, bDims].map(own => ({ dims: own, width: 4 }))
  const each = { width: 4, tile: Math.ceil(TILE / cost), work: ELEMENT_WORK * cost }
  return broadcastTemplate('binary', strided, dims, each, [BINARY[name]], then ? unaryArguments(then) : NO_ACTIVATION)
}
