import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { byScore } from '../../../src/kernels/detection/boxes.ts'

test('float32 scores are sorted as numbers of other types, equal ones and zeros of both signs by index', () => {
  const values = [0, -0, 1, -1, 1e-40, -1e-40, 0.5, 0.5, Infinity, -Infinity, 3.4e38, -3.4e38, 1]
  const scores = Float32Array.from({ length: 20_000 }, (_, i) => values[(i * 7919) % values.length] * (1 + (i % 3)))
  const candidates = Array.from(scores.keys()).filter(i => i % 5 !== 0)
  const found = drain(byScore(candidates, scores))
  expect(found).toEqual(drain(byScore(candidates, Float64Array.from(scores))))
  expect(found.slice(0, 2).map(i => scores[i])).toEqual([Infinity, Infinity])
})
