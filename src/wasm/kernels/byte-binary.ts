import { roundHalfToEven } from '../../kernels/core/rounding.ts'
import { type Quantization, quantizationOf } from '../../kernels/quantized/codes.ts'
import type { TableParams, TablePart } from '../../op-kit/byte-table.ts'
import type { Kernel, Pack, Selection } from '../../op-kit/define.ts'
import { namedPack } from '../../op-kit/packs.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import {
  arrayOf,
  type Candidate,
  floatBits,
  jobKernel,
  type Selector,
  selectorFor,
  staged,
  type TensorOperands
} from '../selector.ts'
import type { KernelName } from '../wasm.ts'
import { broadcastTemplate } from './broadcast-loops.ts'
import { FLIP, isByte, isSingle } from './byte-product.ts'

/** Elements of a tile, and bytes that could be copied while one is computed. */
const COST = { tile: 1 << 16, work: 4 }
/** Quotients of scales above which sums of float32 could overflow. */
const MAX_FACTOR = 2 ** 40
/** The largest difference of a code and a zero point. */
const REACH = 255

/** Numbers of the functions in ../assembly/int8/binary.ts. */
const KINDS = { add: 0, multiply: 1 } as const

/** QLinearAdd and QLinearMul, broadcast by NumPy's rules. */
export const selectQLinearBinary = (kind: keyof typeof KINDS): Selector =>
  selectorFor<unknown>(call => {
    const { resultScale: yScale, resultZero: yZero } = call.operands
    const { type } = call.operands.a!
    return binarySelection({ ...call, operands: { ...call.operands, yScale, yZero } }, type, given =>
      numbersOf(kind, type, { ...given, yScale: given.resultScale, yZero: given.resultZero })
    )
  })

/**
 * A sum, difference or product of dequantized codes, perhaps with Relu or Clip, that is quantized: what a table of two
 * operands stands for. Undefined where it stands for something else.
 * @param table reads the table that is packed where scales are not served; undefined: the reference does
 */
export function selectBinaryTable(call: Candidate<TableParams>, table: Selection | undefined): Selection | undefined {
  const { a, b } = call.operands
  const { parts } = call.parameters
  const [first, second] = parts.slice(2, -1)
  const kind = first && TABLE_KINDS[first.op.name]
  const bounds = boundsOf(second)
  const areSingle = parts.slice(0, -1).every(({ type }) => type === 'float32')
  const { type } = parts[parts.length - 1]
  if (!a || !b || !kind || !bounds || !areSingle || !isByte(type)) return undefined
  const { op } = call
  const numbers = (given: TensorOperands): Numbers | undefined => {
    const { yScale, bScale, ...rest } = given
    const step = (yScale!.data as Float32Array)[0]
    // The rounding of float32 of very small and very large numbers is not relative to them.
    const areUsual = [given.aScale!, bScale!, yScale!].every(scale => isUsual((scale.data as Float32Array)[0]))
    if (!(step > 0) || !areUsual) return undefined
    const signed = first.op.name === 'Sub' ? negated(bScale!) : bScale
    const found = numbersOf(kind, type, { ...rest, bScale: signed, yScale })
    const [low, high] = bounds.map(bound => {
      const code = roundHalfToEven(Math.fround(Math.fround(bound) / step))
      return Math.max(found.range[0], Math.min(found.range[1], code))
    })
    // The upper bound counts where it is below the lower one, as in Clip.
    return { ...found, isSingle: true, range: [Math.min(low, high), high] }
  }
  return binarySelection(call, type, numbers, op.pack && { pack: op.pack, kernel: table?.kernel ?? op.run })
}

const TABLE_KINDS: Readonly<Record<string, keyof typeof KINDS>> = { Add: 'add', Sub: 'add', Mul: 'multiply' }

const isUsual = (scale: number): boolean => Math.abs(scale) > 2 ** -100 && Math.abs(scale) < 2 ** 100

const negated = ({ data, dims }: Tensor): Tensor => new Tensor('float32', [-(data as Float32Array)[0]], dims)

/** Between which numbers an activation clamps; undefined where it does something else. */
function boundsOf(part: TablePart | undefined): readonly [number, number] | undefined {
  if (part === undefined) return [-Infinity, Infinity]
  if (part.op.name === 'Relu') return [0, Infinity]
  if (part.op.name !== 'Clip') return undefined
  const { low, high } = part.parameters as Readonly<Record<string, number>>
  const { min, max } = part.inputs as Readonly<Record<string, Tensor | undefined>>
  const bounds = [min ? Number(min.data[0]) : low, max ? Number(max.data[0]) : high] as const
  return bounds.some(Number.isNaN) ? undefined : bounds
}

/**
 * @param type that of the result
 * @param table what is done where scales are not served
 */
