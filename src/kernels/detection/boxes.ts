import type { Numbers } from '../../tensor/elements.ts'
import { COST, inChunks } from '../core/pace.ts'
import { sortNumbers, sortPaced } from '../core/sort.ts'

/**
 * Boxes `[y1, x1, y2, x2]`, four numbers each. Computed in float32 as the runtimes do, since comparisons with a
 * threshold may depend on the last bit.
 */
export type Boxes = Float32Array

/** Boxes from two opposite corners `[y1, x1, y2, x2]`, in either order. */
export function* fromCorners(numbers: Numbers): Generator<void, Boxes> {
  const boxes = new Float32Array(numbers.length)
  yield* inChunks(
    boxes.length / 4,
    (from, to) => {
      for (let i = 4 * from; i < 4 * to; i += 4) {
        boxes[i] = Math.min(numbers[i], numbers[i + 2])
        boxes[i + 1] = Math.min(numbers[i + 1], numbers[i + 3])
        boxes[i + 2] = Math.max(numbers[i], numbers[i + 2])
        boxes[i + 3] = Math.max(numbers[i + 1], numbers[i + 3])
      }
    },
    4 * COST.element
  )
  return boxes
}

/** Boxes from `[center x, center y, width, height]`. */
export function* fromCenters(numbers: Numbers): Generator<void, Boxes> {
  const boxes = new Float32Array(numbers.length)
  yield* inChunks(
    boxes.length / 4,
    (from, to) => {
      for (let i = 4 * from; i < 4 * to; i += 4) {
        const halfWidth = Math.fround(numbers[i + 2] / 2)
        const halfHeight = Math.fround(numbers[i + 3] / 2)
        boxes[i] = numbers[i + 1] - halfHeight
        boxes[i + 1] = numbers[i] - halfWidth
        boxes[i + 2] = numbers[i + 1] + halfHeight
        boxes[i + 3] = numbers[i] + halfWidth
      }
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
 */
export function overlap(boxes: Boxes, p: number, q: number, extra = 0): number {
  // Most boxes are disjoint, so that is found out first.
  const height = round(Math.min(boxes[p + 2], boxes[q + 2]) - Math.max(boxes[p], boxes[q]))
  if (!(height >= 0)) return 0
  const width = round(Math.min(boxes[p + 3], boxes[q + 3]) - Math.max(boxes[p + 1], boxes[q + 1]))
  if (!(width >= 0)) return 0
  const areaP = area(boxes, p, extra)
  const areaQ = area(boxes, q, extra)
  if (!(areaP > 0 && areaQ > 0)) return 0
  const shared = round(round(height + extra) * round(width + extra))
  return round(shared / round(round(areaP + areaQ) - shared))
}

const area = (boxes: Boxes, p: number, extra: number): number =>
  round(round(round(boxes[p + 2] - boxes[p]) + extra) * round(round(boxes[p + 3] - boxes[p + 1]) + extra))

/** The boxes that have been kept so far. */
export interface KeptBoxes {
  add(box: number): void
  /** The place among them of the first that overlaps a box more than `iou`; -1: none does. */
  find(box: number, iou: number): number
}

/**
 * Kept boxes with their numbers side by side, for {@link overlap} with one box after the other.
 * @param start index of the first of the boxes that are counted
 */
export function keptBoxes(boxes: Boxes, start: number): KeptBoxes {
  let own = new Float32Array(64 * 4)
  let count = 0
  return {
    add(box) {
      if (4 * count === own.length) {
        const longer = new Float32Array(2 * own.length)
        longer.set(own)
        own = longer
      }
      const p = 4 * (start + box)
      own.set(boxes.subarray(p, p + 4), 4 * count++)
    },
    find: (box, iou) => firstOverlapping(boxes, 4 * (start + box), own, count, iou)
  }
}

/** The first of `count` boxes of `kept` that overlaps the box at `p` more than `iou`; -1: none does. */
function firstOverlapping(boxes: Boxes, p: number, kept: Float32Array, count: number, iou: number): number {
  const [top, left, bottom, right] = [boxes[p], boxes[p + 1], boxes[p + 2], boxes[p + 3]]
  const own = area(boxes, p, 0)
  // Without an area an overlap is 0, which a threshold below 0 is less than.
  if (!(own > 0)) return iou < 0 && count > 0 ? 0 : -1
  for (let i = 0, q = 0; i < count; i++, q += 4) {
    let shared = 0
    // Disjoint boxes and those with NaN, for which every comparison is false, share nothing.
    if (kept[q] <= bottom && kept[q + 2] >= top && kept[q + 1] <= right && kept[q + 3] >= left) {
      const other = area(kept, q, 0)
      if (other > 0) {
        const height = round(Math.min(bottom, kept[q + 2]) - Math.max(top, kept[q]))
        const width = round(Math.min(right, kept[q + 3]) - Math.max(left, kept[q + 1]))
        const both = height >= 0 && width >= 0 ? round(height * width) : 0
        shared = round(both / round(round(own + other) - both))
      }
    }
    if (shared > iou) return i
  }
  return -1
}

/**
 * The candidates, which are indices of scores, by descending score; of equal scores the lower index comes first. For
 * the best of all scores there is `selectTop` in `core/select.ts`.
 */
export function* byScore(candidates: readonly number[], scores: ArrayLike<number>): Generator<void, number[]> {
  if (scores instanceof Float32Array && scores.length <= INDICES) {
    const keys = keysOf(candidates, scores)
    yield* sortNumbers(keys)
    const sorted = new Array<number>(keys.length)
    for (let i = 0; i < keys.length; i++) sorted[i] = keys[i] - Math.floor(keys[i] / INDICES) * INDICES
    return sorted
  }
  const sorted = candidates.slice()
  yield* sortPaced(sorted, (a, b) => scores[b] - scores[a] || a - b)
  return sorted
}

/** Indices that fit into a number beside the 32 bits of a score: 53 bits in all. */
const INDICES = 2 ** 21

/** Numbers whose order is that of {@link byScore}: the score, turned around, above the index. */
function keysOf(candidates: readonly number[], scores: Float32Array): Float64Array {
  const bits = new Uint32Array(scores.buffer, scores.byteOffset, scores.length)
  const keys = new Float64Array(candidates.length)
  for (let k = 0; k < keys.length; k++) {
    const i = candidates[k]
    const score = scores[i] === 0 ? 0 : bits[i]
    keys[k] = (score < SIGN ? SIGN - 1 - score : score) * INDICES + i
  }
  return keys
}

/** The bit of a float32 that is set where it is negative; negative numbers fall as their bits grow. */
const SIGN = 2 ** 31

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
