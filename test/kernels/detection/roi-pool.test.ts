import { expect, test } from 'vitest'
import { alignRegions } from '../../../src/kernels/detection/roi-align.ts'
import { maxPoolRegions, samplePoolRegions } from '../../../src/kernels/detection/roi-pool.ts'

const none = new Float32Array(0)
const plan = { channels: 0, height: 4, width: 4, pooled: [2 ** 20, 2 ** 20], scale: 1 } as const

test.each([maxPoolRegions, samplePoolRegions])('%o of no channels does not look at the bins', pool => {
  expect(pool(none, Float32Array.of(0, 0, 0, 3, 3), Int32Array.of(0), none, plan).next().done).toBe(true)
})

test('alignRegions of no channels does not look at the bins', () => {
  const region = { start: [0, 0], bin: [1, 1], samples: [2, 2] } as const
  const aligned = alignRegions(none, [region], Int32Array.of(0), none, { ...plan, pooling: 'average' })
  expect(aligned.next().done).toBe(true)
})