function binarySelection(
  { op, operands, dims }: Candidate<unknown>,
  type: DType,
  numbers: (given: TensorOperands) => Numbers | undefined,
  table?: { readonly pack: Pack; readonly kernel: Kernel }
): Selection | undefined {
  const { a, b, aScale, aZero, bScale, bZero, yScale, yZero } = operands
  if (!a || !b || ![a.type, b.type, type].every(isByte) || product(dims) === 0) return undefined
  const zeros = [aZero, bZero, yZero]
  if (!zeros.every((zero, i) => zero === undefined || zero.type === [a.type, b.type, type][i])) return undefined
  const scales = [aScale, bScale, yScale]
  if (!scales.every(scale => scale?.type === 'float32') || ![...scales, ...zeros].every(isSingle)) return undefined
  const template = pairTemplate('byteBinary', [a.dims, b.dims], dims, COST)
  if (template === undefined) return undefined
  const names = Object.keys(operands).filter(name => name !== 'a' && name !== 'b')
  const boundFor = remembered<Bound | undefined>()
  const flips = [a, b].map(operand => (operand.type === type ? 0 : FLIP))
  const boundOf = (given: TensorOperands): Bound | undefined => {
    const found = numbers(given)
    return found && bind(found, flips, template, type === 'int8')
  }
  const kernel = jobKernel(op, given => {
    const quantization = names.map(name => Number(given[name]?.data[0]))
    const bound = boundFor(quantization, () => boundOf(given))
    return bound && { template: bound.template, inputs: [arrayOf(given.a!), arrayOf(given.b!), bound.scales] }
  })
  if (table === undefined) return { kernel, looksAt: names }
  return {
    kernel: (given, parameters, context) => (context.packed ? table.kernel : kernel)(given, parameters, context),
    pack: namedPack(`${op.name} ${a.type} ${b.type} ${type}`, (constants, parameters, context) =>
      boundOf(constants) ? undefined : table.pack(constants, parameters, context)
    ),
    looksAt: names
  }
}

/** A job but for the codes. */
interface Bound {
  readonly template: JobTemplate
  readonly scales: Float64Array
}

/** What is computed. */
interface Numbers {
  readonly kind: keyof typeof KINDS
  readonly first: Quantization
  readonly second: Quantization
  readonly result: Quantization
  /** Whether the definition rounds each step to float32. */
  readonly isSingle: boolean
  /** Lowest and highest code less the zero point. */
  readonly range: readonly [lowest: number, highest: number]
}

/** @param type that of the result */
function numbersOf(kind: keyof typeof KINDS, type: DType, given: TensorOperands): Numbers {
  const { aScale, aZero, bScale, bZero, yScale, yZero } = given
  const [first, second] = [quantizationOf(aScale!, aZero), quantizationOf(bScale!, bZero)]
  const result = quantizationOf(yScale!, yZero)
  const lowest = (type === 'int8' ? -128 : 0) - result.zero
  return { kind, first, second, result, isSingle: false, range: [lowest, lowest + REACH] }
}

/**
 * A job on two operands of bytes that are broadcast: its arguments are elements of a line, and bytes that each operand
 * moves by there, then the outer loops. Undefined where there are more of these than arguments have room for.
 * @param cost elements of a tile, and bytes that could be copied while one is computed
 */
export function pairTemplate(
  kernel: KernelName,
  operands: readonly (readonly number[])[],
  dims: readonly number[],
  cost: { readonly tile: number; readonly work: number }
): JobTemplate | undefined {
  const strided = operands.map(own => ({ dims: own, width: 1 }))
  const template = broadcastTemplate(kernel, strided, dims, { width: 1, ...cost }, [])
  return template && { ...template, inputs: staged(3), outputStaging: 'whole' }
}

/**
 * The arguments are those of ByteBinaryArguments in ../assembly/int8/binary.ts, which says where the limit comes from.
 * @param flips of each operand: {@link FLIP} where its codes are not of the result's type
 * @returns undefined where float32 cannot hold what the scales make of codes
 */
function bind(
  { kind, first, second, result, isSingle, range }: Numbers,
  flips: readonly number[],
  template: JobTemplate,
  isSigned: boolean
): Bound | undefined {
  const isSum = kind === 'add'
  const factors = isSum
    ? [first.scale / result.scale, second.scale / result.scale]
    : [(first.scale * second.scale) / result.scale, 0]
  // False also where one is no number.
  if (!factors.every(factor => Math.abs(factor) < MAX_FACTOR)) return undefined
  const largest = isSum ? REACH * (Math.abs(factors[0]) + Math.abs(factors[1])) : REACH + 1
  const zeros = [first, second].map(({ zero }, i) => (isSigned ? zero - flips[i] : zero + flips[i]))
  const args = [
    KINDS[kind],
    Number(isSigned),
    ...flips,
    ...zeros,
    result.zero,
    ...[...factors, 0.5 - 2 ** -21 * (largest + 1)].map(floatBits),
    Number(isSingle),
    ...range,
    ...template.args
  ]
  const scales = Float64Array.of(first.scale, second.scale, result.scale)
  return { template: { ...template, args }, scales }
}
