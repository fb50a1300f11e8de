import type { Pack, Packed } from '../../op-kit/define.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { DOT_BYTES, DOT_STRIP, dotKind } from '../dots.ts'
import { packByJob } from '../pack.ts'
import { FLIP, spread } from './byte-product.ts'
import type { ConvShape } from './conv-template.ts'

/** Output channels of a strip. */
export const STRIP = 4
/** Output channels from which dot products take less time than Winograd's algorithm. */
const MIN_DOT_CHANNELS = 64
/** Matrices of Winograd's F(2x2, 3x3); see ../assembly/int8/winograd.ts. */
export const POINTS = 16

/** What packs weights. */
export type PackWeights = (...given: Parameters<Pack>) => Generator<void, Packed | undefined>

/**
 * Puts constant weights, with constant zero points, into strips of output channels: of six for dot products, else of
 * four; for Winograd's algorithm into those of its matrices.
 */
export function packOf({ groups, m, channels, taps }: ConvShape, isWinograd: boolean, hasZeros: boolean): PackWeights {
  return function* (given, _, { allocate, threads }) {
    // Read only where all is there: what is read is not kept beside the packed form.
    if (!('w' in given) || 'wZero' in given !== hasZeros) return undefined
    const { w, wZero } = given
    const k = channels * taps
    const zeros = zerosOf(wZero, groups * m)
    const isNarrow = isWinograd && m < MIN_DOT_CHANNELS
    const byDots = !isNarrow && dotKind() !== 'none' && areAll(zeros, w.type === 'uint8' ? FLIP : 0)
    const strips = Math.ceil(m / (byDots ? DOT_STRIP : STRIP))
    const blocks = byDots || !isWinograd ? groups * strips : strips
    const args = [m, k, Number(w.type === 'int8')]
    const kernel = byDots ? 'packDotStrips' : isWinograd ? 'packByteWinograd' : 'packByteStrips'
    const job = { kernel, blocks, elements: groups * m * k, args } as const
    const pairs = Math.ceil((isWinograd ? channels : k) / 2)
    // Behind the elements of a strip for dot products lie their sums, as long as four elements of each channel.
    const target = byDots
      ? allocate('int8', [groups, strips, Math.ceil(k / DOT_BYTES) + 1, DOT_STRIP, DOT_BYTES])
      : allocate('int16', [isWinograd ? POINTS : groups, strips, pairs, STRIP, 2])
    const packed = yield* packByJob(job, [w, new Tensor('int32', zeros, [zeros.length])], target, threads)
    return packed && { w: packed }
  }
}

function areAll(list: Int32Array, value: number): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] !== value) return false
  return true
}

/** The zero point of each output channel. */
export function zerosOf(wZero: Tensor | undefined, channels: number): Int32Array {
  const zeros = new Int32Array(channels)
  if (wZero) spread(wZero.data as Uint8Array, zeros)
  return zeros
}
