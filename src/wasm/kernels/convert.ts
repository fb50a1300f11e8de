import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, type Selector, staged } from '../selector.ts'
import { passesKernel } from './passes.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile: a multiple of 16, those that are converted together. */
const TILE = 1 << 15
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

/** Numbers of the types in ../assembly/f32/convert.ts. */
const TYPES = {
  float32: 0,
  int32: 1,
  int64: 2,
  bool: 3,
  uint8: 4,
  int8: 5,
  float16: 6,
  bfloat16: 7,
  float64: 8
} as const
/** Bytes of an element. */
const WIDTHS = {
  float32: 4,
  int32: 4,
  int64: 8,
  bool: 1,
  uint8: 1,
  int8: 1,
  float16: 2,
  bfloat16: 2,
  float64: 8
} as const
type Served = keyof typeof TYPES

/** By the type that is converted to, those that the kernel converts from. */
const FROM: Readonly<Record<Served, readonly DType[]>> = {
  float32: ['int32', 'int64', 'bool', 'uint8', 'int8', 'float16', 'bfloat16', 'float64'],
  int32: ['float32', 'int64', 'bool', 'uint8', 'int8', 'float64'],
  int64: ['float32', 'int32', 'bool', 'uint8', 'int8', 'float64'],
  bool: ['float32', 'int32', 'int64', 'float64'],
  uint8: ['float32', 'float64'],
  int8: ['float32', 'float64'],
  float16: ['float32'],
  bfloat16: ['float32'],
  float64: ['float32', 'int32', 'int64']
}

const HALVES: readonly DType[] = ['float16', 'bfloat16']
/** Integers that float32 holds, so that what is made of them by way of float32 is rounded once. */
const SHORT: readonly DType[] = ['bool', 'uint8', 'int8']

/** Whether floats of 16 bits are converted by way of float32, which holds them and all short integers. */
const isByFloats = (from: Served, to: Served): boolean =>
  (HALVES.includes(from) && !HALVES.includes(to) && FROM[to].includes('float32')) ||
  (HALVES.includes(to) && SHORT.includes(from))

const isServed = (type: DType): type is Served => Object.hasOwn(TYPES, type)

/** Conversions between float32, float64, int32, int64, bool and bytes, and between float32 and floats of 16 bits. */
const conversion =
  (typeOf: (call: Parameters<Selector>[0]) => DType | undefined): Selector =>
  call => {
    const { input } = call.operands
    const to = typeOf(call)
    if (input === undefined || to === undefined || !isServed(to) || !isServed(input.type)) return undefined
    const count = product(call.dims)
    if (count < MIN_ELEMENTS) return undefined
    if (isByFloats(input.type, to)) {
      const widened = conversionTemplate(input.type, 'float32', count)
      const passes = [widened, conversionTemplate('float32', to, count)]
      return {
        kernel: passesKernel(
          call.op,
          'input',
          passes.map(template => ({ template, tables: [], count }))
        )
      }
    }
    if (!FROM[to].includes(input.type)) return undefined
    const template = conversionTemplate(input.type, to, count)
    return { kernel: jobKernel(call.op, given => ({ template, inputs: [arrayOf(given.input!)] })), looksAt: [] }
  }

/** The arguments are those of ConvertArguments in ../assembly/f32/convert.ts. */
export const conversionTemplate = (from: Served, to: Served, count: number): JobTemplate => ({
  kernel: 'convert',
  blocks: count,
  blockBytes: WIDTHS[to],
  tile: TILE,
  work: count * ELEMENT_WORK,
  inputs: staged(1),
  outputStaging: 'whole',
  args: [TYPES[from], TYPES[to]]
})

export const selectCast: Selector = conversion(({ parameters }) => parameters.to as DType)
export const selectCastLike: Selector = conversion(({ operands }) => operands.like?.type)
