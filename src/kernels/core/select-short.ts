import type { AxisLayout } from './axis-layout.ts'
import { chunkSize, COST, Pace } from './pace.ts'
import { keyOfBits, type Selection } from './select-packed.ts'

/** Elements that are compared between two chances to yield. */
const CHUNK = chunkSize(COST.element)
const INFINITY_BITS = 0x7f800000
/** Keys beyond those of infinities. */
const FIRST = 0x7fffffff
const LAST = -0x80000000
/** Up to so many elements are selected without a branch. */
const FEW = 4
/** Positions that fit beside a key, so that sums of two such numbers are exact. */
const POSITIONS = 2 ** 16
/** Beyond all keys with their positions. */
const BEYOND = 2 ** 50

/**
 * Positions as `selectTop` gives them, in lines of float32 of which few elements are selected: these are kept in order,
 * and most others are only compared with the last of them.
 */
export function* selectShort(
  keys: Float32Array,
  { outer, size, inner }: AxisLayout,
  k: number,
  { largest, nan, order }: Selection
): Generator<void, Int32Array> {
  const positions = new Int32Array(outer * k * inner)
  if (positions.length === 0) return positions
  const line: Line = {
    floats: keys,
    bits: new Int32Array(keys.buffer, keys.byteOffset, keys.length),
    step: inner,
    size,
    sign: largest ? 1 : -1,
    flip: largest ? 0 : LAST,
    nanKey: nan === 'smallest' && !largest ? FIRST : LAST
  }
  const [kept, chosen] = [new Int32Array(k), new Int32Array(k)]
  const pace = new Pace()
  for (let o = 0, done = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++, done += size) {
      const first = o * size * inner + i
      if (k <= FEW) selectFew(line, first, chosen)
      else selectLine(line, first, kept, chosen)
      if (order === 'index') chosen.sort()
      for (let j = 0, to = o * k * inner + i; j < k; j++, to += inner) positions[to] = chosen[j]
      if (done < CHUNK) continue
      if (pace.isDue(done * COST.element)) yield
      done = 0
    }
  }
  return positions
}

/** Lines of elements `step` apart. */
interface Line {
  readonly floats: Float32Array
  readonly bits: Int32Array
  readonly step: number
  readonly size: number
  /** What makes the smallest elements the largest: of numbers, and of their bits. */
  readonly sign: number
  readonly flip: number
  readonly nanKey: number
}

const keyOf = (bits: number, nanKey: number): number => ((bits & FIRST) > INFINITY_BITS ? nanKey : keyOfBits(bits))

/** The lower one of two numbers. `Math.min` branches, which is slow where the branch cannot be predicted. */
const lower = (a: number, b: number): number => (a + b - Math.abs(a - b)) * 0.5

/**
 * Every element, packed into a number with its position, goes through the best ones so far; lower is better.
 * @param chosen gets the positions of what is selected of a line
 */
function selectFew({ bits, step, size, flip, nanKey }: Line, first: number, chosen: Int32Array): void {
  const k = chosen.length
  let [a, b, c, d] = [BEYOND, BEYOND, BEYOND, BEYOND]
  for (let n = 0, at = first; n < size; n++, at += step) {
    let item = n - keyOf(bits[at] ^ flip, nanKey) * POSITIONS
    const best = lower(a, item)
    item += a - best
    a = best
    const second = lower(b, item)
    item += b - second
    b = second
    if (k <= 2) continue
    const third = lower(c, item)
    item += c - third
    c = third
    d = lower(d, item)
  }
  chosen[0] = positionIn(a)
  if (k > 1) chosen[1] = positionIn(b)
  if (k > 2) chosen[2] = positionIn(c)
  if (k > 3) chosen[3] = positionIn(d)
}

const positionIn = (item: number): number => item - Math.floor(item / POSITIONS) * POSITIONS

/**
 * @param kept gets the keys of what is selected of a line
 * @param chosen gets its positions
 */
function selectLine(
  { floats, bits, step, size, sign, flip, nanKey }: Line,
  first: number,
  kept: Int32Array,
  chosen: Int32Array
): void {
  const k = chosen.length
  // No comparison with NaN holds, so keys decide until `k` elements are kept, and wherever an element is NaN.
  let last = NaN
  for (let n = 0, at = first; n < size; n++, at += step) {
    if (sign * floats[at] <= last) continue
    const key = keyOf(bits[at] ^ flip, nanKey)
    // Of equal elements the one with the lower position stays.
    if (n >= k && key <= kept[k - 1]) continue
    let place = n < k ? n : k - 1
    for (; place > 0 && kept[place - 1] < key; place--) {
      kept[place] = kept[place - 1]
      chosen[place] = chosen[place - 1]
    }
    kept[place] = key
    chosen[place] = n
    if (n >= k - 1) last = sign * floats[first + chosen[k - 1] * step]
  }
}
