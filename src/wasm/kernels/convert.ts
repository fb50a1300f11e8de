import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { type Candidate, jobSelection, type Selector } from '../selector.ts'
import { placedByParts } from './broadcast-loops.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile: a multiple of 16, those that are converted together. */
const TILE = 1 << 15
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

/** Of the types their numbers in ../assembly/f32/convert-types.ts, and bytes of an element. */
const TYPES = {
  float32: [0, 4],
  int32: [1, 4],
  int64: [2, 8],
  bool: [3, 1],
  uint8: [4, 1],
  int8: [5, 1],
  float16: [6, 2],
  bfloat16: [7, 2],
  float64: [8, 8],
  int16: [9, 2],
  uint16: [10, 2],
  uint32: [11, 4],
  uint64: [12, 8]
} as const
type Served = keyof typeof TYPES

const HALVES: readonly DType[] = ['float16', 'bfloat16']
/** Integers that floats of 16 bits are made of by way of float32, which holds them, so that they are rounded once. */
const SHORT: readonly DType[] = ['bool', 'uint8', 'int8', 'int16', 'uint16']

/**
 * Whether elements are converted by way of float32, a few at a time: floats of 16 bits and short integers to what is
 * wider; integers to float16, which holds none that float32 does not; and doubles to 16 bits, which become floats that
 * are rounded as the doubles would be.
 */
function isByFloats(from: Served, to: Served): boolean {
  if (from === 'float32' || to === 'float32') return false
  return HALVES.includes(from) || HALVES.includes(to) || (to === 'float64' && SHORT.includes(from))
}

/** Whether the reference is as fast, since bits stay what they are, or has rules of its own. */
function isLeft(from: Served, to: Served): boolean {
  const isFloat = (type: Served): boolean => type.includes('float')
  if (!isFloat(from) && !isFloat(to) && to !== 'bool' && TYPES[from][1] === TYPES[to][1]) return true
  return from === to || (to === 'bfloat16' && !isFloat(from) && !SHORT.includes(from))
}

const isServed = (type: DType): type is Served => Object.hasOwn(TYPES, type)

/** Conversions between floats of 16 to 64 bits, integers of 8 to 64 bits and bool. */
const conversion =
  (typeOf: (call: Candidate) => DType | undefined): Selector =>
  call => {
    const { input } = call.operands
    const to = typeOf(call)
    if (input === undefined || to === undefined || !isServed(to) || !isServed(input.type)) return undefined
    const count = product(call.dims)
    if (count < MIN_ELEMENTS) return undefined
    if (isLeft(input.type, to)) return undefined
    return jobSelection(call.op, conversionTemplate(input.type, to, count), ['input'])
  }

/** The arguments are those of ConvertArguments in ../assembly/f32/convert.ts. */
export function conversionTemplate(from: Served, to: Served, count: number): JobTemplate {
  const [[source, width], [target, blockBytes]] = [TYPES[from], TYPES[to]]
  return {
    kernel: 'convert',
    blocks: count,
    blockBytes,
    tile: TILE,
    work: count * ELEMENT_WORK,
    ...placedByParts([{ dims: [count], width }], { blocks: count, blockBytes }, 1),
    args: [source, target, Number(isByFloats(from, to))]
  }
}

export const selectCast: Selector = conversion(({ parameters }) => parameters.to as DType)
export const selectCastLike: Selector = conversion(({ operands }) => operands.like?.type)
