import type { Numbers } from '../../tensor/elements.ts'
import { COST, inChunks } from '../core/pace.ts'
import { keyOfBits, MAX_PACKED, packed, positionIn } from '../core/select-packed.ts'
import { sortNumbers, sortPaced } from '../core/sort.ts'

/**
 * Boxes `[y1, x1, y2, x2]`, four numbers each. Computed in float32 as the runtimes do, since comparisons with a
 * threshold may depend on the last bit.
 */
export type Boxes = Float32Array

/** Writes the box whose numbers are from `p` on to `boxes`, from `q` on. */
export type ReadBox = (numbers: Numbers, p: number, boxes: Boxes, q: number) => void

/** Reads two opposite corners `[y1, x1, y2, x2]`, in either order. */
export const fromCorners: ReadBox = (numbers, p, boxes, q) => {
  boxes[q] = Math.min(numbers[p], numbers[p + 2])
  boxes[q + 1] = Math.min(numbers[p + 1], numbers[p + 3])
  boxes[q + 2] = Math.max(numbers[p], numbers[p + 2])
  boxes[q + 3] = Math.max(numbers[p + 1], numbers[p + 3])
}

/** Reads `[center x, center y, width, height]`. */
export const fromCenters: ReadBox = (numbers, p, boxes, q) => {
  const halfWidth = Math.fround(numbers[p + 2] / 2)
  const halfHeight = Math.fround(numbers[p + 3] / 2)
  boxes[q] = numbers[p + 1] - halfHeight
  boxes[q + 1] = numbers[p] - halfWidth
  boxes[q + 2] = numbers[p + 1] + halfHeight
  boxes[q + 3] = numbers[p] + halfWidth
}

export function* readBoxes(read: ReadBox, numbers: Numbers): Generator<void, Boxes> {
  const boxes = new Float32Array(numbers.length)
  yield* inChunks(
    boxes.length / 4,
    (from, to) => {
      for (let i = 4 * from; i < 4 * to; i += 4) read(numbers, i, boxes, i)
    },
    4 * COST.element
  )
  return boxes
}

const round = Math.fround

/**
 * Intersection over union of two boxes; 0 where one has no area, or where they are disjoint.
 * @param p index of the first number of one box
 * @param q index of the first number of the other box
 * @param extra added to every side length: 1 where the second corner is the last pixel inside the box
 * @param isExtended whether boxes that are less than `extra` apart overlap, too: each reaches so much further
 */
export function overlap(boxes: Boxes, p: number, q: number, extra = 0, isExtended = false): number {
  // Most boxes are disjoint, so that is found out first.
  const height = round(Math.min(boxes[p + 2], boxes[q + 2]) - Math.max(boxes[p], boxes[q]))
  if (!(isExtended ? height + extra > 0 : height >= 0)) return 0
  const width = round(Math.min(boxes[p + 3], boxes[q + 3]) - Math.max(boxes[p + 1], boxes[q + 1]))
  if (!(isExtended ? width + extra > 0 : width >= 0)) return 0
  return share(height, width, area(boxes, p, extra), area(boxes, q, extra), extra)
}

/** Intersection over union from the sides of the intersection and the two areas. */
function share(height: number, width: number, areaP: number, areaQ: number, extra: number): number {
  if (!(areaP > 0 && areaQ > 0)) return 0
  const shared = round(round(height + extra) * round(width + extra))
  return round(shared / round(round(areaP + areaQ) - shared))
}

const area = (boxes: Boxes, p: number, extra: number): number =>
  round(round(round(boxes[p + 2] - boxes[p]) + extra) * round(round(boxes[p + 3] - boxes[p + 1]) + extra))

/** The boxes that have been kept so far. */
export interface KeptBoxes {
  /** Begins anew, with boxes that are counted from another one on: memory is made once for many classes. */
  from(start: number): this
  add(box: number): void
  /** The place among them of the first that overlaps a box more than `iou`; -1: none does. */
  find(box: number, iou: number): number
}

