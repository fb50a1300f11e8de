import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { byScore, keptBoxes, overlap } from '../../../src/kernels/detection/boxes.ts'

test('float32 scores are sorted as numbers of other types, equal ones and zeros of both signs by index', () => {
  const values = [0, -0, 1, -1, 1e-40, -1e-40, 0.5, 0.5, Infinity, -Infinity, 3.4e38, -3.4e38, 1]
  const scores = Float32Array.from({ length: 20_000 }, (_, i) => values[(i * 7919) % values.length] * (1 + (i % 3)))
  const candidates = Array.from(scores.keys()).filter(i => i % 5 !== 0)
  const found = drain(byScore(candidates, scores))
  expect(found).toEqual(drain(byScore(candidates, Float64Array.from(scores))))
  expect(found.slice(0, 2).map(i => scores[i])).toEqual([Infinity, Infinity])
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
  for (const iou of [-0.5, 0, 0.25, 0.5]) {
    const kept = keptBoxes(boxes, start)
    for (let box = 0; box < count - start; box++) {
      const first = Array.from({ length: box }, (_, other) =>
        overlap(boxes, 4 * (start + box), 4 * (start + other))
      ).findIndex(shared => shared > iou)
      expect(kept.find(box, iou)).toBe(first)
      kept.add(box)
    }
  }
})
