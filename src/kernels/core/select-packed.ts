import type { Numbers } from '../../tensor/elements.ts'
import type { AxisLayout } from './axis-layout.ts'
import { chunkSize, COST, Pace } from './pace.ts'
import { sortNumbers } from './sort.ts'

/** Which elements `selectTop` selects, and their order. */
export interface Selection {
  /** Selects the largest keys, else the smallest. */
  readonly largest: boolean
  /** NaN comes after every number, or counts as smaller than every number. */
  readonly nan: 'last' | 'smallest'
  /** Order of the selected positions: best key first, or ascending. */
  readonly order: 'value' | 'index'
}

/** Positions that fit into a number beside the 32 bits of a key: 53 bits in all. */
export const MAX_PACKED = 2 ** 21

/** Elements of a line that are compared between two chances to yield. */
const CHUNK = chunkSize(COST.element)
/** Items that sink between two looks at the clock. */
const SINKS = 256
/** Up to so many items are kept in order, which takes less than a heap. */
const FEW = 16
/** Lines of so many elements are packed as a whole, if few are selected. */
const SHORT = 128
/** Where more than one of so many elements is selected, those that are come to the front of all. */
const PARTED = 8
/** Rounds in which these are found; pivots are bad where there would be more. */
const MAX_ROUNDS = 64

/** Whether few elements of a short line are selected. */
export const isShort = (k: number, size: number): boolean => k <= FEW && size <= SHORT

/** An array whose elements, and NaN, have keys of 32 bits. */
export const hasNarrowKeys = (keys: Numbers): boolean => !(keys instanceof Float64Array)

const FLOAT = new Float32Array(1)
const BITS = new Int32Array(FLOAT.buffer)

/** An integer in the order of a float32 with these bits; of NaN one beyond that of infinity. */
export function keyOfBits(bits: number): number {
  const sign = bits >> 31
  return ((bits & 0x7fffffff) ^ sign) - sign
}

/** A key above its position as one number: lower for a higher key, and of equal keys for a lower position. */
export const packed = (key: number, position: number): number => position - key * MAX_PACKED

/** The position in a {@link packed} number. */
export const positionIn = (item: number): number => item - Math.floor(item / MAX_PACKED) * MAX_PACKED

/** A line of elements `step` apart, whose highest ones are selected; `sign` is -1 where it is the lowest. */
interface Line {
  readonly keys: Numbers
  first: number
  readonly step: number
  readonly size: number
  readonly sign: number
  readonly areFloats: boolean
  /** The key of NaN. */
  readonly nanKey: number
}

/**
 * Positions as `selectTop` gives them, of keys of at most 32 bits in lines of at most {@link MAX_PACKED}. An element
 * that may be selected is packed into a number with its position, so that items are compared at once, and none are
 * equal.
 */
export function* selectPacked(
  keys: Numbers,
  { outer, size, inner }: AxisLayout,
  k: number,
  { largest, nan, order }: Selection,
  per: number
): Generator<void, Int32Array> {
  const positions = new Int32Array(outer * k * inner)
  if (positions.length === 0) return positions
  const nanFirst = nan === 'smallest' && !largest
  const line: Line = {
    keys,
    first: 0,
    step: inner * per,
    size,
    sign: largest ? 1 : -1,
    areFloats: keys instanceof Float32Array,
    nanKey: nanFirst ? 2 ** 31 : -(2 ** 31)
  }
  // From here on to part all takes less than a heap, and in long lines to sort them.
  const takesAll = isShort(k, size) || (size <= CHUNK ? k > FEW && PARTED * k > size : 4 * k > size)
  const items = new Float64Array(takesAll ? size : k)
  const chosen = new Int32Array(k)
  const pace = new Pace()
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      line.first = (o * size * inner + i) * per
      if (size <= CHUNK) chooseAtOnce(line, items, k)
      else yield* choose(line, items, pace)
      for (let j = 0; j < k; j++) chosen[j] = positionIn(items[j])
      if (order === 'index') yield* sortNumbers(chosen)
      const start = o * k * inner + i
      for (let j = 0; j < k; j++) positions[start + j * inner] = chosen[j]
      if (pace.isDue(size * COST.element)) yield
    }
  }
  return positions
}

