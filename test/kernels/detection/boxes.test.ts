import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import {
  acceptedByScore,
  buffersFor,
  byScore,
  keptBoxes,
  overlap,
  type ReadBox
} from '../../../src/kernels/detection/boxes.ts'

test('float32 scores are sorted as numbers of other types, equal ones and zeros of both signs by index', () => {
  const values = [0, -0, 1, -1, 1e-40, -1e-40, 0.5, 0.5, Infinity, -Infinity, 3.4e38, -3.4e38, 1]
  const scores = Float32Array.from({ length: 20_000 }, (_, i) => values[(i * 7919) % values.length] * (1 + (i % 3)))
  const candidates = Array.from(scores.keys()).filter(i => i % 5 !== 0)
  const found = drain(byScore(candidates, scores))
  expect(found).toEqual(drain(byScore(candidates, Float64Array.from(scores))))
  expect(found.slice(0, 2).map(i => scores[i])).toEqual([Infinity, Infinity])
})

test('scores that are high enough are given best first, as many as are asked for', () => {
  const scores = Float32Array.from({ length: 903 }, (_, i) => ((i * 7919) % 101) / 50 - 1)
  scores[5] = NaN
  for (const minScore of [undefined, 0.5, -2, 3])
    for (const takesEqual of [true, false]) {
      if (minScore === undefined) scores[5] = -0
      const all = [scores, Float64Array.from(scores)].map(given => {
        const next = drain(acceptedByScore(given, { minScore, takesEqual }, buffersFor(given.length)))
        const found: number[] = []
        for (let i = next(); i >= 0; i = next()) found.push(i)
        return found
      })
      expect(all[0]).toEqual(all[1])
      const least = minScore ?? -Infinity
      expect(all[0]).toHaveLength(scores.filter(score => (takesEqual ? score >= least : score > least)).length)
    }
})

test('kept boxes overlap others as each two boxes do, empty, negative and undefined ones too', () => {
  const numbers = [-3, -1, 0, 1, 2, 5, NaN, Infinity]
  const count = 90
  let state = 7
  const boxes = Float32Array.from({ length: 4 * count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return numbers[state >>> 29]
  })
  const start = 10
  const asTheyAre: ReadBox = (numbers, p, to, q) => to.set(numbers.subarray(p, p + 4), q)
  for (const iou of [-0.5, 0, 0.25, 0.5]) {
    // Whatever has been kept before.
    const kept = keptBoxes(asTheyAre, boxes).from(2)
    kept.add(1)
    kept.from(start)
    for (let box = 0; box < count - start; box++) {
      const first = Array.from({ length: box }, (_, other) =>
        overlap(boxes, 4 * (start + box), 4 * (start + other))
      ).findIndex(shared => shared > iou)
      expect(kept.find(box, iou)).toBe(first)
      kept.add(box)
    }
  }
})
