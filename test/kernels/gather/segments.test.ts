import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { reduceSegments } from '../../../src/kernels/gather/segments.ts'
import { allocate } from '../../../src/tensor/tensor.ts'

test.each(['zero', 'lowest'] as const)('more segments than memory holds are done where slices are empty: %s', empty => {
  const out = allocate('float32', [2 ** 40, 0])
  drain(reduceSegments(allocate('float32', [1, 0]), Int32Array.of(0), out, 0, empty))
  expect(out.data.length).toBe(0)
})
