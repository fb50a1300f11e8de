import type { AnyBinaryLoops } from '../../kernels/core/elementwise.ts'
import { DIVIDE, FLOOR_MOD, TRUNCATED_MOD } from '../../kernels/elementwise/binary.ts'
import { ROUND } from '../../kernels/elementwise/unary.ts'
import type { Broadcast } from '../../op-kit/broadcast.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { type DType, is64BitInteger, isHalf, type NumericArray } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  arrayOf,
  type Candidate,
  jobKernel,
  jobSelection,
  liesOver,
  type Selector,
  selectorFor,
  type TensorOperands
} from '../selector.ts'
import { broadcastTemplate, isByParts } from './broadcast-loops.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 15
/** Work of a byte of the output, in bytes that could be copied in the same time. */
const BYTE_WORK = 2
/** Work of a quotient, and of an exponential of float64, in that of a sum. */
const QUOTIENT = 8

/** Numbers of the functions in ../assembly/wide/arithmetic-arguments.ts. */
const KINDS = {
  add: 0,
  subtract: 1,
  multiply: 2,
  maximum: 3,
  minimum: 4,
  divide: 5,
  floorMod: 6,
  and: 7,
  or: 8,
  xor: 9,
  abs: 10,
  negate: 11,
  sign: 12,
  clamp: 13,
  floor: 14,
  ceil: 15,
  round: 16,
  sqrt: 17,
  shiftLeft: 18,
  shiftRight: 19,
  power: 20,
  square: 21,
  shrink: 22,
  sigmoid: 23,
  prelu: 24,
  truncatedMod: 25,
  exp: 26,
  log: 27,
  halfSign: 28
} as const
export type ArithmeticKind = keyof typeof KINDS

/** Numbers of the types there; bytes of an element; whether integers are unsigned. */
const TYPES: Readonly<Partial<Record<DType, readonly [type: number, width: number, isUnsigned: boolean]>>> = {
  int32: [0, 4, false],
  uint32: [0, 4, true],
  int64: [1, 8, false],
  uint64: [1, 8, true],
  float64: [2, 8, false],
  int8: [3, 1, false],
  uint8: [3, 1, true],
  int16: [4, 2, false],
  uint16: [4, 2, true]
}

/** Functions that only integers have; those that only signed integers and floats have. */
const OF_INTEGERS: ReadonlySet<ArithmeticKind> = new Set([
  'floorMod',
  'truncatedMod',
  'and',
  'or',
  'xor',
  'shiftLeft',
  'shiftRight',
  'shrink'
])
const OF_SIGNED: ReadonlySet<ArithmeticKind> = new Set(['abs', 'negate', 'sign', 'power'])
/** Functions that only floats have. */
const OF_FLOATS: ReadonlySet<ArithmeticKind> = new Set(['floor', 'ceil', 'round', 'sqrt', 'sigmoid', 'exp', 'log'])
/** Functions whose elements are computed one by one, but for short integers. */
const QUOTIENTS: ReadonlySet<ArithmeticKind> = new Set([
  'divide',
  'floorMod',
  'truncatedMod',
  'power',
  'sigmoid',
  'exp',
  'log'
])

/** The loops of functions that some versions of an operator have otherwise. */
const LOOPS: Readonly<Partial<Record<ArithmeticKind, AnyBinaryLoops>>> = {
  divide: DIVIDE,
  floorMod: FLOOR_MOD,
  truncatedMod: TRUNCATED_MOD
}

interface Params {
  readonly broadcast?: Broadcast
  readonly function: { loops(type: DType): AnyBinaryLoops; readonly shift?: 'left' | 'right' }
}

/** A function of two integers, or numbers of float64, broadcast by NumPy's rules. */
export const selectArithmetic = (kind: ArithmeticKind): Selector =>
  selectorFor<Params>(({ op, operands, parameters, dims }) => {
    const { a, b } = operands
    if (a === undefined || a.type !== b?.type || parameters.broadcast?.mode === 'aligned') return undefined
    const loops = LOOPS[kind]
    if (loops && parameters.function.loops(a.type) !== loops) return undefined
    const template = arithmeticTemplate(kind, a.type, a.dims, b.dims, dims)
    if (template === undefined) return undefined
    const mayFail = loops !== undefined && a.type !== 'float64'
    return {
      kernel: jobKernel(op, (given, _, out) => {
        const inputs = [arrayOf(given.a!), arrayOf(given.b!)]
        // The reference names a divisor that is 0, which must still be there.
        return mayFail && liesOver(out, given.b!) ? undefined : { template, inputs }
      }),
      looksAt: [],
      isByParts: isByParts(template)
    }
  })

