import { blockOfEach, numbersOfCodes, unpacked } from '../../op-kit/conversion-codes.ts'
import { elementwise, extreme, gathered, staticDims, unsqueezed, upTo, zeroOf } from '../../op-kit/conversion-kit.ts'
import { wideType } from '../../op-kit/conversion-parts.ts'
import { type Conversion, expands, type Made, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import { gatherBlockQuantized } from './gather-block-quantized.ts'

/** Slices of a table, decoded as a whole: runtimes look its rows up in the codes. */
function expandGather(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const isPacked = typeOf(data) === 'uint8'
  const stored = staticDims(data, 'the data')
  const bits = call.param<number>('bits')
  const dims = isPacked ? [...stored.slice(0, -1), (stored[stored.length - 1] * 8) / bits] : stored
  const own = typeOf(call.operand('scales'))
  const table = w.cast(numbers(call, w, dims, isPacked ? bits : 0), own)
  const axis = normalizeAxis(call.param('axis'), dims.length)
  return [gatherOrZero(w, table, call, axis, dims[axis])]
}

/** Indices out of range give zeros. OpenVINO's Gather does, too, but not where it reads codes. */
function gatherOrZero(w: Writer, table: Made, call: SourceCall, axis: number, size: number): Made {
  const indices = w.cast(call.operand('indices'), 'int64')
  const [least, most] = [w.scalar('int64', -size), w.scalar('int64', size - 1)]
  const held = extreme(w, 'Min', extreme(w, 'Max', indices, least), most)
  const rank = (table.fact.kind === 'tensor' && table.fact.shape?.length) || 0
  const isIn = unsqueezedBehind(w, elementwise(w, 'Equal', held, indices), rank - axis - 1)
  return elementwise(w, 'Where', isIn, gathered(w, table, held, axis), zeroOf(w, typeOf(table)))
}

function unsqueezedBehind(w: Writer, x: Made, count: number): Made {
  const rank = (x.fact.kind === 'tensor' && x.fact.shape?.length) || 0
  return unsqueezed(w, x, upTo(count, rank))
}

/** `(code - zero) * scale`, where a block along an axis has a scale and a zero point. */
function numbers(call: SourceCall, w: Writer, dims: readonly number[], bits: number): Made {
  const axis = normalizeAxis(call.param('quantizeAxis'), dims.length)
  const size = call.param<number>('blockSize') || Math.max(1, dims[axis])
  const blocks = Math.ceil(dims[axis] / size)
  const fills = blocks * size === dims[axis]
  const rows = product(dims.slice(0, -1))
  const [data, scales, zeros] = [call.operand('data'), call.operand('scales'), call.optional('zeros')]
  const around = (middle: readonly number[]): number[] => [...dims.slice(0, axis), ...middle, ...dims.slice(axis + 1)]
  const split = around(fills ? [blocks, size] : [dims[axis]])
  const codes = bits > 0 ? unpacked(w, data, bits, rows, dims[axis], split) : w.reshape(data, split)
  const type = wideType(typeOf(scales))
  const scaleDims = staticDims(scales, 'the scales')
  // A number of each block is broadcast to its elements, or gathered for each where the last block is smaller.
  const spread = (parameter: Made): Made =>
    fills
      ? w.reshape(parameter, [...scaleDims.slice(0, axis), blocks, 1, ...scaleDims.slice(axis + 1)])
      : gathered(w, w.cast(parameter, type), blockOfEach(w, dims[axis], size), axis)
  const zeroCodes =
    zeros && bits > 0 ? unpacked(w, zeros, bits, product(scaleDims.slice(0, -1)), blocks, scaleDims) : zeros
  const middle = bits > 0 ? w.scalar(typeOf(codes), 2 ** (bits - 1)) : undefined
  const decoded = numbersOfCodes(
    w,
    { codes, scales: spread(scales), zeros: zeroCodes ? spread(zeroCodes) : middle },
    type
  )
  return fills ? w.reshape(decoded, dims) : decoded
}

/** Lookups in tables of codes. */
export const blockGatherRules: readonly Conversion[] = expands(gatherBlockQuantized, expandGather)
