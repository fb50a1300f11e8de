import { QUANTUM } from '../../kernels/core/pace.ts'
import type { Pack, Packed } from '../../op-kit/define.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { DOT_BYTES, DOT_STRIP, dotKind } from '../dots.ts'
import { heapAllocate, heapFree } from '../heap.ts'
import { onTheHeap } from '../pack.ts'
import { spread } from './byte-product.ts'
import type { ConvShape } from './conv-template.ts'

/** Output channels of a strip. */
export const STRIP = 4
/** Output channels from which dot products take less time than Winograd's algorithm. */
const MIN_DOT_CHANNELS = 64
/** What turns a code of uint8 into one of int8. */
export const FLIP = 128
/** Nanoseconds that packing a weight takes. */
const COST_OF_WEIGHT = 1
/** Matrices of Winograd's F(2x2, 3x3); see ../assembly/int8/winograd.ts. */
export const POINTS = 16

/** What packs weights. */
export type PackWeights = (...given: Parameters<Pack>) => Generator<void, Packed | undefined>

/**
 * Puts constant weights, with constant zero points, into strips of four output channels; for Winograd's algorithm into
 * those of its matrices.
 */
export function packOf({ groups, m, channels, taps }: ConvShape, isWinograd: boolean, hasZeros: boolean): PackWeights {
  return function* (given, _, { allocate }) {
    // Read only where all is there: what is read is not kept beside the packed form.
    if (!('w' in given) || 'wZero' in given !== hasZeros) return undefined
    const { w, wZero } = given
    const k = channels * taps
    const zeros = zerosOf(wZero, groups * m)
    const flip = w.type === 'uint8' ? FLIP : 0
    const isNarrow = isWinograd && m < MIN_DOT_CHANNELS
    if (!isNarrow && dotKind() !== 'none' && areAll(zeros, flip))
      return yield* packForDots(w, flip, { groups, m, k }, allocate)
    const strips = Math.ceil(m / STRIP)
    const depth = isWinograd ? channels : k
    const stripBytes = Math.ceil(depth / 2) * STRIP * 4
    const packed = allocate('int16', [isWinograd ? POINTS : groups, strips, Math.ceil(depth / 2), STRIP, 2])
    const isSigned = w.type === 'int8'
    const hasList = !areAll(zeros, 0)
    const list = hasList ? heapAllocate(4 * zeros.length) : undefined
    if (list) new Int32Array(list.buffer, list.byteOffset, zeros.length).set(zeros)
    else if (hasList) return undefined
    try {
      const isDone = yield* inQuanta({ groups, m, k }, STRIP, (group, row, rows) =>
        onTheHeap(w, packed, (compute, source, target) => {
          const channel = group * m + row
          const [from, to] = [source + channel * k, target + (group * strips + row / STRIP) * stripBytes]
          const own = list ? list.byteOffset + 4 * channel : 0
          if (isWinograd) compute.packByteWinograd(from, channels, rows, isSigned, own, strips * stripBytes, to)
          else compute.packByteStrips(from, k, rows, isSigned, own, to)
        })
      )
      return isDone ? { w: packed } : undefined
    } finally {
      if (list) heapFree(list)
    }
  }
}

function areAll(list: Int32Array, value: number): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] !== value) return false
  return true
}

/** Rows of weights, the output channels of each group. */
interface Rows {
  readonly groups: number
  readonly m: number
  readonly k: number
}

/**
 * Packs rows, as many whole strips at once as take a quantum.
 * @param packRows packs some rows of a group; false: it could not
 * @returns false: some could not be packed
 */
function* inQuanta(
  { groups, m, k }: Rows,
  strip: number,
  packRows: (group: number, row: number, rows: number) => boolean
): Generator<void, boolean> {
  const most = QUANTUM / COST_OF_WEIGHT
  const perCall = strip * Math.max(1, Math.floor(most / (strip * k)))
  let packed = 0
  for (let group = 0; group < groups; group++)
    for (let row = 0; row < m; row += perCall) {
      if (packed >= most) {
        packed = 0
        yield
      }
      const rows = Math.min(perCall, m - row)
      if (!packRows(group, row, rows)) return false
      packed += rows * k
    }
  return true
}

/** Puts weights without zero points, but for `flip`, into strips for dot products. */
function* packForDots(
  w: Tensor,
  flip: number,
  sizes: Rows,
  allocate: PackContext['allocate']
): Generator<void, Packed | undefined> {
  const { groups, m, k } = sizes
  const strips = Math.ceil(m / DOT_STRIP)
  // Behind the elements lie their sums, as long as four elements of each channel.
  const fours = Math.ceil(k / DOT_BYTES) + 1
  const packed = allocate('int8', [groups, strips, fours, DOT_STRIP, DOT_BYTES])
  const isDone = yield* inQuanta(sizes, DOT_STRIP, (group, row, rows) =>
    onTheHeap(w, packed, (compute, source, target) => {
      const to = target + (group * strips + row / DOT_STRIP) * fours * DOT_STRIP * DOT_BYTES
      compute.packDotStrips(source + (group * m + row) * k, k, rows, flip, to)
    })
  )
  return isDone ? { w: packed } : undefined
}

/** The zero point of each output channel. */
export function zerosOf(wZero: Tensor | undefined, channels: number): Int32Array {
  const zeros = new Int32Array(channels)
  if (wZero) spread(wZero.data as Uint8Array, zeros)
  return zeros
}
