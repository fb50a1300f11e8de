import { expect, test } from 'vitest'
import { matrix } from '../../../src/kernels/matrix/gemm.ts'
import { rnnCell } from '../../../src/kernels/recurrent/recurrent-cells.ts'
import { runLayer } from '../../../src/kernels/recurrent/recurrent.ts'

test('time steps without sequences are not walked through', () => {
  const none = new Float64Array(0)
  const sizes = { steps: 2 ** 40, batch: 0, inputSize: 0, gateSize: 1 }
  const layer = { ...sizes, reverse: false, weights: matrix(none, 0, 0), bias: Float64Array.of(0) }
  const gates = { recurrence: matrix(Float64Array.of(1), 0, 1), functions: [], clip: Infinity }
  const cell = rnnCell({ batch: 0, hidden: 1 }, gates, none)
  const steps = runLayer(layer, { data: none, timeStride: 0, batchStride: 0 }, [], cell, () => {})
  expect(steps.next().done).toBe(true)
})
