import type { Numbers } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { convertedPaced } from '../core/convert-paced.ts'
import { doubles, readNumbers, targetOf } from '../core/numbers.ts'
import { COST, inChunks, type Pace } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { copyHeads, headOf, type Heads, headsInBlocks } from './heads.ts'

/** How a cache stores numbers: `number / scale` as codes. */
export interface Coding {
  readonly type: 'int8' | 'float8e4m3fn' | 'uint8'
  /** One scale, or one for each head and column. */
  readonly scales: Numbers
}

/** Bounds of the quotients; bytes hold two codes of 4 bits. */
const BOUNDS = { int8: [-128, 127], uint8: [-8, 7], float8e4m3fn: [-448, 448] } as const

/** Fresh keys or values, the cache that they extend, and where the present cache goes. */
export interface CacheSide {
  readonly fresh: Heads
  readonly past: Tensor | undefined
  readonly present: Tensor | undefined
  readonly coding: Coding | undefined
  /** Whether what codes stand for is computed in single precision, as accelerated kernels read it. */
  readonly isSingle: boolean
}

/** Which rows of the past, of what is attended to and of the present an extended cache has. */
export interface CacheRows {
  /** Rows of what is attended to: those of the past, then the fresh ones. */
  readonly attended: number
  /** Rows of the past that are copied. */
  kept(batch: number): number
  /** Row of the first fresh one. */
  fresh(batch: number): number
  /** Which of the rows the present has; undefined: all of them. */
  readonly slides?: { from(batch: number): number; count(batch: number): number; readonly rows: number } | undefined
}

/**
 * Appends fresh rows to a cache: what is then attended to. Also writes the present cache, every element of it; where it
 * is the past itself, only the fresh rows.
 */
export function* extendCache(side: CacheSide, rows: CacheRows, batches: number, pace: Pace): Generator<void, Heads> {
  const { past, present, coding, isSingle } = side
  const { count, size } = side.fresh
  const length = batches * count * rows.attended * size
  const make = isSingle ? singles : doubles
  // Codes of a byte each are moved as they are.
  const areMoved = !rows.slides && (!coding || coding.type === 'int8')
  const target = present && areMoved ? targetOf(present) : undefined
  const isInPlace = past !== undefined && target?.numbers === past.data
  const numbers = target?.numbers ?? make(length)
  const stored = headsInBlocks(numbers, count, rows.attended, size)
  if (past) {
    const earlier = headsInBlocks(yield* readCache(past, coding), count, past.dims[2], size)
    yield* copyHeads(earlier, stored, batches, pace, { count: rows.kept })
  }
  const fresh = coding ? yield* encodedHeads(side.fresh, batches, coding, pace) : side.fresh
  yield* copyHeads(fresh, stored, batches, pace, { to: rows.fresh })
  if (target && !isInPlace) clearBeyond(stored, batches, rows, fresh.length)
  if (target) yield* target.finish()
  else if (present) yield* storePresent(present, stored, rows, batches, coding, pace)
  if (!coding) return stored
  const decoded = target ? { ...stored, numbers: make(length) } : stored
  yield* decodeHeads(stored, decoded, batches, coding.scales, pace)
  return decoded
}

const singles = (count: number): Float32Array => allocate('float32', [count]).data

/** Zeros in the rows that neither the past nor the fresh rows fill: a result may hold anything before. */
function clearBeyond(stored: Heads, batches: number, { kept, fresh }: CacheRows, count: number): void {
  for (let batch = 0; batch < batches; batch++) {
    const end = Math.max(kept(batch), fresh(batch) + count)
    for (let head = 0; head < stored.count; head++) {
      const { data, offset, rowStride } = headOf(stored, batch, head)
      data.fill(0, offset + end * rowStride, offset + stored.length * rowStride)
    }
  }
}