/** Fills `items` with the best of a line, best first. */
function* choose(line: Line, items: Float64Array, pace: Pace): Generator<void> {
  yield* packLine(line, items, pace)
  if (items.length < line.size) yield* takeBest(line, items, pace)
  yield* sortNumbers(items)
}

/** {@link choose} of a short line: generators would take longer than many a line. The first `k` items are chosen. */
function chooseAtOnce(line: Line, items: Float64Array, k: number): void {
  packRange(line, items, 0, items.length)
  if (isShort(k, line.size)) return lowestInOrder(items, k)
  if (items.length > k) {
    lowestToFront(items, k)
    items.subarray(0, k).sort()
    return
  }
  const isFew = k <= FEW
  if (isFew) sortFew(items)
  if (k < line.size) {
    for (let i = (k >> 1) - 1; i >= 0 && !isFew; i--) sink(items, i, items[i])
    takeRange(line, items, k, line.size)
  }
  if (isFew) items.reverse()
  else items.sort()
}

/** Brings the `k` lowest items to the front, the lowest first, by insertion. */
function lowestInOrder(items: Float64Array, k: number): void {
  for (let i = 1; i < items.length; i++) {
    const item = items[i]
    let at = Math.min(i, k)
    if (at === k && item >= items[k - 1]) continue
    if (at === k) at--
    for (; at > 0 && items[at - 1] > item; at--) items[at] = items[at - 1]
    items[at] = item
  }
}

/** Brings the `k` lowest items to the front, in any order: Hoare's selection. */
function lowestToFront(items: Float64Array, k: number): void {
  let [low, high] = [0, items.length - 1]
  for (let round = 0; low < high; round++) {
    if (round === MAX_ROUNDS) return void items.subarray(low, high + 1).sort()
    const pivot = medianOf(items[low], items[(low + high) >> 1], items[high])
    let [i, j] = [low, high]
    while (i <= j) {
      while (items[i] < pivot) i++
      while (items[j] > pivot) j--
      if (i > j) break
      const item = items[i]
      items[i++] = items[j]
      items[j--] = item
    }
    if (k - 1 <= j) high = j
    else if (k - 1 >= i) low = i
    else return
  }
}

const medianOf = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))

/** Sorts by insertion, the highest first. */
function sortFew(items: Float64Array): void {
  for (let i = 1; i < items.length; i++) {
    const item = items[i]
    let at = i
    for (; at > 0 && items[at - 1] < item; at--) items[at] = items[at - 1]
    items[at] = item
  }
}

/** Puts an item, lower than the first one, in its place among items that descend, which are a heap too. */
function insert(items: Float64Array, item: number): void {
  let at = 0
  for (; at + 1 < items.length && items[at + 1] > item; at++) items[at] = items[at + 1]
  items[at] = item
}

function packElement({ areFloats, nanKey }: Line, value: number, position: number): number {
  if (!areFloats) return packed(value, position)
  if (value !== value) return packed(nanKey, position)
  FLOAT[0] = value
  return packed(keyOfBits(BITS[0]), position)
}

/** Fills `items` with the first elements of a line. */
function* packLine(line: Line, items: Float64Array, pace: Pace): Generator<void> {
  for (let from = 0; from < items.length; from += CHUNK) {
    const to = Math.min(items.length, from + CHUNK)
    packRange(line, items, from, to)
    if (pace.isDue((to - from) * COST.element)) yield
  }
}

function packRange(line: Line, items: Float64Array, from: number, to: number): void {
  const { keys, first, step, sign } = line
  if (keys instanceof Float32Array && sign === 1) return packFloats(line, keys, items, from, to)
  for (let n = from, at = first + from * step; n < to; n++, at += step) items[n] = packElement(line, sign * keys[at], n)
}

