import { expect, test } from 'vitest'
import { denseLayer, mixExperts } from '../../../src/kernels/matrix/experts.ts'

test('more experts than lists can be made of serve no tokens', () => {
  const none = new Float32Array(0)
  const [first, second] = [denseLayer(none, 0, 4, undefined), denseLayer(none, 4, 0, undefined)]
  const experts = { first, second, third: undefined, gating: { kind: 'plain', loop: () => {} } } as const
  const routing = { scores: none, experts: 2 ** 40, chosen: 1, weighing: 'all' } as const
  expect(mixExperts(none, experts, routing, new Float64Array(0)).next().done).toBe(true)
})