/** BitShift. */
export const selectShift: Selector = selectorFor<Params>(call =>
  selectArithmetic(call.parameters.function.shift === 'left' ? 'shiftLeft' : 'shiftRight')(call as never)
)

/** A function of one integer, or number of float64. Those of unsigned integers are others of two operands. */
export const selectSingle =
  (kind: 'abs' | 'negate' | 'sign' | 'floor' | 'ceil' | 'round' | 'sqrt' | 'sigmoid' | 'exp' | 'log'): Selector =>
  call => {
    const { op, operands, dims } = call
    const { x } = operands
    if (x && isHalf(x.type)) return bitSelection(call, OF_HALVES[kind]?.(x.type === 'bfloat16'))
    const [other, second] = (x && TYPES[x.type]?.[2] && OF_UNSIGNED[kind]) || []
    if (other !== undefined) return selectWithNumber(other, second!)(call)
    const template = x && arithmeticTemplate(kind, x.type, dims, dims, dims)
    if (template === undefined) return undefined
    return jobSelection(op, template, ['x', 'x'])
  }

/** What functions of signed numbers are for unsigned ones. */
const OF_UNSIGNED: Readonly<Partial<Record<ArithmeticKind, readonly [kind: ArithmeticKind, second: number]>>> = {
  abs: ['or', 0],
  sign: ['minimum', 1]
}

/** Functions of floats of two bytes that change or tell their sign, as functions of their bits. */
const OF_HALVES: Readonly<Partial<Record<ArithmeticKind, (isBrain: boolean) => FunctionOfBits>>> = {
  abs: () => ({ kind: 'and', bits: [0x7fff] }),
  negate: () => ({ kind: 'xor', bits: [0x8000] }),
  // The bits of 1 and of infinity.
  sign: isBrain => ({ kind: 'halfSign', bits: isBrain ? [0x3f80, 0x7f80] : [0x3c00, 0x7c00] })
}

interface FunctionOfBits {
  readonly kind: ArithmeticKind
  readonly bits: readonly number[]
}

function bitSelection({ op, dims }: Candidate, found: FunctionOfBits | undefined): Selection | undefined {
  const template = found && arithmeticTemplate(found.kind, 'uint16', dims, [], dims)
  if (template === undefined) return undefined
  return jobSelection(op, template, ['x', Uint16Array.from(found!.bits)])
}

/** A function of an integer and of one number. */
const selectWithNumber =
  (kind: ArithmeticKind, second: number): Selector =>
  ({ op, operands: { x }, dims }) => {
    const template = x && arithmeticTemplate(kind, x.type, dims, [], dims)
    if (template === undefined) return undefined
    const other = arrayOf(new Tensor(x!.type, [is64BitInteger(x!.type) ? BigInt(second) : second] as number[], []))
    return jobSelection(op, template, ['x', other])
  }

/** Reciprocal of float64. */
export const selectWideReciprocal: Selector = ({ op, operands: { x }, dims }) => {
  const template = x?.type === 'float64' ? arithmeticTemplate('divide', 'float64', [], dims, dims) : undefined
  return template && jobSelection(op, template, [Float64Array.of(1), 'x'])
}

/** BitwiseNot of integers changes all bits. */
export const selectBitwiseNot = selectWithNumber('xor', -1)

/** Round of float64, where ties go to even numbers. */
export const selectWideRound = selectorFor<{ readonly function: { readonly loops?: unknown } }>(call =>
  call.parameters.function.loops === ROUND ? selectSingle('round')(call) : undefined
)

/** Relu of integers and float64. */
export const selectWideRelu: Selector = ({ op, operands: { x }, dims }) => {
  const range = x && RANGES[x.type]
  return range && clampSelection(op, x, dims, () => [range.zero, range.highest])
}

/** Clip of integers and float64 whose bounds are operands, which are read in every run, or left out. */
export const selectWideClip = selectorFor<{ readonly low: number; readonly high: number }>(
  ({ op, operands: { x }, parameters: { low, high }, dims }) => {
    const range = x && RANGES[x.type]
    if (x === undefined || range === undefined || low !== -Infinity || high !== Infinity) return undefined
    return clampSelection(op, x, dims, ({ min, max }) => [boundOf(min, range.lowest), boundOf(max, range.highest)])
  }
)

/** A bound that is an operand: none where it is left out, or NaN. */
function boundOf(bound: Tensor | undefined, none: number | bigint): number | bigint {
  const value = bound ? arrayOf(bound)[0] : none
  return Object.is(value, NaN) ? none : value
}