/** The elements of a cache as they are stored, codes of 4 bits one by one; rows have an even number of them. */
function* readCache(cache: Tensor, coding: Coding | undefined): Generator<void, Numbers> {
  if (coding?.type !== 'uint8') return yield* readNumbers(cache)
  const bytes = cache.data as Uint8Array
  const codes = new Int8Array(bytes.length * 2)
  yield* inChunks(bytes.length, (from, to) => {
    for (let i = from; i < to; i++) {
      codes[2 * i] = (bytes[i] & 15) - 8
      codes[2 * i + 1] = (bytes[i] >> 4) - 8
    }
  })
  return codes
}

/** What a cache stores of heads: integers, ties to even, or numbers rounded to the type of the cache. */
function* encodedHeads(heads: Heads, batches: number, { type, scales }: Coding, pace: Pace): Generator<void, Heads> {
  const { count, length, size } = heads
  const work = allocate('float32', [batches, count, length, size])
  const encoded = headsInBlocks(work.data, count, length, size)
  yield* copyHeads(heads, encoded, batches, pace)
  const [low, high] = BOUNDS[type]
  yield* changeHeads(encoded, batches, scales, pace, (x, scale) => {
    const quotient = Math.max(low, Math.min(high, x / scale))
    return type === 'float8e4m3fn' ? quotient : roundHalfToEven(quotient)
  })
  if (type !== 'float8e4m3fn') return encoded
  const rounded = yield* convertedPaced(yield* convertedPaced(work, type), 'float32')
  return { ...encoded, numbers: rounded.data }
}

/** What codes stand for. */
function* decodeHeads(
  { numbers, count, length, size }: Heads,
  target: Heads,
  batches: number,
  scales: Numbers,
  pace: Pace
): Generator<void> {
  const to = target.numbers
  for (let at = 0; at < batches * count * length; at++) {
    const start = at * size
    const end = start + size
    if (scales.length === 1) for (let i = start; i < end; i++) to[i] = numbers[i] * scales[0]
    else {
      const first = (Math.floor(at / length) % count) * size - start
      for (let i = start; i < end; i++) to[i] = numbers[i] * scales[first + i]
    }
    if (pace.isDue(size * COST.element)) yield
  }
}

function* changeHeads(
  heads: Heads,
  batches: number,
  scales: Numbers,
  pace: Pace,
  change: (x: number, scale: number) => number
): Generator<void> {
  if (heads.size === 0 || heads.length === 0) return
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < heads.count; head++) {
      const { data, offset, rowStride } = headOf(heads, batch, head)
      for (let row = 0; row < heads.length; row++) {
        for (let i = 0, at = offset + row * rowStride; i < heads.size; i++, at++)
          data[at] = change(data[at], scales.length === 1 ? scales[0] : scales[head * heads.size + i])
        if (pace.isDue(heads.size * COST.element)) yield
      }
    }
  }
}

/** Writes what is stored into the present cache, the last rows first where rows slide. */
function* storePresent(
  present: Tensor,
  stored: Heads,
  { slides }: CacheRows,
  batches: number,
  coding: Coding | undefined,
  pace: Pace
): Generator<void> {
  const { count, size } = stored
  let from = stored
  if (slides) {
    from = headsInBlocks(doubles(batches * count * slides.rows * size), count, slides.rows, size)
    yield* copyHeads(stored, from, batches, pace, { from: slides.from, count: slides.count })
  }
  if (coding?.type === 'uint8') return yield* packCodes(from.numbers, present.data as Uint8Array)
  const target = targetOf(present)
  target.numbers.set(from.numbers)
  yield* target.finish()
}

/** Packs codes of 4 bits, two into a byte: the first in the low half. */
function* packCodes(codes: Numbers, bytes: Uint8Array): Generator<void> {
  yield* inChunks(bytes.length, (from, to) => {
    for (let i = from; i < to; i++) bytes[i] = (codes[2 * i] + 8) | ((codes[2 * i + 1] + 8) << 4)
  })
}

/**
 * Rows of a cache of `capacity` rows that holds the last positions only, after `tokens` of them: where it is full, rows
 * leave in groups, so that at least a window stays.
 */
export function residentRows(tokens: number, capacity: number, window: number): number {
  if (tokens <= capacity) return tokens
  const group = capacity - window + 1
  return tokens - group * Math.ceil((tokens - capacity) / group)
}