function packFloats(
  { first, step, nanKey }: Line,
  keys: Float32Array,
  items: Float64Array,
  from: number,
  to: number
): void {
  const bits = new Int32Array(keys.buffer, keys.byteOffset, keys.length)
  for (let n = from, at = first + from * step; n < to; n++, at += step)
    items[n] = packed(keys[at] === keys[at] ? keyOfBits(bits[at]) : nanKey, n)
}

/** Puts the best of a line into `items`, which hold the first ones: by a heap whose root is the last of them. */
function* takeBest(line: Line, items: Float64Array, pace: Pace): Generator<void> {
  const k = items.length
  if (k <= FEW) sortFew(items)
  for (let end = k >> 1; end > 0; end -= SINKS) {
    for (let i = end - 1; i >= Math.max(0, end - SINKS); i--) sink(items, i, items[i])
    if (pace.isDue(4 * SINKS * COST.element)) yield
  }
  // Measured: 1.7 µs for a heap of 2^20, where each comparison misses the cache.
  const sinkCost = Math.ceil(Math.log2(k + 1)) * COST.element
  for (let from = k; from < line.size; from += CHUNK) {
    const to = Math.min(line.size, from + CHUNK)
    const taken = takeRange(line, items, from, to)
    if (pace.isDue((to - from) * COST.element + taken * sinkCost)) yield
  }
}

/**
 * Takes elements `from <= n < to` that come before the last item.
 * @returns how many these were
 */
function takeRange(line: Line, items: Float64Array, from: number, to: number): number {
  const { keys, first, step, sign } = line
  const end = first + to * step
  const pass = keys instanceof Float32Array ? passFloats : keys instanceof Int32Array ? passWords : passAny
  let taken = 0
  let last = sign * keys[first + positionIn(items[0]) * step]
  for (let at = first + from * step; ; at += step) {
    at = pass(keys as Float32Array & Int32Array, at, end, step, sign, last)
    if (at >= end) return taken
    const item = packElement(line, sign * keys[at], (at - first) / step)
    if (item >= items[0]) continue
    if (items.length <= FEW) insert(items, item)
    else sink(items, 0, item)
    last = sign * keys[first + positionIn(items[0]) * step]
    taken++
  }
}

/**
 * Where the first element is that may come before `last`, from `at` on. Equal elements come after those of lower
 * positions; what does not compare is NaN, or meets one.
 */
function passAny(keys: Numbers, at: number, end: number, step: number, sign: number, last: number): number {
  while (at < end && sign * keys[at] <= last) at += step
  return at
}

/** {@link passAny} of float32: one loop for the highest and one for the lowest, four elements at a time. */
function passFloats(keys: Float32Array, at: number, end: number, step: number, sign: number, last: number): number {
  const [second, third] = [2 * step, 3 * step]
  const bound = sign * last
  const stop = end - third
  if (sign === 1)
    while (at < stop) {
      if (!(keys[at] <= bound && keys[at + step] <= bound && keys[at + second] <= bound && keys[at + third] <= bound))
        break
      at += 4 * step
    }
  else
    while (at < stop) {
      if (!(keys[at] >= bound && keys[at + step] >= bound && keys[at + second] >= bound && keys[at + third] >= bound))
        break
      at += 4 * step
    }
  return passAny(keys, at, end, step, sign, last)
}

/** {@link passFloats} of integers of 32 bits, as halves of those of 64 are. */
function passWords(keys: Int32Array, at: number, end: number, step: number, sign: number, last: number): number {
  const [second, third] = [2 * step, 3 * step]
  const stop = sign === 1 ? end - third : 0
  while (at < stop) {
    if (keys[at] > last || keys[at + step] > last || keys[at + second] > last || keys[at + third] > last) break
    at += 4 * step
  }
  return passAny(keys, at, end, step, sign, last)
}

/** Puts an item in the place of the one at `at`, from where it sinks. */
function sink(items: Float64Array, at: number, item: number): void {
  const end = items.length
  for (let child = 2 * at + 1; child < end; child = 2 * at + 1) {
    if (child + 1 < end && items[child + 1] > items[child]) child++
    if (item >= items[child]) break
    items[at] = items[child]
    at = child
  }
  items[at] = item
}