/** Shrink of integers whose bias is whole: bounds become whole numbers of the type. */
export const selectIntegerShrink = selectorFor<{ readonly function: { readonly shrink?: readonly [number, number] } }>(
  ({ op, operands: { x }, parameters, dims }) => {
    const table = x && shrinkTable(x.type, parameters.function.shrink)
    const template = table && arithmeticTemplate('shrink', x.type, dims, [], dims)
    return template && jobSelection(op, template, ['x', table])
  }
)

/** Most of a bias whose sums with other integers of 32 bits are exact numbers in the reference, which cuts bits off. */
const MAX_BIAS = 2 ** 31

/** Bounds and bias of Shrink; undefined where integers of the type do not hold them. */
function shrinkTable(type: DType, [lambd, bias]: readonly [number, number] = [NaN, NaN]): NumericArray | undefined {
  const range = RANGES[type]
  const [low, high] = [Math.ceil(-lambd), Math.floor(lambd)]
  if (!range || type === 'float64' || Number.isNaN(lambd) || !Number.isInteger(bias)) return undefined
  if (low > range.highest || high < range.lowest || Math.abs(bias) > MAX_BIAS) return undefined
  const lowest = low < range.lowest ? range.lowest : low
  const highest = high > range.highest ? range.highest : high
  const table = arrayOf(new Tensor(type, is64BitInteger(type) ? [0n, 0n, 0n] : [0, 0, 0], [3]))
  const convert = is64BitInteger(type) ? BigInt : Number
  for (const [i, value] of [lowest, highest, bias].entries()) table[i] = convert(value)
  return table
}

type Bounds = readonly [low: number | bigint, high: number | bigint]

/** The numbers that bound nothing, and zero. */
const RANGES: Readonly<Partial<Record<DType, Readonly<Record<'lowest' | 'zero' | 'highest', number | bigint>>>>> = {
  int8: { lowest: -128, zero: 0, highest: 127 },
  uint8: { lowest: 0, zero: 0, highest: 255 },
  int16: { lowest: -(2 ** 15), zero: 0, highest: 2 ** 15 - 1 },
  uint16: { lowest: 0, zero: 0, highest: 2 ** 16 - 1 },
  int32: { lowest: -(2 ** 31), zero: 0, highest: 2 ** 31 - 1 },
  uint32: { lowest: 0, zero: 0, highest: 2 ** 32 - 1 },
  int64: { lowest: -(2n ** 63n), zero: 0n, highest: 2n ** 63n - 1n },
  uint64: { lowest: 0n, zero: 0n, highest: 2n ** 64n - 1n },
  float64: { lowest: -Infinity, zero: 0, highest: Infinity }
}

function clampSelection(
  op: Op,
  x: Tensor,
  dims: readonly number[],
  boundsOf: (operands: TensorOperands) => Bounds
): Selection | undefined {
  const template = arithmeticTemplate('clamp', x.type, dims, [], dims)
  if (template === undefined) return undefined
  const kernel = jobKernel(op, given => {
    const bounds = new Tensor(x.type, boundsOf(given), [2])
    return { template, inputs: [arrayOf(given.x!), arrayOf(bounds)] }
  })
  return { kernel, looksAt: ['min', 'max'] }
}

/**
 * The arguments are those of ArithmeticArguments in ../assembly/wide/arithmetic-arguments.ts.
 * @param least elements below which it would not pay
 * @returns undefined where the kernel has no such function, and where it would not pay
 */
export function arithmeticTemplate(
  kind: ArithmeticKind,
  type: DType,
  aDims: readonly number[],
  bDims: readonly number[],
  dims: readonly number[],
  least = MIN_ELEMENTS
): JobTemplate | undefined {
  const found = TYPES[type]
  if (found === undefined || product(dims) < least) return undefined
  const [number, width, isUnsigned] = found
  if ((type === 'float64' ? OF_INTEGERS : OF_FLOATS).has(kind) || (isUnsigned && OF_SIGNED.has(kind))) return undefined
  const strided = [aDims, bDims].map(own => ({ dims: own, width }))
  const isSlow = QUOTIENTS.has(kind) && !(type === 'float64' && kind === 'divide')
  const cost = { width, tile: TILE, work: width * BYTE_WORK * (isSlow ? QUOTIENT : 1) }
  return broadcastTemplate('arithmetic', strided, dims, cost, [KINDS[kind], number, Number(isUnsigned)])
}
