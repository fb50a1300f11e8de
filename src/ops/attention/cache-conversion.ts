import { sizeOf } from '../../op-kit/conversion-attention.ts'
import { stacked } from '../../op-kit/conversion-kit.ts'
import { add, clamped, div, mul, part, plus, rounded, sub, times } from '../../op-kit/conversion-parts.ts'
import { reshapedBy, sizeAt } from '../../op-kit/conversion-sizes.ts'
import { dimsOf, type Made, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'

// Caches of keys and values in codes: integers of 8 bits, floats of 8 bits, or two integers of 4 bits a byte, the first
// in the low bits, each 8 more than it stands for. Codes are numbers of the type in which attention is computed.

const bitsOf = (call: SourceCall): number => call.param<number>('bits')

const scaleOf = (call: SourceCall, w: Writer, side: number, type: DType): Made => {
  const scale = w.cast(call.operand(side === 0 ? 'keyScale' : 'valueScale'), type)
  return dimsOf(scale).length === 4 ? scale : w.reshape(scale, [])
}

/** The codes of fresh heads; the heads themselves where the cache holds numbers. */
export function encoded(call: SourceCall, w: Writer, heads: Made, side: number): Made {
  const bits = bitsOf(call)
  if (bits === 0) return heads
  const quotient = div(w, heads, scaleOf(call, w, side, typeOf(heads)))
  if (cacheType(call) === 'float8e4m3fn')
    return w.cast(w.cast(clamped(w, quotient, -448, 448), 'float8e4m3fn'), typeOf(heads))
  const limit = 2 ** (bits - 1)
  return clamped(w, rounded(w, quotient), -limit, limit - 1)
}

/** The codes of a cache. */
export function decoded(call: SourceCall, w: Writer, cache: Made, like: Made): Made {
  if (bitsOf(call) !== 4) return w.cast(cache, typeOf(like))
  const bytes = w.cast(cache, 'int32')
  const high = div(w, bytes, w.scalar('int32', 16))
  const low = sub(w, bytes, mul(w, high, w.scalar('int32', 16)))
  const pairs = stacked(w, [low, high], 4)
  const sizes = [0, 1, 2].map(axis => sizeAt(w, cache, axis))
  return w.cast(plus(w, reshapedBy(w, pairs, [...sizes, sizeOf(like)]), -8), typeOf(like))
}

/** What codes stand for. */
export const fromCodes = (call: SourceCall, w: Writer, codes: Made, side: number): Made =>
  bitsOf(call) === 0 ? codes : mul(w, codes, scaleOf(call, w, side, typeOf(codes)))

/** Codes as a cache holds them. */
export function asCodes(call: SourceCall, w: Writer, codes: Made): Made {
  const type = cacheType(call)
  if (bitsOf(call) !== 4) return w.cast(codes, type)
  const size = sizeOf(codes)
  const sizes = [0, 1, 2].map(axis => sizeAt(w, codes, axis))
  const pairs = reshapedBy(w, plus(w, codes, 8), [...sizes, size / 2, 2])
  const [low, high] = [0, 1].map(at => part(w, pairs, 4, at, at + 1))
  const bytes = add(w, low, times(w, high, 16))
  return w.cast(reshapedBy(w, bytes, [...sizes, size / 2]), type)
}

/** The type of the cache: that of the past and of the present. */
function cacheType(call: SourceCall): DType {
  const past = call.optional('pastKey')
  const present = call.results.at(1)
  if (past) return typeOf(past)
  return present?.kind === 'tensor' && present.type !== undefined ? present.type : typeOf(call.operand('query'))
}