/** Kept boxes with their numbers side by side, for {@link overlap} with one box after the other. */
export function keptBoxes(read: ReadBox, numbers: Numbers): KeptBoxes {
  // The box at 0 is the one that was asked for last; those that are kept follow.
  let boxes = new Float32Array(32 * 4)
  let bits = bitsOf(boxes)
  let order = new Int32Array(boxes.length)
  let areas = new Float32Array(boxes.length / 4)
  let start = 0
  let count = 0
  let current = -1
  const load = (box: number): void => {
    if (box === current) return
    read(numbers, 4 * (start + box), boxes, 0)
    for (let i = 0; i < 4; i++) order[i] = keyOfBits(bits[i]) >> 1
    areas[0] = area(boxes, 0, 0)
    current = box
  }
  return {
    from(first) {
      start = first
      count = 0
      current = -1
      return this
    },
    add(box) {
      load(box)
      const at = 4 * ++count
      if (at === boxes.length) {
        boxes = longer(boxes, new Float32Array(2 * at))
        bits = bitsOf(boxes)
        order = longer(order, new Int32Array(2 * at))
        areas = longer(areas, new Float32Array(at / 2))
      }
      // A loop, since `copyWithin` takes longer to start.
      for (let i = 0; i < 4; i++) {
        boxes[at + i] = boxes[i]
        order[at + i] = order[i]
      }
      areas[count] = areas[0]
    },
    find(box, iou) {
      load(box)
      // An overlap of 0, too, is more than a threshold below 0.
      if (!(iou < 0)) return firstOver(boxes, order, areas, count, iou)
      for (let i = 0; i < count; i++) if (overlapOfFirst(boxes, areas, i + 1) > iou) return i
      return -1
    }
  }
}

/** {@link overlap} of the first box and another, whose areas are known. */
function overlapOfFirst(boxes: Boxes, areas: Float32Array, other: number): number {
  const q = 4 * other
  const height = round(Math.min(boxes[2], boxes[q + 2]) - Math.max(boxes[0], boxes[q]))
  const width = round(Math.min(boxes[3], boxes[q + 3]) - Math.max(boxes[1], boxes[q + 1]))
  return height >= 0 && width >= 0 ? share(height, width, areas[0], areas[other], 0) : 0
}

/** Less than 1 by more than the products and quotients of an overlap are rounded by. */
const NEARLY_ONE = 1 - 2 ** -20

/**
 * The first of the kept boxes that overlaps the box in front of them more than `iou`, which is not below 0; -1: none.
 * Many do not meet it, and no one knows on which side, so that one sign says whether a side of one lies beyond the
 * other; of those that do few come near the threshold, and only these are divided.
 * @param order integers of 31 bits in the order of the numbers: what is equal there may differ in its last bit
 */
function firstOver(boxes: Boxes, order: Int32Array, areas: Float32Array, count: number, iou: number): number {
  const area = areas[0]
  // Neither has a box that is no box, of which a number may be none, an overlap of more than 0.
  if (!(area > 0)) return -1
  const [top, left, bottom, right] = [order[0], order[1], order[2], order[3]]
  const [y, x, endY, endX] = [boxes[0], boxes[1], boxes[2], boxes[3]]
  const least = iou * NEARLY_ONE
  for (let i = 1, q = 4; i <= count; i++, q += 4) {
    const gaps = (bottom - order[q]) | (order[q + 2] - top) | (right - order[q + 1]) | (order[q + 3] - left)
    if (gaps < 0) continue
    const height = round((endY < boxes[q + 2] ? endY : boxes[q + 2]) - (y > boxes[q] ? y : boxes[q]))
    const width = round((endX < boxes[q + 3] ? endX : boxes[q + 3]) - (x > boxes[q + 1] ? x : boxes[q + 1]))
    const shared = round(height * width)
    const all = round(round(area + areas[i]) - shared)
    if (shared < least * all || !(height >= 0 && width >= 0 && areas[i] > 0)) continue
    if (round(shared / all) > iou) return i - 1
  }
  return -1
}

function longer<T extends Float32Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/**
 * The candidates, which are indices of scores, by descending score; of equal scores the lower index comes first. For
 * the best of all scores there is `selectTop` in `../core/select.ts`.
 */
export function* byScore(candidates: readonly number[], scores: ArrayLike<number>): Generator<void, number[]> {
  if (scores instanceof Float32Array && scores.length <= MAX_PACKED) {
    const bits = bitsOf(scores)
    const keys = Float64Array.from(candidates, i => packed(keyOfBits(bits[i]), i))
    yield* sortNumbers(keys)
    return Array.from(keys, positionIn)
  }
  const sorted = candidates.slice()
  yield* sortPaced(sorted, (a, b) => scores[b] - scores[a] || a - b)
  return sorted
}

/** Which scores are high enough; undefined: all. */
export interface Floor {
  readonly minScore: number | undefined
  /** Whether a score that is equal to the least one is. */
  readonly takesEqual: boolean
}

export const accepts = (score: number, { minScore, takesEqual }: Floor): boolean =>
  minScore === undefined || score > minScore || (takesEqual && score === minScore)

