import { convert } from '../../tensor/convert.ts'
import { type DType, DTYPES, type NumericArray } from '../../tensor/dtype.ts'
import { floatFormat } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type BoundJob, staged } from '../selector.ts'
import type { CodesLayout } from './code-layout.ts'

/** Elements of a block, and of a tile. */
export const LINE = 1 << 14
/** Bytes that could be copied while one element is quantized. */
const WORK = 8

/** Types of codes, by their numbers in ../assembly/int8/codes.ts. */
const CODES: { readonly [type in DType]?: number } = {
  uint8: 0,
  uint4: 0,
  uint2: 0,
  int8: 1,
  int4: 1,
  int2: 1,
  uint16: 2,
  int16: 3,
  int32: 4,
  float8e4m3fn: 5,
  float8e4m3fnuz: 5,
  float8e5m2: 5,
  float8e5m2fnuz: 5,
  float4e2m1: 5
}
/** Types of numbers, and of quotients, by their numbers there. */
const NUMBERS: readonly DType[] = ['float32', 'float16', 'bfloat16']

export const isCode = (type: DType): boolean => CODES[type] !== undefined

/** What jobs make: of numbers or codes of a type. */
export interface Made {
  readonly kernel: 'quantize' | 'dequantize' | 'roundCodes'
  /** Type of the codes. */
  readonly type: DType
  readonly numbers: DType
  /** What quotients are rounded to; float32 where left out. */
  readonly quotients?: DType
  /** Whether floats that are too large become the largest number; true where left out. */
  readonly saturates?: boolean | undefined
}

/** What the kernel knows of floats as codes. */
function floatArguments(type: DType, saturates: boolean): number[] {
  const format = floatFormat(type)
  if (format === undefined) return []
  const { mantissa, minExponent, maxCode, infinity, nan = format.sign, sign, unsignedZero } = format
  const tooLarge = saturates || type === 'float4e2m1' ? maxCode : (infinity ?? nan)
  return [mantissa, minExponent, maxCode, tooLarge, nan, sign, Number(unsignedZero ?? false)]
}

type BindCodes = (x: NumericArray, scale: Tensor, zeros: NumericArray | undefined) => BoundJob

/** Zero points that are kept with a kernel; more are made for each job. */
const MAX_KEPT = 1 << 14

/**
 * Makes jobs, each of which must run before the next is made: they share the array of zero points. The arguments are
 * those of CodesArguments in ../assembly/int8/codes.ts.
 */
export function codesOf(made: Made, layout: CodesLayout): BindCodes {
  const { kernel, type, numbers, quotients = 'float32', saturates = true } = made
  const { count, group, segment, period, channels, times } = layout
  const { kind, bits } = DTYPES[type]
  const lowest = kind === 'int' ? -(2 ** (bits - 1)) : 0
  const rows = [group, segment, period, times, channels]
  const types = [CODES[type]!, lowest, 2 ** bits - 1, NUMBERS.indexOf(numbers), NUMBERS.indexOf(quotients)]
  const template = linesTemplate(kernel, count, LINE, 3, [
    LINE,
    count,
    ...rows,
    ...types,
    ...floatArguments(type, saturates)
  ])
  const length = period * channels
  const kept = length <= MAX_KEPT ? new Int32Array(length) : undefined
  return (x, scale, zeros) => {
    const points = kept ?? new Int32Array(length)
    if (zeros === undefined) points.fill(0)
    else points.set(zeros as Uint8Array)
    const scales = arrayOf(scale.type === 'float32' ? scale : convert(scale, 'float32'))
    return { template, inputs: [x, scales, points] }
  }
}

export const linesTemplate = (
  kernel: JobTemplate['kernel'],
  count: number,
  line: number,
  inputs: number,
  args: readonly number[]
): JobTemplate => ({
  kernel,
  blocks: Math.ceil(count / line),
  blockBytes: line * 4,
  tile: Math.max(1, Math.floor(LINE / line)),
  work: count * WORK,
  inputs: staged(inputs),
  args
})
