import type { DType } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { decodeFloat, isCodedFloat } from '../../tensor/floats.ts'
import { product, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { doubles } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { codeAt, codePerBlock, middleOf } from './packed.ts'

/** Data in codes, in blocks along one axis that have a scale and a zero point each. */
export interface BlockQuantized {
  /** Dims in elements: codes of a byte are apart. */
  readonly dims: readonly number[]
  readonly codes: Uint8Array | Int8Array
  /** Bits of a code where a byte holds several of them, along the last axis; else 8. */
  readonly bits: number
  /** The values of codes that are floats. */
  readonly values: Float64Array | undefined
  readonly scales: Numbers
  /** Dims of the scales: blocks along the axis of blocks; 1 where one serves a whole axis. */
  readonly scaleDims: readonly number[]
  readonly axis: number
  readonly blockSize: number
  /** Zero point of the scale at a position. */
  readonly zeroOf: (scale: number) => number
}

/** The values of all codes of a float type of a byte or less. */
export const valuesOf = (type: DType): Float64Array | undefined =>
  isCodedFloat(type) ? Float64Array.from({ length: 256 }, (_, code) => decodeFloat(type, code)) : undefined

/** Zero points that lie as the scales do, one a byte; or packed as the codes are; the default of each without them. */
export function zeroPointsOf(
  zeros: Tensor | undefined,
  bits: number,
  isPacked: boolean,
  blocks: number
): (scale: number) => number {
  if (zeros === undefined) {
    const zero = isPacked ? middleOf(bits)(0, 0) : 0
    return () => zero
  }
  const codes = zeros.data as Uint8Array
  if (!isPacked) return scale => codes[scale]
  const zeroOf = codePerBlock(codes, 0, blocks, bits)
  return scale => zeroOf(Math.floor(scale / blocks), scale % blocks)
}

/**
 * Takes slices of quantized data along an axis, `(code - zero point) * scale`.
 * @param positions along the axis; -1 leaves a slice as it is
 * @param out zeros
 */
export function* gatherQuantized(
  data: BlockQuantized,
  positions: Positions,
  gatherAxis: number,
  out: Numbers
): Generator<void> {
  const { dims } = data
  const last = dims.length - 1
  const strides = stridesOf(dims)
  const inLines = gatherAxis < last
  const length = inLines ? dims[last] : 1
  const inner = product(dims, gatherAxis + 1)
  const scaleAt = scaleOffsets(data)
  const ofData = (axis: number, position: number): number => position * strides[axis]
  const axes = dims.map((_, axis) => axis)
  const outer = axes.slice(0, gatherAxis)
  const lines = inLines ? axes.slice(gatherAxis + 1, last) : []
  const outerData = yield* offsetsOf(dims, outer, ofData)
  const outerScales = yield* offsetsOf(dims, outer, scaleAt)
  const lineData = yield* offsetsOf(dims, lines, ofData)
  const lineScales = yield* offsetsOf(dims, lines, scaleAt)
  const pace = new Pace()
  let to = 0
  for (let o = 0; o < outerData.length; o++) {
    for (const position of positions) {
      if (position < 0) to += inner
      else {
        const element = outerData[o] + ofData(gatherAxis, position)
        const scale = outerScales[o] + scaleAt(gatherAxis, position)
        for (let line = 0; line < lineData.length; line++, to += length) {
          decodeLine(data, element + lineData[line], scale + lineScales[line], length, out, to)
          if (pace.isDue((length + 2) * COST.copy * 2)) yield
        }
      }
    }
    if (pace.isDue(positions.length * COST.copy)) yield
  }
}

/** How far the scale of an element moves with its position along an axis. */
function scaleOffsets({
  scaleDims,
  axis: quantized,
  blockSize
}: BlockQuantized): (axis: number, position: number) => number {
  const strides = stridesOf(scaleDims)
  return (axis, position) => {
    if (axis === quantized) return Math.floor(position / blockSize) * strides[axis]
    return scaleDims[axis] === 1 ? 0 : position * strides[axis]
  }
}

/** The offset of each position of some axes, in row-major order. */
function* offsetsOf(
  dims: readonly number[],
  axes: readonly number[],
  at: (axis: number, position: number) => number
): Generator<void, Float64Array> {
  let offsets: Float64Array = Float64Array.of(0)
  for (const axis of axes) {
    const before = offsets
    const next = doubles(before.length * dims[axis])
    yield* inChunks(next.length, (from, to) => {
      for (let i = from; i < to; i++) next[i] = before[Math.floor(i / dims[axis])] + at(axis, i % dims[axis])
    })
    offsets = next
  }
  return offsets
}

/** Decodes neighbours along the last axis, from its start on, or a single element. */
function decodeLine(
  data: BlockQuantized,
  element: number,
  scale: number,
  count: number,
  out: Numbers,
  to: number
): void {
  const { dims, scaleDims, scales, axis, blockSize, zeroOf } = data
  const last = dims.length - 1
  if (axis === last) {
    for (let from = 0; from < count; from += blockSize, scale++)
      decodeBlock(data, element + from, Math.min(blockSize, count - from), scales[scale], zeroOf(scale), out, to + from)
  } else {
    const step = scaleDims[last] === 1 ? 0 : 1
    for (let i = 0; i < count; i++, scale += step)
      decodeBlock(data, element + i, 1, scales[scale], zeroOf(scale), out, to + i)
  }
}

function decodeBlock(
  { codes, bits, values }: BlockQuantized,
  element: number,
  count: number,
  scale: number,
  zero: number,
  out: Numbers,
  to: number
): void {
  for (let i = 0; i < count; i++) {
    const code = bits === 8 ? codes[element + i] : codeAt(codes as Uint8Array, 0, element + i, bits)
    out[to + i] = (values === undefined ? code - zero : values[code]) * scale
  }
}