/** Gives indices of scores one by one, in the order of {@link byScore}; -1 after the last one. */
export type NextBest = () => number

/** Arrays for {@link acceptedByScore}, which one class after the other may use. */
export interface ScoreBuffers {
  readonly accepted: Int32Array
  readonly items: Float64Array
}

/** @param count scores of a class; more than are packed need none */
export function buffersFor(count: number): ScoreBuffers {
  const size = count <= MAX_PACKED ? count : 0
  return { accepted: new Int32Array(size), items: new Float64Array(size) }
}

/**
 * The indices of the scores that are high enough. Only few may be asked for.
 * @param buffers are in use until no more are asked for
 */
export function* acceptedByScore(
  scores: ArrayLike<number>,
  floor: Floor,
  { accepted, items }: ScoreBuffers
): Generator<void, NextBest> {
  if (!(scores instanceof Float32Array) || scores.length > MAX_PACKED) {
    const sorted = yield* byScore(yield* acceptedIndices(scores.length, i => accepts(scores[i], floor)), scores)
    let at = 0
    return () => sorted[at++] ?? -1
  }
  let count = 0
  yield* inChunks(scores.length, (from, to) => {
    count = findAccepted(scores, floor, from, to, accepted, count)
  })
  const bits = bitsOf(scores)
  yield* inChunks(count, (from, to) => {
    for (let i = from; i < to; i++) items[i] = packed(keyOfBits(bits[accepted[i]]), accepted[i])
  })
  return yield* lowestFirst(items, count)
}

/**
 * Of a block every index is written, and the next one over it where the score is too low: nothing is there to be
 * predicted. Most blocks are passed at once, since most scores of a detector are too low.
 */
function findAccepted(
  scores: Float32Array,
  { minScore, takesEqual }: Floor,
  from: number,
  to: number,
  accepted: Int32Array,
  count: number
): number {
  const takesAll = minScore === undefined
  const least = minScore ?? 0
  for (let i = from; i < to;) {
    if (!takesAll) i = takesEqual ? passBelow(scores, least, i, to) : passUpTo(scores, least, i, to)
    for (const end = Math.min(to, i + 4); i < end; i++) {
      accepted[count] = i
      count += Number(takesAll || (takesEqual ? scores[i] >= least : scores[i] > least))
    }
  }
  return count
}

/** Passes blocks of four scores that are not above one. */
function passUpTo(scores: Float32Array, most: number, at: number, to: number): number {
  while (
    at + 4 <= to &&
    scores[at] <= most &&
    scores[at + 1] <= most &&
    scores[at + 2] <= most &&
    scores[at + 3] <= most
  )
    at += 4
  return at
}

/** Passes blocks of four scores that are below one. */
function passBelow(scores: Float32Array, least: number, at: number, to: number): number {
  while (
    at + 4 <= to &&
    scores[at] < least &&
    scores[at + 1] < least &&
    scores[at + 2] < least &&
    scores[at + 3] < least
  )
    at += 4
  return at
}

/** Positions in packed numbers, the lowest number first: by a heap, since not all are asked for. */
function* lowestFirst(items: Float64Array, all: number): Generator<void, NextBest> {
  let count = all
  yield* inChunks(count >> 1, (from, to) => {
    for (let i = from; i < to; i++) {
      const at = (count >> 1) - 1 - i
      sinkHighest(items, at, count, items[at])
    }
  })
  return () => {
    if (count === 0) return -1
    const best = items[0]
    count--
    sinkHighest(items, 0, count, items[count])
    return positionIn(best)
  }
}

/** Puts an item in the place of the one at `at`, from where it sinks below lower ones. */
function sinkHighest(items: Float64Array, at: number, end: number, item: number): void {
  for (let child = 2 * at + 1; child < end; child = 2 * at + 1) {
    if (child + 1 < end && items[child + 1] < items[child]) child++
    if (item <= items[child]) break
    items[at] = items[child]
    at = child
  }
  items[at] = item
}

const bitsOf = ({ buffer, byteOffset, length }: Float32Array): Int32Array => new Int32Array(buffer, byteOffset, length)

/** The indices below `count` that are accepted, ascending. */
export function* acceptedIndices(count: number, accepts: (i: number) => boolean): Generator<void, number[]> {
  const accepted: number[] = []
  yield* inChunks(
    count,
    (from, to) => {
      for (let i = from; i < to; i++) if (accepts(i)) accepted.push(i)
    },
    2 * COST.element
  )
  return accepted
}
